//! Changes proposed for scenarios written by hand.

use super::*;
use crate::explain::Severity;
use netburn_record::summary::Summariser;
use netburn_record::{Header, RunStatus};

#[test]
fn rates_have_readable_units() {
    for (bps, text) in [
        (0, "1 kbit/s"),
        (850_400, "850 kbit/s"),
        (10_229_000, "10.2 Mbit/s"),
        (8_000_000, "8 Mbit/s"),
        (1_000_000_000, "1000 Mbit/s"),
    ] {
        assert_eq!(written(bps), text);
    }
}

fn proposed(text: &str, kind: Kind, by: &str) -> Vec<String> {
    let (plan, _) = Document::from_toml("house", text)
        .unwrap()
        .resolve_for(Environment::Simulate)
        .unwrap();
    let mut summary = Summariser::new(Header::simulated(plan.clone())).finish("", &RunStatus::Complete);
    for station in &mut summary.stations {
        station.throughput_mbps = 20.0;
    }
    let cause = Cause {
        kind,
        severity: Severity::Serious,
        title: String::new(),
        evidence: String::new(),
        advice: String::new(),
        stations: vec![by.to_owned()],
        by: vec![by.to_owned()],
    };
    let twice = [cause.clone(), cause];
    let made = what_ifs(&plan, &summary, &twice).what_ifs;
    let keys = |what_if: &WhatIf| {
        let set = what_if.set.iter().map(|(key, value)| format!("{key}={value}"));
        set.collect::<Vec<_>>().join(" ")
    };
    made.iter().map(keys).collect()
}

/// Each cause has its changes, without duplicates and without changes that have no effect.
#[test]
fn each_cause_has_its_changes() {
    let house = r#"
[ap.home]
queue = "fifo"
wan = { down = "50 Mbit/s", up = "10 Mbit/s" }
[ap.home.radio.5g]
channel_busy = "60 %"
[ap.home.radio.2g]
[station.tv]
joins = "home.5g"
signal = "-80 dBm"
adapter_rate = { up = "5 Mbit/s", transfer = 20 }
workload = ["download", "upload"]
"#;
    let of = |kind| proposed(house, kind, "tv");
    assert_eq!(
        of(Kind::SlowNeighbour),
        [
            "ap.home.queue=airtime",
            "station.tv.joins=home.2g",
            "station.tv.signal=-60 dBm",
            "station.tv.adapter_rate={ up = \"5 Mbit/s\", down = \"10 Mbit/s\", transfer = 20 }",
        ]
    );
    assert_eq!(
        of(Kind::UploadBloat),
        [
            "ap.home.wan.queue_up=25000 B",
            "ap.home.wan.discipline_up=cake ap.home.wan.shaper_up=90 % ap.home.wan.cake.isolation_up=dual-srchost",
            "ap.home.wan.discipline=cake ap.home.wan.shaper_down=90 % ap.home.wan.shaper_up=90 % \
             ap.home.wan.cake.isolation_down=dual-dsthost ap.home.wan.cake.isolation_up=dual-srchost",
            "station.tv.adapter_rate={ up = \"8 Mbit/s\", transfer = 20 }",
            "station.tv.cc=bbr",
        ]
    );
    assert_eq!(
        of(Kind::DownloadBloat),
        [
            "ap.home.wan.discipline_down=cake ap.home.wan.shaper_down=90 % ap.home.wan.cake.isolation_down=dual-dsthost",
            "ap.home.wan.discipline=cake ap.home.wan.shaper_down=90 % ap.home.wan.shaper_up=90 % \
             ap.home.wan.cake.isolation_down=dual-dsthost ap.home.wan.cake.isolation_up=dual-srchost",
            "ap.home.queue=airtime",
            "station.tv.joins=home.2g",
            "station.tv.adapter_rate={ up = \"5 Mbit/s\", down = \"40 Mbit/s\", transfer = 20 }",
        ]
    );
    assert_eq!(
        of(Kind::FullBand),
        [
            "ap.home.radio.5g.channel_busy=0 %",
            "ap.home.radio.5g.channel_busy=30 %",
            "station.tv.joins=home.2g",
            "ap.home.queue=airtime",
        ]
    );
    assert_eq!(
        of(Kind::LineUp),
        [
            "ap.home.wan.queue_up=25000 B",
            "ap.home.wan.discipline_up=cake ap.home.wan.shaper_up=90 % ap.home.wan.cake.isolation_up=dual-srchost",
            "ap.home.wan.discipline=cake ap.home.wan.shaper_down=90 % ap.home.wan.shaper_up=90 % \
             ap.home.wan.cake.isolation_down=dual-dsthost ap.home.wan.cake.isolation_up=dual-srchost",
        ]
    );
    // A queue that is short already stays.
    let short = house.replace("up = \"10 Mbit/s\"", "up = \"10 Mbit/s\", queue = \"20 KiB\"");
    assert!(!proposed(&short, Kind::LineUp, "tv")[0].contains("queue="));
    // A cable has no adapter whose rate could be limited.
    let cable = house.replace(
        "joins = \"home.5g\"\nsignal = \"-80 dBm\"\nadapter_rate = { up = \"5 Mbit/s\", transfer = 20 }",
        "link = { to = \"home\", rate = \"1000 Mbit/s\" }",
    );
    let of_cable = proposed(&cable, Kind::UploadBloat, "tv");
    assert!(
        of_cable.contains(&"station.tv.link.up=8 Mbit/s".to_owned()),
        "{of_cable:?}"
    );
    assert_eq!(
        of(Kind::WifiDelay),
        [
            "ap.home.queue=airtime",
            "station.tv.joins=home.2g",
            "station.tv.adapter_rate={ up = \"5 Mbit/s\", down = \"10 Mbit/s\", transfer = 20 }",
        ]
    );
    // The queue of stations is FQ-CoDel by default.
    assert_eq!(of(Kind::Device), ["station.tv.tsq=2025"]);
    assert!(of(Kind::RemoteServer).is_empty());
    assert_eq!(of(Kind::Adapter), ["station.tv.adapter_rate=1000 Mbit/s"]);
    assert_eq!(of(Kind::Server), ["server.link.rate=10000 Mbit/s"]);
    assert_eq!(
        of(Kind::SmallQueues),
        ["station.tv.tsq=2018", "station.tv.tsq=2025", "station.tv.tsq=off"]
    );
    assert!(of(Kind::Roaming).is_empty() && of(Kind::Generator).is_empty());
    let fair = house.replace("fifo", "airtime");
    assert_eq!(proposed(&fair, Kind::SlowNeighbour, "tv")[0], "ap.home.aql=true");
}

/// A walk of 20 m between two access points, whose middle is at 12 m: the second one, at 22 m, moves 5 m. NetworkManager's
/// trigger is -65 dBm.
#[test]
fn roaming_has_changes_of_the_client_and_of_the_house() {
    let walk = "[network.home]\nradios = [\"hall.5g\", \"attic.5g\"]\n[ap.hall]\nposition = \"2 m, 0 m\"\nradio.5g = {}\n\
                [ap.attic]\nposition = \"22 m, 0 m\"\nradio.5g = { channel = 149 }\n\
                [station.tv]\njoins = \"home\"\npath = [\"2 m, 0 m\", \"22 m, 0 m\"]\nroaming = \"linux\"\nworkload = \"voip\"\n";
    let found = proposed(walk, Kind::Roaming, "tv");
    assert_eq!(
        found[found.len() - 3..],
        [
            "station.tv.roaming.policy=apple-phone",
            "station.tv.roaming.trigger=-60 dBm",
            "ap.attic.position=17 m, 0 m",
        ]
    );
}

/// A unit whose second 5 GHz radio serves no station, as that of its parent.
#[test]
fn a_backhaul_has_a_wire_and_a_radio_of_its_own() {
    let kit = "[ap.main]\nradio.5g = { channel = 36 }\nradio.5g-2 = { channel = 149 }\n\
               [ap.study]\nbackhaul = \"main.5g\"\nbackhaul_signal = \"-80 dBm\"\nradio.5g = { channel = 36 }\nradio.5g-2 = { channel = 149 }\n\
               [station.tv]\njoins = \"study.5g\"\nsignal = \"-50 dBm\"\nworkload = \"4kstream\"\n";
    assert_eq!(
        proposed(kit, Kind::Backhaul, "tv"),
        ["ap.study.backhaul=wired", "ap.study.backhaul=main.5g-2"]
    );
    let one = kit.replace("radio.5g-2 = { channel = 149 }\n", "");
    assert_eq!(proposed(&one, Kind::Backhaul, "tv"), ["ap.study.backhaul=wired"]);
}

/// Two networks on one 2.4 GHz channel, and a WAN link that is slow, distant and lossy.
#[test]
fn lines_channels_and_distances_have_changes() {
    let flats = "[server.link]\ndelay = \"80 ms\"\n\
                 [ap.home]\nwan = { down = \"20 Mbit/s\", up = \"5 Mbit/s\", delay = \"3 ms\", loss = \"2 %\" }\n\
                 [ap.home.radio.2g]\nchannel = 6\n[ap.next.radio.2g]\nchannel = 6\n[ap.third.radio.2g]\nchannel = 1\n\
                 [station.tv]\njoins = \"home.2g\"\nsignal = \"-60 dBm\"\nworkload = \"4kstream\"\n";
    let of = |kind| proposed(flats, kind, "tv");
    assert_eq!(
        of(Kind::SlowLine),
        [
            "ap.home.wan.down=40 Mbit/s ap.home.wan.up=10 Mbit/s",
            "ap.home.wan.down=80 Mbit/s ap.home.wan.up=20 Mbit/s",
        ]
    );
    assert_eq!(of(Kind::LossyLine), ["ap.home.wan.loss=0 %", "server.cc=bbr"]);
    assert_eq!(of(Kind::DistantServer), ["server.link.delay=5 ms", "server.http=2"]);
    assert_eq!(of(Kind::SlowCochannel)[0], "ap.home.radio.2g.channel=11");
}

/// The line of a `[router]` has the changes of the line of an access point, for stations on the air and on a cable.
#[test]
fn the_line_of_a_router_has_the_same_changes() {
    let wan = "down = \"20 Mbit/s\"\nup = \"5 Mbit/s\"\ndelay = \"30 ms\"\nloss = \"2 %\"\n";
    let stations = "[station.tv]\njoins = \"home.2g\"\nsignal = \"-60 dBm\"\nworkload = [\"4kstream\", \"upload\"]\n\
                    [station.pc]\nwired = \"100 Mbit/s\"\nworkload = [\"download\", \"upload\"]\n";
    let of_ap = format!("[ap.home.wan]\n{wan}[ap.home.radio.2g]\nchannel = 6\n{stations}").replace(
        "wired = \"100 Mbit/s\"",
        "link = { to = \"home\", rate = \"100 Mbit/s\" }",
    );
    let of_router = format!("[router.wan]\n{wan}[ap.home.radio.2g]\nchannel = 6\n{stations}");
    let of_line = |text: &str, kind, by| -> Vec<String> {
        let mut found = proposed(text, kind, by);
        found.retain(|change| change.contains(".wan."));
        found
    };
    for kind in [
        Kind::UploadBloat,
        Kind::DownloadBloat,
        Kind::LineDown,
        Kind::LineUp,
        Kind::SlowLine,
        Kind::LossyLine,
        Kind::FairShare,
    ] {
        for by in ["tv", "pc"] {
            let wanted = of_line(&of_ap, kind, by).into_iter();
            let wanted: Vec<String> = wanted
                .map(|change| change.replace("ap.home.wan", "router.wan"))
                .collect();
            assert_eq!(of_line(&of_router, kind, by), wanted, "{kind:?}, {by}");
            assert!(!wanted.is_empty(), "{kind:?}, {by}");
        }
    }
}

/// A name that is not in the plan, as in a modified record, causes no change.
#[test]
fn unknown_names_cause_no_change() {
    let house =
        "[ap.home.radio.5g]\n[station.tv]\njoins = \"home.5g\"\nsignal = \"-60 dBm\"\nworkload = \"download\"\n";
    for kind in Kind::ALL {
        let found = proposed(house, kind, "unknown");
        assert!(found.is_empty() || kind == Kind::Server, "{kind:?}: {found:?}");
    }
}
