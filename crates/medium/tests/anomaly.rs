//! Two fast stations and a slow one, downlink, with every queue.

mod util;

use netburn_medium::aggregation::Limits;
use netburn_medium::config::{AdapterRate, Guard, HardwareQueue, QueueLimit};
use netburn_medium::packet::NodeId;
use netburn_medium::queue::airtime::Airtime;
use netburn_medium::queue::codel::CodelParameters;
use netburn_medium::queue::fq::FqParameters;
use netburn_medium::queue::fq_mac::FqMac;
use netburn_medium::queue::station_rr::StationRr;
use netburn_units::{Duration, Instant};
use util::{Cell, Queue, ampdu, fifo, ht20, offer};

/// MCS 15, MCS 15 and MCS 0 in 20 MHz with the short guard interval: 144.4, 144.4 and 7.2 Mbit/s.
fn cell(time: Duration) -> Cell {
    Cell {
        vectors: vec![
            ht20(7, 2, Guard::Ns400),
            ht20(7, 2, Guard::Ns400),
            ht20(0, 1, Guard::Ns400),
        ],
        limits: ampdu(time),
        hardware: HardwareQueue::Aggregates(2),
        seed: 1,
        limit: AdapterRate::default(),
    }
}

fn run(queue: Queue, time: Duration, mbps: u64) -> (Vec<f64>, Vec<f64>) {
    let mut air = cell(time).open(queue);
    let goodput = offer(&mut air, 3, mbps, Instant::from_secs(20));
    let airtime: Vec<f64> = (1..=3).map(|n| air.account(NodeId(n)).received.as_secs_f64()).collect();
    let sum: f64 = airtime.iter().sum();
    let shares = airtime.iter().map(|a| a / sum).collect();
    println!("goodput {goodput:.2?} shares {shares:.3?}");
    (goodput, shares)
}

/// A single queue gives each the same number of packets. With the rates of each alone, the total is
/// 3 / (2 / R_fast + 1 / R_slow) = 17.9 Mbit/s (published: 130.1 and 6.57).
#[test]
fn fifo_gives_equal_packet_rates() {
    let (goodput, _) = run(fifo(1_000), Limits::PPDU, 60);
    let total: f64 = goodput.iter().sum();
    assert!((total / 17.9 - 1.0).abs() < 0.01, "{total}");
    for each in &goodput {
        assert!((each / 5.97 - 1.0).abs() < 0.02, "{goodput:?}");
    }
}

#[test]
fn round_robin_is_near_airtime_fair_with_a_time_cap() {
    let (_, shares) = run(
        Box::new(StationRr::new(QueueLimit::Packets(1_000))),
        Duration::from_millis(4),
        100,
    );
    for share in shares {
        assert!((share * 3.0 - 1.0).abs() < 0.15, "{share}");
    }
}

#[test]
fn airtime_is_fair() {
    let queue = Airtime::new(FqParameters::MAC80211, CodelParameters::MAC80211, None);
    let (goodput, shares) = run(Box::new(queue), Duration::from_millis(4), 100);
    for share in shares {
        assert!((share * 3.0 - 1.0).abs() < 0.05, "{share}");
    }
    assert!(goodput.iter().sum::<f64>() > 80.0);
}

#[test]
fn fq_mac_serves_in_turn() {
    let queue = FqMac::new(FqParameters::MAC80211, CodelParameters::MAC80211);
    let (_, shares) = run(Box::new(queue), Duration::from_millis(4), 100);
    for share in shares {
        assert!((share * 3.0 - 1.0).abs() < 0.15, "{share}");
    }
}
