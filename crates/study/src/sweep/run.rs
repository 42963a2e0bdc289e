//! All runs of a sweep that aren't finished, on all processors.

use super::folder::{Folder, FolderError};
use super::grid::Grid;
use crate::pool::each;
use netburn_record::summary::Summariser;
use netburn_record::{Header, RunStatus, Sink, Summary};
use netburn_scenario::Plan;
use netburn_units::Instant;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far a sweep is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Runs that are finished, with those of before.
    pub finished: u64,
    /// All runs.
    pub of: u64,
    /// What has been simulated since this began, as a share of what was left then.
    pub share: f64,
}

/// Why a sweep could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// What was finished can't be kept.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A cell can't be run after all.
    #[error("{cell}: {why}")]
    Cell {
        /// Its values.
        cell: String,
        /// Why.
        why: String,
    },
}

/// Runs what isn't finished on `threads` processors, and keeps each run as it ends. What comes out depends on neither number nor order.
/// When `stop` is set, the runs under way are given up. Gives the number of runs that are finished then.
///
/// # Errors
/// When a run can't be kept or made; all others that were finished are kept.
pub fn run(
    grid: &Grid,
    folder: &Folder,
    threads: usize,
    stop: &AtomicBool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<u64, SweepError> {
    let left: Vec<u64> = (0..grid.runs())
        .filter(|run| !folder.finished().contains(run) && !folder.is_impossible(grid, *run))
        .collect();
    let finished = AtomicU64::new(folder.finished().len() as u64);
    let simulated = AtomicU64::new(0);
    let broken = AtomicBool::new(false);
    let first_error = Mutex::new(None);
    let all = (left.len() as u64 * WHOLE).max(1) as f64;
    let moved = |steps: u64| {
        let steps = steps + simulated.fetch_add(steps, Ordering::Relaxed);
        progress(Progress {
            finished: finished.load(Ordering::Relaxed),
            of: folder.possible(grid),
            share: steps as f64 / all,
        });
    };
    let stopped = || stop.load(Ordering::Relaxed) || broken.load(Ordering::Relaxed);
    each(left.len() as u64, threads, &|place| {
        if stopped() {
            return;
        }
        match one(grid, left[place as usize], folder, &stopped, &moved) {
            Ok(true) => {
                finished.fetch_add(1, Ordering::Relaxed);
                moved(0);
            }
            Ok(false) => {}
            Err(error) => {
                broken.store(true, Ordering::Relaxed);
                first_error
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(error);
            }
        }
    });
    match first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(finished.into_inner()),
    }
}

/// The steps of progress in one run.
const WHOLE: u64 = 1000;

/// One run, and whether it was finished.
fn one(
    grid: &Grid,
    run: u64,
    folder: &Folder,
    stopped: &dyn Fn() -> bool,
    moved: &dyn Fn(u64),
) -> Result<bool, SweepError> {
    let cell = |why: String| SweepError::Cell {
        cell: grid.describe(run),
        why,
    };
    let plan = grid.plan(run).map_err(|error| cell(error.to_string()))?;
    let length = (plan.baseline + plan.settled()).as_nanos().max(1);
    let mut said = 0;
    let summary = summary(&plan, &(run + 1).to_string(), |now| {
        let gone = now.since(Instant::ZERO - plan.baseline).as_nanos();
        let steps = (u128::from(gone) * u128::from(WHOLE) / u128::from(length)) as u64;
        moved(steps.saturating_sub(said));
        said = said.max(steps);
        stopped()
    });
    match summary.map_err(|error| cell(error.to_string()))? {
        Some(summary) => {
            folder.keep(grid, run, summary)?;
            Ok(true)
        }
        None => Ok(false),
    }
}

/// What a simulated plan comes to, unless `stopped` says at some instant that it is to be given up. `name` stands where the summary of a
/// folder has its path.
fn summary(
    plan: &Plan,
    name: &str,
    mut stopped: impl FnMut(Instant) -> bool,
) -> Result<Option<Summary>, netburn_simulate::SimulateError> {
    let mut summariser = Summariser::new(Header::simulated(plan.clone()));
    let done = netburn_simulate::run(plan, |now, rows| {
        for row in &rows {
            summariser.put(row).expect("a summariser takes every row");
        }
        match stopped(now) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok((!done.interrupted).then(|| summariser.finish(name, &RunStatus::Complete)))
}
