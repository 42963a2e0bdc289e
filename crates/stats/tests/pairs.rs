//! The signed-rank test against published examples, hand counts and an enumeration of every pattern of signs.

use netburn_stats::pairs::min_p;
use netburn_stats::signed_rank;
use proptest::prelude::*;

/// Hamilton's depression scale factor IV of nine patients before and after the first visit: Hollander and Wolfe's table 3.1, the worked
/// example of R's `wilcox.test`. V = 40, one-sided p = 0.01953 = 10/512.
#[test]
#[expect(clippy::approx_constant, reason = "3.14 is a measured value")]
fn the_worked_example_of_r_is_reproduced() {
    let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
    let fall: Vec<f64> = before.iter().zip(after).map(|(before, after)| before - after).collect();
    let test = signed_rank(&fall).unwrap();
    assert_eq!((test.w, test.count, test.exact), (40.0, 9, true));
    assert!((test.p - 20.0 / 512.0).abs() < 1e-12, "{test:?}");
}

/// Two-sided 5 %: the largest W that is significant, from the usual table after Wilcoxon (1945).
#[test]
fn critical_values_are_those_of_the_tables() {
    for (count, critical) in [
        (6, 0),
        (7, 2),
        (8, 3),
        (9, 5),
        (10, 8),
        (12, 13),
        (15, 25),
        (20, 52),
        (25, 89),
    ] {
        assert!(with_w(count, critical) <= 0.05, "{count}");
        assert!(with_w(count, critical + 1) > 0.05, "{count}");
    }
}

/// The probability of differences of sizes 1 to `count` of which the positive ranks sum to `w`.
fn with_w(count: usize, w: usize) -> f64 {
    let mut left = w;
    let mut differences: Vec<f64> = (1..=count)
        .rev()
        .map(|rank| {
            let positive = rank <= left;
            left -= if positive { rank } else { 0 };
            if positive { rank as f64 } else { -(rank as f64) }
        })
        .collect();
    differences.reverse();
    let test = signed_rank(&differences).unwrap();
    assert_eq!(test.w, w as f64);
    test.p
}

#[test]
fn small_sets_are_counted_by_hand() {
    let p = |differences: &[f64]| signed_rank(differences).unwrap().p;
    // All of one sign: two patterns of 2ⁿ.
    assert_eq!(p(&[1.0, 2.0, 3.0, 4.0, 5.0]), 2.0 / 32.0);
    assert_eq!(p(&[-1.0]), 1.0);
    // W = 1 of 6: sums 0 and 1 below, 5 and 6 above, of eight patterns.
    assert_eq!(p(&[1.0, -2.0, -3.0]), 0.5);
    // A difference of zero has no sign.
    assert_eq!(
        signed_rank(&[0.0, 1.0, 0.0, 2.0]).map(|test| (test.count, test.p)),
        Some((2, 0.5))
    );
    assert_eq!(signed_rank(&[0.0; 8]).map(|test| (test.count, test.p)), Some((0, 1.0)));
    // Ties: ranks 1½, 1½ and 3. W = 1½ of 6: 0, 1½, 1½, 3 | 3, 4½, 4½, 6; six of eight lie at least 1½ from 3.
    assert_eq!(p(&[5.0, -5.0, -9.0]), 6.0 / 8.0);
    // Infinite differences are the largest.
    assert_eq!(p(&[f64::INFINITY, 1.0, f64::INFINITY]), 2.0 / 8.0);
    assert_eq!(signed_rank(&[]), None);
    assert_eq!(signed_rank(&[1.0, f64::NAN]), None);
    assert_eq!([1, 2, 6, 10].map(min_p), [1.0, 0.5, 2.0 / 64.0, 2.0 / 1024.0]);
}

#[test]
fn many_differences_of_one_sign_are_no_chance() {
    let differences: Vec<f64> = (1..=300).map(f64::from).collect();
    let test = signed_rank(&differences).unwrap();
    assert!(!test.exact && test.p < 1e-10, "{test:?}");
    let even: Vec<f64> = (1..=300)
        .map(|i| if i % 4 < 2 { f64::from(i) } else { -f64::from(i) })
        .collect();
    let test = signed_rank(&even).unwrap();
    assert!(test.p > 0.9, "{test:?}");
}

/// Definition: every pattern of signs, enumerated, with ranks as the mean of their places.
fn enumerated(differences: &[f64]) -> f64 {
    let sizes: Vec<f64> = differences.iter().filter(|d| **d != 0.0).map(|d| d.abs()).collect();
    let rank = |size: f64| {
        let below = sizes.iter().filter(|other| **other < size).count() as f64;
        let even = sizes.iter().filter(|other| **other == size).count() as f64;
        below + f64::midpoint(1.0, even)
    };
    let ranks: Vec<f64> = sizes.iter().map(|size| rank(*size)).collect();
    let middle = ranks.iter().sum::<f64>() / 2.0;
    let far = |pattern: u32| {
        let positive = ranks.iter().enumerate().filter(|(place, _)| pattern >> place & 1 == 1);
        (positive.map(|(_, rank)| rank).sum::<f64>() - middle).abs()
    };
    let signs = differences.iter().filter(|d| **d != 0.0).map(|d| *d > 0.0);
    let observed = signs
        .enumerate()
        .map(|(place, positive)| u32::from(positive) << place)
        .sum();
    let all = 1_u32 << ranks.len();
    let as_far = (0..all).filter(|pattern| far(*pattern) >= far(observed) - 1e-9);
    as_far.count() as f64 / f64::from(all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn exact_probabilities_equal_an_enumeration(differences in prop::collection::vec((-6_i8..7).prop_map(f64::from), 1..11)) {
        let test = signed_rank(&differences).unwrap();
        prop_assert!((test.p - enumerated(&differences)).abs() < 1e-12, "{:?}", test);
    }

    #[test]
    fn negated_differences_mirror_w(differences in prop::collection::vec(-100.0..100.0f64, 1..150)) {
        let turned: Vec<f64> = differences.iter().map(|difference| -difference).collect();
        let (one, other) = (signed_rank(&differences).unwrap(), signed_rank(&turned).unwrap());
        let count = one.count as f64;
        prop_assert_eq!(one.w + other.w, count * (count + 1.0) / 2.0);
        prop_assert!((one.p - other.p).abs() < 1e-9);
        prop_assert!(one.p > 0.0 && one.p <= 1.0);
    }
}
