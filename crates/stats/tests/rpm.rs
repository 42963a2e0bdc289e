//! Responsiveness: values of the formulas by hand, and laws.

use netburn_stats::rpm::{
    Band, Confidence, Estimator, ForeignProbe, GORESPONSIVENESS_KEPT, INTERVALS, KEPT, MovingAverage, Stability,
    TOLERANCE, TlsHandshake, draft, goresponsiveness,
};
use netburn_stats::{P50, P90, P95};
use netburn_units::Probability;
use proptest::prelude::*;
use std::num::{NonZeroU32, NonZeroUsize};

const MS: u64 = 1_000_000;
const ALL: Estimator = Estimator::TrimmedMean(Probability::ONE);
const BEST: Estimator = Estimator::TrimmedMean(KEPT);

fn probe(tcp_ns: u64, tls_ns: u64, http_ns: u64) -> ForeignProbe {
    ForeignProbe {
        tcp_ns,
        tls: Some(TlsHandshake {
            total_ns: tls_ns,
            round_trips: NonZeroU32::MIN,
        }),
        http_ns,
    }
}

fn without_tls(tcp_ns: u64, http_ns: u64) -> ForeignProbe {
    ForeignProbe {
        tls: None,
        ..probe(tcp_ns, 0, http_ns)
    }
}

/// Three parts of 30 ms, and 120 ms on the loaded connection. Rates: 60 s / 30 ms = 2000, 60 s / 120 ms = 500. Their mean
/// is 1250. The mean of the times is 75 ms: 800.
#[test]
fn the_two_scores_of_one_path_differ() {
    let (foreign, own) = ([probe(30 * MS, 30 * MS, 30 * MS)], [120 * MS]);
    for estimator in [ALL, BEST, Estimator::Index(P90)] {
        let score = draft(&foreign, &own, estimator).unwrap();
        assert_eq!((score.foreign, score.loaded, score.score), (2000.0, 500.0, 1250.0));
        let score = goresponsiveness(&foreign, &own, estimator).unwrap();
        assert_eq!((score.foreign, score.loaded, score.score), (2000.0, 500.0, 800.0));
    }
    // Without a difference between the connections the scores agree.
    let own = [30 * MS];
    assert_eq!(draft(&foreign, &own, ALL).unwrap().score, 2000.0);
    assert_eq!(goresponsiveness(&foreign, &own, ALL).unwrap().score, 2000.0);
}

/// Parts of 20, 30 and 70 ms: their mean is 40 ms, 1500 round trips per minute. Without TLS it is 45 ms: 1333⅓.
#[test]
fn the_parts_of_a_foreign_probe_have_equal_weight() {
    let own = [40 * MS];
    let with = draft(&[probe(20 * MS, 30 * MS, 70 * MS)], &own, ALL).unwrap();
    assert_eq!((with.foreign, with.score), (1500.0, 1500.0));
    let without = draft(&[without_tls(20 * MS, 70 * MS)], &own, ALL).unwrap();
    assert!((without.foreign - 4000.0 / 3.0).abs() < 1e-9);
}

/// TLS 1.2 has two round trips. The draft counts one of them: parts of 30, 60 / 2 and 30 ms. goresponsiveness counts the
/// whole handshake: 120 ms / 3 = 40 ms, 1500 round trips per minute.
#[test]
fn a_handshake_of_two_round_trips_counts_differently() {
    let mut foreign = probe(30 * MS, 60 * MS, 30 * MS);
    let handshake = foreign.tls.as_mut().unwrap();
    handshake.round_trips = NonZeroU32::new(2).unwrap();
    let own = [30 * MS];
    assert_eq!(draft(&[foreign], &own, ALL).unwrap().foreign, 2000.0);
    assert_eq!(goresponsiveness(&[foreign], &own, ALL).unwrap().foreign, 1500.0);
}

/// 100 times of 1 to 100 ms. The best 95: mean of 1 … 95 = 48 ms. The best 5: mean of 1 … 5 = 3 ms. All: 50.5 ms. Nearest
/// ranks: 50, 90, 95. goresponsiveness's index ⌊0.9 · 100⌋ = 90, from 0, has 91 ms.
#[test]
fn estimators_of_a_hundred_times() {
    let times: Vec<u64> = (1..=100).rev().map(|n| n * MS).collect();
    for (estimator, ms) in [
        (BEST, 48.0),
        (Estimator::TrimmedMean(GORESPONSIVENESS_KEPT), 3.0),
        (ALL, 50.5),
        (Estimator::Percentile(P50), 50.0),
        (Estimator::Percentile(P90), 90.0),
        (Estimator::Percentile(P95), 95.0),
        (Estimator::Index(P90), 91.0),
        // At most the longest time, and at least the shortest one.
        (Estimator::Index(Probability::ONE), 100.0),
        (Estimator::TrimmedMean(Probability::ZERO), 1.0),
    ] {
        assert_eq!(estimator.estimate(&times), Some(ms * 1e6), "{estimator:?}");
    }
    // ⌊0.95 · 19⌋ = 18 of 19 times: the mean of 1 … 18 is 9.5. ⌊0.05 · 19⌋ = 0: the shortest one is kept.
    let few: Vec<u64> = (1..=19).collect();
    assert_eq!(BEST.estimate(&few), Some(9.5));
    assert_eq!(Estimator::TrimmedMean(GORESPONSIVENESS_KEPT).estimate(&few), Some(1.0));
}

/// A 95th percentile needs 60 times, a median 6.
#[test]
fn too_few_times_support_no_percentile() {
    let times = vec![MS; 60];
    assert_eq!(Estimator::Percentile(P95).estimate(&times), Some(1e6));
    assert_eq!(Estimator::Percentile(P95).estimate(&times[..59]), None);
    assert_eq!(Estimator::Percentile(P50).estimate(&times[..5]), None);
    let foreign = vec![probe(MS, MS, MS); 59];
    assert_eq!(draft(&foreign, &times, Estimator::Percentile(P95)), None);
}

#[test]
fn scores_that_are_undefined() {
    let (some, own) = ([probe(MS, MS, MS)], [MS]);
    assert_eq!((draft(&[], &own, ALL), goresponsiveness(&[], &own, ALL)), (None, None));
    assert_eq!(
        (draft(&some, &[], ALL), goresponsiveness(&some, &[], ALL)),
        (None, None)
    );
    assert_eq!(
        (draft(&some, &[0], ALL), draft(&[probe(0, 0, 0)], &own, ALL)),
        (None, None)
    );
    let mixed = [probe(MS, MS, MS), without_tls(MS, MS)];
    assert_eq!(
        (draft(&mixed, &own, ALL), goresponsiveness(&mixed, &own, ALL)),
        (None, None)
    );
    assert_eq!(goresponsiveness(&[without_tls(MS, MS)], &own, ALL), None);
    // The sum of the largest times does not overflow.
    let longest = [probe(u64::MAX, u64::MAX, u64::MAX)];
    assert!(draft(&longest, &[u64::MAX; 3], ALL).is_some() && goresponsiveness(&longest, &own, ALL).is_some());
}

/// Limits of draft-ietf-ippm-responsiveness-09.
#[test]
fn bands() {
    for (rpm, name) in [
        (0.0, "poor"),
        (299.9, "poor"),
        (300.0, "fair"),
        (999.9, "fair"),
        (1000.0, "good"),
        (5999.9, "good"),
        (6000.0, "excellent"),
    ] {
        assert_eq!(Band::from_rpm(rpm).name(), name, "{rpm}");
    }
}

/// Four values that alternate between a and b, a < b: mean (a + b)/2, population standard deviation (b − a)/2. With 95 and
/// 105 the deviation is 5, exactly 5 % of 100. With 94.9 and 105.1 it is 5.1.
#[test]
fn a_series_is_stable_within_five_percent() {
    let after = |values: &[f64]| {
        let mut stability = Stability::new(INTERVALS, TOLERANCE);
        values.iter().for_each(|value| stability.push(*value));
        stability.confidence()
    };
    assert_eq!(after(&[]), Confidence::Low);
    assert_eq!(after(&[100.0, 100.0, 100.0]), Confidence::Low);
    assert_eq!(after(&[95.0, 105.0, 95.0, 105.0]), Confidence::High);
    assert_eq!(after(&[94.9, 105.1, 94.9, 105.1]), Confidence::Medium);
    assert_eq!(
        after(&[1.0, 95.0, 105.0, 95.0, 105.0]),
        Confidence::High,
        "the first left"
    );
    assert_eq!(after(&[100.0, 100.0, 100.0, f64::NAN]), Confidence::Medium);
    assert_eq!(after(&[f64::INFINITY; 4]), Confidence::Medium);
    assert_eq!(Confidence::Medium.name(), "medium");
    assert!(Confidence::Low < Confidence::Medium && Confidence::Medium < Confidence::High);
}

#[test]
fn a_moving_average_begins_with_the_last_of_its_intervals() {
    let mut average = MovingAverage::new(INTERVALS);
    let pushed: Vec<Option<f64>> = [1, 2, 3, 6, 9].map(|value| average.push(value)).into();
    assert_eq!(pushed, [None, None, None, Some(3.0), Some(5.0)]);
}

fn times() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(1..10_000_000_000_u64, 1..200)
}

fn probes() -> impl Strategy<Value = Vec<ForeignProbe>> {
    let part = || 1..10_000_000_000_u64;
    prop::collection::vec((part(), part(), part()).prop_map(|(a, b, c)| probe(a, b, c)), 1..200)
}

fn share() -> impl Strategy<Value = Probability> {
    (0..=1_000_000_000_u32).prop_map(|ppb| Probability::from_ppb(ppb).unwrap())
}

/// Equal but for rounding.
fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-9
}

proptest! {
    /// The arithmetic mean of two rates is at least their harmonic mean, which is the rate of the mean time.
    #[test]
    fn the_draft_is_never_below_goresponsiveness_if_all_probes_count(foreign in probes(), own in times()) {
        let one = draft(&foreign, &own, ALL).unwrap();
        let other = goresponsiveness(&foreign, &own, ALL).unwrap();
        prop_assert!(close(one.foreign, other.foreign) && close(one.loaded, other.loaded));
        prop_assert!(one.score >= other.score * (1.0 - 1e-9));
        prop_assert!(one.score >= one.foreign.min(one.loaded) && one.score <= one.foreign.max(one.loaded));
    }

    #[test]
    fn keeping_more_times_does_not_reduce_their_mean(times in times(), a in share(), b in share()) {
        let (less, more) = (a.min(b), a.max(b));
        let less = Estimator::TrimmedMean(less).estimate(&times).unwrap();
        let more = Estimator::TrimmedMean(more).estimate(&times).unwrap();
        prop_assert!(less <= more * (1.0 + 1e-12));
        let (shortest, longest) = (*times.iter().min().unwrap(), *times.iter().max().unwrap());
        prop_assert!(less >= shortest as f64 && more <= longest as f64 * (1.0 + 1e-12));
    }

    /// Times that are k times as long have a k-th of the rate. The order of the probes has no effect.
    #[test]
    fn rates_scale_inversely(foreign in probes(), own in times(), k in 1..1_000_u64) {
        let slower: Vec<ForeignProbe> = foreign
            .iter()
            .rev()
            .map(|p| probe(k * p.tcp_ns, k * p.tls.unwrap().total_ns, k * p.http_ns))
            .collect();
        let slower_own: Vec<u64> = own.iter().rev().map(|time| k * time).collect();
        for score in [draft, goresponsiveness] {
            let before = score(&foreign, &own, BEST).unwrap();
            let after = score(&slower, &slower_own, BEST).unwrap();
            prop_assert!(close(before.score, after.score * k as f64));
        }
    }

    #[test]
    fn a_slower_probe_never_raises_the_score(foreign in probes(), own in times(), more in 1..1_000_000_000_u64) {
        let mut slower = own.clone();
        slower[0] += more;
        for score in [draft, goresponsiveness] {
            let before = score(&foreign, &own, BEST).unwrap().score;
            prop_assert!(score(&foreign, &slower, BEST).unwrap().score <= before * (1.0 + 1e-12));
        }
    }

    /// Stability depends on the last values only, and not on their unit.
    #[test]
    fn stability_has_no_memory_and_no_unit(
        old in prop::collection::vec(0.0..1e9, 0..10),
        recent in prop::collection::vec(1.0..1e3, 4),
    ) {
        let mut with = Stability::new(INTERVALS, TOLERANCE);
        let mut without = Stability::new(INTERVALS, TOLERANCE);
        let mut scaled = Stability::new(INTERVALS, TOLERANCE);
        old.iter().for_each(|value| with.push(*value));
        for value in &recent {
            with.push(*value);
            without.push(*value);
            // A power of two has no rounding error.
            scaled.push(value * 1024.0);
        }
        prop_assert_eq!(with.is_stable(), without.is_stable());
        prop_assert_eq!(with.is_stable(), scaled.is_stable());
    }

    #[test]
    fn a_constant_series_is_stable_after_its_intervals(value in 1e-3..1e12, intervals in 1..20_usize) {
        let mut stability = Stability::new(NonZeroUsize::new(intervals).unwrap(), TOLERANCE);
        for pushed in 1..=intervals {
            stability.push(value);
            prop_assert_eq!(stability.is_stable(), pushed == intervals);
        }
    }
}
