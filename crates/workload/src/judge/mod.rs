//! From samples to a verdict: [`Tally`] counts, [`judge`] decides, [`worst`] sums up.

mod tally;

pub use tally::{Tally, windows};

use crate::config::{BIN, Goal};

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

impl Verdict {
    /// All of them, the best first.
    pub const ALL: [Verdict; 5] = [
        Verdict::None,
        Verdict::Pass,
        Verdict::Marginal,
        Verdict::Inconclusive,
        Verdict::Fail,
    ];
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
///
/// - Latency and rate: pass when at least 99 % are met and the worst is within twice the limit; marginal when at least
///   95 % are; else fail. Without samples inconclusive.
/// - No stall: pass without one, marginal when at most 1 % of the time watched was stalled, else fail. Met is the share
///   of time that it wasn't. Not watched at all: inconclusive.
///
/// A verdict is provisional below 3/(1 − share) samples: 300 for a pass, which claims 99 %, and 60 for a marginal, which
/// claims 95 %. The share that a fail denies is 95 % too, so that it is provisional below 60.
///
/// Shares are compared as whole numbers: exactly 99 % is a pass.
#[must_use]
pub fn judge(goal: Goal, tally: &Tally) -> GoalResult {
    let (verdict, samples) = match goal {
        Goal::Latency { .. } | Goal::Rate { .. } => (of_samples(tally), tally.samples),
        Goal::NoStall => (of_stalls(tally), tally.watched.as_nanos() / BIN.as_nanos()),
    };
    let met = match goal {
        Goal::Latency { .. } | Goal::Rate { .. } => share(tally.met, tally.samples),
        Goal::NoStall => share(
            tally.watched.saturating_sub(tally.stalled).as_nanos(),
            tally.watched.as_nanos(),
        ),
    };
    GoalResult {
        goal,
        met,
        excess: tally.worst.filter(|_| goal != Goal::NoStall),
        verdict,
        provisional: match verdict {
            Verdict::Pass => samples < 300,
            Verdict::Marginal | Verdict::Fail => samples < 60,
            Verdict::None | Verdict::Inconclusive => false,
        },
    }
}

fn of_samples(tally: &Tally) -> Verdict {
    let met_at_least = |percent: u128| u128::from(tally.met) * 100 >= u128::from(tally.samples) * percent;
    if tally.samples == 0 {
        Verdict::Inconclusive
    } else if met_at_least(99) && tally.worst.is_none_or(|excess| excess <= 2.0) {
        Verdict::Pass
    } else if met_at_least(95) {
        Verdict::Marginal
    } else {
        Verdict::Fail
    }
}

fn of_stalls(tally: &Tally) -> Verdict {
    if tally.watched.is_zero() {
        Verdict::Inconclusive
    } else if u128::from(tally.stalled.as_nanos()) * 100 > u128::from(tally.watched.as_nanos()) {
        Verdict::Fail
    } else if tally.stalls > 0 {
        Verdict::Marginal
    } else {
        Verdict::Pass
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The verdict of a whole from those of its parts: the worst; inconclusive unless another fails.
#[must_use]
pub fn worst(parts: impl IntoIterator<Item = Verdict>) -> Verdict {
    parts.into_iter().max().unwrap_or(Verdict::None)
}
