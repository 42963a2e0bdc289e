//! Responsiveness under load in simulated time, compared with values computed by hand.

use netburn_record::summary::{ResponsivenessSummary, Summariser, Summary};
use netburn_record::{Header, RunStatus, Sink};
use netburn_scenario::{Document, Environment};
use std::ops::ControlFlow;

/// The summary of a scenario whose stations are on wires, with a server that has no link of its own.
fn summary(duration: u32, tls: bool, stations: &str) -> Summary {
    let text = format!(
        "duration = \"{duration} s\"\nwarmup = \"5 s\"\nbaseline = \"0 s\"\n[server]\nhttp = \"2\"\ntls = {tls}\n\
         link = {{ delay = \"0 s\" }}\ninterrupt_interval = \"0 s\"\n{stations}"
    );
    run(&text)
}

/// The summary of a scenario.
fn run(text: &str) -> Summary {
    let document = Document::from_toml("rpm.toml", text).unwrap();
    let plan = document.resolve_for(Environment::Simulate).unwrap().0;
    let mut summariser = Summariser::new(Header::simulated(plan.clone()));
    let done = netburn_simulate::run(&plan, |_, rows| {
        rows.iter().for_each(|row| summariser.put(row).unwrap());
        ControlFlow::Continue(())
    });
    assert!(!done.unwrap().interrupted);
    summariser.finish("rpm", &RunStatus::Complete)
}

fn probes_of(summary: &Summary, station: &str) -> ResponsivenessSummary {
    let station = summary.stations.iter().find(|known| known.name == station).unwrap();
    let mut workloads = station.workloads.iter();
    workloads.find_map(|workload| workload.responsiveness.clone()).unwrap()
}

/// A round trip of 20 ms at 100 Mbit/s without a queue. The parts of a foreign probe are 20 ms each, plus the time of the
/// packets on the wire and up to 50 µs for an interrupt: with TLS a flight of 2.7 kB, 0.24 ms. So RPM is between 60 s / 20.4 ms =
/// 2941 and 60 s / 20 ms = 3000, and all probes have a response.
#[test]
fn an_empty_path_has_the_round_trips_of_its_delay() {
    for tls in [false, true] {
        let stations = "[station.one]\nworkload = \"own\"\n[station.one.link]\nrate = \"100 Mbit/s\"\ndelay = \"10 ms\"\n\
                        [workload.own]\nkind = \"responsiveness\"\nload_down = 0\nload_up = 0\n";
        let rpm = probes_of(&summary(15, tls, stations), "one");
        assert!(rpm.foreign_only);
        assert!((2_941.0..3_000.0).contains(&rpm.rpm.unwrap()), "{rpm:?}");
        let parts = [rpm.tcp_ms, rpm.http_ms].into_iter().chain(tls.then_some(rpm.tls_ms));
        for part in parts {
            let part = part.unwrap();
            assert!(part.min.unwrap() >= 20.0 && part.max.unwrap() <= 20.4, "{part:?}");
        }
        assert_eq!(rpm.tls_ms.is_some(), tls);
        // 10 s of ten probes per second.
        assert_eq!((rpm.foreign_probes.due, rpm.foreign_probes.lost), (100, 0));
        assert_eq!(rpm.self_probes.due, 0);
    }
}

/// A FIFO of 100 ms (1.25 MB at 100 Mbit/s) behind a round trip of 20 ms. Four downloads with CUBIC keep it filled: after a loss
/// the window is 0.7 of 1.5 MB, which leaves 64 ms of the queue. So a round trip takes from 84 ms to 120 ms, RPM of foreign
/// probes is between 500 and 715, and a path without a queue would have 3000. A self probe also waits for at most 16 KiB unsent
/// and 16 KiB of a frame on each of four connections: 10.5 ms.
#[test]
fn a_filled_queue_takes_its_time() {
    let stations = "[station.one]\nworkload = \"own\"\n[station.one.link]\nrate = \"100 Mbit/s\"\ndelay = \"10 ms\"\n\
                    queue = \"1250 kB\"\n[workload.own]\nkind = \"responsiveness\"\nload_down = 4\nload_up = 0\n";
    let summary = summary(20, true, stations);
    let rpm = probes_of(&summary, "one");
    let (foreign, own) = (rpm.foreign_rpm.unwrap(), rpm.loaded_rpm.unwrap());
    assert!((60_000.0 / 121.0..60_000.0 / 80.0).contains(&foreign), "{rpm:?}");
    assert!((60_000.0 / 135.0..60_000.0 / 80.0).contains(&own), "{rpm:?}");
    assert_eq!(rpm.rpm.unwrap(), (foreign + own) / 2.0);
    assert_eq!(
        (rpm.foreign_probes.lost, rpm.self_probes.lost, rpm.load_failures),
        (0, 0, 0)
    );
    // 1448 of 1538 bytes on the wire are content, 94.1 Mbit/s, and what waited for a retransmission before the evaluated time.
    let rate = summary.stations[0].throughput_mbps;
    assert!((88.0..95.0).contains(&rate), "{rate}");
}

/// A FIFO of 8 MB holds more than the send buffer of a connection (4 MB with its overhead). The time goes on while the buffer is
/// full and less than the limit is unsent, and the link stays filled.
#[test]
fn a_full_send_buffer_ends() {
    let stations = "[station.one]\nworkload = \"own\"\n[station.one.link]\nrate = \"100 Mbit/s\"\ndelay = \"10 ms\"\n\
                    queue = \"8 MB\"\n[workload.own]\nkind = \"responsiveness\"\nload_down = 1\nload_up = 0\n";
    let rate = summary(20, false, stations).stations[0].throughput_mbps;
    assert!((88.0..95.0).contains(&rate), "{rate}");
}

/// Two uploads into a modem with a FIFO of 100 ms (125 kB at 10 Mbit/s). The handshake of a foreign probe waits there once, and
/// each of its parts too: at most 121 ms, and at least 64 ms with the windows of CUBIC after a loss, less what 20 ms carry.
#[test]
fn an_upload_delays_the_probes_too() {
    let stations = "[station.one]\nworkload = \"own\"\n[station.one.link]\nup = \"10 Mbit/s\"\ndown = \"100 Mbit/s\"\n\
                    delay = \"10 ms\"\nqueue = \"125 kB\"\ndevice = \"1 Gbit/s\"\n\
                    [workload.own]\nkind = \"responsiveness\"\nload_down = 0\nload_up = 2\n";
    let summary = summary(20, true, stations);
    let rpm = probes_of(&summary, "one");
    let foreign = rpm.foreign_rpm.unwrap();
    assert!((60_000.0 / 125.0..60_000.0 / 70.0).contains(&foreign), "{rpm:?}");
    assert!(rpm.loaded_rpm.unwrap() < 60_000.0 / 70.0, "{rpm:?}");
    assert_eq!(
        (rpm.foreign_probes.lost, rpm.self_probes.lost, rpm.load_failures),
        (0, 0, 0)
    );
}

/// A station with foreign probes only, beside a station that downloads from 10 s on. Both share an internet line of 20 Mbit/s
/// with a FIFO of 100 ms in the modem. Before, a round trip is 20 ms and a few ms on the air; then it is 60 to 125 ms.
#[test]
fn the_load_of_one_station_lowers_the_rpm_of_another() {
    let text = "duration = \"20 s\"\nbaseline = \"0 s\"\n[server]\ninterrupt_interval = \"0 s\"\n\
                link = { delay = \"10 ms\" }\n[ap.x]\nwan = { down = \"20 Mbit/s\", up = \"20 Mbit/s\" }\n\
                [ap.x.radio.5g]\nstandard = \"802.11ac\"\n\
                [station.quiet]\njoins = \"x.5g\"\nsignal = \"-50 dBm\"\nworkload = \"rpm\"\n\
                [station.busy]\njoins = \"x.5g\"\nsignal = \"-50 dBm\"\nworkload = \"download\"\nstart = \"10 s\"\n\
                [workload.rpm]\nkind = \"responsiveness\"\nload_down = 0\nload_up = 0\n";
    let periods = probes_of(&run(text), "quiet").periods;
    let periods: Vec<f64> = periods.iter().map(|period| period.rpm.unwrap()).collect();
    assert_eq!(periods.len(), 4);
    assert!(
        periods[..2].iter().all(|rpm| (2_400.0..3_000.0).contains(rpm)),
        "{periods:?}"
    );
    assert!((480.0..1_000.0).contains(&periods[3]), "{periods:?}");
}
