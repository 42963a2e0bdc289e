//! Path of one packet from the server to a station and back, computed by hand; and changes at run
//! time.

use house::{HOUSE, packet, plan};
use netburn_medium::config::{Band, LinkQuality, RateControl};
use netburn_medium::packet::DropReason;
use netburn_medium::queue::QueueKind;
use netburn_network::{DropSite, Endpoint, Network, Output};
use netburn_scenario::plan::{ApSetting, RadioName, RadioRef, RadioSetting, Setting, StationSetting};
use netburn_units::{BitRate, Dbm, Duration, Instant, Probability};

mod house;

/// All outputs, in order.
fn run(network: &mut Network<u32>, until: Instant) -> Vec<Output<u32>> {
    let mut all = Vec::new();
    loop {
        while let Some(output) = network.poll_output() {
            all.push(output);
        }
        match network.poll_timeout() {
            Some((at, _)) if at <= until => network.handle_timeout(at),
            _ => return all,
        }
    }
}

fn delivered(outputs: &[Output<u32>]) -> Vec<(i64, Endpoint)> {
    let delivered = |output: &Output<u32>| match output {
        Output::Delivered { at, to, .. } => Some((at.as_nanos(), *to)),
        _ => None,
    };
    outputs.iter().filter_map(delivered).collect()
}

/// Down: 1500 bytes and 38 of framing take 123.04 µs at 100 Mbit/s and 1230.4 at 10 Mbit/s. The
/// propagation takes 2 and 5 ms. The sum is 8 353 440 ns. The air was idle for far longer than
/// AIFS, so the frame is sent immediately (802.11-2020 clause 10.23.2.2). 802.11a at 54 Mbit/s: an
/// MPDU of 26 + 16 + 8 + 1500 + 4 = 1554 bytes, 20 + 4 × ⌈(22 + 12 432) ÷ 216⌉ = 252 µs.
#[test]
fn down_by_hand() {
    let mut network = Network::new(&plan(HOUSE)).unwrap();
    network.handle_packet(Instant::ZERO, Endpoint::Server, Endpoint::Station(0), packet(1_500, 1));
    let all = run(&mut network, Instant::from_secs(1));
    let wired = 123_040 + 2_000_000 + 1_230_400 + 5_000_000;
    let [(at, Endpoint::Station(0))] = delivered(&all)[..] else {
        panic!("{all:?}")
    };
    assert_eq!(at, wired + 252_000);
    // The server's host freed it after serialisation.
    assert!(
        matches!(&all[0], Output::Sent { at, from: Endpoint::Server, flow: 1, packets: 1, bytes: 1_500 } if at.as_nanos() == 123_040),
        "{:?}",
        all[0]
    );
}

/// Up: the station's host frees the packet at the acknowledgement (SIFS 16 µs and 28 µs after the
/// data), then 1 Mbit/s and 100.
#[test]
fn up_by_hand() {
    let mut network = Network::new(&plan(HOUSE)).unwrap();
    network.handle_packet(Instant::ZERO, Endpoint::Station(0), Endpoint::Server, packet(1_500, 1));
    let all = run(&mut network, Instant::from_secs(1));
    let Output::Sent {
        at: sent,
        from: Endpoint::Station(0),
        packets: 1,
        ..
    } = all[0]
    else {
        panic!("{all:?}")
    };
    let [(at, Endpoint::Server)] = delivered(&all)[..] else {
        panic!("{all:?}")
    };
    let received = sent.as_nanos() - 16_000 - 28_000;
    assert_eq!(at - received, 12_304_000 + 5_000_000 + 123_040 + 2_000_000);
}

/// From one station to another: twice over the air, not over the wires.
#[test]
fn across() {
    let mut network = Network::new(&plan(HOUSE)).unwrap();
    network.handle_packet(
        Instant::ZERO,
        Endpoint::Station(0),
        Endpoint::Station(1),
        packet(500, 1),
    );
    let all = run(&mut network, Instant::from_secs(1));
    let [(at, Endpoint::Station(1))] = delivered(&all)[..] else {
        panic!("{all:?}")
    };
    assert!(at < 3_000_000, "{at}");
    let seen = (network.station_stats(0), network.station_stats(1));
    assert_eq!((seen.0.up.delivered, seen.1.down.delivered), (1, 1));
    assert!(
        seen.0.air.sent > Duration::ZERO && seen.1.air.received > seen.0.air.sent,
        "MCS 7, then 0"
    );
}

/// The WAN queue holds 100 ms at its rate, at least 64 KiB. At 10 Mbit/s these are 125 000 bytes:
/// 83 packets of 1500. One more is in serialisation.
#[test]
fn a_full_wan_queue_drops() {
    let mut network = Network::new(&plan(HOUSE)).unwrap();
    for number in 0..200 {
        network.handle_packet(
            Instant::ZERO,
            Endpoint::Server,
            Endpoint::Station(0),
            packet(1_500, number),
        );
    }
    let all = run(&mut network, Instant::from_secs(10));
    let dropped = all
        .iter()
        .filter(|output| matches!(output, Output::Dropped { by: DropSite::Wire, .. }))
        .count();
    // While the last ones arrive, ten times as fast as they leave, a tenth has left.
    let kept = 200 - dropped;
    assert!(
        (84 + 200 / 10 - 3..=84 + 200 / 10 + 1).contains(&kept),
        "{kept} were kept"
    );
    assert_eq!(delivered(&all).len(), kept);
}

/// From 1 s on the WAN link is ten times slower, and the station's signal is too weak for every
/// rate.
#[test]
fn changes_at_run_time() {
    let text = format!(
        "{HOUSE}\n[[at]]\ntime = \"1 s\"\nset = {{ \"ap.home.wan.down\" = \"1 Mbit/s\" }}\n[[at]]\ntime = \"2 s\"\nset = {{ \"station.a.signal\" = \"-105 dBm\" }}\n"
    );
    let mut network = Network::new(&plan(&text)).unwrap();
    let send = |network: &mut Network<u32>, at: Instant| {
        network.handle_packet(at, Endpoint::Server, Endpoint::Station(0), packet(1_500, 1));
        run(network, at + Duration::from_millis(900))
    };
    let first = delivered(&send(&mut network, Instant::ZERO))[0].0;
    let second = delivered(&send(&mut network, Instant::from_secs(1)))[0].0 - 1_000_000_000;
    let slower = second - first - (12_304_000 - 1_230_400);
    assert!(slower.abs() < 200_000, "but for the backoff: {slower}");
    let third = send(&mut network, Instant::from_secs(2));
    let told: Vec<_> = std::iter::from_fn(|| network.poll_change()).collect();
    let times: Vec<_> = told.iter().map(|changed| changed.at).collect();
    assert_eq!(times, [Instant::from_secs(1), Instant::from_secs(2)]);
    assert_eq!(told[1].settings[0].to_string(), "station.a.signal = \"-105 dBm\"");
    assert!(delivered(&third).is_empty(), "{third:?}");
    assert!(
        third.iter().any(|output| matches!(
            output,
            Output::Dropped {
                by: DropSite::Air(_),
                ..
            }
        )),
        "{third:?}"
    );
}

/// A station whose signal is below the slowest rate has not joined: its packets end at the first radio, without airtime. It joins
/// when its signal becomes strong enough.
#[test]
fn a_station_out_of_range_has_no_connection() {
    let text = HOUSE.replacen("mcs = 7", "signal = \"-99 dBm\"", 1);
    assert_ne!(text, HOUSE);
    let text = format!("{text}\n[[at]]\ntime = \"2 s\"\nset = {{ \"station.a.signal\" = \"-50 dBm\" }}\n");
    let mut network = Network::new(&plan(&text)).unwrap();
    let [found] = &network.out_of_range()[..] else {
        panic!("{:?}", network.out_of_range());
    };
    assert_eq!(
        (found.station.as_str(), found.reason.got.to_string().as_str()),
        ("a", "-99 dBm")
    );

    let station = Endpoint::Station(0);
    network.handle_packet(Instant::ZERO, Endpoint::Server, station, packet(1_500, 1));
    network.handle_packet(Instant::ZERO, station, Endpoint::Server, packet(1_500, 2));
    let all = run(&mut network, Instant::from_secs(1));
    let sites: Vec<DropSite> = all
        .iter()
        .filter_map(|output| match output {
            Output::Dropped { by, .. } => Some(*by),
            _ => None,
        })
        .collect();
    let (own, other) = (DropSite::Sender(DropReason::NoLink), DropSite::Air(DropReason::NoLink));
    assert_eq!(sites, [own, other]);
    assert!(delivered(&all).is_empty());
    let air = network.station_stats(0).air;
    assert_eq!((air.transmissions, air.received_transmissions), (0, 0));

    run(&mut network, Instant::from_secs(2));
    assert!(network.out_of_range().is_empty());
    network.handle_packet(Instant::from_secs(3), Endpoint::Server, station, packet(1_500, 3));
    network.handle_packet(Instant::from_secs(3), station, Endpoint::Server, packet(1_500, 4));
    assert_eq!(delivered(&run(&mut network, Instant::from_secs(4))).len(), 2);
}

/// The preferred band is 5 GHz, but the station hears only 2.4 GHz.
#[test]
fn a_station_joins_a_radio_that_it_hears() {
    let text = "[network.home]\nradios = [\"ap.5g\", \"ap.2g\"]\n[ap.ap.radio.5g]\npower = \"0 dBm\"\n\
                [ap.ap.radio.2g]\npower = \"20 dBm\"\n[station.a]\njoins = \"home\"\ndistance = \"60 m\"\n";
    // 0 − 46.7 − 30 log 60 = −100 dBm, and 20 − 40.1 − 30 log 60 = −73.4 dBm.
    let network: Network<u32> = Network::new(&plan(text)).unwrap();
    assert_eq!(network.joined(0).as_deref(), Some("ap.2g"));
    assert!(network.out_of_range().is_empty());
}

/// A queue is replaced while it holds packets: those are dropped and reported.
#[test]
fn a_queue_replaced() {
    let text = format!("{HOUSE}\n[[at]]\ntime = \"100 ms\"\nset = {{ \"ap.home.queue\" = \"airtime\" }}\n")
        .replace("down = \"10 Mbit/s\", ", "");
    let mut network = Network::new(&plan(&text)).unwrap();
    for number in 0..300 {
        network.handle_packet(
            Instant::ZERO,
            Endpoint::Server,
            Endpoint::Station(1),
            packet(1_500, number),
        );
    }
    let all = run(&mut network, Instant::from_secs(10));
    let dropped = all
        .iter()
        .filter(|output| matches!(output, Output::Dropped { .. }))
        .count();
    assert!(dropped > 200, "at 6 Mbit/s some 40 got through in 100 ms: {dropped}");
    assert_eq!(delivered(&all).len() + dropped, 300);
}

/// The scenario's limit applies to the new queue as well. Of 300 packets at 150 ms, the queue keeps
/// 20, the device 123 and the air some. The WAN link is ten times as fast as the air.
#[test]
fn a_limit_survives_a_queue_replacement() {
    let kept = |limit: &str| {
        let text = format!("{HOUSE}\n[[at]]\ntime = \"100 ms\"\nset = {{ \"ap.home.queue\" = \"pfifo-fast\" }}\n")
            .replace("down = \"10 Mbit/s\", ", "")
            .replace("queue = \"fifo\"", &format!("queue = \"fifo\"\n{limit}"));
        let mut network = Network::new(&plan(&text)).unwrap();
        run(&mut network, Instant::from_millis(150));
        for number in 0..300 {
            network.handle_packet(
                Instant::from_millis(150),
                Endpoint::Server,
                Endpoint::Station(1),
                packet(1_500, number),
            );
        }
        delivered(&run(&mut network, Instant::from_secs(10))).len()
    };
    assert_eq!(kept(""), 300);
    assert!(
        (20 + 123..220).contains(&kept("queue_limit = \"20 packets\"")),
        "{}",
        kept("queue_limit = \"20 packets\"")
    );
}

/// A change by [`Network::set`] is effective immediately. On a channel without pending events, a
/// new neighbour load of one half schedules events; earlier events are processed before the change.
#[test]
fn a_change_is_effective_immediately() {
    let mut network: Network<u32> = Network::new(&plan(HOUSE)).unwrap();
    assert_eq!(network.poll_timeout(), None);
    let busy = RadioSetting::ChannelBusy(Probability::from_ppb(500_000_000).unwrap());
    let home = RadioRef {
        ap: "home".to_owned(),
        radio: RadioName {
            band: Band::Ghz5,
            number: 1,
        },
    };
    network.set(Instant::ZERO, &Setting::Radio(home, busy));
    assert!(network.poll_timeout().is_some());

    let mut network = Network::new(&plan(HOUSE)).unwrap();
    network.handle_packet(Instant::ZERO, Endpoint::Server, Endpoint::Station(0), packet(1_500, 1));
    // By 1 s the packet has arrived: replacing the queue then doesn't drop it.
    let queue = Setting::Ap("home".to_owned(), ApSetting::Queue(QueueKind::Airtime));
    network.set(Instant::from_secs(1), &queue);
    let all = run(&mut network, Instant::from_secs(2));
    assert_eq!(delivered(&all).len(), 1, "{all:?}");
    assert!(delivered(&all)[0].0 < 1_000_000_000, "{all:?}");
}

/// With one name over two bands: by default the higher band; by signal the stronger radio; or the
/// requested band.
#[test]
fn choice_of_the_radio() {
    let text = |selects: &str, standard: &str| {
        format!(
            "[ap.home]\nrating = \"AC1750\"\n[network.all]\nradios = [\"home.2g\", \"home.5g\"]\n[station.a]\njoins = \"all\"\ndistance = \"5 m\"\n{selects}\n{standard}\n"
        )
    };
    for (selects, standard, radio) in [
        ("", "", "home.5g"),
        // 5 GHz has 6.6 dB more path loss.
        ("radio_selection = \"strongest\"", "", "home.2g"),
        ("radio_selection = \"2g\"", "", "home.2g"),
        ("", "standard = \"802.11g\"", "home.2g"),
    ] {
        let network = Network::<()>::new(&plan(&text(selects, standard))).unwrap();
        assert_eq!(network.joined(0).as_deref(), Some(radio), "{selects} {standard}");
    }
}

/// A router's two 5 GHz radios don't share the air; two routers on one channel do; 40 MHz from
/// channel 1 overlap channel 5.
#[test]
fn assignment_of_channels() {
    let channels = |text: &str| {
        let network = Network::<()>::new(&plan(&format!("{text}\n[station.a]\njoins = \"x.2g\"\nmcs = 0\n"))).unwrap();
        network
            .radio_stats()
            .iter()
            .map(|radio| radio.channel)
            .collect::<Vec<_>>()
    };
    assert_eq!(channels("[ap.x]\nrating = \"AC3200\""), [0, 1, 2]);
    assert_eq!(
        channels("[ap.x.radio.2g]\nchannel = 1\n[ap.y.radio.2g]\nchannel = 1\n[ap.z.radio.2g]\nchannel = 6"),
        [0, 0, 1]
    );
    assert_eq!(
        channels(
            "[ap.x.radio.2g]\nchannel = 1\nwidth = \"40 MHz\"\n[ap.y.radio.2g]\nchannel = 6\n[ap.z.radio.2g]\nchannel = 11"
        ),
        [0, 0, 1]
    );
}

/// A station is slow below 6 Mbit/s for each station of its radio. Of two, one at 6 Mbit/s (some 5
/// of goodput) is slow and one at 54 is not. CoDel then has a target of 300 ms instead of 100 ms
/// for a standing queue, so the first drop is later.
#[test]
fn slow_stations_are_dropped_from_later() {
    let first_drop = |slow: bool, changed: bool| {
        let mcs = if changed { 7 } else { 0 };
        let change = "[[at]]\ntime = \"0 s\"\nset = { \"station.b.mcs\" = 0 }\n";
        let text = HOUSE
            .replace(
                "queue = \"fifo\"",
                &format!("queue = \"fq-mac\"\nslow_stations = {slow}"),
            )
            .replace(
                "wan   = { down = \"10 Mbit/s\", up = \"1 Mbit/s\", delay = \"5 ms\" }\n",
                "",
            )
            .replace("mcs = 0", &format!("mcs = {mcs}"));
        let mut network = Network::new(&plan(&(text + if changed { change } else { "" }))).unwrap();
        for number in 0..1_500 {
            let at = Instant::from_millis(number);
            network.handle_packet(at, Endpoint::Server, Endpoint::Station(1), packet(1_500, 1));
        }
        let all = run(&mut network, Instant::from_secs(10));
        let dropped = all.iter().find_map(|output| match output {
            Output::Dropped { at, .. } => Some(at.as_secs_f64()),
            _ => None,
        });
        dropped.expect("12 Mbit/s don't go through 6")
    };
    let usual = first_drop(false, false);
    let later = first_drop(true, false);
    assert!((0.1..0.25).contains(&usual), "{usual}");
    assert!((0.3..0.5).contains(&later), "{later}");
    assert_eq!(first_drop(true, true), later, "also when it becomes slow while it runs");
}

/// 200 packets within 24 µs, long before the first of 252 µs has been sent. One is on the air, one
/// in the hardware, which holds two, and four are in the queue. The driver's lists hold the
/// configured number of the others. So the number of delivered packets grows with the lists.
#[test]
fn the_lists_of_the_driver_hold_the_configured_number() {
    let arrived = |keys: &str| {
        let queue = format!("queue = \"fifo\"\nqueue_limit = \"4 packets\"\nhardware_queue = \"2 frames\"\n{keys}");
        let text = HOUSE
            .replace("queue = \"fifo\"", &queue)
            .replace("\"100 Mbit/s\", delay = \"2 ms\"", "\"100 Gbit/s\"")
            .replace(
                "wan   = { down = \"10 Mbit/s\", up = \"1 Mbit/s\", delay = \"5 ms\" }\n",
                "",
            );
        let mut network = Network::new(&plan(&text)).unwrap();
        for _ in 0..200 {
            network.handle_packet(Instant::ZERO, Endpoint::Server, Endpoint::Station(0), packet(1_500, 1));
        }
        delivered(&run(&mut network, Instant::from_secs(1))).len()
    };
    assert_eq!(arrived("driver_queue = 1"), 1 + 1 + 1 + 4);
    assert_eq!(arrived("driver_queue = 41"), 1 + 1 + 41 + 4);
    // ath9k before Linux 4.11.
    assert_eq!(arrived(""), 1 + 1 + 123 + 4);
}

/// 300 packets at once. One is sent alone. The hardware has room for 63 beside it, the driver's
/// lists for one, the queue for four. Then 64 are sent in one A-MPDU of 64 · 1560 · 8 / 270 = 2.96
/// ms and occupy all places of the hardware. Of 300 more in the middle of it only one finds room,
/// in the queue, where three wait.
#[test]
fn frames_on_the_air_have_not_left_the_hardware() {
    let text = HOUSE
        .replace("802.11a", "802.11ac\"\nwidth = \"40 MHz\"\nguard = \"800 ns")
        .replace(
            "queue = \"fifo\"",
            "queue = \"fifo\"\nqueue_limit = \"4 packets\"\nhardware_queue = \"64 frames\"\ndriver_queue = 1",
        )
        .replace("\"100 Mbit/s\", delay = \"2 ms\"", "\"100 Gbit/s\"")
        .replace(
            "wan   = { down = \"10 Mbit/s\", up = \"1 Mbit/s\", delay = \"5 ms\" }\n",
            "",
        );
    let mut network = Network::new(&plan(&text)).unwrap();
    for at in [Instant::ZERO, Instant::from_millis(1)] {
        for _ in 0..300 {
            network.handle_packet(at, Endpoint::Server, Endpoint::Station(0), packet(1_500, 1));
        }
    }
    assert_eq!(
        delivered(&run(&mut network, Instant::from_secs(1))).len(),
        1 + 63 + 1 + 4 + 1
    );
}

/// A change to the value that a setting has already changes nothing: no packet is dropped, and rate control keeps its statistics.
#[test]
fn a_setting_keeps_its_value() {
    let text = HOUSE
        .replace("mcs = 0", "signal = \"-75 dBm\"\nrate_control = \"minstrel\"")
        .replace("\"10 Mbit/s\"", "\"1 Gbit/s\"")
        .replace("\"100 Mbit/s\"", "\"1 Gbit/s\"");
    let text = format!("{text}[station.w]\nlink = {{ rate = \"10 Mbit/s\" }}\n");
    let stations = [Endpoint::Station(0), Endpoint::Station(1), Endpoint::Station(2)];
    let with = |setting: Option<Setting>| {
        let mut network = Network::new(&plan(&text)).unwrap();
        for number in 0..300 {
            for station in stations {
                network.handle_packet(Instant::ZERO, Endpoint::Server, station, packet(1_500, number));
                network.handle_packet(Instant::ZERO, station, Endpoint::Server, packet(1_500, number));
            }
        }
        let mut all = delivered(&run(&mut network, Instant::from_millis(60)));
        if let Some(setting) = setting {
            network.set(Instant::from_millis(60), &setting);
        }
        all.extend(delivered(&run(&mut network, Instant::from_secs(20))));
        all
    };
    let unchanged = with(None);
    let station = |name: &str, setting| Setting::Station(name.to_owned(), setting);
    for same in [
        Setting::Ap("home".to_owned(), ApSetting::Queue(QueueKind::Fifo)),
        station("a", StationSetting::Queue(QueueKind::FqCodel)),
        station("w", StationSetting::Queue(QueueKind::FqCodel)),
        station("a", StationSetting::Quality(LinkQuality::Mcs(7))),
        station("b", StationSetting::RateControl(RateControl::Minstrel)),
        station("a", StationSetting::Weight(256)),
    ] {
        assert_eq!(with(Some(same.clone())), unchanged, "{same:?}");
    }
    // Another discipline drops what is queued.
    let other = Setting::Ap("home".to_owned(), ApSetting::Queue(QueueKind::FqCodel));
    assert!(with(Some(other)).len() < unchanged.len());
}

/// A station with a signal and a fixed MCS: its rate does not follow the signal, which determines what is lost. 802.11a at
/// 6 Mbit/s needs an SNR of about 2 dB. At −60 dBm it arrives, at −90 dBm it does not: the noise of 20 MHz is −94 dBm with a
/// noise figure of 7 dB.
#[test]
fn a_fixed_mcs_does_not_follow_the_signal() {
    let mut network: Network<u32> =
        Network::new(&plan(&HOUSE.replace("mcs = 0", "signal = \"-60 dBm\"\nmcs = 0"))).unwrap();
    let rate = |network: &Network<u32>| network.link_stats(1).rate_down;
    let set =
        |network: &mut Network<u32>, setting| network.set(Instant::ZERO, &Setting::Station("b".to_owned(), setting));
    assert_eq!(rate(&network), BitRate::from_mbps(6));
    assert_eq!(network.link_stats(1).signal, Some(Dbm::from_dbm(-60)));
    // A change of the MCS keeps the signal, and a change of the signal keeps the MCS.
    set(&mut network, StationSetting::Quality(LinkQuality::Mcs(7)));
    assert_eq!(rate(&network), BitRate::from_mbps(54));
    set(
        &mut network,
        StationSetting::Quality(LinkQuality::Signal(Dbm::from_dbm(-90))),
    );
    assert_eq!(network.link_stats(1).signal, Some(Dbm::from_dbm(-90)));
    assert_eq!(rate(&network), BitRate::from_mbps(54));
    network.handle_packet(Instant::ZERO, Endpoint::Server, Endpoint::Station(1), packet(1_500, 1));
    assert!(delivered(&run(&mut network, Instant::from_secs(1))).is_empty());
    // A rate that follows the signal repairs it.
    set(&mut network, StationSetting::RateControl(RateControl::Ideal));
    let now = Instant::from_secs(1);
    network.handle_packet(now, Endpoint::Server, Endpoint::Station(1), packet(1_500, 1));
    assert_eq!(delivered(&run(&mut network, Instant::from_secs(2))).len(), 1);
    // 802.11a has eight rates, which MCS 0 to 7 stand for.
    let mut plan = plan(&HOUSE.replace("mcs = 0", "signal = \"-60 dBm\"\nmcs = 0"));
    plan.stations[1].air.fixed_mcs = Some(9);
    let error = Network::<u32>::new(&plan).err();
    assert!(error.is_some_and(|error| error.to_string().contains("invalid MCS 9")));
}
