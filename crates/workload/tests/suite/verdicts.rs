//! Verdicts: a table for each rule, with the values at its boundaries.

use Verdict::{Fail, Inconclusive, Marginal, Pass};
use netburn_quality::Packet;
use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::{
    Failure, Goal, Operation, Outcome, Stall, Tally, Verdict, judge, quality_windows, windows, worst,
};
use proptest::prelude::*;

const LATENCY: Goal = Goal::Latency {
    limit: Duration::from_millis(500),
};

const RATE: Goal = Goal::Rate {
    at_least: BitRate::from_mbps(20),
    window: Duration::from_secs(2),
    step: Duration::from_millis(100),
};

const QUALITY: Goal = Goal::Quality {
    at_least: 80,
    window: Duration::from_secs(10),
    step: Duration::from_secs(1),
};

fn tally(samples: u64, met: u64, worst: f64) -> Tally {
    Tally {
        samples,
        met,
        worst: Some(worst),
        ..Tally::default()
    }
}

fn operation(outcome: Outcome, latency_ms: u64) -> Operation {
    let due = Instant::from_secs(10);
    let ended = matches!(outcome, Outcome::Finished | Outcome::Failed(_) | Outcome::TimedOut);
    Operation {
        sequence: 0,
        due,
        started: Some(due),
        connected: None,
        first_byte: None,
        finished: ended.then(|| due + Duration::from_millis(latency_ms)),
        bytes: 0,
        outcome,
        far: None,
        tcp_connected: None,
    }
}

#[test]
fn met_is_the_share_within_the_limit_and_the_failed_are_misses() {
    let limit = Duration::from_millis(500);
    // Outcome, latency, counted as a sample, goal met.
    for (outcome, latency, sample, met) in [
        (Outcome::Finished, 0, 1, 1),
        (Outcome::Finished, 500, 1, 1),
        (Outcome::Finished, 501, 1, 0),
        (Outcome::Failed(Failure::Dial), 1, 1, 0),
        (Outcome::Failed(Failure::Answer), 1, 1, 0),
        (Outcome::TimedOut, 30_000, 1, 0),
        (Outcome::NotStarted, 0, 1, 0),
        (Outcome::Unfinished, 0, 1, 0),
        (Outcome::Cut, 0, 0, 0),
    ] {
        let tally = Tally::from_operations(&[operation(outcome, latency)], limit);
        assert_eq!(
            (tally.samples, tally.met),
            (sample, met),
            "{outcome:?} after {latency} ms"
        );
    }
}

#[test]
fn excess_is_the_worst_that_finished_over_the_limit() {
    let limit = Duration::from_millis(500);
    let finished = [250, 1250, 100].map(|latency| operation(Outcome::Finished, latency));
    assert_eq!(Tally::from_operations(&finished, limit).worst, Some(2.5));
    let failed = [
        operation(Outcome::Failed(Failure::Connection), 9000),
        operation(Outcome::TimedOut, 30_000),
    ];
    assert_eq!(Tally::from_operations(&failed, limit).worst, None, "failed ones apart");
    let both: Vec<Operation> = finished.into_iter().chain(failed).collect();
    assert_eq!(Tally::from_operations(&both, limit).worst, Some(2.5));
}

#[test]
fn pass_marginal_and_fail() {
    let nano = 1.0 + 1.0 / 500e6;
    for (samples, met, worst, expected) in [
        (1000, 1000, 0.1, Pass),
        (1000, 1000, 1.0, Pass),
        // Exactly 99 %, and one less.
        (1000, 990, 2.0, Pass),
        (1000, 989, 2.0, Marginal),
        (300, 297, 2.0, Pass),
        (300, 296, 2.0, Marginal),
        // 2⁶⁴ − 16 is a multiple of 100: no rounding even there.
        (u64::MAX - 15, (u64::MAX - 15) / 100 * 99, 1.5, Pass),
        (u64::MAX - 15, (u64::MAX - 15) / 100 * 99 - 1, 1.5, Marginal),
        // Exactly twice the goal, and a nanosecond more.
        (1000, 999, 2.0, Pass),
        (1000, 999, 2.0 * nano, Marginal),
        (1000, 999, f64::INFINITY, Marginal),
        // Exactly 95 %, and one less.
        (1000, 950, 2.0, Marginal),
        (1000, 950, 50.0, Marginal),
        (1000, 949, 1.5, Fail),
        (100, 95, 1.5, Marginal),
        (100, 94, 1.5, Fail),
        (1000, 0, 1.5, Fail),
        (1, 1, 2.0, Pass),
        (1, 0, 1.5, Fail),
        // No samples.
        (0, 0, 0.0, Inconclusive),
    ] {
        for goal in [LATENCY, RATE] {
            let result = judge(goal, &tally(samples, met, worst));
            assert_eq!(result.verdict, expected, "{met} of {samples}, worst {worst}");
        }
    }
}

#[test]
fn all_failed_is_a_fail_without_excess() {
    let result = judge(
        LATENCY,
        &Tally {
            samples: 400,
            ..Tally::default()
        },
    );
    assert_eq!((result.verdict, result.met, result.excess), (Fail, Some(0.0), None));
}

#[test]
fn no_samples_are_inconclusive() {
    for goal in [LATENCY, RATE, Goal::NoStall] {
        let result = judge(goal, &Tally::default());
        assert_eq!(
            (result.verdict, result.met, result.excess),
            (Inconclusive, None, None),
            "{goal:?}"
        );
        assert!(!result.provisional);
    }
}

#[test]
fn a_stall_is_at_best_marginal_and_more_than_one_percent_fails() {
    let watched = Duration::from_secs(300);
    for (stalls, stalled, expected) in [
        (0, Duration::ZERO, Pass),
        (1, Duration::from_nanos(1), Marginal),
        (7, Duration::from_secs(3), Marginal),
        (1, Duration::from_nanos(3_000_000_001), Fail),
        (1, watched, Fail),
    ] {
        let tally = Tally {
            stalls,
            stalled,
            watched,
            ..Tally::default()
        };
        let result = judge(Goal::NoStall, &tally);
        assert_eq!(result.verdict, expected, "{stalls} stalls, {stalled} of {watched}");
        assert_eq!(result.met, Some(1.0 - stalled.as_secs_f64() / 300.0));
        assert_eq!(result.excess, None);
        // The stream as a whole: its rate may be perfect.
        let rate = judge(RATE, &tally_of_windows()).verdict;
        assert_eq!(worst([rate, result.verdict]), expected);
    }
}

fn tally_of_windows() -> Tally {
    tally(1000, 1000, 0.8)
}

#[test]
fn a_verdict_is_provisional_with_few_samples() {
    for (samples, met, verdict, provisional) in [
        // 0.95⁵⁸ = 5.1 % and 0.95⁵⁹ = 4.8 %.
        (58, 58, Pass, true),
        (59, 59, Pass, false),
        (1, 1, Pass, true),
        // One miss in 100 with 5 % each, or none: 3.7 %.
        (100, 99, Pass, false),
        (58, 56, Marginal, true),
        (59, 57, Marginal, false),
        // Cumulative binomial distribution for 20 and 0.95: at most 16 met in 1.6 %, at most 17 in 7.5 %.
        (20, 16, Fail, false),
        (20, 17, Fail, true),
        // 0.05² = 0.25 %, but 5 % is not below 5 %.
        (2, 0, Fail, false),
        (2, 1, Fail, true),
        (1_000_000, 949_999, Fail, true),
        (1_000_000, 949_000, Fail, false),
    ] {
        let result = judge(LATENCY, &tally(samples, met, 1.5));
        assert_eq!(
            (result.verdict, result.provisional),
            (verdict, provisional),
            "{met} of {samples}"
        );
    }
    // Windows overlap. 3/(1 − 0.99) = 300 for a pass, 3/(1 − 0.95) = 60 for a marginal, and a fail denies the same 95 %.
    for (samples, met, verdict, provisional) in [
        (299, 299, Pass, true),
        (300, 300, Pass, false),
        (59, 57, Marginal, true),
        (60, 58, Marginal, false),
        (59, 0, Fail, true),
        (60, 0, Fail, false),
    ] {
        let result = judge(RATE, &tally(samples, met, 1.5));
        assert_eq!(
            (result.verdict, result.provisional),
            (verdict, provisional),
            "{met} of {samples} windows"
        );
    }
    // A player has one sample per tenth of a second: 30 s for a pass, 6 s for the rest.
    for (watched_ms, stalled_ms, verdict, provisional) in [
        (29_999, 0, Pass, true),
        (30_000, 0, Pass, false),
        (5_999, 10, Marginal, true),
        (6_000, 10, Marginal, false),
        (5_999, 5_999, Fail, true),
        (6_000, 6_000, Fail, false),
    ] {
        let tally = Tally {
            stalls: u64::from(stalled_ms > 0),
            stalled: Duration::from_millis(stalled_ms),
            watched: Duration::from_millis(watched_ms),
            ..Tally::default()
        };
        let result = judge(Goal::NoStall, &tally);
        assert_eq!(
            (result.verdict, result.provisional),
            (verdict, provisional),
            "{stalled_ms} of {watched_ms} ms"
        );
    }
}

#[test]
fn a_station_is_its_worst_goal_and_a_run_its_worst_station() {
    let none = Verdict::None;
    for (parts, expected) in [
        (vec![], none),
        (vec![none], none),
        (vec![none, none], none),
        (vec![Pass], Pass),
        (vec![none, Pass], Pass),
        (vec![Pass, Marginal, Pass], Marginal),
        (vec![Marginal, Fail], Fail),
        // An inconclusive part makes the whole inconclusive unless another part fails.
        (vec![Inconclusive], Inconclusive),
        (vec![Inconclusive, Pass], Inconclusive),
        (vec![Marginal, Inconclusive], Inconclusive),
        (vec![none, Inconclusive], Inconclusive),
        (vec![Inconclusive, Fail, Pass], Fail),
    ] {
        assert_eq!(worst(parts.iter().copied()), expected, "{parts:?}");
        assert_eq!(worst(parts.iter().rev().copied()), expected, "in any order: {parts:?}");
    }
}

#[test]
fn repeats_are_pooled() {
    // 150 of 150 and 147 of 150: one run is too short for a reliable verdict, both together pass at
    // exactly 99 %.
    let (one, another) = (tally(150, 150, 0.7), tally(150, 147, 1.9));
    assert_eq!(judge(LATENCY, &another).verdict, Marginal);
    let mut pooled = one;
    pooled.add(&another);
    assert_eq!(pooled, tally(300, 297, 1.9));
    let result = judge(LATENCY, &pooled);
    assert_eq!((result.verdict, result.provisional), (Pass, false));
    let mut with_nothing = another;
    with_nothing.add(&Tally::default());
    assert_eq!(with_nothing, another);
}

#[test]
fn stalls_count_for_the_part_that_was_watched() {
    let stall = |began, length| Stall {
        began: Instant::from_millis(began),
        length: Duration::from_millis(length),
    };
    let stalls = [
        stall(0, 500),
        stall(900, 200),
        stall(3000, 100),
        stall(4900, 300),
        stall(6000, 50),
    ];
    let tally = Tally::from_stalls(&stalls, Instant::from_millis(1000), Instant::from_millis(5000));
    assert_eq!(tally.stalls, 3);
    assert_eq!(tally.stalled, Duration::from_millis(100 + 100 + 100));
    assert_eq!(tally.watched, Duration::from_secs(4));
    let never = Tally::from_stalls(&stalls, Instant::from_secs(5), Instant::from_secs(1));
    assert_eq!(never, Tally::default());
}

/// Bins of 100 ms from `from_ms` on.
fn bins(from_ms: i64, bytes: &[u64]) -> Vec<(Instant, u64)> {
    (0..)
        .zip(bytes)
        .map(|(k, b)| (Instant::from_millis(from_ms + 100 * k), *b))
        .collect()
}

#[test]
fn a_window_slides_in_steps_of_a_tenth() {
    // 200 ms at 8 Mbit/s are 200 000 bytes.
    let goal = Goal::Rate {
        at_least: BitRate::from_mbps(8),
        window: Duration::from_millis(200),
        step: Duration::from_millis(100),
    };
    let from = Instant::ZERO;
    let at = Instant::from_millis;
    for (bytes, to, samples, met, worst) in [
        // Exactly enough, one byte too few.
        (&[100_000, 100_000][..], 200, 1, 1, Some(1.0)),
        (&[100_000, 99_999], 200, 1, 0, Some(200_000.0 / 199_999.0)),
        // Sums of two: 200, 150, 50, 400 thousand.
        (&[150_000, 50_000, 100_000, 0, 400_000], 500, 4, 2, Some(2.0)),
        // A window without any bytes.
        (&[100_000, 100_000, 0, 0], 400, 3, 1, Some(f64::INFINITY)),
        // Too short for one window.
        (&[100_000], 199, 0, 0, None),
        // Only whole bins count: the end cuts the third.
        (&[100_000, 100_000, 0], 299, 1, 1, Some(1.0)),
    ] {
        let tally = windows(bins(0, bytes), goal, from, at(to));
        assert_eq!((tally.samples, tally.met), (samples, met), "{bytes:?} until {to}");
        match (tally.worst, worst) {
            (Some(got), Some(expected)) if expected.is_finite() => assert!((got - expected).abs() < 1e-12),
            (got, expected) => assert_eq!(got, expected),
        }
    }
}

#[test]
fn windows_begin_at_the_first_whole_bin_and_gaps_have_no_bytes() {
    let goal = Goal::Rate {
        at_least: BitRate::from_mbps(8),
        window: Duration::from_millis(200),
        step: Duration::from_millis(200),
    };
    let at = Instant::from_millis;
    // From −150 ms: the first whole bin begins at −100 ms. Windows [−100, 100), [100, 300), [300, 500).
    let sparse = vec![
        (at(400), 200_000),
        (at(-200), 9_999_999),
        (at(-100), 150_000),
        (at(0), 50_000),
        (at(500), 1),
    ];
    let tally = windows(sparse.clone(), goal, at(-150), at(599));
    assert_eq!((tally.samples, tally.met, tally.worst), (3, 2, Some(f64::INFINITY)));
    assert_eq!(windows(sparse.clone(), goal, at(0), at(0)).samples, 0);
    assert_eq!(windows(sparse, LATENCY, at(0), at(1000)), Tally::default());
}

#[test]
fn five_minutes_of_a_stream_are_2981_windows() {
    let enough = vec![250_000; 3000];
    let tally = windows(bins(0, &enough), RATE, Instant::ZERO, Instant::from_secs(300));
    assert_eq!((tally.samples, tally.met, tally.worst), (2981, 2981, Some(1.0)));
    assert_eq!(judge(RATE, &tally).verdict, Pass);
}

proptest! {
    #[test]
    fn more_met_is_never_worse(samples in 1_u64..2000, met in 0_u64..2000, worst in 0.0..4.0_f64) {
        let met = met.min(samples - 1);
        let (less, more) = (judge(LATENCY, &tally(samples, met, worst)), judge(LATENCY, &tally(samples, met + 1, worst)));
        prop_assert!(more.verdict <= less.verdict);
        prop_assert!(judge(LATENCY, &tally(samples, met, worst / 2.0)).verdict <= less.verdict);
    }

    #[test]
    fn a_sliding_sum_is_the_sum_of_each_window(
        bytes in prop::collection::vec(0_u64..400_000, 0..60),
        from in -30_i64..30,
        length in 0_i64..60,
        width in 1_u64..8,
        step in 1_u64..4,
    ) {
        let goal = Goal::Rate {
            at_least: BitRate::from_mbps(16),
            window: Duration::from_millis(100 * width),
            step: Duration::from_millis(100 * step),
        };
        let at = |bin: i64| Instant::from_millis(100 * bin);
        let bins = bins(0, &bytes);
        let got = windows(bins.clone(), goal, at(from), at(from + length));
        let mut sums = Vec::new();
        let mut begin = from;
        while begin + width as i64 <= from + length {
            let inside = |t: &Instant| *t >= at(begin) && *t < at(begin + width as i64);
            sums.push(bins.iter().filter(|(t, _)| inside(t)).map(|(_, b)| b).sum::<u64>());
            begin += step as i64;
        }
        // 16 Mbit/s for 100 ms are 200 000 bytes.
        let needed = 200_000 * width;
        prop_assert_eq!(got.samples, sums.len() as u64);
        prop_assert_eq!(got.met, sums.iter().filter(|sum| **sum >= needed).count() as u64);
        let worst = sums.iter().min().map(|least| needed as f64 / *least as f64);
        match (got.worst, worst) {
            (Some(got), Some(worst)) if worst.is_finite() => prop_assert!((got / worst - 1.0).abs() < 1e-12),
            (got, worst) => prop_assert_eq!(got, worst),
        }
    }
}

const INTERVAL: Duration = Duration::from_millis(20);

/// Packets from 0 to `seconds`, every 20 ms, with the delay that `delay_us` returns for the second.
fn call(seconds: i64, delay_us: impl Fn(i64) -> Option<u64>) -> Vec<Packet> {
    let packets = (0..seconds * 50).map(|index| Packet {
        due: Instant::from_millis(index * 20),
        delay: delay_us(index / 50).map(Duration::from_micros),
    });
    packets.collect()
}

fn in_call(seconds: i64, delay_us: impl Fn(i64) -> Option<u64>) -> Tally {
    let end = Instant::from_secs(seconds);
    quality_windows(&call(seconds, delay_us), INTERVAL, QUALITY, Instant::ZERO, end)
}

fn close(found: Option<f64>, expected: f64) {
    assert!(
        found.is_some_and(|found| (found - expected).abs() < 0.005),
        "{found:?} is not {expected}"
    );
}

/// Packetisation and look-ahead add 23.75 ms: 26.25 ms in the network are 50 ms, R 91.76, and 276.25
/// ms are 300 ms, R 72.67 (tests of `quality`). In 30 s, 21 windows of 10 s begin. The packets of the
/// first 10 s are slow, so each of the first 10 windows has slow packets. To leave them out would
/// cost more than to wait: a tenth of the packets in one run costs 95 · 10 / (10/45 + 25.1) = 37.5
/// points. The worst window is 7.33 points below 80.
#[test]
fn a_window_is_rated_with_its_best_buffer() {
    let tally = in_call(30, |second| Some(if second < 10 { 276_250 } else { 26_250 }));
    assert_eq!((tally.samples, tally.met), (21, 11));
    close(tally.worst, 1.733);
    let well = in_call(30, |_| Some(26_250));
    assert_eq!((well.samples, well.met), (21, 21));
    close(well.worst, 0.0);
}

/// Without any arrival R is 0, which is 80 points below the limit.
#[test]
fn a_window_without_arrivals_has_the_rating_0() {
    let tally = in_call(10, |_| None);
    assert_eq!((tally.samples, tally.met), (1, 0));
    close(tally.worst, 9.0);
}

#[test]
fn windows_without_packets_do_not_count() {
    let packets = call(10, |_| Some(1_000));
    let windows = |from, to| {
        quality_windows(
            &packets,
            INTERVAL,
            QUALITY,
            Instant::from_secs(from),
            Instant::from_secs(to),
        )
    };
    // Windows begin at 0 to 9 s, and at 10 s.
    assert_eq!(windows(0, 20).samples, 10);
    assert_eq!(windows(11, 30).samples, 0);
    assert_eq!(windows(0, 9).samples, 0, "there is no whole window");
    assert_eq!(
        quality_windows(&packets, INTERVAL, LATENCY, Instant::ZERO, Instant::from_secs(20)),
        Tally::default()
    );
}

/// At least 99 % of the windows with R ≥ 80 and none below 70 pass. 95 % are marginal.
#[test]
fn quality_has_three_levels() {
    for (samples, met, worst, expected) in [
        (300, 300, 1.0, Pass),
        (300, 297, 2.0, Pass),
        (300, 297, 2.01, Marginal),
        (300, 296, 1.5, Marginal),
        (300, 285, 9.0, Marginal),
        (300, 284, 1.5, Fail),
    ] {
        let judged = judge(QUALITY, &tally(samples, met, worst));
        assert_eq!(
            (judged.verdict, judged.provisional),
            (expected, false),
            "{met} of {samples}, {worst}"
        );
    }
    assert!(judge(QUALITY, &tally(299, 299, 1.0)).provisional);
    assert_eq!(judge(QUALITY, &Tally::default()).verdict, Inconclusive);
}
