//! From samples to a verdict: [`Tally`] counts, [`judge`] decides, [`worst`] combines.

mod quality;
mod stream;
mod tally;

pub use quality::quality_windows;
pub use stream::loss_windows;
pub use tally::{Tally, windows};

use crate::common::{BIN, Goal};
use netburn_stats::binomial;

/// Share of the samples that must meet a goal for a pass, in percent.
pub const PASS_PERCENT: u64 = 99;
/// Share of the samples that must meet a goal for a marginal verdict, in percent.
pub const MARGINAL_PERCENT: u64 = 95;
/// Largest ratio of the worst sample to the goal's limit for a pass.
pub const MAX_EXCESS: f64 = 2.0;
/// Fewest operations that exclude a fail: if all of them meet the goal, and the true share were
/// [`MARGINAL_PERCENT`], the chance of this would be 0.95⁵⁹ = 4.8 %, which is below [`CHANCE`].
pub const OPERATIONS_NEEDED: u64 = 59;
/// The chance with which a firm verdict about operations contradicts the true share is smaller.
pub const CHANCE: f64 = 0.05;
/// Largest share of the observed time in which a player may stall for a marginal verdict, in percent.
pub const MAX_STALL_PERCENT: u64 = 1;

/// Verdict, ordered from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// There is no goal.
    None,
    /// At least 99 % met, and the worst sample is within twice the goal.
    Pass,
    /// At least 95 % met.
    Marginal,
    /// There is no measurement.
    Inconclusive,
    /// Less than 95 % met.
    Fail,
}

impl Verdict {
    /// All verdicts, the best first.
    pub const ALL: [Verdict; 5] = [
        Verdict::None,
        Verdict::Pass,
        Verdict::Marginal,
        Verdict::Inconclusive,
        Verdict::Fail,
    ];

    /// Number of windows, or of 100 ms of a player's time, below which the verdict is provisional: 3/(1 − share) for the
    /// share that the verdict claims or denies. 0 without a measurement.
    #[must_use]
    pub const fn windows_needed(self) -> u64 {
        match self {
            Verdict::Pass => 300 / (100 - PASS_PERCENT),
            Verdict::Marginal | Verdict::Fail => 300 / (100 - MARGINAL_PERCENT),
            Verdict::None | Verdict::Inconclusive => 0,
        }
    }
}

/// Result for one goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalResult {
    /// The goal.
    pub goal: Goal,
    /// Share of its samples within the limit, 0 to 1; `None` without samples.
    pub met: Option<f64>,
    /// Samples that did not meet it. Of a player, a game or a video: 100 ms of stall, gap or freeze.
    pub misses: u64,
    /// Worst sample divided by the limit.
    pub excess: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// True if chance may explain the verdict: see [`judge`].
    pub provisional: bool,
}

/// Judges one goal from its tally.
///
/// - Latency and rate: pass if at least 99 % are met and the worst sample is within twice the
///   limit. Marginal if at least 95 % are met; otherwise fail. Inconclusive without samples.
/// - Quality: as above, and twice the limit is 10 points of R below it ([`quality_windows`]).
/// - Loss: as above, by windows of one direction ([`loss_windows`]).
/// - Round trips per minute: as above, by windows ([`rpm_windows`](crate::rpm_windows)).
/// - Frames: as a latency, without a limit for the worst one.
/// - No gap: as `no stall`, with the gaps of one direction in place of stalls.
/// - No stall: pass without a stall, marginal if at most 1 % of the observed time was stalled,
///   otherwise fail. `met` is the share of time without a stall. Inconclusive if the player was not
///   observed.
///
/// A verdict about operations (latency, frames) is firm if chance does not explain it. The criterion is
/// the exact one-sided interval of the share at a confidence of 95 % (Clopper and Pearson, 1934):
///
/// - A fail is firm if the interval excludes 95 %.
/// - A pass is firm if the interval excludes less than 95 %, which is a fail. So it needs 59 operations: with
///   59 to 99 a pass has no miss, and 0.95⁵⁹ is below 5 %.
/// - A marginal verdict is the border itself. It is firm with as many operations as a pass.
///
/// Windows overlap, and the parts of a stall are neighbours, so the interval does not apply to them.
/// Their verdicts are provisional below 3/(1 − share) samples: 300 for a pass, which claims 99 %, and
/// 60 for a marginal, which claims 95 %. A fail denies 95 %, so it is provisional below 60 as well.
///
/// Shares are compared as integers: exactly 99 % is a pass.
#[must_use]
pub fn judge(goal: Goal, tally: &Tally) -> GoalResult {
    let (verdict, samples) = match goal {
        Goal::Latency { .. }
        | Goal::Rate { .. }
        | Goal::Quality { .. }
        | Goal::Loss { .. }
        | Goal::Rpm { .. }
        | Goal::Frames => (judge_samples(tally), tally.samples),
        Goal::NoStall | Goal::NoGap | Goal::NoFreeze => {
            (judge_stalls(tally), tally.watched.as_nanos() / BIN.as_nanos())
        }
    };
    let met = match goal {
        Goal::Latency { .. }
        | Goal::Rate { .. }
        | Goal::Quality { .. }
        | Goal::Loss { .. }
        | Goal::Rpm { .. }
        | Goal::Frames => share(tally.met, tally.samples),
        Goal::NoStall | Goal::NoGap | Goal::NoFreeze => share(
            tally.watched.saturating_sub(tally.stalled).as_nanos(),
            tally.watched.as_nanos(),
        ),
    };
    let misses = match goal {
        Goal::Latency { .. }
        | Goal::Rate { .. }
        | Goal::Quality { .. }
        | Goal::Loss { .. }
        | Goal::Rpm { .. }
        | Goal::Frames => tally.samples.saturating_sub(tally.met),
        Goal::NoStall | Goal::NoGap | Goal::NoFreeze => tally.stalled.as_nanos().div_ceil(BIN.as_nanos()),
    };
    GoalResult {
        goal,
        met,
        misses,
        excess: tally
            .worst
            .filter(|_| !matches!(goal, Goal::NoStall | Goal::NoGap | Goal::NoFreeze)),
        verdict,
        provisional: match goal {
            Goal::Latency { .. } | Goal::Frames => is_explained_by_chance(verdict, tally),
            Goal::Rate { .. }
            | Goal::Quality { .. }
            | Goal::Loss { .. }
            | Goal::Rpm { .. }
            | Goal::NoStall
            | Goal::NoGap
            | Goal::NoFreeze => samples < verdict.windows_needed(),
        },
    }
}

/// True if a verdict about independent operations is provisional.
fn is_explained_by_chance(verdict: Verdict, tally: &Tally) -> bool {
    match verdict {
        Verdict::None | Verdict::Inconclusive => false,
        Verdict::Pass | Verdict::Marginal => tally.samples < OPERATIONS_NEEDED,
        Verdict::Fail => {
            let misses = tally.samples.saturating_sub(tally.met);
            let allowed = (100 - MARGINAL_PERCENT) as f64 / 100.0;
            binomial::at_least(misses, tally.samples, allowed) > CHANCE - 1e-9
        }
    }
}

fn judge_samples(tally: &Tally) -> Verdict {
    let met_at_least = |percent: u64| u128::from(tally.met) * 100 >= u128::from(tally.samples) * u128::from(percent);
    if tally.samples == 0 {
        Verdict::Inconclusive
    } else if met_at_least(PASS_PERCENT) && tally.worst.is_none_or(|excess| excess <= MAX_EXCESS) {
        Verdict::Pass
    } else if met_at_least(MARGINAL_PERCENT) {
        Verdict::Marginal
    } else {
        Verdict::Fail
    }
}

fn judge_stalls(tally: &Tally) -> Verdict {
    if tally.watched.is_zero() {
        Verdict::Inconclusive
    } else if u128::from(tally.stalled.as_nanos()) * 100
        > u128::from(tally.watched.as_nanos()) * u128::from(MAX_STALL_PERCENT)
    {
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

/// Combined verdict: the worst of the parts; inconclusive unless another part fails.
#[must_use]
pub fn worst(parts: impl IntoIterator<Item = Verdict>) -> Verdict {
    parts.into_iter().max().unwrap_or(Verdict::None)
}
