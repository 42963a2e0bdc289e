//! The words of a judgement: what a change did to a figure, which way is better, and what is too little to matter.
//! [`contrast`](mod@crate::contrast) comes to them.

/// What a change did to a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Judgement {
    /// It is better.
    Better,
    /// It is worse.
    Worse,
    /// It is the same, within the tolerance.
    Same,
    /// These runs can't tell.
    CantTell,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Better {
    /// As for a throughput.
    Higher,
    /// As for a latency.
    Lower,
}

/// What is too little to matter: the larger of the two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// A share of the median without the change.
    pub share: f64,
    /// In the figure's own unit.
    pub least: f64,
}

/// Below so many runs of either nothing can be told.
pub const FEWEST: usize = 3;

impl Tolerance {
    /// Of a throughput, or of an index of how evenly something is shared: 5 %.
    pub const RATE: Tolerance = Tolerance::new(0.05, 0.0);
    /// Of a latency in ms: 5 %, and a millisecond, which nobody feels.
    pub const LATENCY: Tolerance = Tolerance::new(0.05, 1.0);
    /// Of the share of something that went wrong (time stood still, datagrams lost), 0 to 1: 5 %, and half a hundredth of all.
    pub const LOSS: Tolerance = Tolerance::new(0.05, 0.005);
    /// Of the share of a goal's samples that were within its limit, 0 to 1: a hundredth of all, whatever it was.
    pub const MET: Tolerance = Tolerance::new(0.0, 0.01);

    const fn new(share: f64, least: f64) -> Tolerance {
        Tolerance { share, least }
    }

    /// What is the same around the median without the change, in the figure's unit; where that is infinite, `least`.
    #[must_use]
    pub fn of(self, median: f64) -> f64 {
        match median.is_finite() {
            true => (median.abs() * self.share).max(self.least),
            false => self.least,
        }
    }
}

impl Judgement {
    /// All of them.
    pub const ALL: [Judgement; 4] = [
        Judgement::Better,
        Judgement::Worse,
        Judgement::Same,
        Judgement::CantTell,
    ];

    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Judgement::Better => "better",
            Judgement::Worse => "worse",
            Judgement::Same => "same",
            Judgement::CantTell => "can't tell",
        }
    }
}

impl Better {
    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Better::Higher => "higher",
            Better::Lower => "lower",
        }
    }
}
