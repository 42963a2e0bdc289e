//! Many figures of two sets of runs, held against each other and judged together.
//!
//! A figure is *the same* when all of the difference's interval is within its [`Tolerance`]. It is *better* or *worse* when the
//! difference is beyond the tolerance and the rank test, corrected over all figures that are shown ([`holm`]), gives less than
//! [`SURE`]: so of twenty comparisons in which nothing has changed one raises an alarm, whatever the number of figures. Else it
//! *can't be told*, as always with fewer than [`FEWEST`] runs of either.

use crate::bootstrap::{apart, difference, median};
use crate::judge::{Better, FEWEST, Judgement, Tolerance};
use crate::{Effect, Interval, holm, mann_whitney};
use netburn_units::{Probability, Seed};

/// The probability below which a difference is not taken for chance.
pub const SURE: f64 = 0.05;

/// How sure an interval is to be.
pub const LEVEL: Probability = match Probability::from_ppb(950_000_000) {
    Some(level) => level,
    None => Probability::ONE,
};

/// A figure of two sets of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// The medians of the first set and of the second.
    pub medians: [f64; 2],
    /// How far the second median lies above the first.
    pub difference: f64,
    /// Where that lies, [`LEVEL`] sure; `None` with fewer than two runs of either.
    pub interval: Option<Interval>,
    /// The probability of ranks so far apart if nothing but chance told the sets apart.
    pub p: f64,
    /// How far apart they lie, whatever the unit.
    pub effect: Effect,
    /// How many runs there are of each.
    pub runs: [usize; 2],
}

/// One figure of a comparison, for judging.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// What its runs say.
    pub contrast: Contrast,
    /// Which way is better.
    pub better: Better,
    /// What is too little to matter.
    pub tolerance: Tolerance,
}

/// What a figure comes to among all that were asked about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// The probability, corrected for there being several figures.
    pub corrected: f64,
    /// What it comes to.
    pub judgement: Judgement,
}

/// Holds a figure's values in `second` against those in `first`, one value per run: the medians, a seeded bootstrap that
/// resamples runs, and the rank test. A value may be infinite: in that run it never came. `None` when a set is empty or a value
/// is no number.
#[must_use]
pub fn contrast(first: &[f64], second: &[f64], draws: u32, seed: Seed) -> Option<Contrast> {
    // For ranks any value above all others will do.
    let ranked = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value.clamp(f64::MIN, f64::MAX)).collect() };
    let test = mann_whitney(&ranked(first), &ranked(second))?;
    let medians = [first, second].map(|values| median(&mut values.to_vec()));
    Some(Contrast {
        medians,
        difference: apart(medians[0], medians[1]),
        interval: difference(first, second, median, LEVEL, draws, seed),
        p: test.p,
        effect: Effect::of_u(test.u, first.len(), second.len()),
        runs: [first.len(), second.len()],
    })
}

/// Judges all figures of a comparison together; the second set is what was changed.
#[must_use]
pub fn judge_all(questions: &[Question]) -> Vec<Answer> {
    let corrected = holm(&questions.iter().map(|question| question.contrast.p).collect::<Vec<_>>());
    let answers = questions.iter().zip(corrected).map(|(question, corrected)| Answer {
        corrected,
        judgement: question.judgement(corrected),
    });
    answers.collect()
}

impl Question {
    /// What is the same, in the figure's unit.
    #[must_use]
    pub fn same_within(&self) -> f64 {
        self.tolerance.of(self.contrast.medians[0])
    }

    fn judgement(&self, corrected: f64) -> Judgement {
        let Contrast {
            difference,
            interval,
            runs,
            ..
        } = self.contrast;
        let same = self.same_within();
        match interval {
            _ if runs[0].min(runs[1]) < FEWEST => Judgement::CantTell,
            Some(interval) if interval.low >= -same && interval.high <= same => Judgement::Same,
            _ if corrected < SURE && difference.abs() > same => {
                match (difference > 0.0) == (self.better == Better::Higher) {
                    true => Judgement::Better,
                    false => Judgement::Worse,
                }
            }
            _ => Judgement::CantTell,
        }
    }
}

/// The least probability that the rank test can give of sets with so many values, none of them equal.
#[must_use]
pub fn least_p(first: usize, second: usize) -> f64 {
    // Two of all ways to split them: 2 / C(first + second, first).
    let ways = (1..=first).fold(1.0, |ways, k| ways * (second + k) as f64 / k as f64);
    (2.0 / ways).min(1.0)
}

/// The fewest runs of each side with which one of so many figures can be better or worse at all.
#[must_use]
pub fn runs_needed(figures: usize) -> usize {
    let enough = |runs: &usize| least_p(*runs, *runs) * figures as f64 <= SURE * (1.0 - 1e-9);
    (FEWEST..).find(enough).unwrap_or(FEWEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DRAWS: u32 = 500;

    const FIVE_PERCENT: Tolerance = Tolerance {
        share: 0.05,
        least: 1.0,
    };

    fn question(first: &[f64], second: &[f64], better: Better) -> Question {
        Question {
            contrast: contrast(first, second, DRAWS, Seed(1)).unwrap(),
            better,
            tolerance: FIVE_PERCENT,
        }
    }

    fn judged(first: &[f64], second: &[f64], better: Better) -> Judgement {
        judge_all(&[question(first, second, better)])[0].judgement
    }

    /// Around 100, 5 are the same.
    #[test]
    fn by_hand() {
        let before = [98.0, 99.0, 100.0, 101.0, 102.0];
        let by = |much: f64| before.map(|value| value + much);
        use Better::{Higher, Lower};
        assert_eq!(judged(&before, &by(0.5), Lower), Judgement::Same);
        // 126 × 2 ways to split ten in halves: 2/252 is below 5 %.
        assert_eq!(judged(&before, &by(10.0), Lower), Judgement::Worse);
        assert_eq!(judged(&before, &by(10.0), Higher), Judgement::Better);
        assert_eq!(judged(&before, &by(-10.0), Higher), Judgement::Worse);
        // All of it is beyond nought and not all of it within 5, and the median only just is.
        assert_eq!(judged(&before, &by(4.9), Lower), Judgement::CantTell);
        let found = contrast(&before, &by(10.0), DRAWS, Seed(1)).unwrap();
        assert_eq!((found.medians, found.difference), ([100.0, 110.0], 10.0));
        assert!((found.p - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(found.effect.delta, 1.0);
        let interval = found.interval.unwrap();
        assert!((6.0..10.0).contains(&interval.low) && (10.0..=14.0).contains(&interval.high));
    }

    #[test]
    fn too_few_runs_tell_nothing() {
        let far = [1000.0; 20];
        assert_eq!(judged(&[1.0, 2.0], &far, Better::Lower), Judgement::CantTell);
        assert_eq!(judged(&[1.0, 1.0], &[1.0; 20], Better::Lower), Judgement::CantTell);
        // Three against three can be the same, and never better: 2 of 20 ways.
        assert_eq!(judged(&[1.0; 3], &[1.0; 3], Better::Lower), Judgement::Same);
        assert_eq!(
            judged(&[1.0, 2.0, 3.0], &[101.0, 102.0, 103.0], Better::Lower),
            Judgement::CantTell
        );
        assert!((least_p(3, 3) - 0.1).abs() < 1e-12);
        assert!((least_p(5, 5) - 2.0 / 252.0).abs() < 1e-12);
        // 4: 2/70 = 0.0286; 5: 0.0079; 6: 2/924 = 0.00216.
        assert_eq!([1, 2, 6, 7, 23, 24].map(runs_needed), [4, 5, 5, 6, 6, 7]);
    }

    #[test]
    fn what_is_asked_about_more_needs_more() {
        let before = [98.0, 99.0, 100.0, 101.0, 102.0];
        let changed = question(&before, &before.map(|value| value + 10.0), Better::Lower);
        let unchanged = question(&before, &before, Better::Lower);
        let mut all = vec![changed];
        all.resize(6, unchanged);
        assert_eq!(judge_all(&all)[0].judgement, Judgement::Worse);
        all.push(unchanged);
        let answers = judge_all(&all);
        assert_eq!(answers[0].judgement, Judgement::CantTell);
        assert!((answers[0].corrected - 7.0 * 2.0 / 252.0).abs() < 1e-12);
    }

    #[test]
    fn what_never_came_ranks_above_all() {
        const NEVER: f64 = f64::INFINITY;
        let before = [98.0, 99.0, 100.0, 101.0, 102.0];
        assert_eq!(judged(&before, &[NEVER; 5], Better::Lower), Judgement::Worse);
        assert_eq!(judged(&[NEVER; 5], &before, Better::Lower), Judgement::Better);
        assert_eq!(judged(&[NEVER; 5], &[NEVER; 5], Better::Lower), Judgement::Same);
        let found = contrast(&before, &[NEVER; 5], DRAWS, Seed(1)).unwrap();
        assert_eq!((found.medians[1], found.difference), (NEVER, NEVER));
        assert!(contrast(&before, &[f64::NAN], DRAWS, Seed(1)).is_none());
        assert!(contrast(&[], &before, DRAWS, Seed(1)).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// The other way round all that has a sign changes it, and what was better is worse where the tolerance has one size.
        #[test]
        fn turned_round(first in prop::collection::vec(0_u8..40, 1..12), second in prop::collection::vec(0_u8..40, 1..12)) {
            let floats = |values: &[u8]| values.iter().map(|value| f64::from(*value)).collect::<Vec<_>>();
            let (first, second) = (floats(&first), floats(&second));
            let absolute = Tolerance { share: 0.0, least: 2.0 };
            let one = contrast(&first, &second, DRAWS, Seed(7)).unwrap();
            let other = contrast(&second, &first, DRAWS, Seed(7)).unwrap();
            prop_assert_eq!(one.difference, -other.difference);
            prop_assert!((one.effect.delta + other.effect.delta).abs() < 1e-12);
            prop_assert!((one.p - other.p).abs() < 1e-12);
            if let Some(interval) = one.interval {
                let most = second.iter().copied().fold(f64::MIN, f64::max) - first.iter().copied().fold(f64::MAX, f64::min);
                prop_assert!(interval.low <= interval.high && interval.high <= most);
            }
            let judged = |better| judge_all(&[Question { contrast: one, better, tolerance: absolute }])[0].judgement;
            let turned = match judged(Better::Lower) {
                Judgement::Better => Judgement::Worse,
                Judgement::Worse => Judgement::Better,
                as_it_was => as_it_was,
            };
            prop_assert_eq!(judged(Better::Higher), turned);
        }

        /// Correction makes nothing surer.
        #[test]
        fn correction_only_adds(values in prop::collection::vec(prop::collection::vec(0.0_f64..50.0, 8), 2..6)) {
            let questions: Vec<Question> = values.iter().map(|set| question(&set[..4], &set[4..], Better::Lower)).collect();
            for (question, answer) in questions.iter().zip(judge_all(&questions)) {
                prop_assert!(answer.corrected >= question.contrast.p - 1e-12 && answer.corrected <= 1.0);
            }
        }
    }
}
