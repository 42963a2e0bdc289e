//! Recording of runs, with an environment of its own: rows, cancellation, storage errors, seeds, order.

use netburn_record::{EventKind, EventRow, Row, Run, RunStatus, Sink};
use netburn_runner::{
    Cancel, Event, PreparedRun, Recorded, RunControl, RunEnvironment, RunError, Simulation, interleave, record, repeat,
};
use netburn_scenario::{Document, Environment, Plan};
use netburn_units::{Duration, Instant, Seed};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tempfile::TempDir;

/// Environment whose runs have one row for each of `ticks` instants. It notes the plans of its runs.
struct Scripted {
    ticks: i64,
    /// Reason why no run can start.
    missing: Option<&'static str>,
    runs: Mutex<Vec<(String, Seed, Option<PathBuf>)>>,
}

impl Scripted {
    fn new(ticks: i64) -> Self {
        Scripted {
            ticks,
            missing: None,
            runs: Mutex::default(),
        }
    }

    fn names(&self) -> Vec<String> {
        self.runs
            .lock()
            .unwrap()
            .iter()
            .map(|(name, ..)| name.clone())
            .collect()
    }

    fn seeds(&self) -> Vec<Seed> {
        self.runs.lock().unwrap().iter().map(|(_, seed, _)| *seed).collect()
    }
}

impl RunEnvironment for Scripted {
    fn kind(&self) -> Environment {
        Environment::Local
    }

    fn prepare<'a>(&'a self, plan: &'a Plan, _: &RunControl<'_>) -> Result<Box<dyn PreparedRun + 'a>, RunError> {
        match self.missing {
            Some(reason) => Err(RunError::NotMeasured(reason.to_owned())),
            None => Ok(Box::new(ScriptedRun { of: self, plan })),
        }
    }
}

struct ScriptedRun<'a> {
    of: &'a Scripted,
    plan: &'a Plan,
}

impl PreparedRun for ScriptedRun<'_> {
    fn run(
        self: Box<Self>,
        folder: Option<&Path>,
        sink: &mut (dyn Sink + Send),
        control: &RunControl<'_>,
    ) -> Result<RunStatus, RunError> {
        let run = (self.plan.name.clone(), self.plan.seed, folder.map(Path::to_owned));
        self.of.runs.lock().unwrap().push(run);
        for tick in 0..self.of.ticks {
            let at = Instant::ZERO + Duration::from_secs(tick as u64);
            sink.put(&row(at)).map_err(|error| RunError::storage(&error))?;
            control.report(Event::Tick(at));
            if control.cancel().is_aborted() {
                return Err(RunError::Aborted { folder: None });
            }
            if control.cancel().is_stopped() {
                return Ok(RunStatus::Interrupted);
            }
        }
        sink.sync().map_err(|error| RunError::storage(&error))?;
        Ok(RunStatus::Complete)
    }
}

fn row(at: Instant) -> Row {
    Row::Event(EventRow {
        station: None,
        workload: None,
        at,
        length: 0,
        kind: EventKind::Warning,
        detail: "a row".into(),
    })
}

fn plan(name: &str, repeat: u32) -> Plan {
    let text = "duration = \"2 s\"\nbaseline = \"0 s\"\n[station.a]\nworkload = \"voip\"\n";
    let plan = Document::from_toml("t.toml", text).unwrap().resolve().unwrap();
    Plan {
        name: name.to_owned(),
        repeat,
        seed: Seed(7),
        ..plan
    }
}

fn folder() -> (TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    (parent, folder)
}

/// Number of the rows of [`Scripted`] in a record.
fn rows(run: &Run) -> usize {
    let mut rows = 0;
    run.rows(&mut |row| rows += usize::from(matches!(row, Row::Event(event) if event.detail.text() == "a row")))
        .unwrap();
    rows
}

fn expect_error(result: Result<Recorded, RunError>) -> RunError {
    result.map(|recorded| recorded.status).unwrap_err()
}

#[test]
fn rows_are_recorded_and_then_reported() {
    let (_parent, folder) = folder();
    let events = Mutex::new(Vec::new());
    let observer = |event: Event<'_>| {
        events.lock().unwrap().push(match event {
            Event::Recording(_, at) => format!("recording to {}", at.file_name().unwrap().to_string_lossy()),
            Event::Row(_) => "row".to_owned(),
            Event::Tick(_) => "tick".to_owned(),
            Event::Writing => "writing".to_owned(),
            Event::Ended => "ended".to_owned(),
            other => format!("{other:?}"),
        });
    };
    let control = RunControl::new(Cancel::default(), &observer);
    let recorded = record(&plan("one", 1), &Scripted::new(2), &folder, &control).unwrap();
    assert_eq!(recorded.status, RunStatus::Complete);
    assert_eq!(recorded.run.path(), folder);
    assert_eq!(recorded.run.header().environment, Environment::Local);
    assert_eq!(rows(&Run::open(&folder).unwrap()), 2);
    assert_eq!(
        *events.lock().unwrap(),
        ["recording to run", "row", "tick", "row", "tick", "writing", "ended"]
    );
}

#[test]
fn a_run_that_cannot_start_leaves_no_folder() {
    let (_parent, folder) = folder();
    let environment = Scripted {
        missing: Some("no lab"),
        ..Scripted::new(1)
    };
    let error = expect_error(record(&plan("one", 1), &environment, &folder, &RunControl::default()));
    assert!(
        matches!(&error, RunError::NotMeasured(reason) if reason == "no lab"),
        "{error:?}"
    );
    assert!(!folder.exists());
    // The simulator needs an access point.
    let error = expect_error(record(
        &plan("one", 1),
        &Simulation::default(),
        &folder,
        &RunControl::default(),
    ));
    assert!(matches!(error, RunError::Unsupported(_)), "{error:?}");
    assert!(!folder.exists());
}

#[test]
fn a_stopped_run_keeps_its_results_and_an_aborted_one_its_rows() {
    let (_parent, folder) = folder();
    let cancel = Cancel::default();
    let stop = |event: Event<'_>| {
        if matches!(event, Event::Tick(at) if at > Instant::ZERO) {
            cancel.stop();
        }
    };
    let control = RunControl::new(cancel.clone(), &stop);
    let recorded = record(&plan("one", 1), &Scripted::new(10), &folder, &control).unwrap();
    assert_eq!(recorded.status, RunStatus::Interrupted);
    assert_eq!(rows(&recorded.run), 2);

    let cancel = Cancel::default();
    let abort = |event: Event<'_>| {
        if matches!(event, Event::Tick(_)) {
            cancel.abort();
        }
    };
    let control = RunControl::new(cancel.clone(), &abort);
    let error = expect_error(record(&plan("one", 1), &Scripted::new(10), &folder, &control));
    let RunError::Aborted { folder: Some(second) } = error else {
        panic!("{error:?}");
    };
    assert_eq!(second.file_name().unwrap(), "run-2");
    let completed = Run::open(&second).unwrap();
    assert_ne!(*completed.status(), RunStatus::Complete);
}

/// Sink without space.
struct Full;

impl Sink for Full {
    fn put(&mut self, _: &Row) -> io::Result<()> {
        Err(io::Error::other("no space"))
    }
}

#[test]
fn a_storage_error_names_the_folder() {
    let error = Scripted::new(1)
        .run(&plan("one", 1), &mut Full, &RunControl::default())
        .unwrap_err();
    assert!(
        matches!(&error, RunError::Storage { folder: None, reason } if reason == "no space"),
        "{error:?}"
    );

    let (_parent, folder) = folder();
    // The record can't be completed where its folder was removed.
    let observer = |event: Event<'_>| {
        if matches!(event, Event::Writing) {
            std::fs::remove_dir_all(&folder).unwrap();
        }
    };
    let control = RunControl::new(Cancel::default(), &observer);
    let error = expect_error(record(&plan("one", 1), &Scripted::new(1), &folder, &control));
    assert!(
        matches!(&error, RunError::Storage { folder: Some(at), .. } if *at == folder),
        "{error:?}"
    );

    // A file is where the folder's parent would be.
    let file = tempfile::NamedTempFile::new().unwrap();
    let inside = file.path().join("run");
    let error = expect_error(record(
        &plan("one", 1),
        &Scripted::new(1),
        &inside,
        &RunControl::default(),
    ));
    assert!(matches!(error, RunError::Create(_)), "{error:?}");
}

#[test]
fn repeated_runs_have_their_own_seeds_and_folders() {
    let (_parent, folder) = folder();
    let (plan, environment) = (plan("three", 3), Scripted::new(1));
    let recorded = repeat(&plan, &environment, &folder, &RunControl::default()).unwrap();
    assert_eq!(recorded.status, RunStatus::Complete);
    let expected: Vec<Seed> = (0..3).map(|round| plan.seed.repeat(round)).collect();
    assert_eq!(environment.seeds(), expected);
    for (number, (_, seed, at)) in (1..).zip(environment.runs.lock().unwrap().iter()) {
        assert_eq!(*at, Some(folder.join(number.to_string())));
        assert_eq!(Run::open(at.as_ref().unwrap()).unwrap().header().seed, *seed);
    }
    assert_eq!(Run::open(&folder).unwrap().summary().repeats.len(), 3);
}

#[test]
fn no_run_starts_after_a_stopped_one() {
    let (_parent, folder) = folder();
    let cancel = Cancel::default();
    let environment = Scripted::new(3);
    let observer = |event: Event<'_>| {
        if matches!(event, Event::Run { number: 2, .. }) {
            cancel.stop();
        }
    };
    let control = RunControl::new(cancel.clone(), &observer);
    let recorded = repeat(&plan("five", 5), &environment, &folder, &control).unwrap();
    assert_eq!(recorded.status, RunStatus::Interrupted);
    assert_eq!(environment.seeds().len(), 2);
    assert_eq!(recorded.run.summary().repeats.len(), 2);
}

#[test]
fn interleaved_plans_alternate_and_have_their_own_folders() {
    let (parent, _) = folder();
    let plans = [plan("a", 3), plan("b", 1)];
    let folders = ["a", "b"].map(|name| parent.path().join(name));
    let environment = Scripted::new(1);
    let all = interleave(&plans, &environment, &folders, &RunControl::default()).unwrap();
    let repeats: Vec<usize> = all.iter().map(|one| one.run.summary().repeats.len()).collect();
    assert_eq!(repeats, [3, 1]);
    let names = environment.names();
    let mut first_block = names[..2].to_vec();
    first_block.sort();
    assert_eq!(first_block, ["a", "b"]);
    assert_eq!(names[2..], ["a", "a"]);
    // Each plan counts its own runs.
    let seeds: Vec<Seed> = environment
        .runs
        .lock()
        .unwrap()
        .iter()
        .filter(|(name, ..)| name == "a")
        .map(|(_, seed, _)| *seed)
        .collect();
    assert_eq!(seeds, [0, 1, 2].map(|round| Seed(7).repeat(round)));
}

/// A scenario for the simulator.
fn modelled(repeat: u32) -> Plan {
    let mut document = netburn_scenario::load("anomaly").unwrap();
    for (key, value) in [("duration", "\"1 s\""), ("baseline", "\"0 s\"")] {
        document.set(key, value).unwrap();
    }
    Plan {
        repeat,
        ..document.resolve_for(Environment::Simulate).unwrap().0
    }
}

#[test]
fn concurrent_simulations_have_the_results_of_sequential_ones() {
    let (parent, _) = folder();
    let summaries = |threads: usize| {
        let folder = parent.path().join(threads.to_string());
        let plan = modelled(3);
        let recorded = repeat(&plan, &Simulation::new(threads), &folder, &RunControl::default()).unwrap();
        let verdicts = recorded.run.summary().repeats.iter();
        verdicts
            .map(|run| (run.seed, run.totals.throughput_mbps.to_bits()))
            .collect::<Vec<_>>()
    };
    assert_eq!(summaries(1), summaries(3));
}

#[test]
fn a_simulated_summary_is_that_of_the_record() {
    let (_parent, folder) = folder();
    let plan = modelled(1);
    let recorded = record(&plan, &Simulation::default(), &folder, &RunControl::default()).unwrap();
    let name = folder.to_string_lossy();
    let summary = netburn_simulate::summary(&plan, &name, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(summary.as_ref(), Some(recorded.run.summary()));
    let stopped = netburn_simulate::summary(&plan, &name, &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!(stopped, None);
}
