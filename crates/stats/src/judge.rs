//! Whether a change made a figure better or worse, from runs without it and runs with it.
//!
//! What lies within a [`Tolerance`] is the same. The rest goes by the interval in which the difference lies
//! ([`shift()`], 95 % sure): better or worse when all of it is on one side of nought and the estimate is beyond the
//! tolerance, the same when all of it is within the tolerance, and else it can't be told. With fewer than [`FEWEST`] runs of
//! either it never can. Many figures are judged at once, so of twenty that don't change one may still come out as if it had.

use crate::{Shift, shift};
use netburn_units::Probability;

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

/// A figure without a change and with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// The medians of the runs without and with the change; `None` where a run doesn't know the figure.
    pub medians: [Option<f64>; 2],
    /// The difference that the change makes; `None` as above.
    pub shift: Option<Shift>,
    /// What is the same, in the figure's unit.
    pub tolerance: f64,
    /// How many runs there are of each.
    pub runs: [usize; 2],
    /// What it comes to.
    pub judgement: Judgement,
}

/// Below so many runs of either nothing can be told.
pub const FEWEST: usize = 3;

/// How sure an interval is to be.
const LEVEL: Probability = match Probability::from_ppb(950_000_000) {
    Some(level) => level,
    None => Probability::ONE,
};

impl Tolerance {
    /// Of a throughput, or of an index of how evenly something is shared: 5 %.
    pub const RATE: Tolerance = Tolerance::new(0.05, 0.0);
    /// Of a latency in ms: 5 %, and a millisecond, which nobody feels.
    pub const LATENCY: Tolerance = Tolerance::new(0.05, 1.0);
    /// Of how long a player stood still, in ms: 5 %, and a tenth of a second.
    pub const STALL: Tolerance = Tolerance::new(0.05, 100.0);
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

/// Judges the runs `with` a change against those `without`; a run that doesn't know the figure is `None`.
#[must_use]
pub fn judge(without: &[Option<f64>], with: &[Option<f64>], better: Better, tolerance: Tolerance) -> Judged {
    let known = |runs: &[Option<f64>]| runs.iter().copied().collect::<Option<Vec<f64>>>();
    let median = |runs: &Option<Vec<f64>>| {
        let runs = runs.as_ref().filter(|runs| !runs.is_empty())?;
        Some(crate::bootstrap::median(&mut runs.clone()))
    };
    let sets = [known(without), known(with)];
    let medians = [median(&sets[0]), median(&sets[1])];
    let same = medians[0].map_or(0.0, |median| tolerance.of(median));
    let found = match &sets {
        [Some(without), Some(with)] => shift(without, with, LEVEL),
        _ => None,
    };
    let judgement = match found {
        Some(found) if without.len().min(with.len()) >= FEWEST => told(&found, same, better),
        _ => Judgement::CantTell,
    };
    Judged {
        medians,
        shift: found,
        tolerance: same,
        runs: [without.len(), with.len()],
        judgement,
    }
}

fn told(found: &Shift, same: f64, better: Better) -> Judgement {
    let (low, high) = (found.interval.low, found.interval.high);
    if low >= -same && high <= same {
        return Judgement::Same;
    }
    let (good, bad) = match better {
        Better::Higher => (Judgement::Better, Judgement::Worse),
        Better::Lower => (Judgement::Worse, Judgement::Better),
    };
    match found.estimate {
        estimate if low > 0.0 && estimate > same => good,
        estimate if high < 0.0 && estimate < -same => bad,
        _ => Judgement::CantTell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIVE_PERCENT: Tolerance = Tolerance {
        share: 0.05,
        least: 1.0,
    };

    fn judged(without: &[f64], with: &[f64], better: Better) -> Judgement {
        let some = |runs: &[f64]| runs.iter().copied().map(Some).collect::<Vec<_>>();
        judge(&some(without), &some(with), better, FIVE_PERCENT).judgement
    }

    /// Around 100, 5 are the same. The interval of five against five leaves out the three differences at either end.
    #[test]
    fn by_hand() {
        let before = [98.0, 99.0, 100.0, 101.0, 102.0];
        let by = |much: f64| before.map(|value| value + much);
        use Better::{Higher, Lower};
        use Judgement::{Better as Good, CantTell, Same, Worse};
        // The differences are much ± 4 in steps of 1; the interval is much ± 2.
        assert_eq!(judged(&before, &by(3.0), Higher), Same);
        assert_eq!(judged(&before, &by(-3.0), Lower), Same);
        assert_eq!(
            judged(&before, &by(3.5), Higher),
            CantTell,
            "up to 5.5, and the estimate is within"
        );
        assert_eq!(judged(&before, &by(6.0), Higher), Good);
        assert_eq!(judged(&before, &by(6.0), Lower), Worse);
        assert_eq!(judged(&before, &by(-6.0), Higher), Worse);
        assert_eq!(judged(&before, &by(-6.0), Lower), Good);
        // So far apart that nought may be it.
        assert_eq!(
            judged(
                &[0.0, 50.0, 100.0, 150.0, 200.0],
                &[60.0, 110.0, 160.0, 210.0, 260.0],
                Higher
            ),
            CantTell
        );
    }

    #[test]
    fn too_few_runs_or_unknown_figures_tell_nothing() {
        assert_eq!(
            judged(&[1.0, 1.0], &[9.0, 9.0, 9.0], Better::Higher),
            Judgement::CantTell
        );
        assert_eq!(judged(&[1.0; 3], &[9.0; 3], Better::Higher), Judgement::Better);
        let unknown = judge(
            &[Some(1.0); 5],
            &[Some(9.0), None, Some(9.0)],
            Better::Higher,
            FIVE_PERCENT,
        );
        assert_eq!(
            (unknown.judgement, unknown.medians),
            (Judgement::CantTell, [Some(1.0), None])
        );
        assert_eq!(
            judge(&[], &[], Better::Lower, FIVE_PERCENT).judgement,
            Judgement::CantTell
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// The other way round, what was better is worse, but for the tolerance, which goes by the first.
        #[test]
        fn turned_round(without in proptest::collection::vec(900.0..1_100.0, 3..7), with in proptest::collection::vec(900.0..1_100.0, 3..7)) {
            let tolerance = Tolerance { share: 0.0, least: 20.0 };
            let some = |runs: &[f64]| runs.iter().copied().map(Some).collect::<Vec<_>>();
            let (one, other) = (some(&without), some(&with));
            let turned = match judge(&other, &one, Better::Higher, tolerance).judgement {
                Judgement::Better => Judgement::Worse,
                Judgement::Worse => Judgement::Better,
                same => same,
            };
            prop_assert_eq!(judge(&one, &other, Better::Higher, tolerance).judgement, turned);
            prop_assert_eq!(judge(&other, &one, Better::Lower, tolerance).judgement, judge(&one, &other, Better::Higher, tolerance).judgement);
        }
    }
}
