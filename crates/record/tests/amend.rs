//! Late results: the merged record, and the record of a merge that was killed.

#![cfg(unix)]

mod util;

use netburn_record::{
    Detail, Error, EventKind, EventRow, Health, LateResults, Loss, LossCause, QualityIssue, Recorder, Role, Row, Run,
    RunSet, RunStatus, Sink, UnixTime, merge_late_results, recover,
};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use netburn_workload::kinds::Periodic;
use netburn_workload::{Config, Outcome, Verdict};
use proptest::prelude::*;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use util::{event, header, health, interval, ms, operation, seeded};

const CAME: UnixTime = UnixTime(1_795_285_800_000_000_000);

/// The plan of the tests, with a call every 20 ms.
fn plan() -> Plan {
    let mut plan = util::plan();
    plan.stations[0].workloads[1].config =
        Config::with(|calls: &mut Periodic| calls.grid.interval = Duration::from_millis(20));
    plan
}

/// A call of the laptop's, one every 20 ms.
fn call(number: u64) -> Row {
    let due = ms(number as i64 * 20);
    operation(0, 1, number, due, Outcome::Finished, Duration::from_millis(30))
}

/// A page of the laptop's.
fn page(number: u64) -> Row {
    let due = ms(number as i64 * 1000);
    operation(0, 0, number, due, Outcome::Finished, Duration::from_millis(90))
}

/// Results of the laptop in a minute.
fn laptop() -> Vec<Row> {
    let mut rows: Vec<Row> = (0..3000).map(call).collect();
    rows.extend((0..60).map(page));
    rows.extend((0..600).map(|tenth| interval(0, 0, tenth * 100, 9000)));
    rows.push(event(Some(0), Some(1), 777, Duration::ZERO, EventKind::Change));
    rows
}

/// Results of the television, and the health reports of both.
fn others() -> Vec<Row> {
    let film = |number: i64| {
        let due = ms(number * 10_000);
        operation(1, 0, number as u64, due, Outcome::Finished, Duration::from_millis(500))
    };
    let mut rows: Vec<Row> = (0..6).map(film).collect();
    rows.extend((0..600).map(|tenth| interval(1, 0, tenth * 100, 300_000)));
    rows.push(health("tv", Role::Agent, &["hall-tv"]));
    rows.push(health("server", Role::Server, &[]));
    rows
}

fn lost(at: i64) -> Row {
    Row::Event(EventRow {
        station: Some(0),
        workload: None,
        at: ms(at),
        length: 0,
        kind: EventKind::Lost,
        detail: QualityIssue::AgentLost {
            name: "laptop".into(),
            loss: Loss::new(
                LossCause::Disconnected,
                "the connection was closed, and it did not come back",
            ),
        }
        .into(),
    })
}

fn report() -> Health {
    let Row::Event(event) = health("x", Role::Agent, &["x"]) else {
        unreachable!()
    };
    let Detail::Health(health) = event.detail else {
        unreachable!()
    };
    *health
}

/// A run in which the laptop was lost after `kept` of its rows.
fn record(path: &Path, kept: usize) -> Run {
    let mut recorder = Recorder::create(path, header(plan())).unwrap();
    for row in laptop().into_iter().take(kept).chain([lost(1234)]).chain(others()) {
        recorder.put(&row).unwrap();
    }
    recorder.finish(&RunStatus::Complete).unwrap()
}

fn whole(health: Option<&Health>) -> LateResults<'_> {
    LateResults {
        name: "laptop",
        stations: &[0],
        came: CAME,
        health,
        error: None,
        held: None,
    }
}

fn amended(path: &Path, late: &LateResults<'_>, rows: Vec<Row>) -> Result<u64, Error> {
    let mut rows = rows.into_iter();
    merge_late_results(path, late, &mut || Ok(rows.next())).map(|amended| amended.added)
}

fn rows_of(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    run.rows(&mut |row| rows.push(row)).unwrap();
    rows
}

fn events(run: &Run, kind: EventKind) -> Vec<EventRow> {
    let rows = rows_of(run).into_iter().filter_map(|row| match row {
        Row::Event(event) if event.kind == kind => Some(event),
        _ => None,
    });
    rows.collect()
}

#[test]
fn complete_late_results_are_judged_like_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let before = record(&path, 1000);
    assert_eq!(before.summary().verdict, Verdict::Inconclusive);
    assert_eq!(before.summary().stations[0].workloads[1].operations, 1000);

    let report = report();
    assert_eq!(amended(&path, &whole(Some(&report)), laptop()).unwrap(), 2661);
    let run = Run::open(&path).unwrap();
    let laptop = &run.summary().stations[0];
    // 60 s of warm-up are none in this plan: all 3,000 calls and 60 pages count, 600 intervals of 9 kB are 0.72 Mbit/s.
    assert_eq!(laptop.workloads[1].operations, 3000);
    assert_eq!(laptop.workloads[0].operations, 60);
    assert!(
        (laptop.throughput_mbps - 0.72).abs() < 1e-9,
        "{}",
        laptop.throughput_mbps
    );
    assert!(laptop.reasons.is_empty(), "{:?}", laptop.reasons);
    assert_ne!(laptop.verdict, Verdict::Inconclusive);
    assert!(run.summary().self_check.ok, "{:?}", run.summary().self_check.reasons);
    // The events stay in the record.
    assert_eq!(events(&run, EventKind::Lost), []);
    let warned = events(&run, EventKind::Warning);
    assert_eq!(warned.len(), 2);
    assert!(
        warned[0]
            .detail
            .text()
            .starts_with("agent laptop was lost: the connection"),
        "{warned:?}"
    );
    assert_eq!(warned[0].at, ms(1234));
    assert!(warned[1].detail.text().contains("arrived at 2026-"), "{warned:?}");
    // The same as without the loss, except for the two warnings.
    let other = dir.path().join("never-lost");
    let mut recorder = Recorder::create(&other, header(plan())).unwrap();
    let told = health("laptop", Role::Agent, &["laptop"]);
    for row in self::laptop().into_iter().chain(others()).chain([told]) {
        recorder.put(&row).unwrap();
    }
    let straight = recorder.finish(&RunStatus::Complete).unwrap();
    assert_eq!(run.summary().stations, straight.summary().stations);
    assert_eq!(run.summarise().unwrap(), *run.summary());
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), 7, "six tables and run.json");
}

/// Complete late results undo the loss of their own agent only, whatever the texts of other events
/// are.
#[test]
fn a_lost_server_and_missing_results_stay_reasons() {
    let dir = tempfile::tempdir().unwrap();
    for kind in [EventKind::ServerLost, EventKind::Incomplete] {
        let path = dir.path().join(kind.name());
        let mut recorder = Recorder::create(&path, header(plan())).unwrap();
        let Row::Event(row) = lost(1234) else { unreachable!() };
        let other = Row::Event(EventRow { kind, ..row });
        for row in others().into_iter().chain([lost(1234), other]) {
            recorder.put(&row).unwrap();
        }
        recorder.finish(&RunStatus::Complete).unwrap();
        amended(&path, &whole(Some(&report())), laptop()).unwrap();
        let run = Run::open(&path).unwrap();
        assert_eq!((events(&run, EventKind::Lost).len(), events(&run, kind).len()), (0, 1));
        assert_eq!(run.summary().stations[0].verdict, Verdict::Inconclusive, "{kind:?}");
    }
}

/// Late results have the same limits as others, and count together with them.
#[test]
fn late_results_beyond_the_plan_are_rejected_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    record(&path, 1000);
    let mut rows = laptop();
    rows.push(interval(0, 0, 0, u64::MAX));
    rows.push(interval(0, 0, i64::MAX / 100_000_000 * 100, 1));
    let took = Duration::from_millis(30);
    rows.extend((3000..13_000).map(|number| operation(0, 1, number, ms(0), Outcome::Finished, took)));
    let added = amended(&path, &whole(Some(&report())), rows).unwrap();
    let run = Run::open(&path).unwrap();
    // 100 calls, and two for each 20 ms. The time is the run's 60 s, its drain of 5 s, and the 10 s that clocks
    // may differ by.
    let drain = plan().drain.as_secs_f64();
    let most = 100 + 2 * ((60.0 + drain + plan().baseline.as_secs_f64() + 10.0) / 0.02) as u64;
    assert_eq!(run.summary().stations[0].workloads[1].operations, most);
    // The first of the two intervals exists already: it is identified by its time, and not added.
    let rejected = 13_000 - most + 1;
    assert_eq!(added, 2661 + (most - 3000));
    let told = events(&run, EventKind::Rejected);
    assert_eq!(told.len(), 1);
    assert_eq!(
        told[0].detail.text(),
        format!(
            "{rejected} rows of agent laptop were rejected: {} above the limit for operations, 1 outside the \
             run's time",
            rejected - 1
        )
    );
    let summary = run.summary();
    assert_eq!(summary.stations[0].verdict, Verdict::Inconclusive);
    let Detail::Issue(issue) = &told[0].detail else {
        panic!("{told:?}")
    };
    assert_eq!(summary.self_check.reasons, std::slice::from_ref(issue));
    assert_ne!(
        summary.stations[1].verdict,
        Verdict::Inconclusive,
        "{:?}",
        summary.stations[1]
    );
}

#[test]
fn incomplete_late_results_are_merged_and_stay_inconclusive() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    record(&path, 1000);
    let late = LateResults {
        error: Some("it ended before its part was done"),
        ..whole(None)
    };
    assert_eq!(amended(&path, &late, laptop()[..1500].to_vec()).unwrap(), 500);
    let run = Run::open(&path).unwrap();
    assert_eq!(run.summary().stations[0].workloads[1].operations, 1500);
    assert_eq!(run.summary().stations[0].verdict, Verdict::Inconclusive);
    assert_eq!(events(&run, EventKind::Lost).len(), 1);
    // Again with all rows.
    assert_eq!(amended(&path, &whole(Some(&report())), laptop()).unwrap(), 2161);
    let run = Run::open(&path).unwrap();
    assert_ne!(run.summary().stations[0].verdict, Verdict::Inconclusive);
    // Existing rows are not added.
    assert_eq!(amended(&path, &whole(Some(&report())), laptop()).unwrap(), 0);
}

#[test]
fn a_failed_merge_leaves_the_record_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    record(&path, 1000);
    let read = || -> Vec<(PathBuf, Vec<u8>)> {
        let entries = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = entries
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect();
        files.sort();
        files
    };
    let before = read();
    let foreign = amended(&path, &whole(None), vec![call(2000), interval(1, 0, 0, 1)]);
    assert!(matches!(foreign, Err(Error::Damaged { .. })), "{foreign:?}");
    assert_eq!(read(), before);
    let mut unreadable = || Err(io::Error::other("torn"));
    assert!(matches!(
        merge_late_results(&path, &whole(None), &mut unreadable),
        Err(Error::Io { .. })
    ));
    assert_eq!(read(), before);
    // No room: a file where the folder should be.
    std::fs::write(path.join("amended"), "").unwrap();
    assert!(matches!(amended(&path, &whole(None), laptop()), Err(Error::Io { .. })));
    std::fs::remove_file(path.join("amended")).unwrap();
    assert_eq!(read(), before);
    let nowhere = amended(&dir.path().join("nowhere"), &whole(None), laptop());
    assert!(matches!(nowhere, Err(Error::NotARun(_))), "{nowhere:?}");
}

#[test]
fn an_active_run_is_not_amended_and_an_unfinished_one_is_finished_first() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = Recorder::create(&path, header(plan())).unwrap();
    for row in laptop().iter().take(1000).chain(&others()) {
        recorder.put(row).unwrap();
    }
    recorder.sync().unwrap();
    let live = amended(&path, &whole(None), laptop());
    assert!(matches!(live, Err(Error::Live(_))), "{live:?}");
    drop(recorder);
    // Its last sign is the interval of 59.9 s: the six calls that were answered later do not count.
    // A child process that another test has just forked holds the lock until it executes its
    // program.
    let rows = loop {
        match amended(&path, &whole(Some(&report())), laptop()) {
            Err(Error::Live(_)) => std::thread::yield_now(),
            done => break done.unwrap(),
        }
    };
    assert_eq!(rows, 2655);
    let run = Run::open(&path).unwrap();
    assert_eq!(run.summary().stations[0].workloads[1].operations, 2994);
    assert!(matches!(run.status(), RunStatus::Failed(_)));
}

#[test]
fn the_run_set_around_an_amended_run_is_pooled_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut repeats = RunSet::create(&dir.path().join("twice")).unwrap();
    for seed in [1, 2] {
        let mut recorder = Recorder::create(&repeats.next_path(), seeded(header(plan()), seed)).unwrap();
        for row in laptop().iter().take(1000).chain(&others()) {
            recorder.put(row).unwrap();
        }
        repeats.add(recorder.finish(&RunStatus::Complete).unwrap());
    }
    let path = repeats.path().to_owned();
    repeats.finish().unwrap();
    amended(&path.join("2"), &whole(Some(&report())), laptop()).unwrap();
    let pool = Run::open(&path).unwrap();
    assert_eq!(pool.summary().stations[0].workloads[1].operations, 4000);
}

/// Set in the process that is killed: the record that it amends.
const AMENDS: &str = "NETBURN_AMEND";

/// After a kill at any time, it is the old or the new record, and can be amended again.
#[test]
fn a_kill_at_any_moment_leaves_the_old_record_or_the_new_one() {
    if let Some(path) = std::env::var_os(AMENDS) {
        amended(Path::new(&path), &whole(Some(&report())), laptop()).unwrap();
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut old, mut new) = (0, 0);
    for step in 0..40 {
        let path = dir.path().join(format!("run{step}"));
        record(&path, 1000);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_kill_at_any_moment_leaves_the_old_record_or_the_new_one"])
            .env(AMENDS, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // The last one ends by itself, and others may.
        if step < 39 {
            std::thread::sleep(std::time::Duration::from_millis(step * 4));
            let _ = child.kill();
        }
        child.wait().unwrap();
        let run = Run::open(&path).unwrap();
        match run.summary().stations[0].workloads[1].operations {
            1000 => old += 1,
            3000 => new += 1,
            other => panic!("{other} operations after {step}"),
        }
        assert_eq!(run.summarise().unwrap(), *run.summary());
        amended(&path, &whole(Some(&report())), laptop()).unwrap();
        assert_eq!(
            Run::open(&path).unwrap().summary().stations[0].workloads[1].operations,
            3000
        );
    }
    assert_eq!(old + new, 40);
    assert!(new > 0, "the processes amend nothing");
}

/// Each intermediate state of the renames, made by hand.
#[test]
fn each_rename_alone_leaves_the_new_record() {
    let tables =
        ["operations", "intervals", "airtime", "connections", "link", "events"].map(|name| format!("{name}.parquet"));
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    record(&old, 1000);
    record(&new, 1000);
    amended(&new, &whole(Some(&report())), laptop()).unwrap();
    for renamed in 0..=5 {
        let path = dir.path().join(format!("after-{renamed}"));
        std::fs::create_dir_all(path.join("amended")).unwrap();
        for (number, table) in tables.iter().enumerate() {
            if number < renamed {
                std::fs::copy(new.join(table), path.join(table)).unwrap();
            } else {
                std::fs::copy(old.join(table), path.join(table)).unwrap();
                std::fs::copy(new.join(table), path.join("amended").join(table)).unwrap();
            }
        }
        std::fs::copy(old.join("run.json"), path.join("run.json")).unwrap();
        std::fs::copy(new.join("run.json"), path.join("amended").join("run.json")).unwrap();
        for completed in [false, true] {
            if completed {
                assert!(!recover(&path).unwrap(), "the run itself was finished");
            }
            let run = Run::open(&path).unwrap();
            assert_eq!(
                run.summary().stations[0].workloads[1].operations,
                3000,
                "after {renamed}"
            );
            assert_eq!(run.summarise().unwrap(), *run.summary());
            assert_eq!(path.join("amended").exists(), !completed);
        }
        assert!(!path.join("spool").exists());
    }
    // Without its `run.json`, the staging folder is ignored.
    let path = dir.path().join("torn");
    record(&path, 1000);
    std::fs::create_dir(path.join("amended")).unwrap();
    std::fs::write(path.join("amended").join("operations.parquet"), "PAR1").unwrap();
    assert_eq!(
        Run::open(&path).unwrap().summary().stations[0].workloads[1].operations,
        1000
    );
    assert_eq!(amended(&path, &whole(Some(&report())), laptop()).unwrap(), 2661);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// However the rows are split and repeated, each is in the record once.
    #[test]
    fn no_row_is_lost_or_duplicated(kept in 0usize..3660, pieces in prop::collection::vec((0usize..3661, 0usize..3661), 1..4)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run");
        record(&path, kept);
        let all = laptop();
        for (one, other) in pieces {
            let part = all[one.min(other)..one.max(other)].to_vec();
            let late = LateResults { error: Some("a part of it"), ..whole(None) };
            amended(&path, &late, part).unwrap();
        }
        amended(&path, &whole(Some(&report())), all.clone()).unwrap();
        let run = Run::open(&path).unwrap();
        let mut got: Vec<String> = rows_of(&run)
            .iter()
            .filter(|row| match row {
                Row::Operation(row) => row.station == 0,
                Row::Interval(row) => row.station == 0,
                Row::Event(row) => row.kind == EventKind::Change,
                _ => false,
            })
            .map(|row| format!("{row:?}"))
            .collect();
        let mut wanted: Vec<String> = all.iter().map(|row| format!("{row:?}")).collect();
        got.sort();
        wanted.sort();
        prop_assert_eq!(got, wanted);
        prop_assert!(run.summary().stations[0].reasons.is_empty());
        let _ = Instant::ZERO;
    }
}

/// A record whose writer was killed after 20 s.
fn cut_after_20_s(dir: &tempfile::TempDir) -> PathBuf {
    let path = dir.path().join("run");
    let mut recorder = Recorder::create(&path, header(plan())).unwrap();
    for tenth in 0..=200 {
        recorder.put(&interval(1, 0, tenth * 100, 300_000)).unwrap();
    }
    recorder.sync().unwrap();
    path
}

/// After the kill at 20 s no server is known, so later results of the laptop are no verdict on the
/// network.
#[test]
fn rows_after_a_killed_run_do_not_count() {
    let dir = tempfile::tempdir().unwrap();
    let path = cut_after_20_s(&dir);
    let before = Run::open(&path).unwrap();
    assert!(!before.summary().self_check.ok, "no agent reported its health");
    assert!(
        before.summary().reasons[0]
            .to_string()
            .starts_with("netburn was killed")
    );
    // Calls that end by 20 s, the one that is due at 19.98 s but ends at 20.01 s, and those that found no server.
    let failed = |number: u64| {
        let due = ms(number as i64 * 20);
        operation(
            0,
            1,
            number,
            due,
            Outcome::Failed(netburn_workload::Failure::Connection),
            Duration::from_millis(1),
        )
    };
    let rows: Vec<Row> = (0..1000).map(call).chain((1000..3000).map(failed)).collect();
    let report = report();
    assert_eq!(amended(&path, &whole(Some(&report)), rows).unwrap(), 999);
    let run = Run::open(&path).unwrap();
    let calls = &run.summary().stations[0].workloads[1];
    assert_eq!((calls.operations, calls.failures, calls.goal_misses), (999, 0, 0));
    let said = events(&run, EventKind::Warning);
    assert!(
        said.iter().any(|event| event
            .detail
            .text()
            .contains("2001 rows from after the end of the run are excluded")),
        "{said:?}"
    );
}

/// Its disk was full after 20 s, and it asked the laptop to end at 20.5 s. Calls begin every 20 ms
/// and take 30 ms.
#[test]
fn rows_until_the_stop_request_count() {
    let dir = tempfile::tempdir().unwrap();
    let path = cut_after_20_s(&dir);
    let report = report();
    let held = |held| LateResults {
        held: Some(held),
        ..whole(Some(&report))
    };
    // The last is due at 20.46 s.
    let calls = || (0..4000).map(call).collect();
    assert_eq!(amended(&path, &held(ms(20_500)), calls()).unwrap(), 1024);
    // A stop time after the end is limited to the end of the plan, after 60 s and 5 s of drain. The
    // last call is due at 64.96 s.
    let ever = held(Instant::from_nanos(i64::MAX));
    assert_eq!(amended(&path, &ever, calls()).unwrap(), 3249 - 1024);
}

#[test]
fn a_lost_agent_is_identified_by_its_station() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = Recorder::create(&path, header(plan())).unwrap();
    let Row::Event(mut event) = lost(1234) else {
        unreachable!()
    };
    event.detail = QualityIssue::AgentLost {
        name: "laptop (anna-x1)".into(),
        loss: Loss::new(LossCause::Left, "it went home"),
    }
    .into();
    for row in [Row::Event(event)].into_iter().chain(others()) {
        recorder.put(&row).unwrap();
    }
    recorder.finish(&RunStatus::Complete).unwrap();
    let report = report();
    amended(&path, &whole(Some(&report)), laptop()).unwrap();
    assert!(Run::open(&path).unwrap().summary().stations[0].reasons.is_empty());
}
