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

fn seen(follower: &mut Follower) -> (Stand, Value) {
    let stand = follower.read();
    (stand, serde_json::from_str(&follower.document(stand)).unwrap())
}

#[test]
fn a_run_is_followed_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut follower = Follower::new(&path);
    assert_eq!(follower.read(), Stand::Gone);
    let mut recorder = Recorder::create(&path, header(1)).unwrap();
    let (stand, shown) = seen(&mut follower);
    assert_eq!((stand, &shown["run"]["rows"]), (Stand::Live, &Value::from(0)));
    put(&mut recorder, 0..20);
    let before = std::fs::read(path.join("spool")).unwrap();
    let (stand, shown) = seen(&mut follower);
    assert_eq!((stand, &shown["run"]["rows"]), (Stand::Live, &Value::from(20)));
    assert_eq!(shown["run"]["mbps"], 10.0);
    assert_eq!(
        std::fs::read(path.join("spool")).unwrap(),
        before,
        "nothing is written to it"
    );
    assert_eq!(follower.read(), Stand::Live, "nothing new is no end");
    put(&mut recorder, 20..30);
    recorder.finish(&RunStatus::Complete).unwrap();
    // The spool is gone from the folder, but what came last is read all the same.
    let (stand, shown) = seen(&mut follower);
    assert_eq!((stand, &shown["run"]["rows"]), (Stand::Finished, &Value::from(30)));
}

#[test]
fn a_run_that_was_left_is_not_finished_by_looking() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = Recorder::create(&path, header(1)).unwrap();
    put(&mut recorder, 0..5);
    drop(recorder);
    let mut follower = Follower::new(&path);
    follower.read();
    let (stand, shown) = seen(&mut follower);
    assert_eq!((stand, &shown["run"]["rows"]), (Stand::Left, &Value::from(5)));
    assert!(path.join("spool").exists() && !path.join("run.json").exists());
}

#[test]
fn several_runs_are_followed_one_after_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut repeats = RunSet::create(&dir.path().join("runs")).unwrap();
    let path = repeats.path().to_owned();
    let mut follower = Follower::new(&path);
    for number in 1..=2 {
        let mut recorder = Recorder::create(&repeats.next_path(), header(2)).unwrap();
        put(&mut recorder, 0..number * 10);
        if number == 2 {
            assert_eq!(follower.read(), Stand::Behind, "the next has begun");
        }
        let (stand, shown) = seen(&mut follower);
        assert_eq!(
            (stand, &shown["part"], &shown["of"]),
            (Stand::Live, &Value::from(number), &Value::from(2))
        );
        assert_eq!(shown["run"]["rows"], number * 10);
        repeats.add(recorder.finish(&RunStatus::Complete).unwrap());
    }
    repeats.finish().unwrap();
    assert_eq!(follower.read(), Stand::Finished);
}
