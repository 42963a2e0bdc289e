//! Values of scipy 1.17 (an independent program) for samples beyond the exact tables, and definitions computed by hand.

use netburn_stats::bootstrap::mean;
use netburn_stats::contrast::{enough_pairs, min_p, paired, runs_needed};
use netburn_stats::metric_change::{Better, Judgement};
use netburn_stats::{Effect, Size, interval, mann_whitney, paired_shift, shift, signed_rank};
use netburn_units::{Probability, Seed};
use std::cell::RefCell;

const LEVEL: Probability = Probability::from_ppb(950_000_000).unwrap();

/// 30 and 25 values with ties.
fn two_sets() -> (Vec<f64>, Vec<f64>) {
    let first = (0..30).map(|i| f64::from(i * 7 % 23)).collect();
    let second = (0..25).map(|i| f64::from(i * 5 % 19) + 9.0).collect();
    (first, second)
}

/// 130 differences with ties, of which two are 0.
fn differences() -> Vec<f64> {
    (0..130).map(|i| f64::from(i * 37 % 101) - 40.0).collect()
}

/// `scipy.stats.mannwhitneyu(first, second, method="asymptotic")`: U of the first set is 189.5 of 750.
#[test]
fn the_rank_sum_test_of_large_sets_with_ties() {
    let (first, second) = two_sets();
    let test = mann_whitney(&first, &second).unwrap();
    assert!(!test.exact);
    assert!(test.u == 189.5 || test.u == 560.5, "{test:?}");
    assert!((test.p - 0.001_748_352_542_555_940_6).abs() < 1e-12, "{test:?}");
}

/// `scipy.stats.wilcoxon(differences without 0, correction=True, method="approx")`.
#[test]
fn the_signed_rank_test_of_many_pairs_with_ties() {
    let test = signed_rank(&differences()).unwrap();
    assert!(!test.exact);
    assert_eq!((test.w, test.count), (5546.5, 128));
    assert!((test.p - 0.000_745_193_422_034_190_6).abs() < 1e-12, "{test:?}");
}

/// The 258 least and largest of 750 differences are left out: the most for which the normal distribution with continuity correction
/// gives at most 2.5 %.
#[test]
fn the_shift_of_large_sets() {
    let (first, second) = two_sets();
    let found = shift(&first, &second, LEVEL).unwrap();
    assert_eq!(
        (found.estimate, found.interval.low, found.interval.high),
        (6.0, 3.0, 10.0)
    );
}

/// 3413 of 8515 Walsh averages are left out at each end.
#[test]
fn the_shift_of_many_pairs() {
    let found = paired_shift(&differences(), LEVEL).unwrap();
    assert_eq!(
        (found.estimate, found.interval.low, found.interval.high),
        (9.5, 4.0, 15.0)
    );
}

/// Of 200 resamples the 5th and the 196th limit the middle 95 %.
#[test]
fn an_interval_is_of_ranks_of_the_resamples() {
    let drawn = RefCell::new(Vec::new());
    let statistic = |resample: &mut [f64]| {
        let value = mean(resample);
        drawn.borrow_mut().push(value);
        value
    };
    let values: Vec<f64> = (0..12).map(|i| f64::from(i * i)).collect();
    let found = interval(&values, statistic, LEVEL, 200, Seed(4)).unwrap();
    let mut drawn = drawn.into_inner();
    drawn.sort_unstable_by(f64::total_cmp);
    assert_eq!((found.low, found.high), (drawn[4], drawn[195]));
}

/// 2 / C(2n, n) of n runs: 0.1, 0.0286, 0.00794, 0.00216. The limit is 0.05 divided by the number of values compared.
#[test]
fn the_number_of_runs_that_can_decide() {
    assert!((min_p(3, 3) - 0.1).abs() < 1e-12);
    assert_eq!([1, 2, 6, 7, 23].map(runs_needed), [4, 5, 5, 6, 6]);
    // Five patterns of signs of 2^(1 − pairs): 5 × 2⁻⁹ is 0.0098.
    assert!(enough_pairs(10, 5) && !enough_pairs(10, 6));
}

#[test]
fn pairs_have_an_effect_size() {
    let pairs: Vec<[f64; 2]> = (0..8).map(|i| [f64::from(i), f64::from(i) + 100.0]).collect();
    assert_eq!(paired(&pairs).unwrap().effect.delta, 1.0);
}

/// Romano and others (2006): |δ| below 0.147 is negligible, below 0.33 small, below 0.474 medium.
#[test]
fn effect_sizes_have_published_limits() {
    let size = |delta: f64| Effect { delta }.size();
    let expected = [
        (0.146, Size::Negligible),
        (0.147, Size::Small),
        (-0.329, Size::Small),
        (0.33, Size::Medium),
        (-0.473, Size::Medium),
        (0.474, Size::Large),
    ];
    for (delta, expected) in expected {
        assert_eq!(size(delta), expected, "{delta}");
    }
}

#[test]
fn names_in_documents() {
    assert_eq!(
        Judgement::ALL.map(Judgement::name),
        ["better", "worse", "same", "can't tell"]
    );
    assert_eq!([Better::Higher, Better::Lower].map(Better::name), ["higher", "lower"]);
    let sizes = [Size::Negligible, Size::Small, Size::Medium, Size::Large];
    assert_eq!(sizes.map(Size::name), ["negligible", "small", "medium", "large"]);
}
