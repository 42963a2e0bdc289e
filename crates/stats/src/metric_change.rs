//! Judgements about a change of a metric, the direction of improvement, and tolerances.
//! [`contrast`](mod@crate::contrast) computes them.

/// Effect of a change on a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Judgement {
    /// Improved.
    Better,
    /// Worsened.
    Worse,
    /// Unchanged, within the tolerance.
    Same,
    /// Not decidable from these runs.
    CantTell,
}

/// Direction of improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Better {
    /// Higher is better, as for a throughput.
    Higher,
    /// Lower is better, as for a latency.
    Lower,
}

/// Largest difference that counts as the same: the larger of the two values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Share of the median without the change.
    pub share: f64,
    /// Absolute value, in the metric's unit.
    pub least: f64,
}

/// Minimum number of runs per side; with fewer runs no judgement is possible.
pub const MIN_RUNS: usize = 3;

impl Tolerance {
    /// For a throughput, or for a fairness index: 5 %.
    pub const RATE: Tolerance = Tolerance::new(0.05, 0.0);
    /// For a latency in ms: 5 %, and 1 ms, which is not perceptible.
    pub const LATENCY: Tolerance = Tolerance::new(0.05, 1.0);
    /// For a share of errors (stall time, lost datagrams), 0 to 1: 5 %, and 0.005.
    pub const LOSS: Tolerance = Tolerance::new(0.05, 0.005);
    /// For the share of a goal's samples within its limit, 0 to 1: 0.01.
    pub const MET: Tolerance = Tolerance::new(0.0, 0.01);
    /// For a rating R of a call, 0 to 93: 3 points, about a tenth of the mean opinion score.
    pub const RATING: Tolerance = Tolerance::new(0.0, 3.0);

    const fn new(share: f64, least: f64) -> Tolerance {
        Tolerance { share, least }
    }

    /// Largest difference that counts as the same around the median without the change, in the
    /// metric's unit; `least` if that median is infinite.
    #[must_use]
    pub fn at(self, median: f64) -> f64 {
        if median.is_finite() {
            (median.abs() * self.share).max(self.least)
        } else {
            self.least
        }
    }
}

netburn_units::variants! {
    pub Judgement:
        Better = "better",
        Worse = "worse",
        Same = "same",
        CantTell = "can't tell",
}

impl Better {
    /// Name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Better::Higher => "higher",
            Better::Lower => "lower",
        }
    }
}
