//! Comparison of many metrics of two sets of runs. All of netburn uses it: `compare`, `sweep
//! --judge` and the predictions of `explain`.
//!
//! A metric is *the same* if the whole interval of its difference is within its [`Tolerance`]. It
//! is *better* or *worse* if the difference exceeds the tolerance and the test's probability is
//! less than [`SIGNIFICANCE`]. That probability is corrected for the number of metrics that vary
//! ([`holm`]). So at most one in twenty comparisons without a change raises a false alarm, for any
//! number of metrics. Otherwise the result is *can't tell*, as always with fewer than [`MIN_RUNS`]
//! runs on either side.
//!
//! - Independent runs: [`mann_whitney`], and the interval that belongs to it
//!   ([`shift`](mod@crate::shift)).
//! - Runs in [pairs](paired): the interval of the differences within pairs ([`paired_shift`]). The
//!   test is [`signed_rank`] if there are enough pairs for it ([`enough_pairs`]). Otherwise it is
//!   [`mann_whitney`] as well, because its minimum probability decreases faster with the number of
//!   runs. Similar runs within a pair only make it more conservative.
//! - A metric that [can't differ](Contrast::varies) is left out of the correction: one value in all
//!   runs of both sides, or equal values within each pair. The selection does not depend on which
//!   run belongs to which side, so it adds no false alarms.

use crate::bootstrap::median;
use crate::metric_change::{Better, Judgement, MIN_RUNS, Tolerance};
use crate::shift::{apart, paired_shift, shift};
use crate::{Effect, Interval, Shift, holm, mann_whitney, pairs, signed_rank};
use netburn_units::Probability;

/// Significance level: a difference with a smaller probability is not attributed to chance.
pub const SIGNIFICANCE: f64 = 0.05;

/// Confidence level of an interval.
pub const LEVEL: Probability = match Probability::from_ppb(950_000_000) {
    Some(level) => level,
    None => Probability::ONE,
};

/// Comparison of one metric between two sets of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// Medians of the first and of the second set.
    pub medians: [f64; 2],
    /// Shift of the second set relative to the first: the Hodges-Lehmann estimate, which can differ
    /// from the difference of the medians.
    pub difference: f64,
    /// Confidence interval of `difference`; `None` with fewer than two runs on either side.
    pub interval: Option<Interval>,
    /// Confidence level of the interval, 0 to 1: at least [`LEVEL`], or the maximum that so few
    /// runs permit.
    pub level: f64,
    /// Effect size, independent of the unit.
    pub effect: Effect,
    /// Number of runs on each side.
    pub runs: [usize; 2],
    /// True if the runs are pairs.
    pub paired: bool,
    /// True if the metric can differ at all.
    pub varies: bool,
    /// Probability of ranks at least this far apart if both sets have the same distribution, by
    /// [`mann_whitney`].
    rank_sum: f64,
    /// Probability of signs at least this uneven, by [`signed_rank`]; 1 if the runs are not pairs.
    signed_rank: f64,
}

/// One metric of a comparison, to be judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Comparison of its runs.
    pub contrast: Contrast,
    /// Direction of improvement.
    pub better: Better,
    /// Differences that are too small to matter.
    pub tolerance: Tolerance,
}

/// Statistical test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// [`mann_whitney`], Wilcoxon's rank-sum test.
    RankSum,
    /// [`signed_rank`], for pairs.
    SignedRank,
}

/// Result for one metric among all metrics of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// Test that was used.
    pub test: Test,
    /// Probability of this test alone.
    pub p: f64,
    /// Probability corrected for multiple metrics; 1 for a metric that can't differ.
    pub corrected: f64,
    /// Judgement.
    pub judgement: Judgement,
}

/// Compares a metric's values in `second` with those in `first`, one value per run. A value may be
/// infinite: an operation that never finished in that run. Returns `None` if a set is empty or a
/// value is NaN.
#[must_use]
pub fn contrast(first: &[f64], second: &[f64]) -> Option<Contrast> {
    // For ranks any value above all others is sufficient.
    let ranked = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value.clamp(f64::MIN, f64::MAX)).collect() };
    let test = mann_whitney(&ranked(first), &ranked(second))?;
    let shift = shift(first, second, LEVEL)?;
    let medians = [first, second].map(|values| median(&mut values.to_vec()));
    Some(Contrast {
        medians,
        effect: Effect::from_u(test.u, first.len(), second.len()),
        runs: [first.len(), second.len()],
        paired: false,
        varies: first.iter().chain(second).any(|value| *value != first[0]),
        rank_sum: test.p,
        signed_rank: 1.0,
        ..Contrast::from_shift(shift, first.len().min(second.len()))
    })
}

/// Compares the second values of pairs of runs with the first. The runs of a pair share all random
/// influences, as runs of the simulator with one seed. Values as for [`contrast()`].
#[must_use]
pub fn paired(pairs: &[[f64; 2]]) -> Option<Contrast> {
    let [first, second] = [0, 1].map(|side| pairs.iter().map(|pair| pair[side]).collect::<Vec<f64>>());
    let unpaired = contrast(&first, &second)?;
    let differences: Vec<f64> = pairs.iter().map(|[first, second]| apart(*first, *second)).collect();
    Some(Contrast {
        medians: unpaired.medians,
        effect: unpaired.effect,
        runs: unpaired.runs,
        paired: true,
        varies: differences.iter().any(|difference| *difference != 0.0),
        rank_sum: unpaired.rank_sum,
        signed_rank: signed_rank(&differences)?.p,
        ..Contrast::from_shift(paired_shift(&differences, LEVEL)?, pairs.len())
    })
}

/// Number of metrics that can differ: the number for which probabilities are corrected.
#[must_use]
pub fn varying(questions: &[Question]) -> usize {
    questions.iter().filter(|question| question.contrast.varies).count()
}

/// Judges all metrics of a comparison together; the second set is the changed one.
#[must_use]
pub fn judge_all(questions: &[Question]) -> Vec<Answer> {
    let family = varying(questions);
    let tested: Vec<(Test, f64)> = questions
        .iter()
        .map(|question| question.contrast.tested(family))
        .collect();
    let varies = |place: &usize| questions[*place].contrast.varies;
    let places: Vec<usize> = (0..questions.len()).filter(varies).collect();
    let probabilities: Vec<f64> = places.iter().map(|place| tested[*place].1).collect();
    let mut corrected = vec![1.0; questions.len()];
    for (place, probability) in places.into_iter().zip(holm(&probabilities)) {
        corrected[place] = probability;
    }
    let each = questions.iter().zip(tested).zip(corrected);
    each.map(|((question, (test, p)), corrected)| Answer {
        test,
        p,
        corrected,
        judgement: question.judgement(corrected),
    })
    .collect()
}

impl Contrast {
    /// Contrast for a shift, with `fewest` runs on the smaller side; the caller sets all other
    /// fields.
    fn from_shift(shift: Shift, fewest: usize) -> Self {
        Contrast {
            difference: shift.estimate,
            interval: (fewest > 1).then_some(shift.interval),
            level: shift.level,
            medians: [0.0; 2],
            effect: Effect { delta: 0.0 },
            runs: [0; 2],
            paired: false,
            varies: false,
            rank_sum: 1.0,
            signed_rank: 1.0,
        }
    }

    /// Test and probability for this metric among `family` metrics that vary.
    fn tested(&self, family: usize) -> (Test, f64) {
        if self.paired && enough_pairs(self.runs[0], family) {
            (Test::SignedRank, self.signed_rank)
        } else {
            (Test::RankSum, self.rank_sum)
        }
    }
}

impl Question {
    /// Largest difference that counts as the same, in the metric's unit.
    #[must_use]
    pub fn same_within(&self) -> f64 {
        self.tolerance.at(self.contrast.medians[0])
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
            _ if runs[0].min(runs[1]) < MIN_RUNS => Judgement::CantTell,
            Some(interval) if interval.low >= -same && interval.high <= same => Judgement::Same,
            _ if corrected < SIGNIFICANCE && difference.abs() > same => {
                if (difference > 0.0) == (self.better == Better::Higher) {
                    Judgement::Better
                } else {
                    Judgement::Worse
                }
            }
            _ => Judgement::CantTell,
        }
    }
}

impl Test {
    /// Name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Test::RankSum => "rank-sum",
            Test::SignedRank => "signed-rank",
        }
    }
}

/// Number of sign patterns at either end that the signed-rank test must be able to reject. With
/// fewer, one or two small differences of opposite sign would decide. A measurement used simulated
/// runs with 18 metrics. With 10 pairs (one pattern) the signed-rank test detected less than the
/// rank-sum test. With at least 12 pairs (five patterns) it detected as much or more.
const PATTERNS: f64 = 5.0;

/// Returns true if `pairs` pairs are enough for the signed-rank test to detect one of `metrics`
/// metrics that vary.
#[must_use]
pub fn enough_pairs(pairs: usize, metrics: usize) -> bool {
    PATTERNS * pairs::min_p(pairs) * metrics as f64 <= SIGNIFICANCE
}

/// Minimum probability of the rank-sum test for sets of these sizes without equal values.
#[must_use]
pub fn min_p(first: usize, second: usize) -> f64 {
    // Two of all ways to split them: 2 / C(first + second, first).
    let ways = (1..=first).fold(1.0, |ways, k| ways * (second + k) as f64 / k as f64);
    (2.0 / ways).min(1.0)
}

/// Minimum number of runs per side with which one of `metrics` metrics that vary can be better or
/// worse.
#[must_use]
pub fn runs_needed(metrics: usize) -> usize {
    let enough = |runs: &usize| min_p(*runs, *runs) * metrics as f64 <= SIGNIFICANCE * (1.0 - 1e-9);
    (MIN_RUNS..).find(enough).unwrap_or(MIN_RUNS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIVE_PERCENT: Tolerance = Tolerance {
        share: 0.05,
        least: 1.0,
    };

    fn question(first: &[f64], second: &[f64], better: Better) -> Question {
        Question {
            contrast: contrast(first, second).unwrap(),
            better,
            tolerance: FIVE_PERCENT,
        }
    }

    fn question_for_pairs(first: &[f64], second: &[f64]) -> Question {
        let pairs: Vec<[f64; 2]> = first
            .iter()
            .zip(second)
            .map(|(first, second)| [*first, *second])
            .collect();
        Question {
            contrast: paired(&pairs).unwrap(),
            better: Better::Lower,
            tolerance: FIVE_PERCENT,
        }
    }

    fn judged(first: &[f64], second: &[f64], better: Better) -> Judgement {
        judge_all(&[question(first, second, better)])[0].judgement
    }

    /// Around 100, a tolerance of 5 % is 5.
    #[test]
    fn by_hand() {
        let before = [98.0, 99.0, 100.0, 101.0, 102.0];
        let by = |much: f64| before.map(|value| value + much);
        use Better::{Higher, Lower};
        // The differences of five and five are `much` ± 4 in steps of 1. Two are left out at either
        // end, so the interval is `much` ± 3.
        assert_eq!(judged(&before, &by(2.0), Lower), Judgement::Same);
        // 126 × 2 ways to split ten in halves: 2/252 is below 5 %.
        assert_eq!(judged(&before, &by(10.0), Lower), Judgement::Worse);
        assert_eq!(judged(&before, &by(10.0), Higher), Judgement::Better);
        assert_eq!(judged(&before, &by(-10.0), Higher), Judgement::Worse);
        // All of it is above zero, not all of it is within 5, and the estimate is just within 5.
        assert_eq!(judged(&before, &by(4.9), Lower), Judgement::CantTell);
        let found = contrast(&before, &by(10.0)).unwrap();
        assert_eq!((found.medians, found.difference), ([100.0, 110.0], 10.0));
        assert!((found.rank_sum - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(found.effect.delta, 1.0);
        assert_eq!(found.interval, Some(Interval { low: 7.0, high: 13.0 }));
        // U up to 2 in 1 + 1 + 2 of 252 ways.
        assert!((found.level - (1.0 - 8.0 / 252.0)).abs() < 1e-12);
    }

    #[test]
    fn too_few_runs_decide_nothing() {
        let far = [1000.0; 20];
        assert_eq!(judged(&[1.0, 2.0], &far, Better::Lower), Judgement::CantTell);
        assert_eq!(judged(&[1.0, 1.0], &[1.0; 20], Better::Lower), Judgement::CantTell);
        assert_eq!(contrast(&[1.0], &far).unwrap().interval, None);
        // Three against three can be the same, and never better: 2 of 20 ways.
        assert_eq!(judged(&[1.0; 3], &[1.0; 3], Better::Lower), Judgement::Same);
        assert_eq!(
            judged(&[1.0, 2.0, 3.0], &[101.0, 102.0, 103.0], Better::Lower),
            Judgement::CantTell
        );
        assert!((min_p(3, 3) - 0.1).abs() < 1e-12);
        assert!((min_p(5, 5) - 2.0 / 252.0).abs() < 1e-12);
        // 4: 2/70 = 0.0286; 5: 0.0079; 6: 2/924 = 0.00216.
        assert_eq!([1, 2, 6, 7, 23, 24].map(runs_needed), [4, 5, 5, 6, 6, 7]);
    }

    #[test]
    fn more_metrics_need_more_runs() {
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

    /// 24 metrics of six runs against six: four have one value in all runs. 24 × 2 / 924 is above 5
    /// %, 20 × 2 / 924 is not.
    #[test]
    fn constant_metrics_are_left_out_of_the_correction() {
        let before = [98.0, 99.0, 100.0, 101.0, 102.0, 103.0];
        let changed = question(&before, &before.map(|value| value * 3.25), Better::Lower);
        let noise = question(&before, &[98.5, 99.5, 100.5, 101.5, 97.5, 103.5], Better::Lower);
        let constant = question(&[1.0; 6], &[1.0; 6], Better::Higher);
        let family = |constants: usize| {
            let mut all = vec![changed];
            all.resize(24 - constants, noise);
            all.resize(24, constant);
            (varying(&all), judge_all(&all))
        };
        let (count, answers) = family(0);
        assert_eq!((count, answers[0].judgement), (24, Judgement::CantTell));
        assert!((answers[0].corrected - 24.0 * 2.0 / 924.0).abs() < 1e-12);
        let (count, answers) = family(4);
        assert_eq!((count, answers[0].judgement), (20, Judgement::Worse));
        assert!((answers[0].corrected - 20.0 * 2.0 / 924.0).abs() < 1e-12);
        assert_eq!((answers[23].corrected, answers[23].judgement), (1.0, Judgement::Same));
        // Constant on each side with different values: the metric varies.
        assert!(contrast(&[1.0; 6], &[2.0; 6]).unwrap().varies);
    }

    /// Twelve pairs with large differences between pairs and small differences within them.
    #[test]
    fn pairs_are_distinguished_where_sets_are_not() {
        let before: [f64; 12] = std::array::from_fn(|run| 100.0 + 20.0 * run as f64);
        let after: [f64; 12] = std::array::from_fn(|run| before[run] + 12.0 + run as f64 * 0.1);
        assert_eq!(judged(&before, &after, Better::Lower), Judgement::CantTell);
        let question = question_for_pairs(&before, &after);
        let answer = judge_all(&[question])[0];
        assert_eq!((answer.test, answer.judgement), (Test::SignedRank, Judgement::Worse));
        assert!(
            (answer.p - 2.0 / 4096.0).abs() < 1e-15,
            "all signs are the same in 2 of 2¹² patterns"
        );
        let interval = question.contrast.interval.unwrap();
        assert!(12.0 < interval.low && interval.high < 13.1, "{interval:?}");
        // Within 5 % of 210 is the same.
        let near: [f64; 12] = std::array::from_fn(|run| before[run] + 5.0 + run as f64 * 0.1);
        assert_eq!(
            judge_all(&[question_for_pairs(&before, &near)])[0].judgement,
            Judgement::Same
        );
        assert_eq!(judged(&before, &near, Better::Lower), Judgement::CantTell);
    }

    /// 5 × 2 / 2ⁿ × metrics must be 5 % at most. So 11 pairs suffice for 10 metrics (0.0488), 12 for 11 (0.0269), 12
    /// for 18, 13 for 40 (0.0488).
    #[test]
    fn few_pairs_are_ranked_as_sets() {
        let enough = |metrics: usize| (1..).find(|pairs| enough_pairs(*pairs, metrics)).unwrap();
        assert_eq!([1, 10, 11, 18, 40, 41].map(enough), [8, 11, 12, 12, 13, 14]);
        let before: Vec<f64> = (0..7).map(|run| 100.0 + f64::from(run)).collect();
        let after: Vec<f64> = before.iter().map(|value| value + 50.0).collect();
        let answer = judge_all(&[question_for_pairs(&before, &after)])[0];
        assert_eq!((answer.test, answer.judgement), (Test::RankSum, Judgement::Worse));
        assert!(
            (answer.p - 2.0 / 3432.0).abs() < 1e-15,
            "7 of 14 are picked in 3432 ways"
        );
    }

    #[test]
    fn pairs_that_never_differ_cost_nothing_and_are_the_same() {
        let values = [3.0, 70.0, 19.0, 45.0, 8.0];
        let question = question_for_pairs(&values, &values);
        assert!(!question.contrast.varies);
        let answers = judge_all(&[question, question_for_pairs(&values, &values.map(|value| value + 9.0))]);
        assert_eq!((answers[0].corrected, answers[0].judgement), (1.0, Judgement::Same));
        assert_eq!(answers[1].corrected, answers[1].p, "it is the only one that varies");
    }

    #[test]
    fn unfinished_values_rank_above_all() {
        const NEVER: f64 = f64::INFINITY;
        let before = [98.0, 99.0, 100.0, 101.0, 102.0];
        assert_eq!(judged(&before, &[NEVER; 5], Better::Lower), Judgement::Worse);
        assert_eq!(judged(&[NEVER; 5], &before, Better::Lower), Judgement::Better);
        assert_eq!(judged(&[NEVER; 5], &[NEVER; 5], Better::Lower), Judgement::Same);
        let found = contrast(&before, &[NEVER; 5]).unwrap();
        assert_eq!((found.medians[1], found.difference), (NEVER, NEVER));
        assert!(contrast(&before, &[f64::NAN]).is_none());
        assert!(contrast(&[], &before).is_none());
        assert!(paired(&[]).is_none() && paired(&[[1.0, f64::NAN]]).is_none());
        // Both directions are equally frequent: no interval can be given.
        let mixed = paired(&[[NEVER, 1.0], [1.0, NEVER], [2.0, 2.0]]).unwrap();
        assert_eq!(
            (mixed.difference, mixed.interval),
            (
                0.0,
                Some(Interval {
                    low: -NEVER,
                    high: NEVER
                })
            )
        );
        assert_eq!(
            judge_all(&[question_for_pairs(&before, &[NEVER; 5])])[0].judgement,
            Judgement::Worse
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Swapping the sides changes all signs. Better becomes worse if the tolerance does not
        /// depend on the side.
        #[test]
        fn swapped_sides_mirror_the_judgement(
            first in prop::collection::vec(0_u8..40, 1..14),
            second in prop::collection::vec(0_u8..40, 1..14),
            in_pairs: bool,
        ) {
            let floats = |values: &[u8]| values.iter().map(|value| f64::from(*value)).collect::<Vec<_>>();
            let (mut first, mut second) = (floats(&first), floats(&second));
            let absolute = Tolerance { share: 0.0, least: 2.0 };
            let [one, other] = if in_pairs {
                    let count = first.len().min(second.len());
                    first.truncate(count);
                    second.truncate(count);
                    let pairs: Vec<[f64; 2]> = first.iter().zip(&second).map(|(a, b)| [*a, *b]).collect();
                    let turned: Vec<[f64; 2]> = pairs.iter().map(|[a, b]| [*b, *a]).collect();
                    [paired(&pairs).unwrap(), paired(&turned).unwrap()]
                } else { [contrast(&first, &second).unwrap(), contrast(&second, &first).unwrap()] };
            prop_assert_eq!(one.difference, -other.difference);
            prop_assert!((one.effect.delta + other.effect.delta).abs() < 1e-12);
            prop_assert!((one.rank_sum - other.rank_sum).abs() < 1e-12);
            prop_assert!((one.signed_rank - other.signed_rank).abs() < 1e-12);
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

        /// The correction never increases significance.
        #[test]
        fn correction_only_adds(values in prop::collection::vec(prop::collection::vec(0.0_f64..50.0, 8), 2..6)) {
            let questions: Vec<Question> = values.iter().map(|set| question(&set[..4], &set[4..], Better::Lower)).collect();
            for answer in judge_all(&questions) {
                prop_assert!(answer.corrected >= answer.p - 1e-12 && answer.corrected <= 1.0);
            }
        }
    }
}
