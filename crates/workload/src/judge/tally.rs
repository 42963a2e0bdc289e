//! What was measured against one goal, counted.

use crate::config::{BIN, Goal};
use crate::operation::{Operation, Outcome, Stall};
use netburn_units::{Duration, Instant};

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

impl Tally {
    /// Operations against a latency goal. All that count are samples ([`Outcome::Cut`] isn't one); those that finished
    /// within `limit` of their due instants met it; only those that finished have a say in the worst.
    #[must_use]
    pub fn of_operations<'a>(operations: impl IntoIterator<Item = &'a Operation>, limit: Duration) -> Tally {
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

    /// A player's stalls from `from` to `to`; what lies outside isn't counted.
    #[must_use]
    pub fn of_stalls<'a>(stalls: impl IntoIterator<Item = &'a Stall>, from: Instant, to: Instant) -> Tally {
        let mut tally = Tally {
            watched: to.checked_since(from).unwrap_or_default(),
            ..Tally::default()
        };
        for stall in stalls {
            let ended = stall.began.checked_add(stall.length).unwrap_or(to);
            let inside = ended.min(to).checked_since(stall.began.max(from)).unwrap_or_default();
            if !inside.is_zero() {
                tally.stalls += 1;
                tally.stalled += inside;
            }
        }
        tally
    }

    /// Pools another tally of the same goal with this one, as for the repeats of a run.
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

/// Windows against a rate goal.
///
/// `bins` are bytes arrived in the [`BIN`] that begins at an instant, in any order; what is left out brought nothing. The
/// first window begins at the first whole bin at or after `from`, one more every `step`, and the last ends at or
/// before `to`. Any other goal has no windows.
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
