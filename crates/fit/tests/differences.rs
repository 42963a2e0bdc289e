//! Devices that differ from any model of them, in simulated networks: the measured run names them, and no others.

use netburn_fit::difference::{Difference, differences};
use netburn_fit::houses::simulate;
use netburn_fit::{Measurement, Schedule, Settings};
use netburn_record::{MemoryRecorder, Row, Run, RunStatus, Sink};
use netburn_units::Seed;
use netburn_workload::Direction;

/// Two devices with the same link, and a third one far away. The line is faster than what they need here, so that few packets
/// are simulated.
const HOUSE: &str = r#"
[server.link]
delay = "9 ms"
[ap.home]
queue = "fq-codel"
wan = { down = "50 Mbit/s", up = "20 Mbit/s", delay = "4 ms" }
[ap.home.radio.5g]
standard = "802.11n"
width = "40 MHz"
[station.laptop]
joins = "home.5g"
signal = "-52 dBm"
[station.tablet]
joins = "home.5g"
signal = "-55 dBm"
[station.phone]
joins = "home.5g"
signal = "-84 dBm"
"#;

/// Names in the order of the plan: a scenario with a measurement sorts its keys.
const STATIONS: [&str; 3] = ["laptop", "phone", "tablet"];

fn names() -> Vec<String> {
    STATIONS.iter().map(|name| (*name).to_owned()).collect()
}

fn measured(house: &str) -> Run {
    let scenario = Schedule::measure(&names()).in_scenario(house).expect("valid TOML");
    simulate(&scenario, Seed(3)).expect("the house can be simulated")
}

fn found(run: &Run) -> Vec<Difference> {
    let measurement = Measurement::of_run(run, Settings::default().length).expect("a measurement");
    differences(&measurement)
}

/// Name and device of each difference.
fn named(run: &Run) -> Vec<(&'static str, &'static str)> {
    let all = found(run);
    all.iter().map(|one| (one.name(), STATIONS[one.station()])).collect()
}

/// With a key of the tablet.
fn with(key: &str) -> String {
    HOUSE.replace("signal = \"-55 dBm\"", &format!("signal = \"-55 dBm\"\n{key}"))
}

/// A slow line, a distant device and a crowded channel are the same for all, or they are in the model.
#[test]
fn nothing_differs_in_a_house_like_its_model() {
    assert_eq!(named(&measured(HOUSE)), []);
    let slow_line = HOUSE.replace("50 Mbit/s", "8 Mbit/s").replace("20 Mbit/s", "1 Mbit/s");
    assert_eq!(named(&measured(&slow_line)), []);
    let crowded = HOUSE.replace("width = \"40 MHz\"", "width = \"40 MHz\"\nchannel_busy = \"60 %\"");
    assert_eq!(named(&measured(&crowded)), []);
}

#[test]
fn an_adapter_slower_than_its_link_is_named() {
    let run = measured(&with("adapter_rate = { down = \"10 Mbit/s\" }"));
    assert_eq!(named(&run), [("slow-device", "tablet")]);
    let Difference::SlowDevice {
        direction,
        mbps,
        link_mbps,
        other,
        other_mbps,
        ..
    } = found(&run)[0]
    else {
        panic!("not a slow device");
    };
    assert_eq!((direction, STATIONS[other]), (Direction::Down, "laptop"));
    assert!((8.0..10.0).contains(&mbps), "{mbps}");
    // Two streams of 40 MHz have 270 Mbit/s at most with the long guard interval, and 300 with the short one.
    assert!((150.0..=300.0).contains(&link_mbps), "{link_mbps}");
    // The line of 50 Mbit/s without headers.
    assert!((40.0..48.0).contains(&other_mbps), "{other_mbps}");
}

/// The probes keep a device with the usual power save awake. This one is absent for 100 of each 130 ms, such as for
/// Bluetooth, so that it is slow with load, too.
#[test]
fn a_device_that_is_often_absent_is_named() {
    let run = measured(&with(
        "absence = { interval = \"130 ms\", length = \"100 ms\", announced = true }",
    ));
    assert_eq!(named(&run), [("slow-device", "tablet"), ("slow-idle", "tablet")]);
}

/// The recorded rates of the tablet are replaced: its signal permits far more.
#[test]
fn a_rate_far_below_the_signal_is_named() {
    let run = measured(HOUSE);
    let mut recorder = MemoryRecorder::new(run.header().clone());
    run.rows(&mut |row| {
        let row = match row {
            Row::Link(mut link) if STATIONS[usize::from(link.station)] == "tablet" => {
                // The lowest rate of one stream in 40 MHz, as an adapter with broken antennas uses it.
                let reported = |modulation: netburn_record::row::Modulation| netburn_record::row::Modulation {
                    mcs: Some(0),
                    ..modulation
                };
                (link.rx, link.tx) = (reported(link.rx), reported(link.tx));
                (link.rx_rate_bps, link.tx_rate_bps) = (Some(13_500_000), Some(13_500_000));
                Row::Link(link)
            }
            other => other,
        };
        recorder.put(&row).expect("in memory");
    })
    .expect("rows in memory");
    let run = recorder.finish("poor", &RunStatus::Complete);
    let all = named(&run);
    assert!(all.contains(&("low-rate", "tablet")), "{all:?}");
    assert!(all.iter().all(|(_, station)| *station == "tablet"), "{all:?}");
}
