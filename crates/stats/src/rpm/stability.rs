//! Stability of a responsiveness test, and the confidence in its result (draft-ietf-ippm-responsiveness-09).

use netburn_units::Probability;
use std::collections::VecDeque;
use std::num::NonZeroUsize;

/// Intervals of a moving average and of a stability check (MAD). The draft's value.
pub const INTERVALS: NonZeroUsize = match NonZeroUsize::new(4) {
    Some(intervals) => intervals,
    None => panic!("not zero"),
};
/// Maximum standard deviation of stable values, as a share of their mean (SDT). The draft's value: 5 %.
pub const TOLERANCE: Probability = super::percent(5);

/// Average of the values of the last intervals, such as the bytes of each interval. The draft averages over
/// [`INTERVALS`].
#[derive(Debug, Clone)]
pub struct MovingAverage {
    intervals: NonZeroUsize,
    recent: VecDeque<u64>,
}

impl MovingAverage {
    /// Creates an average over this number of intervals.
    #[must_use]
    pub fn new(intervals: NonZeroUsize) -> Self {
        Self {
            intervals,
            recent: VecDeque::new(),
        }
    }

    /// Adds the value of an interval. Returns the average of the last ones; `None` until there are enough.
    pub fn push(&mut self, value: u64) -> Option<f64> {
        self.recent.push_back(value);
        if self.recent.len() > self.intervals.get() {
            self.recent.pop_front();
        }
        let sum: u128 = self.recent.iter().map(|value| u128::from(*value)).sum();
        (self.recent.len() == self.intervals.get()).then(|| sum as f64 / self.intervals.get() as f64)
    }
}

/// Stability of a series of values, one per interval: moving averages of the goodput, or scores.
///
/// The series is stable if the population standard deviation of the last values is at most a share of their
/// mean.
#[derive(Debug, Clone)]
pub struct Stability {
    intervals: NonZeroUsize,
    tolerance: Probability,
    recent: VecDeque<f64>,
}

impl Stability {
    /// Creates a check of the last `intervals` values; the draft uses [`INTERVALS`] and [`TOLERANCE`].
    #[must_use]
    pub fn new(intervals: NonZeroUsize, tolerance: Probability) -> Self {
        Self {
            intervals,
            tolerance,
            recent: VecDeque::new(),
        }
    }

    /// Adds the value of an interval.
    pub fn push(&mut self, value: f64) {
        self.recent.push_back(value);
        if self.recent.len() > self.intervals.get() {
            self.recent.pop_front();
        }
    }

    /// Returns whether there are enough values, and the last ones are stable. A value that is not finite is
    /// never stable.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        if !self.is_full() {
            return false;
        }
        let count = self.recent.len() as f64;
        let mean = self.recent.iter().sum::<f64>() / count;
        let variance = self.recent.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
        let limit = f64::from(self.tolerance.as_ppb()) / 1e9 * mean;
        // Squares are compared: no root is necessary. The comparison is false for NaN.
        variance <= limit * limit
    }

    /// Returns the confidence in a result at the present interval.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        if !self.is_full() {
            Confidence::Low
        } else if self.is_stable() {
            Confidence::High
        } else {
            Confidence::Medium
        }
    }

    fn is_full(&self) -> bool {
        self.recent.len() == self.intervals.get()
    }
}

/// Confidence in the result of one stage of a test. The confidence in a test is that of its worst stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The stage had fewer intervals than the stability check needs.
    Low,
    /// The stage had enough intervals, and was not stable.
    Medium,
    /// The stage was stable.
    High,
}

impl Confidence {
    /// Returns the name of the confidence.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}
