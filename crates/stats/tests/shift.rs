//! Shifts computed by hand and from the published tables, and their laws.

use netburn_stats::{mann_whitney, paired_shift, shift, signed_rank};
use netburn_units::Probability;
use proptest::prelude::*;

const NINETY_FIVE: Probability = match Probability::from_ppb(950_000_000) {
    Some(level) => level,
    None => Probability::ONE,
};

/// Five against five: 252 ways, of which U is 0, 1, 2 and 3 in 1, 1, 2 and 3. With a number of
/// differences left out at either end, the interval misses the shift if U is at most that number.
/// Two leave 1 − 2 · 4 ÷ 252 = 96.83 %, the published level for the critical value 2 of n = m = 5.
/// A third would leave 1 − 2 · 7 ÷ 252 = 94.4 %.
#[test]
fn five_against_five() {
    let first = [1.0, 2.0, 3.0, 4.0, 5.0];
    let second = [11.0, 12.0, 13.0, 14.0, 15.0];
    let found = shift(&first, &second, NINETY_FIVE).unwrap();
    assert_eq!(found.estimate, 10.0);
    assert!((found.level - (1.0 - 8.0 / 252.0)).abs() < 1e-12, "{found:?}");
    // The 25 differences are 6; 7, 7; 8, 8, 8; …: the third is 7.
    assert_eq!((found.interval.low, found.interval.high), (7.0, 13.0));
}

/// Permeability of membranes at term and between 12 and 26 weeks (Hollander and Wolfe's table 4.1). It is the worked
/// example of R's `wilcox.test(…, conf.int = TRUE)`: 0.305 with 95 % interval −0.15 to 0.76.
#[test]
fn the_worked_example_of_r_is_reproduced() {
    let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    let before = [1.15, 0.88, 0.90, 0.74, 1.21];
    let found = shift(&before, &term, NINETY_FIVE).unwrap();
    let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
    assert!(near(found.estimate, 0.305), "{found:?}");
    assert!(
        near(found.interval.low, -0.15) && near(found.interval.high, 0.76),
        "{found:?}"
    );
}

/// The depression scale of nine patients (Hollander and Wolfe's table 3.1): −0.46, and −0.786 to −0.010 at 96.1 %. W is
/// at most 5 in 10 of 512 patterns.
#[test]
#[expect(clippy::approx_constant, reason = "3.14 is a measured value")]
fn the_worked_example_of_pairs_is_reproduced() {
    let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
    let change: Vec<f64> = before.iter().zip(after).map(|(before, after)| after - before).collect();
    let found = paired_shift(&change, NINETY_FIVE).unwrap();
    let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
    assert!(near(found.estimate, -0.46), "{found:?}");
    assert!(
        near(found.interval.low, -0.786) && near(found.interval.high, -0.010),
        "{found:?}"
    );
    assert!(near(found.level, 1.0 - 20.0 / 512.0), "{found:?}");
}

/// Three against three are 20 ways: even the whole range misses the shift in 2 of them. Three pairs
/// have 8 patterns of signs.
#[test]
fn three_runs_limit_the_level() {
    let found = shift(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0], NINETY_FIVE).unwrap();
    assert!((found.level - 0.9).abs() < 1e-12);
    assert_eq!((found.interval.low, found.interval.high), (-1.0, 5.0));
    // Differences −1, 0, 1, 1, 2, 3, 3, 4, 5.
    assert_eq!(found.estimate, 2.0);
    assert_eq!(shift(&[1.0], &[f64::NAN], NINETY_FIVE), None);
    assert_eq!(shift(&[], &[1.0], NINETY_FIVE), None);

    let found = paired_shift(&[1.0, 2.0, 6.0], NINETY_FIVE).unwrap();
    assert!((found.level - 0.75).abs() < 1e-12);
    assert_eq!((found.interval.low, found.interval.high), (1.0, 6.0));
    // Means of two 1, 1½, 2, 3½, 4, 6.
    assert_eq!(found.estimate, 2.75);
    assert_eq!(paired_shift(&[], NINETY_FIVE), None);
    assert_eq!(paired_shift(&[f64::NAN], NINETY_FIVE), None);
    assert_eq!(paired_shift(&[1.0], NINETY_FIVE).unwrap().level, 0.0);
}

fn values(most: usize) -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec((-1_000_000_i32..1_000_000).prop_map(f64::from), 1..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Swapping the sets changes the sign, moving a set moves the shift, and the interval contains
    /// the estimate.
    #[test]
    fn the_shift_follows_its_values(first in values(12), second in values(12), by in -1_000_i32..1_000) {
        let by = f64::from(by);
        let one = shift(&first, &second, NINETY_FIVE).unwrap();
        prop_assert!(one.interval.low <= one.estimate && one.estimate <= one.interval.high);
        let back = shift(&second, &first, NINETY_FIVE).unwrap();
        prop_assert_eq!((back.interval.low, back.interval.high, back.estimate), (-one.interval.high, -one.interval.low, -one.estimate));
        let moved: Vec<f64> = second.iter().map(|value| value + by).collect();
        let moved = shift(&first, &moved, NINETY_FIVE).unwrap();
        prop_assert_eq!((moved.interval.low, moved.estimate), (one.interval.low + by, one.estimate + by));
    }

    /// The same for pairs.
    #[test]
    fn the_paired_shift_follows_its_values(differences in values(20), by in -1_000_i32..1_000) {
        let by = f64::from(by);
        let one = paired_shift(&differences, NINETY_FIVE).unwrap();
        prop_assert!(one.interval.low <= one.estimate && one.estimate <= one.interval.high);
        let turned: Vec<f64> = differences.iter().map(|value| -value).collect();
        let back = paired_shift(&turned, NINETY_FIVE).unwrap();
        prop_assert_eq!((back.interval.low, back.interval.high, back.estimate), (-one.interval.high, -one.interval.low, -one.estimate));
        let moved: Vec<f64> = differences.iter().map(|value| value + by).collect();
        let moved = paired_shift(&moved, NINETY_FIVE).unwrap();
        prop_assert_eq!((moved.interval.low, moved.estimate), (one.interval.low + by, one.estimate + by));
    }

    /// Without equal values zero is outside the interval exactly if the rank test rejects at 5 %.
    /// The sets are moved apart by any amount, so that statistics on both sides of the critical
    /// value occur.
    #[test]
    fn it_inverts_the_rank_test(
        all in proptest::collection::btree_set(-10_000_i32..10_000, 8..24),
        order in proptest::collection::vec(any::<u32>(), 24),
        cut in 4_usize..12,
        by in -12_000_i32..12_000,
    ) {
        let mut all: Vec<(u32, f64)> = order.into_iter().zip(all.into_iter().map(f64::from)).collect();
        all.sort_by_key(|(order, _)| *order);
        prop_assume!(all.len() >= cut + 4);
        let first: Vec<f64> = all[..cut].iter().map(|(_, value)| *value).collect();
        // Half a step, so that no values are equal.
        let second: Vec<f64> = all[cut..].iter().map(|(_, value)| value + f64::from(by) + 0.5).collect();
        let found = shift(&first, &second, NINETY_FIVE).unwrap();
        let test = mann_whitney(&first, &second).unwrap();
        let outside = found.interval.low > 0.0 || found.interval.high < 0.0;
        prop_assert_eq!(outside, test.p <= 0.05, "{:?} {:?}", found, test);
    }

    /// The same for pairs and the signed-rank test.
    #[test]
    fn for_pairs_it_inverts_the_signed_rank_test(
        sizes in proptest::collection::btree_set(1_i32..10_000, 6..20),
        signs in proptest::collection::vec(any::<bool>(), 20),
        by in -8_000_i32..8_000,
    ) {
        let differences: Vec<f64> = sizes.into_iter().zip(signs)
            .map(|(size, positive)| f64::from(if positive { size } else { -size }) + f64::from(by) + 0.25)
            .collect();
        let found = paired_shift(&differences, NINETY_FIVE).unwrap();
        let test = signed_rank(&differences).unwrap();
        let outside = found.interval.low > 0.0 || found.interval.high < 0.0;
        prop_assert_eq!(outside, test.p <= 0.05, "{:?} {:?}", found, test);
    }

    /// Over all ways to split values, the interval misses zero in at most the share that its level
    /// permits. Without ties, it misses zero in exactly that share.
    #[test]
    fn the_level_is_the_share_of_all_splits(all in proptest::collection::btree_set(-500_i32..500, 6..10), count in 3_usize..6) {
        let all: Vec<f64> = all.into_iter().map(f64::from).collect();
        let (mut splits, mut missed, mut level) = (0_u32, 0_u32, 0.0);
        for chosen in (0_u32..1 << all.len()).filter(|chosen| chosen.count_ones() as usize == count) {
            let (first, second): (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(place, _)| chosen >> place & 1 == 1);
            let values = |set: Vec<(usize, &f64)>| set.into_iter().map(|(_, value)| *value).collect::<Vec<f64>>();
            let found = shift(&values(first), &values(second), NINETY_FIVE).unwrap();
            splits += 1;
            missed += u32::from(found.interval.low > 0.0 || found.interval.high < 0.0);
            level = found.level;
        }
        prop_assert!((f64::from(missed) / f64::from(splits) - (1.0 - level)).abs() < 1e-9, "{} of {} {}", missed, splits, level);
    }
}

/// A set with one value, and one spread evenly over 0 to 1 above it: the shift is half of that.
#[test]
fn many_values_are_thinned_evenly() {
    let first = vec![7.0; 3_000];
    let second: Vec<f64> = (0..=3_000).map(|place| 7.0 + f64::from(place) / 3_000.0).collect();
    let found = shift(&first, &second, NINETY_FIVE).unwrap();
    assert!((found.estimate - 0.5).abs() < 2e-3, "{found:?}");
    assert!(
        (0.45..0.55).contains(&found.interval.low) && (0.45..0.56).contains(&found.interval.high),
        "{found:?}"
    );
}
