//! Simulated runs of a plan: each in virtual time with its own folder, one on each core at a time.

use super::Done;
use super::round::{incomplete_record, not_created};
use crate::exit::CliError;
use crate::signals;
use netburn_record::{Header, Recorder, Row, Run, RunSet, RunStatus, Sink};
use netburn_scenario::Plan;
use netburn_units::Instant;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant as Clock};

/// Interval of updates of the progress line.
const PROGRESS: Duration = Duration::from_millis(500);

/// Interval between syncs of rows to the record.
const SYNC: Duration = Duration::from_millis(500);

/// Result of one run.
type Round = Result<(Run, RunStatus), CliError>;

/// Executes all runs of `plan` and records them to `folder`.
pub(super) fn all(plan: &Plan, folder: &Path) -> Result<Done, CliError> {
    let stop = signals::stop_flag()?;
    let progress = Progress::new(plan);
    if plan.repeat == 1 {
        let (run, ending) = one(plan, folder, stop, &progress)?;
        progress.end();
        return Ok(Done::new(&run, &ending));
    }
    let repeats = RunSet::create(folder).map_err(not_created)?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Round>>> = Mutex::new((0..plan.repeat).map(|_| None).collect());
    thread::scope(|scope| {
        for _ in 0..cores.min(plan.repeat as usize) {
            scope.spawn(|| {
                loop {
                    let round = next.fetch_add(1, Ordering::Relaxed);
                    if round >= plan.repeat as usize || stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let plan = Plan {
                        seed: plan.seed.repeat(round as u64),
                        ..plan.clone()
                    };
                    let result = one(&plan, &repeats.path_of(round), stop, &progress);
                    results.lock().unwrap_or_else(PoisonError::into_inner)[round] = Some(result);
                }
            });
        }
    });
    progress.end();
    let mut repeats = repeats;
    let mut last = RunStatus::Complete;
    // Runs are numbered without a gap. Stopped runs come last.
    for result in results
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .into_iter()
        .map_while(|r| r)
    {
        let (run, ending) = result?;
        repeats.add(run);
        if ending != RunStatus::Complete {
            last = ending;
        }
    }
    if stop.load(Ordering::Relaxed) {
        last = RunStatus::Interrupted;
    }
    let folder = repeats.path().to_owned();
    let pooled = repeats.finish().map_err(|error| incomplete_record(&folder, &error))?;
    Ok(Done::new(&pooled, &last))
}

/// Executes one run and records it to `folder`.
fn one(plan: &Plan, folder: &Path, stop: &AtomicBool, progress: &Progress) -> Result<(Run, RunStatus), CliError> {
    let mut recorder = Recorder::create(folder, Header::simulated(plan.clone())).map_err(not_created)?;
    let folder = recorder.path().to_owned();
    let mut synced = Clock::now();
    let mut broken = None;
    let outcome = netburn_simulate::run(plan, |now, rows: Vec<Row>| {
        for row in &rows {
            if let Err(error) = recorder.put(row) {
                broken = Some(error);
                return ControlFlow::Break(());
            }
        }
        if synced.elapsed() > SYNC {
            synced = Clock::now();
            if let Err(error) = recorder.sync() {
                broken = Some(error);
                return ControlFlow::Break(());
            }
        }
        progress.moved(now, plan);
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    if let Some(error) = broken {
        return Err(incomplete_record(&folder, &error));
    }
    let ending = match outcome {
        Ok(done) if done.interrupted => RunStatus::Interrupted,
        Ok(_) => RunStatus::Complete,
        Err(error) => {
            // Nothing was measured: the folder is removed.
            drop(recorder);
            let _ = std::fs::remove_dir_all(&folder);
            return Err(CliError::Usage(error.to_string()));
        }
    };
    let run = recorder
        .finish(&ending)
        .map_err(|error| incomplete_record(&folder, &error))?;
    Ok((run, ending))
}

/// Progress of all runs on a line of the terminal that is overwritten.
struct Progress {
    /// Total and finished time of all runs, in 0.1 s.
    all: u64,
    done: AtomicU64,
    shown: Option<Mutex<(Clock, usize)>>,
}

impl Progress {
    fn new(plan: &Plan) -> Self {
        let each = (plan.baseline + plan.settled()).as_millis() / 100;
        Progress {
            all: (each * u64::from(plan.repeat)).max(1),
            done: AtomicU64::new(0),
            shown: crate::terminal::stderr_is_terminal().then(|| Mutex::new((Clock::now(), 0))),
        }
    }

    /// Adds 0.1 s of one run.
    fn moved(&self, now: Instant, plan: &Plan) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let Some(shown) = &self.shown else { return };
        let Ok(mut shown) = shown.try_lock() else { return };
        if shown.0.elapsed() >= PROGRESS {
            shown.0 = Clock::now();
            let percent = done * 100 / self.all;
            let line = match plan.repeat {
                1 => format!(
                    "simulated {:.0} s of {:.0}: {percent} %",
                    now.as_secs_f64(),
                    plan.settled().as_secs_f64()
                ),
                rounds => format!("{rounds} runs: {percent} %"),
            };
            crate::terminal::overwrite_line(&line, &mut shown.1);
        }
    }

    /// Erases the line.
    fn end(&self) {
        if let Some(shown) = &self.shown {
            let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
            crate::terminal::overwrite_line("", &mut shown.1);
        }
    }
}
