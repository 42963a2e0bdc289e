//! Counts for one goal.

use crate::common::{BIN, Goal};
use crate::operation::{Operation, Outcome, Stall};
use netburn_units::{Duration, Instant};

/// Samples of one goal, counted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    /// Number of samples that count: operations, or windows.
    pub samples: u64,
    /// Number of samples within the limit.
    pub met: u64,
    /// Worst finished sample divided by the limit (for a rate: the limit divided by the worst
    /// window; for a quality: 1 and a tenth for each point of R by which the worst window is below
    /// the limit). Infinite if a window received nothing; `None` without samples.
    pub worst: Option<f64>,
    /// Number of stalls of the player, of gaps of a stream, or of freezes of a video call.
    pub stalls: u64,
    /// Total duration of the stalls.
    pub stalled: Duration,
    /// Observed time: the base of the 1 % limit, and the samples of [`Goal::NoStall`] (one per 100
    /// ms).
    pub watched: Duration,
}

impl Tally {
    /// Counts operations for a latency goal. All operations are samples except [`Outcome::Cut`].
    /// Those that finished within `limit` of their due time met it. Only finished ones determine
    /// the worst.
    #[must_use]
    pub fn from_operations<'a>(operations: impl IntoIterator<Item = &'a Operation>, limit: Duration) -> Tally {
        let mut tally = Tally::default();
        let mut longest = None;
        for operation in operations {
            if operation.outcome == Outcome::Cut {
                continue;
            }
            let latency = operation.latency();
            tally.samples += 1;
            tally.met += u64::from(latency.is_some_and(|latency| latency <= limit));
            longest = longest.max(latency);
        }
        tally.worst = longest.map(|longest| longest.as_nanos() as f64 / limit.as_nanos() as f64);
        tally
    }

    /// Counts a player's stalls from `from` to `to`; time outside is not counted.
    #[must_use]
    pub fn from_stalls<'a>(stalls: impl IntoIterator<Item = &'a Stall>, from: Instant, to: Instant) -> Tally {
        let mut tally = Tally {
            watched: to.checked_since(from).unwrap_or_default(),
            ..Tally::default()
        };
        for stall in stalls {
            let inside = stall.within(from, to);
            if !inside.is_zero() {
                tally.stalls += 1;
                tally.stalled += inside;
            }
        }
        tally
    }

    /// Adds another tally of the same goal, as for the runs of a run set.
    pub fn add(&mut self, other: &Tally) {
        self.samples += other.samples;
        self.met += other.met;
        self.worst = match (self.worst, other.worst) {
            (Some(one), Some(another)) => Some(one.max(another)),
            (one, another) => one.or(another),
        };
        self.stalls += other.stalls;
        self.stalled += other.stalled;
        self.watched += other.watched;
    }
}

/// Counts windows for a rate goal.
///
/// `bins` are bytes received in the [`BIN`] that begins at an instant, in any order; a missing bin
/// has none. The first window begins at the first whole bin at or after `from`, another every
/// `step`, and the last ends at or before `to`. Other goals have no windows.
#[must_use]
pub fn windows(bins: impl IntoIterator<Item = (Instant, u64)>, goal: Goal, from: Instant, to: Instant) -> Tally {
    let Goal::Rate { at_least, window, step } = goal else {
        return Tally::default();
    };
    let bin = BIN.as_nanos() as i64;
    let first = from.as_nanos().div_euclid(bin) + i64::from(from.as_nanos().rem_euclid(bin) != 0);
    let after = to.as_nanos().div_euclid(bin);
    let count = usize::try_from(after - first).unwrap_or(0);
    let mut bytes = vec![0_u64; count];
    for (at, arrived) in bins {
        let index = at.as_nanos().div_euclid(bin) - first;
        if let Some(total) = usize::try_from(index).ok().and_then(|index| bytes.get_mut(index)) {
            *total = total.saturating_add(arrived);
        }
    }

    let bins_of = |span: Duration| {
        usize::try_from(span.as_nanos() / BIN.as_nanos())
            .unwrap_or(usize::MAX)
            .max(1)
    };
    let (width, step) = (bins_of(window), bins_of(step));
    // Both sides in billionths of a bit.
    let needed = u128::from(at_least.as_bps()) * u128::from(BIN.as_nanos()) * width as u128;
    let mut tally = Tally::default();
    let mut least = None;
    let mut sum: u128 = bytes.iter().take(width).map(|b| u128::from(*b)).sum();
    for begin in 0..(count + 1).saturating_sub(width) {
        if begin > 0 {
            sum = sum + u128::from(bytes[begin + width - 1]) - u128::from(bytes[begin - 1]);
        }
        if begin.is_multiple_of(step) {
            let arrived = sum * 8 * 1_000_000_000;
            tally.samples += 1;
            tally.met += u64::from(arrived >= needed);
            least = Some(least.map_or(arrived, |least: u128| least.min(arrived)));
        }
    }
    tally.worst = least.map(|least| needed as f64 / least as f64);
    tally
}
