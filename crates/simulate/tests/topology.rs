//! Houses with one line: what stations behind it see.

use netburn_record::summary::{Summariser, Summary};
use netburn_record::{Header, RunStatus, Sink as _};
use netburn_scenario::{Document, Environment};
use std::ops::ControlFlow;

fn run(text: &str) -> Summary {
    let document = Document::from_toml("house.toml", text).unwrap();
    let (plan, notes) = document.resolve_for(Environment::Simulate).unwrap();
    assert_eq!(notes, [""; 0], "no key is without effect");
    let mut summariser = Summariser::new(Header::simulated(plan.clone()));
    netburn_simulate::run(&plan, |_, rows| {
        rows.iter().for_each(|row| summariser.put(row).unwrap());
        ControlFlow::Continue(())
    })
    .unwrap();
    summariser.finish("in memory", &RunStatus::Complete)
}

/// Throughput of a station in Mbit/s.
fn throughput(summary: &Summary, name: &str) -> f64 {
    let station = summary.stations.iter().find(|station| station.name == name).unwrap();
    station.throughput_mbps
}

const RADIO: &str = "standard = \"802.11ac\"\nwidth = \"80 MHz\"\n";

/// A line of 100/40 Mbit/s with 8 ms and a FIFO of 2 MiB. A wired PC sees 16 ms when it is idle. While a television
/// downloads over Wi-Fi, the full queue adds 2 MiB × 8 ÷ 100 Mbit/s × 1538/1500 = 172 ms. CUBIC keeps it above
/// 0.7 × (172 + 16) − 16 = 116 ms.
#[test]
fn a_wired_station_waits_in_the_queue_of_the_line() {
    let house = |workload: &str| {
        format!(
            "duration = \"20 s\"\nwarmup = \"5 s\"\nbaseline = \"2 s\"\n[ap.a]\n\
             wan = {{ down = \"100 Mbit/s\", up = \"40 Mbit/s\", delay = \"8 ms\", queue = \"2 MiB\" }}\n\
             [ap.a.radio.5g]\n{RADIO}[station.pc]\nwired = true\nworkload = \"probe\"\n\
             [station.tv]\njoins = \"a.5g\"\nsignal = \"-50 dBm\"\n{workload}"
        )
    };
    let idle = run(&house("")).stations[0].idle_latency_ms.unwrap();
    assert!((16.0..16.5).contains(&idle), "{idle}");
    let loaded = run(&house("workload = \"download\"\n"));
    let median = loaded.stations[0].workloads[0].latency_ms.p50.unwrap();
    assert!((116.0..190.0).contains(&median), "{median}");
}

/// Two access points and a wired station behind a router, each with a download, share 100 Mbit/s: 1448 of 1538 bytes
/// are content (IPv4, TCP with timestamps), so that the sum is 94.1 Mbit/s. Uploads share 20 Mbit/s: 18.8.
#[test]
fn downloads_and_uploads_share_the_line() {
    let house = |workload: &str| {
        format!(
            "duration = \"20 s\"\nwarmup = \"5 s\"\n[router]\nwan = {{ down = \"100 Mbit/s\", up = \"20 Mbit/s\", delay = \"5 ms\" }}\n\
             [ap.a.radio.5g]\nchannel = 36\n{RADIO}[ap.b.radio.5g]\nchannel = 149\n{RADIO}\
             [station.one]\njoins = \"a.5g\"\nsignal = \"-50 dBm\"\nworkload = \"{workload}\"\n\
             [station.two]\njoins = \"b.5g\"\nsignal = \"-50 dBm\"\nworkload = \"{workload}\"\n\
             [station.pc]\nwired = true\nworkload = \"{workload}\"\n"
        )
    };
    for (workload, rate) in [("download", 100.0), ("upload", 20.0)] {
        let summary = run(&house(workload));
        let sum: f64 = ["one", "two", "pc"].map(|name| throughput(&summary, name)).iter().sum();
        let expected = rate * 1448.0 / 1538.0;
        assert!(
            (sum / expected - 1.0).abs() < 0.02,
            "{workload}: {sum}, expected {expected}"
        );
    }
}

/// A copy from a wired station to a NAS uses two cables of 1 Gbit/s: 941 Mbit/s of content. The line of 20 Mbit/s is free
/// for the upload to the server.
#[test]
fn traffic_to_a_server_at_home_does_not_use_the_line() {
    let summary = run(
        "duration = \"10 s\"\nwarmup = \"2 s\"\n[router]\nwan = { down = \"100 Mbit/s\", up = \"20 Mbit/s\", delay = \"5 ms\" }\n\
         [workload.copy]\nkind = \"upload\"\nserver = \"nas\"\n[station.nas]\nwired = true\nworkload = \"upload\"\n\
         [station.pc]\nwired = true\nworkload = \"copy\"\n",
    );
    let copy = throughput(&summary, "pc");
    let expected = 1000.0 * 1448.0 / 1538.0;
    assert!((copy / expected - 1.0).abs() < 0.03, "{copy}");
    let upload = throughput(&summary, "nas");
    assert!((upload / (20.0 * 1448.0 / 1538.0) - 1.0).abs() < 0.03, "{upload}");
}
