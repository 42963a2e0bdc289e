use super::*;
use netburn_record::Environment;
use netburn_scenario::{Plan, Station as PlanStation, StationWorkload};
use netburn_units::Seed;
use netburn_workload::{Config, Operation};
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
        text: text.into(),
    })
}

fn shown(rows: &[Row]) -> Value {
    let mut live = Live::new(&header());
    for row in rows {
        live.put(row);
    }
    serde_json::to_value(live.picture()).unwrap()
}

#[test]
fn nothing_is_known_before_the_first_row() {
    let picture = shown(&[]);
    assert_eq!(picture["at_s"], Value::Null);
    assert_eq!((&picture["mbps"], &picture["title"]), (&json!(0.0), &json!("Two")));
    assert_eq!(picture["phase"], "waiting for the first rows");
    assert_eq!(picture["stations"][1]["uses"][0]["course_mbps"], json!([]));
}

/// 125 000 B in each tenth of a second are 10 Mbit/s.
#[test]
fn now_is_the_last_second() {
    let rows: Vec<Row> = (0..30)
        .map(|tenth| bytes(1, tenth, if tenth < 15 { 0 } else { 125_000 }))
        .collect();
    let picture = shown(&rows);
    assert_eq!((&picture["at_s"], &picture["phase"]), (&json!(2.9), &json!("running")));
    let desktop = &picture["stations"][1];
    assert_eq!(desktop["mbps"], json!(10.0));
    assert_eq!(desktop["uses"][0]["course_mbps"], json!([0.0, 5.0]));
    // The other station has nothing, and so has its share of the whole.
    assert_eq!(
        (&picture["stations"][0]["mbps"], &picture["mbps"]),
        (&json!(0.0), &json!(10.0))
    );
    // What is half a second behind the newest is no longer now.
    let later = shown(&[rows, vec![bytes(0, 45, 1)]].concat());
    assert_eq!(later["stations"][1]["mbps"], json!(0.0));
}

#[test]
fn operations_are_counted_against_their_goal() {
    let rows = [
        call(0, 0, Some(40)),
        call(1, 131, Some(151)),
        call(2, 262, None),
        call(3, 2_000, Some(20)),
        event(EventKind::Stall, 300, ""),
        event(EventKind::Health, 400, "{}"),
        event(EventKind::Lost, 2_500, "agent phone was lost"),
    ];
    let picture = shown(&rows);
    let voip = &picture["stations"][0]["uses"][0];
    assert_eq!(
        (&voip["operations"], &voip["goal_misses"], &voip["stalls"]),
        (&json!(3), &json!(2), &json!(1))
    );
    assert_eq!((&voip["latency_ms"], &voip["limit_ms"]), (&json!(20.0), &json!(150.0)));
    assert_eq!(voip["course_ms"], json!([151.0, null]));
    assert_eq!(picture["stations"][0]["lost"], json!(true));
    let kinds: Vec<&str> = picture["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["stall", "lost"]);
}

#[test]
fn airtime_is_shared_out() {
    let air = |station, ms| {
        Row::Air(AirRow {
            station,
            at: Instant::from_millis(0),
            airtime_down: Duration::from_millis(ms),
            ..AirRow::default()
        })
    };
    let picture = shown(&[air(0, 60), air(1, 20)]);
    assert_eq!(picture["stations"][0]["air_share"], json!(0.75));
    assert_eq!(picture["stations"][1]["air_share"], json!(0.25));
}

#[test]
fn it_stays_small_however_long_it_runs() {
    let mut live = Live::new(&header());
    for tenth in 0..20_000 {
        live.put(&bytes(1, tenth, 1));
        live.put(&event(EventKind::Warning, tenth * 100, &"x".repeat(1000)));
    }
    let picture = serde_json::to_value(live.picture()).unwrap();
    assert_eq!(
        picture["stations"][1]["uses"][0]["course_mbps"]
            .as_array()
            .unwrap()
            .len() as i64,
        DRAWN
    );
    assert_eq!(picture["events"].as_array().unwrap().len(), EVENTS);
    assert!(picture.to_string().len() < 20_000);
}

#[test]
fn corpus_and_chance_break_nothing() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/live");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        crate::fuzz::live(&std::fs::read(entry.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files >= 8);
    // A generator of Knuth's (MMIX), so that the inputs are always the same.
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
