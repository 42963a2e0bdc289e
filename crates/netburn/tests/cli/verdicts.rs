//! Effects of a limit and of a fault on each workload, in whole runs.

use crate::support::{Bench, finish, one_station, signal, start, station};
use netburn_record::{Row, Run};
use netburn_workload::{Operation, Outcome};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Runs a scenario and returns its exit status and its summary.
fn summary(content: &str, args: &[&str]) -> (i32, Value) {
    let bench = Bench::new();
    bench.write("one.toml", content);
    let ended = finish(bench.netburn(["run", "one.toml", "--format", "json"].iter().chain(args)));
    let code = ended.code();
    assert!(matches!(code, 0 | 1 | 3), "{}", ended.stderr);
    (code, ended.json())
}

fn one(summary: &Value) -> &Value {
    &station(summary, "one")["workloads"][0]
}

#[test]
fn a_4k_stream_fails_on_a_link_of_15_mbit() {
    // The goal is 20 Mbit/s in each window of 2 s, and the stream requests 25. The link has 15, whatever the machine
    // does.
    let (code, summary) = summary(
        &one_station("4kstream", 60, 6),
        &["--set", "server.link.rate=15 Mbit/s", "--check"],
    );
    let stream = one(&summary);
    assert_eq!(stream["goals"][0]["verdict"], "fail", "{summary:#}");
    assert!(stream["goals"][0]["met"].as_f64().unwrap() < 0.5, "{summary:#}");
    let rate = stream["throughput_mbps"].as_f64().unwrap();
    assert!(rate < 15.8, "{rate} Mbit/s through a line of 15");
    // A machine that is too busy makes it inconclusive, with the reason.
    match summary["verdict"].as_str().unwrap() {
        "fail" => {
            assert_eq!(code, 1);
            assert!(rate > 12.0, "{rate} Mbit/s through a line of 15");
        }
        _ => assert_inconclusive(code, &summary),
    }
}

#[test]
fn a_4k_stream_passes_on_a_link_of_60_mbit() {
    let (code, summary) = summary(&one_station("4kstream", 60, 6), &["--check"]);
    if summary["verdict"] == "inconclusive" {
        return assert_inconclusive(code, &summary);
    }
    let stream = one(&summary);
    assert_eq!(stream["goals"][0]["verdict"], "pass", "{summary:#}");
    assert_eq!(stream["goals"][1]["verdict"], "pass", "{summary:#}");
    assert_eq!((code, &summary["verdict"]), (0, &Value::from("pass")), "{summary:#}");
    // 25 Mbit/s are requested, except for the phase at the beginning and the last object.
    let rate = stream["throughput_mbps"].as_f64().unwrap();
    assert!((21.0..26.5).contains(&rate), "{rate} Mbit/s of 25");
}

#[track_caller]
fn assert_inconclusive(code: i32, summary: &Value) {
    assert_eq!(
        (code, &summary["verdict"]),
        (3, &Value::from("inconclusive")),
        "{summary:#}"
    );
    let reasons = summary["self_check"]["reasons"].as_array().unwrap();
    assert!(!reasons.is_empty(), "inconclusive without a reason: {summary:#}");
}

#[test]
fn a_stall_of_the_server_appears_in_the_tail_with_its_full_length() {
    let bench = Bench::new();
    bench.write("call.toml", one_station("voip", 20, 15));
    let mut run = start(bench.netburn(["run", "call.toml", "--out", "saved"]));
    run.wait_for_load();
    std::thread::sleep(Duration::from_secs(1));
    let server = run.processes_with_subcommand("serve")[0];
    let stopping = Instant::now();
    signal(server, "STOP");
    let stopped = Instant::now();
    std::thread::sleep(Duration::from_secs(2));
    let resuming = Instant::now();
    signal(server, "CONT");
    // The server was suspended for at least the one and at most the other time. The first affected call was due at most
    // 131 ms after the suspension began. Afterwards the answers take a moment, and longer if the agent has to wait for a
    // processor.
    let least = (resuming - stopped).as_secs_f64() * 1e3 - 132.0;
    let most = stopping.elapsed().as_secs_f64() * 1e3 + 10_000.0;
    run.finish();

    let calls = operations(&bench);
    let first = calls.iter().max_by_key(|o| o.latency()).unwrap();
    // One call every 131 ms: 15 or 16 fall due in 2 s. Up to 8 run at once, and the others are not started. The machine
    // may be slow at other times, too.
    let slow: Vec<&Operation> = calls
        .iter()
        .filter(|o| o.due >= first.due && o.due.since(first.due).as_millis_f64() < least)
        .filter(|o| o.latency().is_some_and(|l| l.as_millis() > 300))
        .collect();
    let missed = calls.iter().filter(|o| o.outcome == Outcome::NotStarted).count();
    assert!(
        slow.len() >= 5 && slow.len() + missed >= 12,
        "{} slow, {missed} missed: {calls:?}",
        slow.len()
    );
    // Latency counts from the due time: later operations waited less, and all ended when the server continued.
    for call in &slow {
        let (later, waited) = (call.due.since(first.due), call.latency().unwrap());
        let ended = later.as_millis_f64() + waited.as_millis_f64();
        assert!(
            (least..most).contains(&ended),
            "due {later} after the first and waited {waited}, for a stall of {least} to {most} ms: {}",
            shown(&calls)
        );
    }
    for pair in slow.windows(2) {
        let gap = pair[1].due.since(pair[0].due).as_millis_f64();
        assert!(gap < 140.0, "due {gap} ms later: {}", shown(&calls));
    }
}

/// Operations in short form: due, latency or outcome, in ms.
fn shown(operations: &[Operation]) -> String {
    let one = |o: &Operation| match o.latency() {
        Some(latency) => format!("{}: {:.1}", o.due, latency.as_millis_f64()),
        None => format!("{}: {:?}", o.due, o.outcome),
    };
    operations.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The operations of the first station's first workload in the order of their due times.
fn operations(bench: &Bench) -> Vec<Operation> {
    let mut operations = Vec::new();
    let run = Run::open(&bench.path("saved")).unwrap();
    run.rows(&mut |row| match row {
        Row::Operation(row) if row.station == 0 && row.workload == 0 => operations.push(row.operation),
        _ => {}
    })
    .unwrap();
    operations.sort_by_key(|o| o.due);
    operations
}
