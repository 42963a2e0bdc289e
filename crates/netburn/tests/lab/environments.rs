//! The default environment, timed changes in the lab, and the agreement of lab and simulator. Needs namespaces.

use crate::support::{Bench, SMALL, finish, station};
use netburn_record::{EventKind, Row, Run};
use netburn_workload::Outcome;

#[test]
fn the_default_environment_is_the_lab() {
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
}

#[test]
fn a_plan_opens_no_lab() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    // No lab could be opened here, so the plan comes from the scenario alone.
    let script = "echo 0 > /proc/sys/user/max_net_namespaces; exec \"$@\"";
    let flags = ["--user", "--map-root-user"];
    let ended = finish(bench.inside(&flags, script, ["plan", "small.toml"])).expect(0);
    assert!(ended.out().contains("On lab, this would be"), "{}", ended.out());
    assert_eq!(ended.stderr, "");
}

#[test]
fn without_a_lab_the_run_is_simulated_and_the_reason_is_printed() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let script = "echo 0 > /proc/sys/user/max_net_namespaces; exec \"$@\"";
    // A user namespace in which no network namespace can be created.
    let flags = ["--user", "--map-root-user"];
    let ended = finish(bench.inside(&flags, script, ["run", "small.toml"])).expect(0);
    let printed: Vec<&str> = ended
        .stderr
        .lines()
        .filter(|line| line.contains("no lab here"))
        .collect();
    assert_eq!(printed.len(), 1, "{}", ended.stderr);
    assert!(printed[0].contains("namespaces"), "{}", printed[0]);
    assert!(
        ended.out().starts_with("simulate: a model of Wi-Fi and TCP"),
        "{}",
        ended.out()
    );
    // With `--on lab` nothing else is used instead.
    let ended = finish(bench.inside(&flags, script, ["run", "small.toml", "--on", "lab"])).expect(2);
    assert!(
        ended.stderr.contains("no lab") && ended.stderr.contains("--on simulate"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.is_empty());
}

/// A station moves out of range and returns. The rate of another is fixed, and its access point's queue is replaced.
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
fn timed_changes_take_effect_in_the_lab() {
    let bench = Bench::new();
    bench.write("changes.toml", CHANGES);
    let ended = finish(bench.netburn([
        "run",
        "changes.toml",
        "--on",
        "lab",
        "--out",
        "saved",
        "--format",
        "json",
    ]));
    assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
    let mut rows = Vec::new();
    let run = Run::open(&bench.path("saved")).unwrap();
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
    // Probes of the moving station: answered; lost while it is away, although queued ones may arrive later; answered.
    // The times around each change are left out.
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
    // MCS 0 on two streams at 40 MHz is 30 Mbit/s with the short guard interval (802.11-2020 table 19-35: HT MCS 8).
    // The link had 300 Mbit/s before.
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
    // The bits of a second of airtime depend on the link, not on the pace of programs. Acknowledgements of TCP count as full
    // packets, and there is at most one for each packet.
    let of_air = |from: f64, until: f64| {
        let (mut bits, mut airtime) = (0.0, 0.0);
        for row in &rows {
            if let Row::Air(air) = row
                && air.station == 1
                && (from..until).contains(&air.at.as_secs_f64())
            {
                bits += air.mpdus as f64 * 1448.0 * 8.0;
                airtime += (air.airtime_down + air.airtime_up).as_secs_f64();
            }
        }
        bits / airtime / 1e6
    };
    // The last second is the one in which a late change has taken effect too.
    let (fast, slow) = (of_air(0.5, 4.8), of_air(6.0, 7.0));
    let context = || format!("{changes:?}\n{}\n{}", ended.out(), ended.stderr);
    assert!(
        slow < 60.0 && fast > 2.0 * slow,
        "{fast}, then {slow} Mbit/s of airtime\n{}",
        context()
    );
    // On a machine that is too busy, changes and probes are late, and an agent reads within one second what arrived during
    // a longer time. The self-check reports it.
    if ended.code() == 0 {
        let back =
            [(0.3, 1.5, 2.0), (2.5, 3.5, 4.0), (5.0, 6.5, 7.5)].map(|(from, until, by)| came_back(from, until, by));
        assert!(
            back[0] > 0.9 && back[1] < 0.1 && back[2] > 0.9,
            "{back:?}\n{}",
            context()
        );
        let rates = format!("{before}, then {after} Mbit/s\n{}", context());
        assert!(after < 30.0 && before > after, "{rates}");
        assert!(before > 30.0 && after > 4.0, "{rates}");
        assert!(station(&ended.json(), "loader")["throughput_mbps"].as_f64().unwrap() > 10.0);
    }
}

/// The server's link carries the highest bit rate of the player (16.8 Mbit/s) and a video call (2.5 Mbit/s each way).
const ADAPTIVE: &str = r#"
duration = "8 s"
baseline = "1 s"
[server]
link = { rate = "40 Mbit/s", delay = "10 ms" }
[ap.home]
queue = "airtime"
[ap.home.radio.5g]
[station.tv]
joins = "home.5g"
signal = "-60 dBm"
workload = "dash"
[station.desk]
joins = "home.5g"
signal = "-55 dBm"
workload = "video-call"
"#;

#[test]
fn adaptive_workloads_behave_in_the_lab_as_in_the_simulator() {
    let bench = Bench::new();
    bench.write("adaptive.toml", ADAPTIVE);
    let [simulated, lab] = ["simulate", "lab"].map(|on| {
        let ended = finish(bench.netburn(["run", "adaptive.toml", "--on", on, "--format", "json"]));
        assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
        let summary = ended.json();
        let segments = station(&summary, "tv")["workloads"][0]["segments"].clone();
        let call = station(&summary, "desk")["workloads"][0]["streams"].clone();
        (ended.code() == 0, segments, call)
    });
    for (_, segments, call) in [&simulated, &lab] {
        // The lowest bit rate of the default ladder is that of the first segment.
        assert_eq!(segments["lowest_mbps"], 0.145, "{segments}");
        assert!(segments["complete"].as_u64().unwrap() >= 4, "{segments}");
        for direction in ["up", "down"] {
            // The start rate of a call is 300 kbit/s (draft-ietf-rmcat-gcc), and the target 2.5 Mbit/s.
            let rate = call[direction]["video"]["rate_mbps"].as_f64().unwrap();
            assert!(rate > 0.3 && rate <= 2.51, "{call}");
        }
    }
    // A machine that is too busy delays the lab, and the self-check reports it.
    if lab.0 {
        for value in ["complete", "mean_mbps", "switches"] {
            let [simulated, lab] = [&simulated.1, &lab.1].map(|segments| segments[value].as_f64().unwrap());
            assert!(
                (simulated - lab).abs() <= 0.25 * simulated,
                "{value}: {simulated} and {lab}"
            );
        }
    }
}
