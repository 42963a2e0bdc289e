//! Fairness and bootstrap intervals against closed forms and published data.

use netburn_stats::bootstrap::{mean, median};
use netburn_stats::{Interval, interval, jain};
use netburn_units::{Probability, Seed};
use proptest::prelude::*;

fn share(percent: u32) -> Probability {
    Probability::from_ppb(percent * 10_000_000).unwrap()
}

fn of_mean(values: &[f64], level: Probability, seed: u64) -> Option<Interval> {
    interval(values, |resample| mean(resample), level, 10_000, Seed(seed))
}

#[test]
fn fairness_is_the_share_that_is_served() {
    assert_eq!(jain(&[5.0; 4]), Some(1.0));
    assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), Some(0.25));
    assert_eq!(jain(&[3.0, 3.0, 0.0, 0.0, 0.0]), Some(0.4));
    assert_eq!(jain(&[42.0]), Some(1.0));
}

#[test]
fn fairness_of_the_first_n_numbers_has_a_closed_form() {
    // (Σi)² / (n Σi²) = 3(n + 1) / (2(2n + 1)).
    for n in 1..100u32 {
        let shares: Vec<f64> = (1..=n).map(f64::from).collect();
        let expected = f64::from(3 * (n + 1)) / f64::from(2 * (2 * n + 1));
        assert!((jain(&shares).unwrap() - expected).abs() < 1e-12, "n = {n}");
    }
}

#[test]
fn fairness_of_nothing_or_nonsense_is_none() {
    for shares in [&[][..], &[0.0, 0.0], &[1.0, -1.0], &[1.0, f64::NAN], &[f64::INFINITY]] {
        assert_eq!(jain(shares), None);
    }
    assert_eq!(jain(&[f64::MAX, f64::MAX]), Some(1.0), "large shares don't overflow");
}

#[test]
fn two_runs_have_three_means() {
    // Of {0, 1} the mean of a resample is 0, ½ or 1 with probability ¼, ½, ¼.
    let values = [0.0, 1.0];
    assert_eq!(of_mean(&values, share(95), 1), Some(Interval { low: 0.0, high: 1.0 }));
    assert_eq!(of_mean(&values, share(60), 1), Some(Interval { low: 0.0, high: 1.0 }));
    assert_eq!(of_mean(&values, share(40), 1), Some(Interval { low: 0.5, high: 0.5 }));
}

#[test]
fn three_runs_have_three_medians() {
    // The median of a resample of three is the least with probability 7/27, the middle with 13/27.
    let of = |percent| interval(&[1.0, 2.0, 10.0], median, share(percent), 10_000, Seed(3)).unwrap();
    assert_eq!(of(60), Interval { low: 1.0, high: 10.0 });
    assert_eq!(of(40), Interval { low: 2.0, high: 2.0 });
}

#[test]
fn the_mouse_data_have_their_published_standard_error() {
    // Efron and Tibshirani (1993), chapter 2: survival of 7 treated mice, mean 86.86; the bootstrap's standard error
    // of the mean tends to √(Σ(x − x̄)²)/n = 23.36. The middle 68.27 % of nearly normal means reach one either way.
    let values = [94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0];
    assert!((mean(&values) - 86.857).abs() < 0.001);
    let interval = of_mean(&values, Probability::from_ppb(682_700_000).unwrap(), 7).unwrap();
    let half = (interval.high - interval.low) / 2.0;
    assert!((half / 23.36 - 1.0).abs() < 0.05, "half the interval is {half}");
}

#[test]
fn the_interval_of_many_runs_approaches_the_normal_one() {
    // 0 and 1 in equal parts: σ = ½, so 95 % of 400 lies within ½ ± 1.96 × 0.5 / 20 = 0.451 to 0.549.
    let values: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
    let interval = of_mean(&values, share(95), 11).unwrap();
    assert!(
        (interval.low - 0.451).abs() < 0.005 && (interval.high - 0.549).abs() < 0.005,
        "{interval:?}"
    );
}

#[test]
fn one_run_has_no_interval() {
    assert_eq!(of_mean(&[], share(95), 1), None);
    assert_eq!(of_mean(&[1.0], share(95), 1), None);
    assert_eq!(of_mean(&[1.0, f64::NAN], share(95), 1), None);
    assert_eq!(interval(&[1.0, 2.0], median, share(95), 0, Seed(1)), None);
}

#[test]
fn middle_values() {
    assert_eq!(median(&mut []), 0.0);
    assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
    assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.5);
    assert_eq!(median(&mut [f64::MAX, f64::MAX]), f64::MAX);
    assert_eq!(mean(&[]), 0.0);
    assert_eq!(mean(&[0.1; 10]), 0.1, "equal values give exactly that value");
}

fn runs() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1e6..1e6f64, 2..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn intervals_stay_within_the_samples_and_grow_with_their_level(values in runs(), seed: u64) {
        let of = |percent| interval(&values, median, share(percent), 400, Seed(seed)).unwrap();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (narrow, wide) = (of(50), of(95));
        prop_assert!(least <= wide.low && wide.low <= narrow.low);
        prop_assert!(narrow.low <= narrow.high && narrow.high <= wide.high && wide.high <= most);
    }

    #[test]
    fn one_seed_gives_one_interval(values in runs(), seed: u64) {
        let of = || interval(&values, |resample| mean(resample), share(95), 200, Seed(seed));
        prop_assert_eq!(of(), of());
    }

    #[test]
    fn fairness_lies_between_one_of_n_and_one(shares in prop::collection::vec(0.0..1e12f64, 1..50), factor in 1e-6..1e6f64) {
        prop_assume!(shares.iter().any(|share| *share > 1e-3));
        let index = jain(&shares).unwrap();
        prop_assert!(index >= 1.0 / shares.len() as f64 - 1e-12 && index <= 1.0 + 1e-12);
        let scaled: Vec<f64> = shares.iter().rev().map(|share| share * factor).collect();
        prop_assert!((jain(&scaled).unwrap() - index).abs() < 1e-9, "neither scale nor order matters");
    }
}
