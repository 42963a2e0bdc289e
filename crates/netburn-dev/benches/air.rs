//! Processor time of the simulated air on one thread: `cargo bench -p netburn-dev`.
//!
//! Configurations of `netburn-dev validate`. `netburn-dev speed` runs such networks in ns-3 as well.
//!
//! - Saturated uplink of 802.11a at 54 Mbit/s for 10 simulated seconds.
//! - Three stations with 100 Mbit/s of UDP each behind one FIFO for 30 s.

use netburn_dev::validate::CaseFile;

/// Numbers of stations.
const UPLINK: [u32; 7] = [5, 10, 20, 50, 100, 150, 200];
/// Number of runs, of which the fastest counts, because disturbances only slow a run down.
const RUNS: u32 = 5;

fn main() {
    // `cargo test` also builds and runs benches, but there is nothing to test.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    println!("saturated uplink, 802.11a 54 Mbit/s, 1500 bytes, 10 simulated seconds");
    for stations in UPLINK {
        let [millis, goodput, collided] = time(&uplink(stations));
        // Goodput counts packets of 12 000 bits that arrived once.
        let transmissions = goodput * 1e7 / 12_000.0 / (1.0 - collided);
        let each = millis * 1e6 / transmissions;
        println!("  n = {stations:3}: {millis:7.2} ms, {each:5.0} ns a transmission");
    }
    println!("three stations, 100 Mbit/s of UDP offered to each, FIFO, 30 simulated seconds");
    let [millis, goodput, _] = time(ANOMALY_CASE);
    println!("  {millis:7.2} ms, {goodput:.1} Mbit/s");
    if let Some(kib) = peak_memory_kib() {
        println!("peak memory of it all: {:.1} MiB", kib as f64 / 1024.0);
    }
}

/// Returns the processor time of the fastest run in ms, its goodput, and the share of transmissions that collided.
fn time(case: &str) -> [f64; 3] {
    let file = CaseFile::parse("benchmark", case).unwrap_or_else(|wrong| panic!("{wrong}"));
    let input = &file.cases[0].input;
    let (mut quickest, mut values) = (f64::INFINITY, Vec::new());
    for _ in 0..RUNS {
        let begun = used();
        values = input.run(&["goodput", "collided"]);
        quickest = quickest.min((used() - begun) * 1e3);
    }
    [quickest, values[0], values[1]]
}

/// Processor time of this thread in seconds, or real time if the system does not provide it.
fn used() -> f64 {
    static BEGUN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let begun = BEGUN.get_or_init(std::time::Instant::now);
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat");
    let nanos: Option<f64> = schedule
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanos.map_or_else(|| begun.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
}

fn uplink(stations: u32) -> String {
    format!(
        "{HEAD}access = \"dcf\"\nphy = {{ standard = \"802.11a\", rate = \"54 Mbit/s\" }}\nstations = {stations}\ncontent = 1500\n\
         tries = \"unlimited\"\nhardware = \"1 aggregates\"\nwarm-up = \"0 s\"\nduration = \"10 s\"\n"
    )
}

const HEAD: &str = "title = \"b\"\n[[case]]\nname = \"b\"\nsource = \"b\"\ntrust = \"derived\"\nkind = \"air\"\nmetric = \"goodput\"\nat-least = \"0 Mbit/s\"\n";

const ANOMALY_CASE: &str = r#"
title = "b"
[[case]]
name      = "b"
source    = "b"
trust     = "derived"
kind      = "air"
metric    = "goodput"
at-least  = "0 Mbit/s"
stations  = [
    { name = "fast", count = 2, phy = { standard = "802.11n", mcs = 7, streams = 2, guard = "400 ns" } },
    { name = "slow", phy = { standard = "802.11n", mcs = 0, guard = "400 ns" } },
]
direction = "down"
aggregation = { ampdu = 65535 }
offered   = "100 Mbit/s"
queue     = "fifo"
warm-up   = "0 s"
duration  = "30 s"
"#;

/// Peak memory of this process, if the system provides it.
fn peak_memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
