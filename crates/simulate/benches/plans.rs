//! Cost of simulated plans, in processor time of one thread: `cargo bench -p netburn-simulate`.
//!
//! Workloads, HTTP over modelled TCP, the network, the air and the rows, from the baseline to the
//! end of the drain. `netburn-dev speed` runs some of these networks in ns-3 as well.

use netburn_record::Row;
use netburn_scenario::{Document, Environment, Plan, load};
use netburn_simulate::Counters;
use std::fmt::Write;
use std::ops::ControlFlow;

/// The fastest of this number of runs counts, because disturbances only slow a run down.
const ROUNDS: u32 = 5;

fn main() {
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // `cargo test` builds and runs benches too: there is nothing to test.
            "--test" => return,
            "--list" => return COUNTED.iter().for_each(|(name, _)| println!("{name}")),
            "--once" => return once(&arguments.next().expect("a name of --list")),
            _ => {}
        }
    }
    let anomaly = built_in("anomaly", &[("duration", "31 s"), ("ap.home.queue", "fifo")]);
    time("anomaly, FIFO, 31 s", &anomaly, ROUNDS);
    for stations in [10, 30] {
        let name = format!("dense cell, {stations} stations, 11 s");
        time(&name, &from_text(&dense(stations)), ROUNDS);
    }
    time(
        "8 access points, 200 stations that walk, 60 s",
        &from_text(&walkers(8, 200)),
        3,
    );
    let walk = built_in("walk-with-a-call", &[("network.home.k", "true")]);
    time("walk-with-a-call with k, 30 s", &walk, ROUNDS);
    for queue in ["fifo", "fq-codel", "airtime"] {
        let plan = built_in("archer-c7-one-ssid", &[("ap.c7.queue", queue)]);
        time(&format!("archer-c7-one-ssid, {queue}, 5 min"), &plan, 1);
    }
    // A packet of `voice` is a transmission of its own. Segments of `voip` share transmissions.
    for workload in ["voice", "voip"] {
        let name = format!("30 stations with {workload} beside a download, 6 s");
        time(&name, &from_text(&calls(30, workload)), ROUNDS);
    }
    if let Some(kib) = peak_memory_kib() {
        println!("peak memory of it all: {:.1} MiB", kib as f64 / 1024.0);
    }
}

/// A plan whose instructions `scripts/bench-instructions` counts: name and text.
type Counted = (&'static str, fn() -> Plan);

/// Short plans, because a run under callgrind takes fifty times as long.
const COUNTED: [Counted; 12] = [
    ("anomaly", || {
        built_in("anomaly", &[("duration", "10 s"), ("ap.home.queue", "fifo")])
    }),
    ("dense-10", || from_text(&dense(10).replace("11 s", "2 s"))),
    ("dense-30", || from_text(&dense(30).replace("11 s", "2 s"))),
    ("archer-c7-fifo", || archer("fifo")),
    ("archer-c7-fq-codel", || archer("fq-codel")),
    ("archer-c7-airtime", || archer("airtime")),
    ("walkers-200", || from_text(&walkers(8, 200).replace("60 s", "5 s"))),
    ("voice-30", || from_text(&calls(30, "voice").replace("6 s", "3 s"))),
    ("video-call", || from_text(&calls(4, "video-call"))),
    ("mesh", || built_in("three-unit-house", &[("duration", "3 s")])),
    ("cake-line", || {
        built_in(
            "evening-at-home",
            &[("duration", "10 s"), ("ap.home.wan.discipline", "cake")],
        )
    }),
    ("uploads-20", || from_text(&uploads(20))),
];

/// Runs a plan of [`COUNTED`] once and prints its data segments and packets.
fn once(name: &str) {
    let (_, plan) = COUNTED
        .iter()
        .find(|(other, _)| *other == name)
        .expect("a name of --list");
    let done = netburn_simulate::run(&plan(), |_, _| ControlFlow::Continue(())).expect("it can be simulated");
    println!("{} {}", done.counters.data_segments, done.counters.packets);
}

fn archer(queue: &str) -> Plan {
    built_in("archer-c7-one-ssid", &[("duration", "5 s"), ("ap.c7.queue", queue)])
}

fn from_text(text: &str) -> Plan {
    resolved(&Document::from_toml("benchmark", text).expect("a scenario"))
}

/// Runs a plan and prints its cost.
fn time(name: &str, plan: &Plan, rounds: u32) {
    let (mut quickest, mut rows, mut transmissions) = (f64::INFINITY, 0, 0);
    let mut counters = Counters::default();
    for _ in 0..rounds {
        let begun = used();
        (rows, transmissions) = (0, 0);
        let done = netburn_simulate::run(plan, |_, some| {
            rows += some.len();
            let air = |row: &Row| if let Row::Air(row) = row { row.transmissions } else { 0 };
            transmissions += some.iter().map(air).sum::<u64>();
            ControlFlow::Continue(())
        });
        quickest = quickest.min(used() - begun);
        counters = done.expect("it can be simulated").counters;
    }
    let each = |count: u64| quickest * 1e9 / count.max(1) as f64;
    println!(
        "{name}: {:.1} ms, {} data segments, {rows} rows; for each data segment {:.0} ns, packet {:.0} ns, \
         transmission {:.0} ns",
        quickest * 1e3,
        counters.data_segments,
        each(counters.data_segments),
        each(counters.packets),
        each(transmissions)
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

/// Stations that upload, at 866.7 Mbit/s PHY rate.
fn uploads(stations: u32) -> String {
    let both = "[\"download\", \"browsing\"]";
    dense(stations).replace("11 s", "2 s").replace(both, "\"upload\"")
}

/// Stations with this workload beside one that downloads, at 650 Mbit/s PHY rate.
fn calls(stations: u32, workload: &str) -> String {
    let mut text = String::from(
        "title = \"calls\"\nduration = \"6 s\"\n[ap.home]\nqueue = \"fq-codel\"\n\
         [ap.home.radio.5g]\nstandard = \"802.11ac\"\nwidth = \"80 MHz\"\nstreams = 2\n",
    );
    let names = (0..stations).map(|station| (format!("s{station}"), workload));
    for (name, workload) in names.chain([("laptop".to_owned(), "download")]) {
        let _ = write!(
            text,
            "[station.{name}]\njoins = \"home.5g\"\nstandard = \"802.11ac\"\nstreams = 2\nmcs = 7\n\
             workload = \"{workload}\"\n"
        );
    }
    text
}

/// Access points in a grid of 20 m with walls in between. The stations walk from one to another at
/// 1 m/s, and roam with 802.11k. A quarter of them call, an eighth browse, and the others send probes.
fn walkers(access_points: u32, stations: u32) -> String {
    const CHANNELS: [u16; 8] = [36, 44, 52, 60, 100, 108, 149, 157];
    const POLICIES: [&str; 4] = ["linux", "iwd", "apple-phone", "qualcomm"];
    let names: Vec<String> = (0..access_points).map(|ap| format!("\"a{ap}.5g\"")).collect();
    let mut text = format!(
        "title = \"walkers\"\nduration = \"60 s\"\n[building]\nwalls = [\"10 m, -5 m to 10 m, 25 m\", \
         \"30 m, -5 m to 30 m, 25 m\", \"50 m, -5 m to 50 m, 25 m\"]\n\
         [network.site]\nradios = [{}]\nsecurity = \"psk\"\nk = true\n",
        names.join(", ")
    );
    for ap in 0..access_points {
        let (x, y) = (ap % 4 * 20, ap / 4 * 20);
        let channel = CHANNELS[ap as usize % CHANNELS.len()];
        let _ = write!(
            text,
            "[ap.a{ap}]\nposition = \"{x} m, {y} m\"\nqueue = \"fq-codel\"\n\
             [ap.a{ap}.radio.5g]\nchannel = {channel}\nwidth = \"40 MHz\"\n"
        );
    }
    for station in 0..stations {
        let at = |ap: u32| format!("\"{} m, {} m\"", ap % 4 * 20 + 1, ap / 4 * 20 + station % 7);
        let (first, other) = (
            station % access_points,
            (station * 3 + 1 + station / access_points) % access_points,
        );
        let path = [first, first + 2, other, first, other + 3].map(|ap| at(ap % access_points));
        let policy = POLICIES[station as usize % POLICIES.len()];
        let workload = match station % 8 {
            3 | 7 => "voip",
            0 => "browsing",
            _ => "probe",
        };
        let _ = write!(
            text,
            "[station.s{station}]\njoins = \"site\"\npath = [{}]\nspeed = \"1 m/s\"\n\
             roaming = \"{policy}\"\nworkload = \"{workload}\"\n",
            path.join(", ")
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
