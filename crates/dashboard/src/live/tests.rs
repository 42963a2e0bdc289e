use super::*;
use netburn_analysis::View;
use netburn_record::row::BASELINE;
use netburn_record::summary::Summariser;
use netburn_record::{AirRow, Environment, EventKind, EventRow, IntervalRow, OperationRow};
use netburn_record::{Recorder, RunStatus, Sink as _};
use netburn_report::live::{Model, Phase};
use netburn_scenario::{Plan, Station as PlanStation, StationWorkload};
use netburn_units::{Duration, Instant, Seed};
use netburn_workload::{Config, Failure, Operation, Outcome};
use serde_json::{Value, json};

fn header() -> Header {
    let station = |name: &str, workload: &str, config: Config| PlanStation {
        workloads: vec![StationWorkload::new(workload, config)],
        ..PlanStation::new(name)
    };
    Header {
        environment: Environment::Lab,
        seed: Seed(7),
        ..Header::simulated(Plan {
            duration: Duration::from_secs(10),
            title: Some("Two".into()),
            stations: vec![
                station("phone", "voip", Config::voip()),
                station("desktop", "download", Config::download()),
            ],
            ..Plan::new("two")
        })
    }
}

fn bytes(station: u16, tenth: i64, bytes: u64) -> Row {
    Row::Interval(IntervalRow {
        station,
        workload: 0,
        at: Instant::from_millis(tenth * 100),
        bytes_down: bytes,
        bytes_up: 0,
    })
}

fn call(sequence: u64, due_ms: i64, took_ms: Option<u64>) -> Row {
    let due = Instant::from_millis(due_ms);
    let finished = took_ms.map(|took| due + Duration::from_millis(took));
    Row::Operation(OperationRow {
        station: 0,
        workload: 0,
        operation: Operation {
            sequence,
            due,
            started: Some(due),
            connected: None,
            first_byte: finished,
            finished,
            bytes: 0,
            outcome: if finished.is_some() {
                Outcome::Finished
            } else {
                Outcome::NotStarted
            },
            far: None,
            tcp_connected: None,
        },
    })
}

fn event(kind: EventKind, at_ms: i64, text: &str) -> Row {
    Row::Event(EventRow {
        station: Some(0),
        workload: Some(0),
        at: Instant::from_millis(at_ms),
        length: 0,
        kind,
        detail: text.into(),
    })
}

fn snapshot_of(rows: &[Row]) -> Value {
    let mut live = Live::new(&header());
    for row in rows {
        live.put(row);
    }
    serde_json::to_value(live.snapshot()).unwrap()
}

#[test]
fn a_run_without_rows_has_no_values() {
    let snapshot = snapshot_of(&[]);
    assert_eq!(snapshot["at_s"], Value::Null);
    assert_eq!((&snapshot["mbps"], &snapshot["title"]), (&json!(0.0), &json!("Two")));
    assert_eq!(snapshot["phase"], "waiting for the first rows");
    assert_eq!(snapshot["stations"][1]["workloads"][0]["history_mbps"], json!([]));
}

/// 125 000 B in each tenth of a second are 10 Mbit/s.
#[test]
fn rates_are_those_of_the_last_second() {
    let rows: Vec<Row> = (0..30)
        .map(|tenth| bytes(1, tenth, if tenth < 15 { 0 } else { 125_000 }))
        .collect();
    let snapshot = snapshot_of(&rows);
    assert_eq!(
        (&snapshot["at_s"], &snapshot["phase"]),
        (&json!(2.9), &json!("running"))
    );
    let desktop = &snapshot["stations"][1];
    assert_eq!(desktop["mbps"], json!(10.0));
    assert_eq!(desktop["workloads"][0]["history_mbps"], json!([0.0, 5.0]));
    // The other station has no throughput.
    assert_eq!(
        (&snapshot["stations"][0]["mbps"], &snapshot["mbps"]),
        (&json!(0.0), &json!(10.0))
    );
    // A second that ended 1.5 s before the newest row is not current.
    let later = snapshot_of(&[rows, vec![bytes(0, 45, 1)]].concat());
    assert_eq!(later["stations"][1]["mbps"], json!(0.0));
}

#[test]
fn goal_misses_are_counted() {
    let rows = [
        call(0, 0, Some(40)),
        call(1, 131, Some(151)),
        call(2, 262, None),
        call(3, 2_000, Some(20)),
        event(EventKind::Stall, 300, ""),
        event(EventKind::Health, 400, "{}"),
        event(EventKind::Lost, 2_500, "agent phone was lost"),
    ];
    let snapshot = snapshot_of(&rows);
    let voip = &snapshot["stations"][0]["workloads"][0];
    assert_eq!(
        (&voip["operations"], &voip["goal_misses"], &voip["stalls"]),
        (&json!(3), &json!(2), &json!(1))
    );
    assert_eq!((&voip["latency_ms"], &voip["limit_ms"]), (&json!(20.0), &json!(150.0)));
    assert_eq!(voip["history_ms"], json!([151.0, null]));
    assert_eq!(snapshot["stations"][0]["lost"], json!(true));
    let kinds: Vec<&str> = snapshot["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["stall", "lost"]);
}

/// Rows of the evaluated time give the same counts in the summary, on the terminal, in the dashboard and in the page's
/// view.
#[test]
fn all_aggregations_count_the_same_operations() {
    let with_outcome = |row: Row, outcome: Outcome| match row {
        Row::Operation(row) => Row::Operation(OperationRow {
            operation: Operation {
                outcome,
                ..row.operation
            },
            ..row
        }),
        other => other,
    };
    let idle = |due_ms, took_ms| match call(0, due_ms, took_ms) {
        Row::Operation(row) => Row::Operation(OperationRow {
            workload: BASELINE,
            ..row
        }),
        other => other,
    };
    let rows = [
        call(0, 1_000, Some(40)),
        call(1, 1_100, Some(150)),
        call(2, 1_200, Some(151)),
        call(3, 1_300, None),
        with_outcome(call(4, 1_400, Some(9)), Outcome::TimedOut),
        with_outcome(call(5, 1_500, Some(9)), Outcome::Failed(Failure::Connection)),
        with_outcome(call(6, 1_600, None), Outcome::Unfinished),
        with_outcome(call(7, 1_700, None), Outcome::Cut),
        // Becomes an operation of a workload that is not in the plan.
        with_outcome(call(8, 1_800, Some(9)), Outcome::Finished),
        event(EventKind::Stall, 1_900, ""),
    ];
    // A median needs six samples.
    let probes = (0..10).map(|number| idle(-900 + 50 * number, (number != 3).then_some(2)));
    let rows: Vec<Row> = probes
        .chain(rows)
        .map(|row| match row {
            Row::Operation(row) if row.operation.sequence == 8 => Row::Operation(OperationRow { workload: 7, ..row }),
            row => row,
        })
        .collect();
    let header = header();
    let mut summariser = Summariser::new(header.clone());
    let mut terminal = Model::new(&header.plan);
    terminal.phase(Phase::Load);
    let mut dashboard = Live::new(&header);
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&folder.path().join("run"), header).unwrap();
    for row in &rows {
        summariser.put(row).unwrap();
        terminal.put(row);
        dashboard.put(row);
        recorder.put(row).unwrap();
    }
    let summary = summariser.finish("run", &RunStatus::Complete);
    let judged = &summary.stations[0].workloads[0];
    // 40, 150 and 151 ms finished. All but the first two missed the goal of 150 ms; the one that was cut does not count.
    assert_eq!(
        (judged.operations, judged.latency_ms.count, judged.goal_misses),
        (7, 7, 5)
    );
    let finished = judged.operations - judged.latency_ms.unbounded;
    assert_eq!(finished, 3);
    let snapshot = serde_json::to_value(dashboard.snapshot()).unwrap();
    let live = &snapshot["stations"][0]["workloads"][0];
    assert_eq!(
        (&live["operations"], &live["goal_misses"]),
        (&json!(finished), &json!(judged.goal_misses))
    );
    assert_eq!(
        snapshot["stations"][0]["idle_ms"],
        json!(summary.stations[0].idle_latency_ms)
    );
    let lines = terminal.plain(Instant::from_secs(3)).join("\n");
    let line = format!("{finished} done, {} missed", judged.goal_misses);
    assert!(lines.contains(&line), "{lines}");
    let run = recorder.finish(&RunStatus::Complete).unwrap();
    let view = View::from_run(&run);
    let curve = &view.stations[0].workloads[0].latency;
    assert_eq!(
        (curve.count, curve.unbounded),
        (judged.latency_ms.count, judged.latency_ms.unbounded)
    );
    assert_eq!(view.stations[0].idle.count, 10);
}

#[test]
fn airtime_shares_are_relative_to_all_stations() {
    let air = |station, ms| {
        Row::Air(AirRow {
            station,
            at: Instant::from_millis(0),
            airtime_down: Duration::from_millis(ms),
            ..AirRow::default()
        })
    };
    let snapshot = snapshot_of(&[air(0, 60), air(1, 20)]);
    assert_eq!(snapshot["stations"][0]["airtime_share"], json!(0.75));
    assert_eq!(snapshot["stations"][1]["airtime_share"], json!(0.25));
}

#[test]
fn the_size_of_a_snapshot_is_bounded() {
    let mut live = Live::new(&header());
    for tenth in 0..20_000 {
        live.put(&bytes(1, tenth, 1));
        live.put(&event(EventKind::Warning, tenth * 100, &"x".repeat(1000)));
    }
    let snapshot = serde_json::to_value(live.snapshot()).unwrap();
    assert_eq!(
        snapshot["stations"][1]["workloads"][0]["history_mbps"]
            .as_array()
            .unwrap()
            .len() as i64,
        HISTORY_SECONDS
    );
    assert_eq!(snapshot["events"].as_array().unwrap().len(), LiveRun::MAX_EVENTS);
    assert!(snapshot.to_string().len() < 20_000);
}

#[test]
fn the_corpus_and_random_input_keep_the_bounds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/live");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        crate::fuzz::live(&std::fs::read(entry.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files >= 8);
    // Linear congruential generator of Knuth's MMIX, for reproducible inputs.
    let mut state = 1_u64;
    for length in 0..2000_usize {
        let input: Vec<u8> = (0..length % 300)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        crate::fuzz::live(&input);
    }
}
