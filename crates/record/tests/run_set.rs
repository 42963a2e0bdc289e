//! Run sets, and lists of runs.

mod util;

use netburn_record::run_list::{State, list, read_listing};
use netburn_record::{
    Environment, Error, Header, QualityIssue, Recorder, Role, Row, Run, RunSet, RunStatus, Sink, make_folder, pool,
    recover,
};
use netburn_scenario::Plan;
use netburn_units::{Duration, Seed};
use netburn_workload::{Config, Outcome, Verdict};
use std::ops::ControlFlow;
use std::path::Path;
use util::{header, health, interval, ms, operation, sentences, station};

fn plan(repeat: u32) -> Plan {
    Plan {
        duration: Duration::from_secs(10),
        repeat,
        stations: vec![station("laptop", &[("browsing", Config::browsing())])],
        ..Plan::new("again")
    }
}

/// A run of 50 pages, each loaded in `taken` ms, and `taken` × 10 kB in every tenth of a second.
fn record(path: &Path, header: Header, taken: u64, status: &RunStatus) -> Run {
    let mut recorder = Recorder::create(path, header).unwrap();
    for n in 0..50 {
        let row = operation(
            0,
            0,
            n,
            ms(200 * n as i64),
            Outcome::Finished,
            Duration::from_millis(taken),
        );
        recorder.put(&row).unwrap();
    }
    for n in 0..100 {
        recorder.put(&interval(0, 0, 100 * n as i64, taken * 10_000)).unwrap();
    }
    recorder.put(&health("agent", Role::Agent, &["laptop"])).unwrap();
    recorder.put(&health("server", Role::Server, &[])).unwrap();
    recorder.finish(status).unwrap()
}

fn repeat(path: &Path, planned: u32, taken: &[u64]) -> Run {
    let mut repeats = RunSet::create(path).unwrap();
    for (taken, round) in taken.iter().zip(0..) {
        let header = util::seeded(header(plan(planned)), Seed(1).repeat(round).0);
        let run = record(&repeats.next_path(), header, *taken, &RunStatus::Complete);
        repeats.add(run);
    }
    repeats.finish().unwrap()
}

#[test]
fn runs_are_pooled_and_each_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs");
    let run = repeat(&path, 3, &[100, 200, 300]);
    let summary = run.summary();
    assert_eq!(
        (summary.verdict, summary.provisional),
        (Verdict::Pass, false),
        "150 pages in all"
    );
    let workload = &summary.stations[0].workloads[0];
    assert_eq!((workload.operations, workload.latency_ms.p50), (150, Some(200.0)));
    assert_eq!(
        (workload.latency_ms.min, workload.latency_ms.max),
        (Some(100.0), Some(300.0))
    );
    // 1, 2 and 3 MB in tenths of a second: 80, 160, 240 Mbit/s.
    assert_eq!(summary.totals.throughput_mbps, 160.0);
    assert_eq!(summary.repeats.len(), 3);
    assert_eq!(summary.repeats[2].stations[0].throughput_mbps, 240.0);
    assert!(
        summary
            .repeats
            .iter()
            .all(|run| run.verdict == Verdict::Pass && run.provisional)
    );

    let [low, high] = summary.intervals["stations.laptop.workloads.browsing.latency_ms.p50"];
    assert!(
        (100.0..200.0).contains(&low) && (200.0..=300.0).contains(&high),
        "{low} {high}"
    );
    let [low, high] = summary.intervals["stations.laptop.throughput_mbps"];
    assert!(
        (80.0..160.0).contains(&low) && (160.0..=240.0).contains(&high),
        "{low} {high}"
    );
    assert_eq!(
        summary.intervals["stations.laptop.workloads.browsing.goals.0.met"],
        [1.0, 1.0]
    );
    assert!(
        !summary.intervals.contains_key("stations.laptop.airtime_share"),
        "unknown in every run"
    );

    let again = Run::open(&path).unwrap();
    assert_eq!(again.summary(), summary);
    assert_eq!(again.summarise().unwrap(), *summary);
    assert_eq!(again.run_folders(), [path.join("1"), path.join("2"), path.join("3")]);
    let mut operations = 0;
    again
        .rows(&mut |row| operations += u64::from(matches!(row, Row::Operation(_))))
        .unwrap();
    assert_eq!(operations, 150);
    // 50 operations and 100 intervals of a run: the 160th row is one of the second run, and the last one that is read.
    let mut rows = 0;
    let read = again.rows_until(&mut |_| {
        rows += 1;
        if rows == 160 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert_eq!((read.unwrap(), rows), (ControlFlow::Break(()), 160));
}

#[test]
fn a_damaged_table_of_one_run_is_named_by_the_folder_of_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs");
    drop(repeat(&path, 3, &[100, 200, 300]));
    let table = path.join("2").join("operations.parquet");
    let mut bytes = std::fs::read(&table).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&table, bytes).unwrap();
    let error = Run::open(&path).unwrap_err();
    assert!(
        matches!(&error, Error::Damaged { path, .. } if *path == table),
        "{error}"
    );
    let (run, found) = Run::open_partly(&path).unwrap();
    assert_eq!((run.summary().repeats.len(), found.len()), (3, 1), "{found:?}");
    assert_eq!(found[0].to_string(), error.to_string());
    assert!(run.rows(&mut |_| ()).is_err());
}

#[test]
fn two_runs_have_no_intervals() {
    let dir = tempfile::tempdir().unwrap();
    let run = repeat(&dir.path().join("runs"), 2, &[100, 200]);
    assert!(run.summary().intervals.is_empty());
}

#[test]
fn one_interrupted_run_makes_a_run_set_inconclusive() {
    let dir = tempfile::tempdir().unwrap();
    let mut repeats = RunSet::create(&dir.path().join("runs")).unwrap();
    repeats.add(record(&repeats.next_path(), header(plan(3)), 100, &RunStatus::Complete));
    repeats.add(record(
        &repeats.next_path(),
        header(plan(3)),
        100,
        &RunStatus::Interrupted,
    ));
    let run = repeats.finish().unwrap();
    assert_eq!(run.summary().verdict, Verdict::Inconclusive);
    assert_eq!(
        sentences(&run.summary().reasons),
        [
            "run 2: the run was interrupted after 10 s of 10 s",
            "only 2 of 3 runs were made"
        ]
    );
}

#[test]
fn an_unfinished_run_set_is_read_and_recovered() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs");
    let mut repeats = RunSet::create(&path).unwrap();
    repeats.add(record(&repeats.next_path(), header(plan(5)), 100, &RunStatus::Complete));
    let mut second = Recorder::create(&repeats.next_path(), header(plan(5))).unwrap();
    second
        .put(&operation(
            0,
            0,
            0,
            ms(100),
            Outcome::Finished,
            Duration::from_millis(50),
        ))
        .unwrap();
    second.sync().unwrap();
    drop(second);
    // The third was killed before it had written anything.
    std::fs::create_dir(path.join("3")).unwrap();
    assert!(
        matches!(Run::open(&path), Err(Error::Live(_))),
        "it is still being recorded"
    );
    drop(repeats);
    let run = Run::open(&path).unwrap();
    assert_eq!(run.summary().stations[0].workloads[0].operations, 51);
    assert_eq!(run.summary().verdict, Verdict::Inconclusive);
    assert_eq!(
        run.summary().reasons.last(),
        Some(&QualityIssue::RunsMissing { made: 2, planned: 5 })
    );
    assert!(!run.is_finished() && !path.join("run.json").exists() && path.join("2/spool").exists());
    assert_eq!(run.summarise().unwrap(), *run.summary());
    let rows = |run: &Run| {
        let mut rows = Vec::new();
        run.rows(&mut |row| rows.push(row)).unwrap();
        rows
    };
    assert_eq!(run.run_folders(), [path.join("1"), path.join("2")]);
    let before = rows(&run);
    assert!(recover(&path).unwrap());
    let recovered = Run::open(&path).unwrap();
    assert!(recovered.is_finished() && !path.join("2/spool").exists());
    assert_eq!(recovered.summary(), run.summary());
    assert_eq!(rows(&recovered), before);
}

#[test]
fn different_scenarios_are_not_pooled() {
    let dir = tempfile::tempdir().unwrap();
    let one = record(&dir.path().join("1"), header(plan(2)), 100, &RunStatus::Complete);
    let longer = Plan {
        duration: Duration::from_secs(11),
        ..plan(2)
    };
    let other = record(&dir.path().join("2"), header(longer), 100, &RunStatus::Complete);
    let error = pool(dir.path(), &[one, other]).unwrap_err();
    assert!(matches!(error, Error::Pool(_)), "{error}");
    assert!(!dir.path().join("run.json").exists());
    assert!(matches!(pool(dir.path(), &[]), Err(Error::Pool(_))));
}

#[test]
fn run_folders_are_listed_with_their_state() {
    let dir = tempfile::tempdir().unwrap();
    let runs = dir.path().join("runs");
    assert_eq!(list(&runs).unwrap(), []);
    let at = |hour: i64| Header {
        started: Some(netburn_record::UnixTime(hour * 3_600_000_000_000)),
        environment: Environment::Lab,
        ..header(plan(1))
    };
    drop(record(&runs.join("c-first"), at(1), 100, &RunStatus::Complete));
    drop(record(&runs.join("b-second"), at(2), 100, &RunStatus::Interrupted));
    let live = Recorder::create(&runs.join("a-third"), at(3)).unwrap();
    drop(Recorder::create(&runs.join("d-fourth"), at(4)).unwrap());
    drop(record(&runs.join("e-fifth"), at(5), 100, &RunStatus::Complete));
    std::fs::write(runs.join("e-fifth").join("run.json"), "{ \"schema\": 7").unwrap();
    make_folder(&runs.join("nothing")).unwrap();
    std::fs::write(runs.join("a-file"), "").unwrap();

    let listed = list(&runs).unwrap();
    let names: Vec<(&str, &str)> = listed
        .iter()
        .map(|run| {
            let state = match &run.state {
                State::Finished(Verdict::Pass) => "pass",
                State::Finished(Verdict::Inconclusive) => "inconclusive",
                State::Finished(_) => "another",
                State::Live => "live",
                State::Unfinished => "left",
                State::Unreadable(_) => "unreadable",
            };
            (run.name.as_str(), state)
        })
        .collect();
    assert_eq!(
        names,
        [
            ("c-first", "pass"),
            ("b-second", "inconclusive"),
            ("a-third", "live"),
            ("d-fourth", "left"),
            ("e-fifth", "unreadable")
        ]
    );
    assert_eq!(listed[0].scenario.as_deref(), Some("again"));
    let short = read_listing(&listed[1].path.join("run.json")).unwrap();
    assert_eq!(
        (short.scenario.as_str(), short.environment),
        ("again", Environment::Lab)
    );
    assert_eq!(
        (short.verdict, short.started),
        (Verdict::Inconclusive, listed[1].started)
    );
    assert_eq!(short.repeats, 0);
    assert!(!short.stations.is_empty() && short.stations.iter().all(|station| !station.name.is_empty()));
    assert!(read_listing(&listed[4].path.join("run.json")).is_err());
    assert_eq!(listed[3].environment, Some(Environment::Lab));
    drop(live);
}

/// Simulated runs have no start time. The names are in the opposite order of the times at which the records were written.
#[test]
fn simulated_runs_are_listed_in_the_order_in_which_they_were_written() {
    let dir = tempfile::tempdir().unwrap();
    let simulated = || Header {
        started: None,
        environment: Environment::Simulate,
        ..header(plan(1))
    };
    let minute = std::time::Duration::from_secs(60);
    for (age, name) in [(4, "z-first"), (3, "demo/before"), (2, "demo/after"), (1, "a-last")] {
        let path = dir.path().join(name);
        make_folder(path.parent().unwrap()).unwrap();
        drop(record(&path, simulated(), 100, &RunStatus::Complete));
        let file = std::fs::File::options()
            .write(true)
            .open(path.join("run.json"))
            .unwrap();
        file.set_modified(std::time::SystemTime::now() - age * minute).unwrap();
    }
    let listed = list(dir.path()).unwrap();
    let paths: Vec<&Path> = listed
        .iter()
        .map(|run| run.path.strip_prefix(dir.path()).unwrap())
        .collect();
    assert_eq!(paths, ["z-first", "demo/before", "demo/after", "a-last"].map(Path::new));
    assert!(listed.iter().all(|run| run.started.is_none() && run.at.is_some()));
}
