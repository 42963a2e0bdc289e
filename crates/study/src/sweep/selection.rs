//! The runs of a sweep that one process executes.

use super::columns::MetricValue;
use super::grid::Grid;
use super::precision::Target;
use super::shard::Shard;

/// Restrictions of the runs; all runs by default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Only the runs of a shard.
    pub shard: Option<Shard>,
    /// Further runs of a cell only until a metric has a precision. The number of runs of each cell is then a maximum.
    pub target: Option<Target>,
}

/// Unfinished runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Due {
    /// Runs that can be executed now, in order. With a [target](Selection::target) their results decide whether further
    /// runs are needed.
    pub runs: Vec<u64>,
    /// Maximum number of unfinished runs, those after [`runs`](Self::runs) included.
    pub left: u64,
}

impl Selection {
    /// Value of the target's metric in a row.
    pub(super) fn value(&self, metrics: &[MetricValue]) -> Option<f64> {
        metrics[self.target.as_ref()?.column].number()
    }

    /// Returns the unfinished runs. `valid` returns `true` for a cell that can run, and `value` returns `None` for an unfinished
    /// run and the value of the target's metric for a finished one.
    pub(super) fn due(
        &self,
        grid: &Grid,
        valid: impl Fn(u64) -> bool,
        value: impl Fn(u64) -> Option<Option<f64>>,
    ) -> Due {
        let mut due = Due::default();
        let repeat = u64::from(grid.repeat());
        for cell in (0..grid.cells()).filter(|cell| valid(*cell)) {
            let first = cell * repeat;
            let Some(target) = &self.target else {
                let ours = |run: &u64| self.shard.is_none_or(|shard| shard.contains(*run)) && value(*run).is_none();
                due.runs.extend((first..first + repeat).filter(ours));
                continue;
            };
            // The runs of a cell decide about each other, so one shard has all of them.
            if !self.shard.is_none_or(|shard| shard.contains(cell)) {
                continue;
            }
            let need = target.needed(grid.repeat(), |run| value(first + u64::from(run)));
            let unfinished = |run: &u64| value(*run).is_none();
            let end = if need.last { need.runs } else { grid.repeat() };
            due.left += (first..first + u64::from(end)).filter(unfinished).count() as u64;
            due.runs
                .extend((first..first + u64::from(need.runs)).filter(unfinished));
        }
        if self.target.is_none() {
            due.left = due.runs.len() as u64;
        }
        due
    }
}
