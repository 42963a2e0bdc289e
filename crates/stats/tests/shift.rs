//! How far apart two sets lie: worked by hand and against the published tables, and its laws.

use netburn_stats::{mann_whitney, shift};
use netburn_units::Probability;
use proptest::prelude::*;

const NINETY_FIVE: Probability = match Probability::from_ppb(950_000_000) {
    Some(level) => level,
    None => Probability::ONE,
};

/// Five against five: 252 ways, of which U ≤ 2 has 1 + 1 + 2 = 4, so two left out at either end leave 1 − 2 · (1 + 1) ÷ 252 …
/// and three leave 1 − 2 · 4 ÷ 252 = 96.83 %, the published level for the critical value 2 of n = m = 5. A fourth would leave 2 · 7 ÷ 252 =
/// 5.6 % out.
#[test]
fn five_against_five() {
    let first = [1.0, 2.0, 3.0, 4.0, 5.0];
    let second = [11.0, 12.0, 13.0, 14.0, 15.0];
    let found = shift(&first, &second, NINETY_FIVE).unwrap();
    assert_eq!(found.estimate, 10.0);
    assert!((found.level - (1.0 - 8.0 / 252.0)).abs() < 1e-12, "{found:?}");
    // The 25 differences are 6; 7, 7; 8, 8, 8; …: the fourth is 8.
    assert_eq!((found.interval.low, found.interval.high), (8.0, 12.0));
}

/// Three against three are 20 ways: even the whole range misses the shift in 2 of them.
#[test]
fn three_against_three_are_ninety_percent_at_most() {
    let found = shift(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0], NINETY_FIVE).unwrap();
    assert!((found.level - 0.9).abs() < 1e-12);
    assert_eq!((found.interval.low, found.interval.high), (-1.0, 5.0));
    // Differences −1, 0, 1, 1, 2, 3, 3, 4, 5.
    assert_eq!(found.estimate, 2.0);
    assert_eq!(shift(&[1.0], &[f64::NAN], NINETY_FIVE), None);
    assert_eq!(shift(&[], &[1.0], NINETY_FIVE), None);
}

fn values(most: usize) -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec((-1_000_000_i32..1_000_000).prop_map(f64::from), 1..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Turned round it is the same with the other sign, moved it moves along, and it holds its own estimate.
    #[test]
    fn it_moves_with_its_values(first in values(12), second in values(12), by in -1_000_i32..1_000) {
        let by = f64::from(by);
        let one = shift(&first, &second, NINETY_FIVE).unwrap();
        prop_assert!(one.interval.low <= one.estimate && one.estimate <= one.interval.high);
        let back = shift(&second, &first, NINETY_FIVE).unwrap();
        prop_assert_eq!((back.interval.low, back.interval.high, back.estimate), (-one.interval.high, -one.interval.low, -one.estimate));
        let moved: Vec<f64> = second.iter().map(|value| value + by).collect();
        let moved = shift(&first, &moved, NINETY_FIVE).unwrap();
        prop_assert_eq!((moved.interval.low, moved.estimate), (one.interval.low + by, one.estimate + by));
    }

    /// Without equal values nought lies outside just when the rank test rejects at 5 %.
    #[test]
    fn it_is_the_rank_test_turned_round(mut all in proptest::collection::btree_set(-10_000_i32..10_000, 8..24), cut in 4_usize..7) {
        let all: Vec<f64> = std::mem::take(&mut all).into_iter().map(f64::from).collect();
        // Every third to the first set, and what is left: in no order that matters.
        let (first, second): (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(index, _)| index * 7 % 11 < cut);
        let first: Vec<f64> = first.into_iter().map(|(_, value)| *value).collect();
        let second: Vec<f64> = second.into_iter().map(|(_, value)| *value).collect();
        prop_assume!(first.len() >= 4 && second.len() >= 4);
        let found = shift(&first, &second, NINETY_FIVE).unwrap();
        let test = mann_whitney(&first, &second).unwrap();
        let outside = found.interval.low > 0.0 || found.interval.high < 0.0;
        prop_assert_eq!(outside, test.p <= 0.05, "{:?} {:?}", found, test);
    }
}

/// A set that lies at one place, and one spread evenly over 0 to 1 above it: half of that apart.
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
