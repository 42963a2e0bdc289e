//! Several flows on one link.

use crate::path::{Flow, Outcome, Path, run};
use netburn_tcp::config::CongestionControl::{self, Bbr, Cubic, Reno};
use netburn_units::{BitRate, Duration, Instant, Seed};

/// 50 Mbit/s, 20 ms, and one product of queue: 83 segments.
const PATH: Path = Path {
    rate: BitRate::from_mbps(50),
    delay: Duration::from_millis(10),
    queue: 83,
};

/// Jain's index of `controls` on `path` over `secs`, their starts spread over a second by `seed`.
pub(crate) fn fairness(path: Path, controls: &[CongestionControl], secs: i64, seed: u64) -> f64 {
    let mut starts = Seed(seed).stream("start", 0);
    let flows: Vec<Flow> = controls
        .iter()
        .map(|control| Flow {
            start: Instant::ZERO + starts.duration_below(Duration::from_secs(1)),
            random: starts.next_u64(),
            ..Flow::new(control.clone())
        })
        .collect();
    let shares = shares(&run(path, &flows, Instant::from_secs(secs)), secs);
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}

/// What each delivered in all.
fn shares(outcomes: &[Outcome], secs: i64) -> Vec<f64> {
    outcomes
        .iter()
        .map(|outcome| outcome.delivered(Instant::ZERO, Instant::from_secs(secs)) as f64)
        .collect()
}

#[test]
fn eight_cubic_flows_share_alike() {
    for seed in 0..3 {
        let index = fairness(PATH, &vec![Cubic; 8], 60, seed);
        assert!(index >= 0.95, "seed {seed}: {index:.3}");
    }
}

#[test]
fn cubic_shares_with_reno_where_round_trips_are_short() {
    // RFC 9438 §4.3: there it is as fast as Reno would be.
    let index = fairness(PATH, &[Cubic, Reno], 60, 1);
    assert!(index >= 0.85, "{index:.3}");
}

#[test]
fn bbr_and_cubic_coexist_and_the_queue_decides_who_has_more() {
    // A shallow queue: what CUBIC yields to, loss, BBR does not. A deep one: CUBIC fills it, and BBR's share of what is in
    // flight is bounded by two products (Hock et al. 2017; Scholz et al. 2018).
    let share = |products: f64| {
        let path = Path {
            queue: (PATH.product() * products) as usize,
            ..PATH
        };
        let flows = [Flow::new(Bbr), Flow::new(Cubic)];
        let shares = shares(&run(path, &flows, Instant::from_secs(60)), 60);
        shares[0] / (shares[0] + shares[1])
    };
    let (shallow, deep) = (share(0.3), share(12.0));
    assert!((0.6..0.99).contains(&shallow), "{shallow:.3}");
    assert!((0.02..0.45).contains(&deep), "{deep:.3}");
}
