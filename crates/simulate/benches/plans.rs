//! Cost of simulated plans, in processor time of one thread: `cargo bench -p netburn-simulate`.
//!
//! Workloads, HTTP over modelled TCP, the network, the air and the rows, from the baseline to the
//! end of the drain.

use netburn_scenario::{Document, Environment, Plan, load};
use std::fmt::Write;
use std::ops::ControlFlow;

/// Processor time of ns-3.44 (optimised build) for the same number of simulated seconds, in
/// seconds.
const ANOMALY: f64 = 4.4;
const DENSE: [(u32, f64); 2] = [(10, 35.0), (30, 79.0)];
/// The fastest of this number of runs counts, because disturbances only slow a run down.
const ROUNDS: u32 = 5;

fn main() {
    // `cargo test` builds and runs benches too: there is nothing to test.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let anomaly = built_in("anomaly", &[("duration", "31 s"), ("ap.home.queue", "fifo")]);
    time("anomaly, FIFO, 31 s", &anomaly, ROUNDS, Some(ANOMALY));
    for (stations, theirs) in DENSE {
        let document = Document::from_toml("dense", &dense(stations)).expect("a scenario");
        let name = format!("dense cell, {stations} stations, 11 s");
        time(&name, &resolved(&document), ROUNDS, Some(theirs));
    }
    for queue in ["fifo", "fq-codel", "airtime"] {
        let plan = built_in("archer-c7-one-ssid", &[("ap.c7.queue", queue)]);
        time(&format!("archer-c7-one-ssid, {queue}, 5 min"), &plan, 1, None);
    }
    if let Some(kib) = peak_memory_kib() {
        println!("peak memory of it all: {:.1} MiB", kib as f64 / 1024.0);
    }
}

/// Runs a plan and prints its cost.
fn time(name: &str, plan: &Plan, rounds: u32, theirs: Option<f64>) {
    let (mut quickest, mut segments, mut rows) = (f64::INFINITY, 0, 0);
    for _ in 0..rounds {
        let begun = used();
        rows = 0;
        let done = netburn_simulate::run(plan, |_, some| {
            rows += some.len();
            ControlFlow::Continue(())
        });
        quickest = quickest.min(used() - begun);
        segments = done.expect("it can be simulated").counters.data_segments;
    }
    let than = theirs.map_or_else(String::new, |theirs| {
        format!(", ns-3 {theirs} s: {:.0} times", theirs / quickest)
    });
    let each = quickest * 1e9 / segments.max(1) as f64;
    println!(
        "{name}: {:.1} ms, {segments} data segments, {rows} rows, {each:.0} ns a data segment{than}",
        quickest * 1e3
    );
}

/// A built-in scenario with changes.
fn built_in(name: &str, changes: &[(&str, &str)]) -> Plan {
    let mut document = load(name).expect("a scenario");
    for (key, value) in changes {
        document.set(key, value).expect("a key of a scenario");
    }
    resolved(&document)
}

fn resolved(document: &Document) -> Plan {
    document.resolve_for(Environment::Simulate).expect("a good scenario").0
}

/// All stations download and browse, at 866.7 Mbit/s PHY rate.
fn dense(stations: u32) -> String {
    let mut text = String::from(
        "title = \"dense\"\nduration = \"11 s\"\n[ap.home]\nqueue = \"fifo\"\n\
         [ap.home.radio.5g]\nstandard = \"802.11ac\"\nwidth = \"80 MHz\"\nstreams = 2\nguard = \"400 ns\"\n",
    );
    for station in 0..stations {
        let _ = write!(
            text,
            "[station.s{station}]\njoins = \"home.5g\"\nstandard = \"802.11ac\"\nstreams = 2\nmcs = 9\n\
             workload = [\"download\", \"browsing\"]\n"
        );
    }
    text
}

/// Processor time of this thread in seconds; wall-clock time if the system doesn't provide it.
fn used() -> f64 {
    static BEGUN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let begun = BEGUN.get_or_init(std::time::Instant::now);
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat");
    let nanos: Option<f64> = schedule
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanos.map_or_else(|| begun.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
}

/// Peak memory of this process, if the system provides it.
fn peak_memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
