//! Which environment it is where nobody says, what changes while the lab runs, and whether lab and simulator agree. Needs namespaces.

use crate::common::{Bench, SMALL, finish, station};
use netburn_record::{EventKind, Row, Run};
use netburn_workload::Outcome;

#[test]
fn where_nobody_says_it_is_the_lab() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let ended = finish(bench.netburn(["run", "small.toml"]));
    assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
    assert!(ended.stderr.contains("no --on: running in the lab"), "{}", ended.stderr);
    assert!(
        ended.out().starts_with("lab: a model of an access point"),
        "{}",
        ended.out()
    );
    let said = finish(bench.netburn(["plan", "small.toml"])).expect(0).out();
    assert!(said.contains("On lab, this would be"), "{said}");
}

#[test]
fn where_there_can_be_no_lab_it_is_simulated_and_says_what_is_missing() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let script = "echo 0 > /proc/sys/user/max_net_namespaces; exec \"$@\"";
    // A user namespace in which no further network namespace may be made.
    let flags = ["--user", "--map-root-user"];
    let ended = finish(bench.inside(&flags, script, ["run", "small.toml"])).expect(0);
    let said: Vec<&str> = ended
        .stderr
        .lines()
        .filter(|line| line.contains("no lab here"))
        .collect();
    assert_eq!(said.len(), 1, "{}", ended.stderr);
    assert!(said[0].contains("namespaces"), "{}", said[0]);
    assert!(
        ended.out().starts_with("simulate: a model of Wi-Fi and TCP"),
        "{}",
        ended.out()
    );
    // Asked for the lab, there is none, and nothing else instead.
    let ended = finish(bench.inside(&flags, script, ["run", "small.toml", "--on", "lab"])).expect(2);
    assert!(
        ended.stderr.contains("no lab") && ended.stderr.contains("--on simulate"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.is_empty());
}

/// A station walks out of reach and comes back; the rate of another is held down, its access point's queue replaced.
const CHANGES: &str = r#"
duration = "7 s"
baseline = "1 s"
drain = "4 s"
[ap.home]
[ap.home.radio.5g]
standard = "802.11n"
[station.walker]
joins = "home.5g"
signal = "-55 dBm"
workload = "probe"
[station.loader]
joins = "home.5g"
signal = "-50 dBm"
workload = "download"
[[at]]
time = "2 s"
set = { "station.walker.signal" = "-110 dBm" }
[[at]]
time = "4 s"
set = { "station.walker.signal" = "-55 dBm", "ap.home.queue" = "airtime" }
[[at]]
time = "5 s"
set = { "station.loader.mcs" = 0 }
"#;

#[test]
fn what_changes_while_it_runs_changes_in_the_lab() {
    let bench = Bench::new();
    bench.write("changes.toml", CHANGES);
    let ended = finish(bench.netburn([
        "run",
        "changes.toml",
        "--on",
        "lab",
        "--out",
        "kept",
        "--format",
        "json",
    ]));
    assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
    let mut rows = Vec::new();
    let run = Run::open(&bench.path("kept")).unwrap();
    run.rows(&mut |row| rows.push(row)).unwrap();
    let changes: Vec<_> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Event(event) if event.kind == EventKind::Change => {
                Some((event.at.as_secs_f64(), event.detail.text().into_owned()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(changes.len(), 3, "{changes:?}");
    assert!(changes[0].1.contains("walker.signal"), "{changes:?}");
    // Probes of the walker: all is well; nothing comes back while it is away, though what waits may later; all is well. The time around
    // each change is left out.
    let came_back = |from: f64, until: f64, by: f64| {
        let due = rows.iter().filter_map(|row| match row {
            Row::Operation(operation) if operation.station == 0 => {
                let at = operation.operation.due.as_secs_f64();
                let back = operation.operation.outcome == Outcome::Finished
                    && operation.operation.finished.is_some_and(|at| at.as_secs_f64() < by);
                (at >= from && at < until).then_some(back)
            }
            _ => None,
        });
        let all: Vec<bool> = due.collect();
        assert!(all.len() >= 10, "{} probes between {from} and {until}", all.len());
        all.iter().filter(|back| **back).count() as f64 / all.len() as f64
    };
    assert!(came_back(0.3, 1.5, 2.0) > 0.9);
    assert!(came_back(2.5, 3.5, 4.0) < 0.1);
    assert!(came_back(5.0, 6.5, 7.5) > 0.9);
    // MCS 0 on two streams at 40 MHz is 30 Mbit/s with the short guard interval (802.11-2020 table 19-35: HT MCS 8); before, the link had 300.
    let moved = |from: f64, until: f64| {
        let bytes = rows.iter().filter_map(|row| match row {
            Row::Interval(interval) if interval.station == 1 => {
                let at = interval.at.as_secs_f64();
                (at >= from && at < until).then_some(interval.bytes_down)
            }
            _ => None,
        });
        bytes.sum::<u64>() as f64 * 8.0 / (until - from) / 1e6
    };
    let (before, after) = (moved(0.5, 2.0), moved(6.0, 7.0));
    assert!(after < 30.0 && before > after, "{before}, then {after} Mbit/s");
    // A machine that is too busy moves less, and says so.
    if ended.code() == 0 {
        assert!(before > 40.0 && after > 4.0, "{before}, then {after} Mbit/s");
        assert!(station(&ended.json(), "loader")["throughput_mbps"].as_f64().unwrap() > 10.0);
    }
}

#[test]
fn lab_and_simulator_agree() {
    let bench = Bench::new();
    let ended = finish(bench.netburn(["crosscheck", "--against", "lab", "--quick", "--format", "json"]));
    // A case with repeated quality issues is inconclusive, and no reason to fail here.
    assert!(matches!(ended.code(), 0 | 3), "{}{}", ended.out(), ended.stderr);
    let cases = ended.json();
    let cases = cases.as_array().unwrap();
    assert!(cases.len() >= 3, "{cases:#?}");
    for case in cases {
        let unreliable = !case["quality_issues"].as_array().unwrap().is_empty();
        for figure in case["figures"].as_array().unwrap() {
            assert_ne!(figure["outcome"], "differs", "{case:#}");
            assert_eq!(figure["outcome"] == "unreliable", unreliable, "{case:#}");
        }
    }
}
