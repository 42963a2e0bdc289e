//! BBR's model of a path: its estimates, their updates, and the queue.

use crate::path::{Flow, Outcome, PACKET, Path, run};
use netburn_tcp::config::CongestionControl;
use netburn_units::{BitRate, Duration, Instant};

/// 50 Mbit/s, 40 ms, room for ten products: 167 segments each.
const PATH: Path = Path {
    rate: BitRate::from_mbps(50),
    delay: Duration::from_millis(20),
    queue: 1_670,
};

fn bbr(path: Path, secs: i64, random: u64) -> Outcome {
    let flow = Flow {
        random,
        ..Flow::new(CongestionControl::Bbr)
    };
    run(path, &[flow], Instant::from_secs(secs)).remove(0)
}

fn segments_per_second(path: &Path) -> f64 {
    path.rate.as_bps() as f64 / 8.0 / PACKET.as_bytes() as f64
}

#[test]
fn it_fills_a_clean_link_with_about_one_product_in_flight() {
    for random in 0..5 {
        let outcome = bbr(PATH, 9, random);
        assert_eq!(outcome.drops, 0);
        let (from, to) = (Instant::from_secs(3), Instant::from_secs(9));
        let share = outcome.delivered(from, to) as f64 / 6.0 / segments_per_second(&PATH);
        assert!((0.97..=1.001).contains(&share), "{share:.3}");
        let cruise: Vec<f64> = outcome
            .curve
            .iter()
            .filter(|p| p.at >= from)
            .map(|p| f64::from(p.in_flight) / PATH.product())
            .collect();
        let mean = cruise.iter().sum::<f64>() / cruise.len() as f64;
        assert!((0.95..=1.2).contains(&mean), "{mean:.3} products in flight");
    }
}

#[test]
fn startup_fills_the_pipe_in_rounds_and_drain_empties_the_queue() {
    let outcome = bbr(PATH, 3, 1);
    // The window is at most 2/ln 2 products and three bursts, each of 1/1024 s at 2/ln 2 of the
    // rate: 12 segments.
    let most = outcome.curve.iter().map(|p| p.in_flight).max().unwrap();
    assert!(f64::from(most) <= 2.89 * PATH.product() + 3.0 * 12.0 + 1.0, "{most}");
    // The window doubles each round: ten segments reach 167 in ⌈log₂ 16.7⌉ = 5 rounds. Three more
    // show that the rate no longer grows. Rounds last up to 2.9 round trips by then.
    let left = outcome
        .curve
        .iter()
        .find(|p| p.ssthresh < 1 << 30)
        .expect("Startup ends");
    assert!(
        (6 * 40..1_000).contains(&(left.at.as_nanos() / 1_000_000)),
        "{:?}",
        left.at
    );
    // Drain lasts until one product is in flight.
    let drained = outcome
        .curve
        .iter()
        .find(|p| p.at > left.at && f64::from(p.in_flight) <= 1.1 * PATH.product());
    assert!(drained.expect("Drain ends").at < left.at + Duration::from_millis(400));
}

#[test]
fn the_gain_cycles_through_eight_phases() {
    let outcome = bbr(PATH, 9, 3);
    let gains: Vec<f64> = outcome
        .curve
        .iter()
        .filter(|p| p.at > Instant::from_secs(3))
        .map(|p| p.pacing_rate.unwrap().as_mbps_f64())
        .collect();
    // 0.99 × 1448/1500 × 50 Mbit/s is the cruising rate.
    let cruise = 0.99 * 1_448.0 / 1_500.0 * 50.0;
    let near = |gain: f64| {
        gains
            .iter()
            .filter(|rate| (*rate / cruise / gain - 1.0).abs() < 0.03)
            .count() as f64
            / gains.len() as f64
    };
    let (up, down, level) = (near(1.25), near(0.75), near(1.0));
    assert!(up + down + level > 0.99, "{up:.3} {down:.3} {level:.3}");
    // One round of eight above, at most one below (it ends when the queue is empty), six level.
    assert!((0.08..=0.2).contains(&up), "{up:.3}");
    assert!((0.005..=0.18).contains(&down), "{down:.3}");
    assert!((0.65..=0.9).contains(&level), "{level:.3}");
}

#[test]
fn it_drains_the_path_for_200_ms_every_ten_seconds() {
    let outcome = bbr(PATH, 35, 1);
    let empty: Vec<f64> = outcome
        .curve
        .iter()
        .filter(|p| p.cwnd <= 4)
        .map(|p| p.at.as_secs_f64())
        .collect();
    let mut starts = vec![empty[0]];
    starts.extend(
        empty
            .windows(2)
            .filter(|pair| pair[1] - pair[0] > 1.0)
            .map(|pair| pair[1]),
    );
    assert_eq!(starts.len(), 3, "{starts:?}");
    for pair in starts.windows(2) {
        let gap = pair[1] - pair[0];
        // Ten seconds from the end of the last, which took up to a round trip to drain the path,
        // 200 ms and a round.
        assert!((10.0..10.6).contains(&gap), "{gap:.2}");
    }
    let share = empty.len() as f64 * 0.01 / starts.len() as f64;
    assert!((0.2..0.3).contains(&share), "{share:.3} s each");
}

#[test]
fn random_loss_affects_it_less_than_cubic() {
    // Every 200th segment: 0.5 %.
    let lost: Vec<u64> = (1..200).map(|n| n * 200).collect();
    let rate = |control| {
        let flow = Flow {
            lost: lost.clone(),
            ..Flow::new(control)
        };
        let outcome = &run(PATH, &[flow], Instant::from_secs(9))[0];
        outcome.delivered(Instant::from_secs(1), Instant::from_secs(9)) as f64 / 8.0 / segments_per_second(&PATH)
    };
    let (bbr, cubic) = (rate(CongestionControl::Bbr), rate(CongestionControl::Cubic));
    assert!(bbr > 0.9, "{bbr:.3}");
    // RFC 9438 §5.1.1, figure for C = 0.4: 1.054 × RTT^¾ / (p^¾ RTT) segments would be 22 at 40 ms, Reno's 1.22/√p 17, of
    // 167.
    assert!(cubic < 0.3, "{cubic:.3}");
}
