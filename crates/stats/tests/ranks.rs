//! The rank test against published tables, hand counts and an enumeration of every split.

use netburn_stats::{RankTest, holm, mann_whitney};
use proptest::prelude::*;

/// Two sets of n and m distinct values whose U is `u`: the first set is moved up, one pair after another.
fn with_u(n: usize, m: usize, u: usize) -> RankTest {
    let second: Vec<f64> = (0..m).map(|i| i as f64).collect();
    let mut left = u;
    let first: Vec<f64> = (0..n)
        .map(|i| {
            let below = left.min(m);
            left -= below;
            below as f64 - 0.5 + i as f64 * 1e-6
        })
        .collect();
    let test = mann_whitney(&first, &second).unwrap();
    assert_eq!(test.u, u as f64);
    test
}

#[test]
fn small_sets_are_counted_by_hand() {
    // 3 against 3, all lower: one split of twenty, and its mirror.
    assert_eq!(
        with_u(3, 3, 0),
        RankTest {
            u: 0.0,
            p: 0.1,
            exact: true
        }
    );
    assert_eq!(with_u(3, 3, 9).p, 0.1);
    // 5 against 5: U ≤ 2 in 1 + 1 + 2 of 252 splits.
    assert_eq!(with_u(5, 5, 2).p, 8.0 / 252.0);
    assert_eq!(with_u(1, 1, 0).p, 1.0);
}

#[test]
fn critical_values_are_those_of_the_tables() {
    // Two-sided 5 %: the largest U that is significant, from the usual table after Mann and Whitney (1947).
    for (n, m, critical) in [
        (4, 4, 0),
        (5, 5, 2),
        (6, 5, 3),
        (8, 8, 13),
        (10, 10, 23),
        (12, 9, 26),
        (15, 15, 64),
        (20, 20, 127),
    ] {
        assert!(with_u(n, m, critical).p <= 0.05, "{n} against {m}");
        assert!(with_u(n, m, critical + 1).p > 0.05, "{n} against {m}");
    }
}

#[test]
fn the_worked_example_of_r_is_reproduced() {
    // scipy.stats.mannwhitneyu: U = 17, exact p = 0.111…
    let test = mann_whitney(&[19.0, 22.0, 16.0, 29.0, 24.0], &[20.0, 11.0, 17.0, 12.0]).unwrap();
    assert_eq!(test.u, 17.0);
    assert!((test.p - 1.0 / 9.0).abs() < 1e-12);
}

#[test]
fn ties_are_counted_as_they_are() {
    // {1, 2} against {2, 3}: U = ½. Of the six ways to pick two of the ranks 1, 2½, 2½, 4 the sums are 3½, 3½, 5, 5,
    // 6½, 6½. Four of them lie 1½ from the middle.
    let test = mann_whitney(&[1.0, 2.0], &[2.0, 3.0]).unwrap();
    assert_eq!((test.u, test.p), (0.5, 4.0 / 6.0));
    let test = mann_whitney(&[7.0; 10], &[7.0; 10]).unwrap();
    assert_eq!((test.u, test.p), (50.0, 1.0));
    let test = mann_whitney(&[7.0; 100], &[7.0; 100]).unwrap();
    assert_eq!((test.u, test.p, test.exact), (5_000.0, 1.0, false));
}

#[test]
fn large_sets_that_differ_differ() {
    let first: Vec<f64> = (0..200).map(f64::from).collect();
    let second: Vec<f64> = (0..200).map(|i| f64::from(i) + 30.5).collect();
    let test = mann_whitney(&first, &second).unwrap();
    assert!(!test.exact && test.p < 0.001, "{test:?}");
}

#[test]
fn empty_sets_yield_none() {
    assert_eq!(mann_whitney(&[], &[1.0]), None);
    assert_eq!(mann_whitney(&[1.0], &[]), None);
    assert_eq!(mann_whitney(&[1.0], &[f64::NAN]), None);
}

#[test]
fn holm_steps_down() {
    // The textbook's four: 0.005 × 4, 0.01 × 3, 0.03 × 2, and 0.04, which can't be below the
    // previous one.
    assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
    assert_eq!(holm(&[0.5, 0.9]), [1.0, 1.0]);
    assert_eq!(holm(&[0.2]), [0.2]);
    assert!(holm(&[]).is_empty());
}

/// Definition: every split, enumerated.
fn enumerated(first: &[f64], second: &[f64]) -> f64 {
    let all: Vec<f64> = first.iter().chain(second).copied().collect();
    let pairs = |chosen: u32| -> i64 {
        let (mut twice, mut count) = (0, 0);
        for (i, one) in all.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1) {
            for (_, other) in all.iter().enumerate().filter(|(j, _)| chosen >> j & 1 == 0 && *j != i) {
                twice += i64::from(one > other) * 2 + i64::from(one == other);
                count += 1;
            }
        }
        (twice - count).abs()
    };
    let observed = pairs((1 << first.len()) - 1);
    let splits = (0u32..1 << all.len()).filter(|chosen| chosen.count_ones() as usize == first.len());
    let far: Vec<bool> = splits.map(|chosen| pairs(chosen) >= observed).collect();
    far.iter().filter(|far| **far).count() as f64 / far.len() as f64
}

fn few() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((0u8..8).prop_map(f64::from), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn exact_probabilities_equal_an_enumeration(first in few(), second in few()) {
        let test = mann_whitney(&first, &second).unwrap();
        prop_assert!((test.p - enumerated(&first, &second)).abs() < 1e-12);
    }

    #[test]
    fn exchanging_the_sets_mirrors_u(
        first in prop::collection::vec(-100.0..100.0f64, 1..60),
        second in prop::collection::vec(-100.0..100.0f64, 1..60),
    ) {
        let (one, other) = (mann_whitney(&first, &second).unwrap(), mann_whitney(&second, &first).unwrap());
        prop_assert_eq!(one.u + other.u, (first.len() * second.len()) as f64);
        prop_assert!((one.p - other.p).abs() < 1e-12);
        prop_assert!(one.p > 0.0 && one.p <= 1.0);
    }

    #[test]
    fn correction_keeps_the_order_and_only_raises(probabilities in prop::collection::vec(0.0..=1.0f64, 0..20)) {
        let corrected = holm(&probabilities);
        for (i, p) in probabilities.iter().enumerate() {
            prop_assert!(corrected[i] >= *p && corrected[i] <= 1.0);
            for (j, q) in probabilities.iter().enumerate() {
                prop_assert!(p > q || corrected[i] <= corrected[j]);
            }
        }
    }
}
