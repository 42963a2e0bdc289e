//! Percentiles against the textbook, closed forms and a full sort.

use netburn_stats::percentile::{needed, rank, supported};
use netburn_stats::{Distribution, P50, P75, P90, P95, P99, Percentile, STANDARD};
use netburn_units::{Probability, Seed};
use proptest::prelude::*;

fn level(percent: u32) -> Probability {
    Probability::from_ppb(percent * 10_000_000).unwrap()
}

/// Integers from 1 to `count`, not sorted.
fn shuffled(count: u64) -> Vec<u64> {
    let mut samples: Vec<u64> = (1..=count).collect();
    let mut stream = Seed(1).stream("shuffle", 0);
    for place in (1..samples.len()).rev() {
        samples.swap(place, stream.below(place as u64 + 1) as usize);
    }
    samples
}

#[test]
fn a_percentile_needs_three_samples_beyond_it() {
    let needs = STANDARD.map(|level| needed(level).unwrap());
    assert_eq!(needs, [6, 12, 30, 60, 300]);
    let thousandth = Probability::from_ppb(999_000_000).unwrap();
    assert_eq!(needed(thousandth), Some(3_000));
    assert_eq!(needed(Probability::ZERO), Some(3));
    assert_eq!(needed(Probability::ONE), None);
    // 3/(1 − ⅓) is 4.5, and a third is not exactly representable: rounded up in both cases.
    assert_eq!(needed(Probability::from_ppb(333_333_333).unwrap()), Some(5));
    for level in STANDARD {
        let needed = needed(level).unwrap();
        assert!(supported(level, needed) && !supported(level, needed - 1));
    }
}

#[test]
fn ranks_are_those_of_the_textbook_example() {
    // {15, 20, 35, 40, 50}: the common worked example of the nearest-rank method.
    let ordered = [15, 20, 35, 40, 50];
    let at = |percent| ordered[rank(level(percent), 5) as usize - 1];
    assert_eq!([5, 30, 40, 50, 100].map(at), [15, 20, 20, 35, 50]);
    assert_eq!(rank(P50, 0), 0);
    assert_eq!(rank(Probability::ZERO, 7), 1);
    assert_eq!(
        rank(P99, u64::MAX),
        18_262_276_632_972_456_099,
        "no overflow: ⌈0.99 × (2⁶⁴ − 1)⌉"
    );
}

#[test]
fn of_the_first_300_numbers_each_percentile_is_its_rank() {
    let distribution = Distribution::from_samples(shuffled(300), 0);
    assert_eq!((distribution.count, distribution.unbounded), (300, 0));
    assert_eq!((distribution.min, distribution.max), (Some(1), Some(300)));
    let values = STANDARD.map(|level| distribution.percentile(level));
    assert_eq!(values, [150, 225, 270, 285, 297].map(Percentile::Value));
}

#[test]
fn percentiles_appear_when_samples_support_them() {
    for (count, supported) in [
        (0, 0),
        (5, 0),
        (6, 1),
        (12, 2),
        (30, 3),
        (59, 3),
        (60, 4),
        (299, 4),
        (300, 5),
    ] {
        let distribution = Distribution::from_samples(shuffled(count), 0);
        let values = STANDARD.map(|level| distribution.percentile(level).value());
        assert_eq!(values.iter().flatten().count(), supported, "of {count} samples");
        assert!(values[..supported].iter().all(Option::is_some));
    }
}

#[test]
fn samples_that_never_ended_rank_above_all_others() {
    // 90 finished samples and 10 unbounded ones: rank 90 is the last value, rank 91 has none.
    let distribution = Distribution::from_slice(&mut shuffled(90), 10, &[P50, P90, P95, level(91)]);
    assert_eq!(distribution.count, 100);
    assert_eq!(distribution.percentile(P50), Percentile::Value(50));
    assert_eq!(distribution.percentile(P90), Percentile::Value(90));
    assert_eq!(distribution.percentile(level(91)), Percentile::Unbounded);
    assert_eq!(distribution.percentile(P95), Percentile::Unbounded);
    assert_eq!(distribution.max, Some(90));
}

#[test]
fn samples_that_never_ended_count_towards_support() {
    let distribution = Distribution::from_samples(Vec::new(), 30);
    assert_eq!((distribution.min, distribution.max), (None, None));
    assert_eq!(distribution.percentile(P50), Percentile::Unbounded);
    assert_eq!(distribution.percentile(P95), Percentile::Unsupported);
}

#[test]
fn nothing_has_no_percentiles() {
    let distribution = Distribution::from_samples(Vec::new(), 0);
    assert_eq!(
        (distribution.count, distribution.min, distribution.max),
        (0, None, None)
    );
    assert!(
        STANDARD
            .iter()
            .all(|level| distribution.percentile(*level) == Percentile::Unsupported)
    );
}

#[test]
fn levels_are_reported_once_and_in_order() {
    let distribution = Distribution::from_slice(&mut shuffled(400), 0, &[P99, P50, P99, P75]);
    let levels: Vec<_> = distribution.percentiles().iter().map(|(level, _)| *level).collect();
    assert_eq!(levels, [P50, P75, P99]);
    assert_eq!(distribution.percentile(P75), Percentile::Value(300));
}

#[test]
#[should_panic(expected = "the percentile at 75 % was not asked for")]
fn an_unrequested_percentile_panics() {
    let _ = Distribution::from_slice(&mut [1], 0, &[P50]).percentile(P75);
}

#[test]
fn equal_samples_and_extreme_values_hold() {
    let distribution = Distribution::from_samples(vec![7; 1_000], 0);
    assert!(
        STANDARD
            .iter()
            .all(|level| distribution.percentile(*level) == Percentile::Value(7))
    );
    let distribution = Distribution::from_samples([vec![0; 200], vec![u64::MAX; 200]].concat(), 0);
    assert_eq!(distribution.percentile(P50), Percentile::Value(0));
    assert_eq!(distribution.percentile(P75), Percentile::Value(u64::MAX));
    assert_eq!((distribution.min, distribution.max), (Some(0), Some(u64::MAX)));
}

proptest! {
    #[test]
    fn percentiles_never_fall_with_their_level(
        mut samples in prop::collection::vec(0u64..1_000, 0..400),
        unbounded in 0u64..50,
        levels in prop::collection::vec(0u32..=1_000_000_000, 0..8),
    ) {
        let levels: Vec<_> = levels.into_iter().filter_map(Probability::from_ppb).collect();
        let distribution = Distribution::from_slice(&mut samples, unbounded, &levels);
        let ranked: Vec<u128> = distribution
            .percentiles()
            .iter()
            .filter_map(|(_, percentile)| match percentile {
                Percentile::Unsupported => None,
                Percentile::Unbounded => Some(u128::MAX),
                Percentile::Value(value) => Some(u128::from(*value)),
            })
            .collect();
        prop_assert!(ranked.is_sorted());
        // Support ends once: if a level lacks samples, all higher levels do.
        let first = distribution.percentiles().iter().position(|(_, p)| *p == Percentile::Unsupported);
        prop_assert_eq!(first.unwrap_or(distribution.percentiles().len()), ranked.len());
    }

    #[test]
    fn the_order_of_samples_does_not_matter(samples in prop::collection::vec(any::<u64>(), 0..400), unbounded in 0u64..50) {
        let mut reversed = samples.clone();
        reversed.reverse();
        prop_assert_eq!(
            Distribution::from_samples(samples, unbounded),
            Distribution::from_samples(reversed, unbounded)
        );
    }

    #[test]
    fn at_least_the_share_lies_at_or_below(samples in prop::collection::vec(0u64..100, 6..400)) {
        let distribution = Distribution::from_samples(samples.clone(), 0);
        for (level, percentile) in distribution.percentiles() {
            let Percentile::Value(value) = percentile else { continue };
            let share = |count: usize| count as u128 * 1_000_000_000;
            let needed = samples.len() as u128 * u128::from(level.as_ppb());
            prop_assert!(share(samples.iter().filter(|sample| *sample <= value).count()) >= needed);
            prop_assert!(share(samples.iter().filter(|sample| *sample < value).count()) < needed);
        }
    }
}
