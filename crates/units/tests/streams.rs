//! Streams of random numbers: the same for a seed, independent of each other, and unbiased.

use netburn_units::{Duration, Probability, RandomStream, Seed};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn take(mut stream: RandomStream, count: usize) -> Vec<u64> {
    (0..count).map(|_| stream.next_u64()).collect()
}

/// Pearson's statistic of `draws` numbers below `cells`, against equal parts.
fn chi_squared(draws: u64, cells: u64, mut number: impl FnMut() -> u64) -> f64 {
    let mut counts = vec![0u64; cells as usize];
    for _ in 0..draws {
        counts[number() as usize] += 1;
    }
    let expected = draws as f64 / cells as f64;
    counts
        .iter()
        .map(|count| (*count as f64 - expected).powi(2) / expected)
        .sum()
}

#[test]
fn a_draw_from_one_stream_changes_no_other() {
    let seed = Seed(7);
    let undisturbed = take(seed.stream("loss", 0), 100);
    let mut backoff = seed.stream("backoff", 0);
    let mut loss = seed.stream("loss", 0);
    let interleaved: Vec<u64> = (0..100)
        .map(|_| {
            backoff.next_u64();
            loss.next_u64()
        })
        .collect();
    assert_eq!(interleaved, undisturbed);
}

#[test]
fn causes_indices_seeds_and_repeats_all_differ() {
    // 2000 streams: the probability that any two independent ones share one of their first numbers
    // is 2000² / 2⁶⁵, 10⁻¹³.
    let mut first = BTreeSet::new();
    let mut streams = 0;
    for seed in 0..10 {
        for round in 0..5 {
            for cause in ["phase", "jitter", "backoff", "loss"] {
                for index in 0..10 {
                    streams += 1;
                    first.insert(Seed(seed).repeat(round).stream(cause, index).next_u64());
                }
            }
        }
    }
    assert_eq!(first.len(), streams);
}

#[test]
fn the_first_repeat_is_the_run_itself() {
    assert_eq!(Seed(9).repeat(0), Seed(9));
    assert_ne!(Seed(9).repeat(1), Seed(9));
}

#[test]
fn neighbouring_streams_do_not_move_together() {
    // Of two independent streams, bits agree half of the time: 6400 bits, σ = 40, five of it either way.
    for (one, other) in [
        (Seed(1).stream("phase", 0), Seed(1).stream("phase", 1)),
        (Seed(1).stream("phase", 0), Seed(2).stream("phase", 0)),
        (Seed(1).stream("phase", 1), Seed(2).stream("phase", 0)),
        (Seed(1).stream("phase", 0), Seed(1).stream("phasf", 0)),
    ] {
        let (one, other) = (take(one, 100), take(other, 100));
        let agree: u32 = one.iter().zip(&other).map(|(a, b)| (a ^ b).count_zeros()).sum();
        assert!(agree.abs_diff(3_200) <= 200, "{agree} of 6400 bits agree");
    }
}

#[test]
fn numbers_below_a_bound_are_even() {
    // χ² with 6 and 99 degrees of freedom stays below 22.46 and 148.23 with probability 99.9 %.
    let mut stream = Seed(4).stream("even", 0);
    let few = chi_squared(70_000, 7, || stream.below(7));
    assert!(few < 22.46, "{few}");
    let many = chi_squared(100_000, 100, || stream.below(100));
    assert!(many < 148.23, "{many}");
}

#[test]
fn a_bound_that_does_not_divide_is_not_biased() {
    // Below 3 × 2⁶² the plain product would give each multiple of three twice the chance of its neighbours: half of all
    // draws. Even draws leave each remainder 10 000 times of 30 000; σ = 82, five of it either way.
    let mut stream = Seed(5).stream("bias", 0);
    let bound = 3u64 << 62;
    let mut remainders = [0u32; 3];
    for _ in 0..30_000 {
        remainders[(stream.below(bound) % 3) as usize] += 1;
    }
    assert!(
        remainders.iter().all(|count| count.abs_diff(10_000) < 410),
        "{remainders:?}"
    );
}

#[test]
fn chance_happens_as_often_as_it_should() {
    let mut stream = Seed(6).stream("chance", 0);
    let tenth = Probability::from_ppb(100_000_000).unwrap();
    // 100 000 draws: σ = √(n p q) = 95, five of it either way.
    let happened = (0..100_000).filter(|_| stream.happens(tenth)).count();
    assert!(happened.abs_diff(10_000) < 475, "{happened}");
    assert!((0..1_000).all(|_| stream.happens(Probability::ONE)));
    assert!(!(0..1_000).any(|_| stream.happens(Probability::ZERO)));
}

#[test]
fn a_bound_of_zero_yields_zero() {
    let mut stream = Seed(1).stream("bound", 0);
    assert_eq!(stream.below(0), 0);
    assert_eq!(stream.below(1), 0);
    assert_eq!(stream.duration_below(Duration::ZERO), Duration::ZERO);
}

proptest! {
    #[test]
    fn numbers_stay_below_their_bound(seed: u64, bound in 1u64..) {
        let mut stream = Seed(seed).stream("bound", 0);
        for _ in 0..20 {
            prop_assert!(stream.below(bound) < bound);
            prop_assert!(stream.duration_below(Duration::from_nanos(bound)).as_nanos() < bound);
        }
    }

    #[test]
    fn one_seed_gives_one_stream(seed: u64, index: u64) {
        prop_assert_eq!(take(Seed(seed).stream("a", index), 20), take(Seed(seed).stream("a", index), 20));
        prop_assert_ne!(take(Seed(seed).stream("a", index), 20), take(Seed(seed).stream("b", index), 20));
    }
}
