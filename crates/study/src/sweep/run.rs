//! Execution of the unfinished runs of a sweep on all processors.

use super::folder::{Folder, FolderError};
use super::grid::Grid;
use netburn_runner::pool::each;
use netburn_runner::simulate_summary;
use netburn_units::Instant;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Progress of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Finished runs, including those of earlier executions.
    pub finished: u64,
    /// Number of all runs.
    pub total: u64,
    /// Simulated share of the runs that were unfinished at the start.
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

/// Executes the unfinished runs on `threads` threads and stores each one when it ends. The results do not depend on the number of
/// threads. If `stop` is set, runs in progress are aborted. Returns the number of finished runs.
///
/// # Errors
/// A run failed or cannot be stored. All other finished runs are stored.
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
    let all = (left.len() as u64 * PROGRESS_STEPS).max(1) as f64;
    let moved = |steps: u64| {
        let steps = steps + simulated.fetch_add(steps, Ordering::Relaxed);
        progress(Progress {
            finished: finished.load(Ordering::Relaxed),
            total: folder.possible(grid),
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

/// Steps of progress in one run.
const PROGRESS_STEPS: u64 = 1000;

/// Executes one run. Returns `true` if it finished.
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
    let mut reported = 0;
    let summary = simulate_summary(&plan, &(run + 1).to_string(), &mut |now| {
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
        Some(summary) => {
            folder.keep(grid, run, summary)?;
            Ok(true)
        }
        None => Ok(false),
    }
}
