//! Several flows on one link.

use crate::path::{Flow, Path};
use crate::whole;
use netburn_tcp::config::CongestionControl::{self, Bbr, Cubic, Reno};
use netburn_units::{BitRate, Duration, Instant, Seed};

/// 50 Mbit/s, 20 ms, and one product of queue: 83 segments.
const PATH: Path = Path {
    rate: BitRate::from_mbps(50),
    delay: Duration::from_millis(10),
    queue: 83,
};

/// One flow for each of `controls`, their starts spread over a second by `seed`.
fn flows(controls: &[CongestionControl], seed: u64) -> Vec<Flow> {
    let mut starts = Seed(seed).stream("start", 0);
    let flow = |control: &CongestionControl| Flow {
        start: Instant::ZERO + starts.duration_below(Duration::from_secs(1)),
        random: starts.next_u64(),
        ..Flow::new(control.clone())
    };
    controls.iter().map(flow).collect()
}

/// Data delivered by each flow over `secs`, with complete endpoints.
fn shares(path: Path, flows: &[Flow], secs: u64) -> Vec<f64> {
    whole::run(path, flows, Duration::from_secs(secs))
        .iter()
        .map(|outcome| outcome.curve.last().map_or(0.0, |point| point.delivered as f64))
        .collect()
}

/// Jain's index.
fn fairness(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}

/// Over a minute, in 18 of 20 seeds.
#[test]
fn eight_cubic_flows_share_alike() {
    let indices: Vec<f64> = (0..20)
        .map(|seed| fairness(&shares(PATH, &flows(&vec![Cubic; 8], seed), 60)))
        .collect();
    let unfair = indices.iter().filter(|index| **index < 0.95).count();
    assert!(unfair <= 2, "{indices:.3?}");
}

#[test]
fn cubic_shares_with_reno_where_round_trips_are_short() {
    // RFC 9438 §4.3: there it is as fast as Reno.
    let index = fairness(&shares(PATH, &flows(&[Cubic, Reno], 1), 40));
    assert!(index >= 0.85, "{index:.3}");
}

#[test]
fn the_queue_length_determines_the_shares_of_bbr_and_cubic() {
    // In a shallow queue CUBIC reduces after losses and BBR does not. In a deep one CUBIC fills it.
    // BBR's share of the data in flight is limited to two products (Hock et al. 2017; Scholz et al.
    // 2018).
    let share = |products: f64| {
        let path = Path {
            queue: (PATH.product() * products) as usize,
            ..PATH
        };
        let shares = shares(path, &[Flow::new(Bbr), Flow::new(Cubic)], 40);
        shares[0] / (shares[0] + shares[1])
    };
    let (shallow, deep) = (share(0.3), share(12.0));
    println!("{shallow:.3} {deep:.3}");
    assert!((0.6..0.99).contains(&shallow), "{shallow:.3}");
    assert!((0.02..0.45).contains(&deep), "{deep:.3}");
}
