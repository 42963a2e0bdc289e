//! Nearest-rank percentiles, and the number of samples each requires.
//!
//! A level is a [`Probability`]: the 99th percentile is 990 000 000 parts per billion. Ranks are
//! computed in integers, without float rounding.

use netburn_units::Probability;

/// One percentile of a set of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Percentile {
    /// Too few samples for this level.
    Unsupported,
    /// The rank falls among the unbounded samples, which never finished.
    Unbounded,
    /// Sample at this rank.
    Value(u64),
}

impl Percentile {
    /// Sample at this rank, if it has a value.
    #[must_use]
    pub const fn value(self) -> Option<u64> {
        match self {
            Percentile::Value(value) => Some(value),
            Percentile::Unsupported | Percentile::Unbounded => None,
        }
    }
}

/// The median.
pub const P50: Probability = percent(50);
/// The 75th percentile.
pub const P75: Probability = percent(75);
/// The 90th percentile.
pub const P90: Probability = percent(90);
/// The 95th percentile.
pub const P95: Probability = percent(95);
/// The 99th percentile.
pub const P99: Probability = percent(99);

/// Percentiles of a summary.
pub const STANDARD: [Probability; 5] = [P50, P75, P90, P95, P99];

const BILLION: u128 = 1_000_000_000;

const fn percent(percent: u32) -> Probability {
    match Probability::from_ppb(percent * 10_000_000) {
        Some(level) => level,
        None => panic!("a percentile is at most the hundredth"),
    }
}

/// Minimum number of samples for which a percentile is printed: 3/(1 − p), rounded up, so that
/// three samples are expected beyond it. 6 for the 50th, 30 for the 90th, 60 for the 95th, 300 for
/// the 99th. `None` for the 100th, which no number of samples supports.
#[must_use]
pub fn needed(level: Probability) -> Option<u64> {
    let beyond = BILLION - u128::from(level.as_ppb());
    // At most 3 × 10⁹.
    (beyond > 0).then(|| (3 * BILLION).div_ceil(beyond) as u64)
}

/// Returns true if `count` samples support the percentile.
#[must_use]
pub fn supported(level: Probability, count: u64) -> bool {
    needed(level).is_some_and(|needed| count >= needed)
}

/// Nearest rank: the place, from 1, of the smallest sample with at least the level's share of all
/// `count` samples at or below it. 1 for level 0; 0 only without samples.
#[must_use]
pub fn rank(level: Probability, count: u64) -> u64 {
    let rank = (u128::from(count) * u128::from(level.as_ppb())).div_ceil(BILLION) as u64;
    rank.max(1).min(count)
}
