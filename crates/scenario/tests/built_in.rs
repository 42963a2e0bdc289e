//! Built-in scenarios are valid in every environment that has the hosts of their probes.

use netburn_scenario::{Environment, Plan, built_in_scenario, built_in_scenarios, load};

#[test]
fn every_built_in_scenario_is_valid_where_its_hosts_exist() {
    for (name, _) in built_in_scenarios() {
        let document = load(name).unwrap_or_else(|error| panic!("{}", error.render(false)));
        for environment in Environment::ALL {
            let resolved = document.resolve_for(environment);
            // Its probes to the access point and to the line have no host there.
            if *name == "wifi-or-line" && environment == Environment::Local {
                let error = resolved.map(|(plan, _)| plan.name).unwrap_err().to_string();
                assert!(error.contains("local has no access point"), "{error}");
                continue;
            }
            let (plan, _) = resolved.unwrap_or_else(|error| panic!("{name} on {environment}: {}", error.render(false)));
            assert_eq!(plan.name, *name);
            assert!(plan.title.is_some() && plan.question.is_some(), "{name}");
            let again = Plan::from_json(&plan.to_json()).unwrap_or_else(|error| panic!("{}", error.render(false)));
            assert_eq!(again, plan);
        }
    }
}

#[test]
fn every_file_in_scenarios_is_built_in() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut files: Vec<String> = std::fs::read_dir(directory)
        .expect("scenarios/")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        // Subdirectories contain scenarios for tests.
        .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
        .collect();
    files.sort();
    let names: Vec<&str> = built_in_scenarios().iter().map(|(name, _)| *name).collect();
    assert_eq!(files, names, "in alphabetical order");
}

#[test]
fn settings_in_comments_are_valid() {
    for (name, key, value) in [
        ("slow-neighbour", "ap.home.queue", "station-rr"),
        ("slow-neighbour", "ap.home.hardware_queue", "8 frames"),
        ("boost", "workload.film.priority", "best-effort"),
        ("call-and-download", "ap.home.queue", "fq-codel"),
        ("call-and-download", "workload.call.priority", "voice"),
        ("call-and-download", "workload.call.goal", "R 70"),
        ("rpm-beside-download", "ap.home.wan.discipline", "cake"),
        ("rpm-beside-download", "station.desktop.workload", "upload"),
        ("rpm-beside-download", "workload.rpm.goal", "500 rpm"),
        ("rrul", "ap.home.dscp_mapping", "upper-three-bits"),
        ("rrul", "ap.home.wan.discipline", "cake"),
        ("tcp-8up", "workload.load.streams", "1"),
        ("tcp-8down", "workload.load.streams", "1"),
        ("voip-rrul", "workload.call.priority", "voice"),
        ("square-wave", "workload.wave.cc", "bbr"),
        ("square-wave", "workload.wave.streams", "4"),
        ("tr398-like-airtime-fairness", "ap.dut.queue", "fifo"),
        ("tr398-like-airtime-fairness", "station.legacy.workload", "probe"),
        ("tr398-like-latency", "ap.dut.queue", "fifo"),
        ("tr398-like-several-stations", "station.far-*.workload", "probe"),
        ("tr398-like-throughput", "ap.dut.radio.5g.standard", "802.11ac"),
        ("tr398-like-throughput", "workload.near-download.goal", "560 Mbit/s"),
        ("evening-at-home", "ap.home.wan.discipline", "cake"),
        ("evening-at-home", "ap.home.queue", "airtime"),
        ("evening-at-home", "station.nas.workload", "probe"),
        ("penalty-box", "station.slow-1.joins", "home.5g"),
        (
            "small-queues-usb",
            "station.dongle.tsq",
            "{ shift = 10, minimum = \"64 KiB\" }",
        ),
        ("small-queues-usb", "station.dongle.tsq", "2019"),
        ("small-queues-usb", "station.dongle.cc", "bbr"),
        ("small-queues-pci", "station.laptop.tsq", "{ shift = 8 }"),
        ("sleeping-phone", "station.phone.power_save", "twt"),
        ("iptv-over-wifi", "ap.home.multicast.to_unicast", "members"),
        ("iptv-over-wifi", "ap.home.radio.5g.multicast_rate", "24 Mbit/s"),
        ("scan-during-call", "station.laptop.roaming", "never"),
        ("wifi-or-line", "ap.home.wan.discipline", "cake"),
        ("wifi-or-line", "ap.home.wan.shaper", "90 %"),
        ("wifi-or-line", "station.laptop.workload", "upload"),
        ("wifi-or-line", "station.laptop.joins", "home.2g"),
        ("wifi-or-line", "ap.home.queue", "airtime"),
    ] {
        let mut document = load(name).unwrap();
        let before = document.resolve().unwrap();
        document.set(key, value).unwrap_or_else(|error| panic!("{error}"));
        let after = document.resolve().unwrap_or_else(|error| panic!("{error}"));
        assert_ne!(before, after, "{name}: {key}={value}");
    }
}

#[test]
fn a_name_may_have_the_american_spelling() {
    let named = |name: &str| load(name).unwrap().resolve().unwrap();
    assert_eq!(named("slow-neighbor"), named("slow-neighbour"));
    assert_eq!(named("slow-neighbor-both").name, "slow-neighbour-both");
    assert_eq!(built_in_scenario("slow-neighbor").unwrap().0, "slow-neighbour");
}

#[test]
fn the_text_of_a_built_in_scenario_is_its_file() {
    for (name, text) in built_in_scenarios() {
        assert_eq!(built_in_scenario(name).unwrap(), (*name, *text));
    }
    let error = built_in_scenario("anomally").unwrap_err().render(false);
    assert!(error.contains("did you mean `anomaly`?"), "{error}");
}
