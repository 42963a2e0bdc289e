//! From samples to a verdict.

use crate::config::Goal;
use netburn_units::Duration;

/// How good something was. The order is from best to worst of those that say something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// There was no goal.
    None,
    /// At least 99 % met, and the worst within twice the goal.
    Pass,
    /// At least 95 % met.
    Marginal,
    /// It could not be measured.
    Inconclusive,
    /// Less than 95 % met.
    Fail,
}

/// What was measured against one goal.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    /// Samples that count: operations, or windows.
    pub samples: u64,
    /// Those within the limit.
    pub met: u64,
    /// The worst sample that finished, divided by the limit (for a rate: the limit divided by the worst window);
    /// infinite when a window brought nothing; `None` without samples.
    pub worst: Option<f64>,
    /// How often the player stalled.
    pub stalls: u64,
    /// How long it stood still in all.
    pub stalled: Duration,
    /// How long it was watched: what the 1 % is of, and the samples of [`Goal::NoStall`] (one per 100 ms).
    pub watched: Duration,
}

/// One goal, judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalResult {
    /// The goal.
    pub goal: Goal,
    /// Share of its samples within the limit, 0 to 1; `None` without samples.
    pub met: Option<f64>,
    /// Worst sample divided by the limit.
    pub excess: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether there are too few samples to be sure: fewer than 3/(1 − share) for the verdict's share.
    pub provisional: bool,
}

/// Judges one goal by what was measured against it.
#[must_use]
pub fn judge(goal: Goal, tally: &Tally) -> GoalResult {
    let _ = (goal, tally);
    todo!()
}

/// The verdict of a whole from those of its parts: the worst; inconclusive unless another fails.
#[must_use]
pub fn worst(parts: impl IntoIterator<Item = Verdict>) -> Verdict {
    parts.into_iter().max().unwrap_or(Verdict::None)
}
