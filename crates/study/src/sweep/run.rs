//! Execution of the unfinished runs of a sweep on all processors.

use super::folder::{Folder, FolderError};
use super::grid::Grid;
use super::selection::Selection;
use netburn_parallel::Cancel;
use netburn_parallel::pool::each;
use netburn_units::Instant;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Progress of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Finished runs of the folder, including those of earlier executions.
    pub finished: u64,
    /// Maximum number of unfinished runs of the selection.
    pub left: u64,
    /// Simulated share of the runs that were unfinished at the start. Runs that turn out not to be needed count as simulated.
    pub share: f64,
}

/// Error that stopped a sweep.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// A finished run cannot be stored.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A cell failed although its check passed.
    #[error("{cell}: {why}")]
    Cell {
        /// Values of the cell.
        cell: String,
        /// Reason.
        why: String,
    },
}

/// Executes the unfinished runs of a selection on `threads` threads and stores each one when it ends. The results do not depend on
/// the number of threads. If `cancel` is stopped, runs in progress are aborted. Returns the number of runs of the selection that
/// are still unfinished: 0 unless `cancel` is stopped.
///
/// # Errors
/// A run failed or cannot be stored. All other finished runs are stored.
pub fn run(
    grid: &Grid,
    folder: &Folder,
    selection: &Selection,
    threads: usize,
    cancel: &Cancel,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<u64, SweepError> {
    let mut due = folder.due(grid, selection);
    let all = (due.left * PROGRESS_STEPS).max(1) as f64;
    // With a target, each round decides which runs the next one needs.
    while !due.runs.is_empty() && !cancel.is_stopped() {
        let (begun, left) = (folder.finished(), due.left);
        let simulated = AtomicU64::new(0);
        let moved = |steps: u64| {
            let steps = steps + simulated.fetch_add(steps, Ordering::Relaxed);
            let finished = folder.finished();
            progress(Progress {
                finished,
                left: left.saturating_sub(finished - begun),
                share: 1.0 - (left * PROGRESS_STEPS).saturating_sub(steps) as f64 / all,
            });
        };
        round(grid, folder, &due.runs, threads, cancel, &moved)?;
        due = folder.due(grid, selection);
    }
    Ok(due.left)
}

/// Executes `runs`.
fn round(
    grid: &Grid,
    folder: &Folder,
    runs: &[u64],
    threads: usize,
    cancel: &Cancel,
    moved: &(dyn Fn(u64) + Sync),
) -> Result<(), SweepError> {
    let broken = AtomicBool::new(false);
    let first_error = Mutex::new(None);
    let stopped = || cancel.is_stopped() || broken.load(Ordering::Relaxed);
    each(runs.len() as u64, threads, &|place| {
        if stopped() {
            return;
        }
        match one(grid, runs[place as usize], folder, &stopped, &moved) {
            Ok(()) => moved(0),
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
        None => Ok(()),
    }
}

/// Steps of progress in one run.
const PROGRESS_STEPS: u64 = 1000;

/// Executes one run, and stores it if it finishes.
fn one(
    grid: &Grid,
    run: u64,
    folder: &Folder,
    stopped: &dyn Fn() -> bool,
    moved: &dyn Fn(u64),
) -> Result<(), SweepError> {
    let cell = |why: String| SweepError::Cell {
        cell: grid.describe(run),
        why,
    };
    let plan = grid.plan(run).map_err(|error| cell(error.to_string()))?;
    let length = (plan.baseline + plan.settled()).as_nanos().max(1);
    let mut reported = 0;
    let summary = netburn_simulate::summary(&plan, &(run + 1).to_string(), &mut |now| {
        let gone = now.since(Instant::ZERO - plan.baseline).as_nanos();
        let steps = (u128::from(gone) * u128::from(PROGRESS_STEPS) / u128::from(length)) as u64;
        moved(steps.saturating_sub(reported));
        reported = reported.max(steps);
        if stopped() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    match summary.map_err(|error| cell(error.to_string()))? {
        Some(summary) => Ok(folder.keep(grid, run, summary)?),
        None => Ok(()),
    }
}
