use super::*;
use netburn_record::{Environment, IntervalRow, Recorder, Row, RunSet, RunStatus, Sink};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{Duration, Instant};
use netburn_workload::Config;
use serde_json::Value;

fn header(repeat: u32) -> Header {
    Header {
        environment: Environment::Local,
        ..Header::simulated(Plan {
            duration: Duration::from_secs(10),
            repeat,
            stations: vec![Station {
                workloads: vec![StationWorkload::new("download", Config::download())],
                ..Station::new("desktop")
            }],
            ..Plan::new("one")
        })
    }
}

fn put(recorder: &mut Recorder, tenths: std::ops::Range<i64>) {
    for tenth in tenths {
        let row = Row::Interval(IntervalRow {
            station: 0,
            workload: 0,
            at: Instant::from_millis(tenth * 100),
            bytes_down: 125_000,
            bytes_up: 0,
        });
        recorder.put(&row).unwrap();
    }
    recorder.sync().unwrap();
}

fn read(tail: &mut SpoolTail) -> (TailState, Value) {
    let state = tail.read();
    (state, serde_json::from_str(&tail.document(state)).unwrap())
}

#[test]
fn a_spool_is_read_to_the_end_of_its_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut tail = SpoolTail::new(&path);
    assert_eq!(tail.read(), TailState::Deleted);
    let mut recorder = Recorder::create(&path, header(1)).unwrap();
    let (state, document) = read(&mut tail);
    assert_eq!((state, &document["run"]["rows"]), (TailState::Live, &Value::from(0)));
    put(&mut recorder, 0..20);
    let before = std::fs::read(path.join("spool")).unwrap();
    let (state, document) = read(&mut tail);
    assert_eq!((state, &document["run"]["rows"]), (TailState::Live, &Value::from(20)));
    assert_eq!(document["run"]["mbps"], 10.0);
    assert_eq!(
        std::fs::read(path.join("spool")).unwrap(),
        before,
        "the spool is unchanged"
    );
    assert_eq!(tail.read(), TailState::Live, "a spool without new rows has not ended");
    put(&mut recorder, 20..30);
    recorder.finish(&RunStatus::Complete).unwrap();
    // The spool was deleted from the folder, but its last rows are still read.
    let (state, document) = read(&mut tail);
    assert_eq!(
        (state, &document["run"]["rows"]),
        (TailState::Finished, &Value::from(30))
    );
}

#[test]
fn reading_does_not_finish_an_interrupted_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = Recorder::create(&path, header(1)).unwrap();
    put(&mut recorder, 0..5);
    drop(recorder);
    let mut tail = SpoolTail::new(&path);
    tail.read();
    let (state, document) = read(&mut tail);
    assert_eq!(
        (state, &document["run"]["rows"]),
        (TailState::Unfinished, &Value::from(5))
    );
    assert!(path.join("spool").exists() && !path.join("run.json").exists());
}

#[test]
fn the_runs_of_a_run_set_are_read_one_after_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut repeats = RunSet::create(&dir.path().join("runs")).unwrap();
    let path = repeats.path().to_owned();
    let mut tail = SpoolTail::new(&path);
    for number in 1..=2 {
        let mut recorder = Recorder::create(&repeats.next_path(), header(2)).unwrap();
        put(&mut recorder, 0..number * 10);
        if number == 2 {
            assert_eq!(tail.read(), TailState::CatchingUp, "the next run has started");
        }
        let (state, document) = read(&mut tail);
        assert_eq!(
            (state, &document["run_number"], &document["runs"]),
            (TailState::Live, &Value::from(number), &Value::from(2))
        );
        assert_eq!(document["run"]["rows"], number * 10);
        repeats.add(recorder.finish(&RunStatus::Complete).unwrap());
    }
    repeats.finish().unwrap();
    assert_eq!(tail.read(), TailState::Finished);
}
