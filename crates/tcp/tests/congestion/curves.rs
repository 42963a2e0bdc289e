//! Windows in segments over time, compared with RFC 5681 and RFC 9438.

use crate::path::{Flow, Path, run};
use netburn_tcp::config::CongestionControl;
use netburn_units::{BitRate, Duration, Instant};

/// A path of 100 ms without queueing.
const WIDE: Path = Path {
    rate: BitRate::from_mbps(100_000),
    delay: Duration::from_millis(50),
    queue: 1_000_000,
};

fn ms(at: i64) -> Instant {
    Instant::from_millis(at)
}

fn within(actual: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (actual - expected).abs() <= tolerance * expected,
        "{what}: {actual:.2}, expected {expected:.2} ± {:.1} %",
        tolerance * 100.0
    );
}

#[test]
fn slow_start_doubles_each_round_trip() {
    for control in [CongestionControl::Reno, CongestionControl::Cubic] {
        let outcome = &run(WIDE, &[Flow::new(control)], ms(1_000))[0];
        for round in 0..8 {
            // Acknowledgements of a single segment may be delayed by 40 ms.
            let point = outcome.at(ms(100 * round + 90));
            assert_eq!(point.cwnd, 10 << round, "round {round}");
        }
    }
}

#[test]
fn reno_halves_and_grows_by_a_segment_each_round_trip() {
    let flow = Flow {
        lost: vec![500],
        ..Flow::new(CongestionControl::Reno)
    };
    let outcome = &run(WIDE, &[flow], ms(20_000))[0];
    let (_, before, after) = outcome.reductions[0];
    assert_eq!(after, before / 2);
    assert_eq!(outcome.reductions.len(), 1);
    let from = outcome.at(ms(2_000)).cwnd;
    // 180 round trips later; each has as many acknowledgements as the window has segments.
    let grown = f64::from(outcome.at(ms(20_000)).cwnd - from);
    within(grown, 180.0, 0.02, "growth in 180 round trips");
}

#[test]
fn cubic_follows_its_function_after_a_loss() {
    let flow = Flow {
        lost: vec![1_000],
        ..Flow::new(CongestionControl::Cubic)
    };
    let outcome = &run(WIDE, &[flow], ms(25_000))[0];
    let [(reduced, w_max, ssthresh)] = outcome.reductions[..] else {
        panic!("one loss, not {:?}", outcome.reductions);
    };
    let w_max = f64::from(w_max);
    within(f64::from(ssthresh), 0.7 * w_max, 0.01, "β × W_max");
    // The epoch starts with the first acknowledgement after the recovery.
    let begun = outcome
        .curve
        .iter()
        .find(|p| p.at > reduced && p.state == netburn_tcp::congestion::State::Open)
        .unwrap();
    // RFC 9438 §4.2: K = ∛(W_max (1 − β)/C).
    let k = (w_max * 0.3 / 0.4).cbrt();
    assert!((5.0..10.0).contains(&k), "{k}");
    for quarter in 1..=10 {
        let t = k * f64::from(quarter) / 4.0;
        let at = begun.at + Duration::from_nanos((t * 1e9) as u64);
        let expected = 0.4 * (t - k).powi(3) + w_max;
        within(f64::from(outcome.at(at).cwnd), expected, 0.03, &format!("W({t:.2} s)"));
    }
}

/// Windows in segments at the end of round trips of 100 ms, of Reno and of CUBIC. Segment 500 is lost. By hand:
///
/// - Slow start doubles the window of 10 in each round trip: 10, 20, 40, 80, 160, 320.
/// - It grows by one for each acknowledged segment. When the loss is detected, 500 segments are acknowledged, and the
///   window is 510. Reno halves it to 255 and grows by one in each round trip: 324 after 69 more, in round trip 76.
/// - CUBIC reduces it to 0.7 · 510 = 357, and is at 510 again after K = ∛(510 · 0.3 / 0.4) = 7.3 s (RFC 9438, 4.2).
/// - Round trip 6 is in the recovery. 129 segments after the lost one have arrived (501 to 629). PRR reduces the window in
///   proportion to them (RFC 6937): about 510 − 129 / 2 = 446 for Reno, 510 − 0.3 · 129 = 471 for CUBIC.
const WINDOWS: &str = "\
0: 10 10
1: 20 20
2: 40 40
3: 80 80
4: 160 160
5: 320 320
6: 446 471
7: 255 358
8: 256 371
9: 257 376
10: 258 381
11: 259 387
12: 260 391
16: 264 411
20: 268 429
24: 272 444
28: 276 458
32: 280 470
36: 284 479
40: 288 487
44: 292 494
48: 296 499
52: 300 503
56: 304 506
60: 308 508
64: 312 509
68: 316 510
72: 320 510
76: 324 510
";

/// Every window over time. A change that the other tests' tolerances permit is visible here.
#[test]
fn windows_around_a_loss_are_unchanged() {
    let [reno, cubic] = [CongestionControl::Reno, CongestionControl::Cubic].map(|control| {
        let flow = Flow {
            lost: vec![500],
            ..Flow::new(control)
        };
        run(WIDE, &[flow], ms(8_000)).remove(0)
    });
    let mut table = String::new();
    for round in (0..12).chain((12..80).step_by(4)) {
        let at = ms(100 * round + 90);
        table += &format!("{round}: {} {}\n", reno.at(at).cwnd, cubic.at(at).cwnd);
    }
    assert!(table == WINDOWS, "{table}");
}

#[test]
fn cubic_is_reno_friendly_where_the_round_trip_is_short() {
    // 10 ms: K for 60 segments is ∛45 = 3.6 s, and 0.53 segments per round trip regain 18 in 0.34
    // s.
    let path = Path {
        delay: Duration::from_millis(5),
        ..WIDE
    };
    let flow = Flow {
        lost: vec![100],
        ..Flow::new(CongestionControl::Cubic)
    };
    let outcome = &run(path, &[flow], ms(4_000))[0];
    let from = outcome.at(ms(500)).cwnd;
    // RFC 9438 §4.3: α = 3 (1 − β)/(1 + β) = 0.53 segments a round trip, 200 of them; Linux's 8/15.
    let grown = f64::from(outcome.at(ms(2_500)).cwnd - from);
    within(grown, 200.0 * 8.0 / 15.0, 0.05, "growth in 200 round trips");
}

#[test]
fn hystart_leaves_slow_start_near_the_product_without_a_loss() {
    for (mbps, delay) in [(20, 20), (50, 10), (20, 50), (100, 25)] {
        let path = Path {
            rate: BitRate::from_mbps(mbps),
            delay: Duration::from_millis(delay),
            queue: 10_000,
        };
        let outcome = &run(path, &[Flow::new(CongestionControl::Cubic)], ms(3_000))[0];
        assert_eq!(outcome.drops, 0);
        let exit = outcome.curve.iter().find(|p| p.ssthresh < 1 << 30).expect("it leaves");
        let share = f64::from(exit.ssthresh) / path.product();
        // Not before half a product fills half a round trip. A sign is a round trip old when it is
        // detected. In this time the window at most doubles.
        assert!((0.5..=2.0).contains(&share), "{mbps} Mbit/s, {delay} ms: {share:.2}");
    }
}
