//! Order in which the packets of one queue leave, and waiting time of a sparse flow.

mod util;

use netburn_medium::air::{Air, Output};
use netburn_medium::config::{AdapterRate, Guard, HardwareQueue, QueueLimit};
use netburn_medium::packet::NodeId;
use netburn_medium::phy::TxVector;
use netburn_medium::queue::airtime::Airtime;
use netburn_medium::queue::codel::CodelParameters;
use netburn_medium::queue::driver::{Device, Order};
use netburn_medium::queue::fifo::Fifo;
use netburn_medium::queue::fq::FqParameters;
use netburn_medium::queue::pfifo_fast::PfifoFast;
use netburn_units::{Duration, Instant};
use proptest::prelude::*;
use std::collections::BTreeSet;
use util::{Cell, Queue, ampdu, fifo, ht20, packet};

fn open(vectors: Vec<TxVector>, hardware: u32, queue: Queue) -> Air<u64> {
    Cell {
        vectors,
        limits: ampdu(Duration::from_millis(4)),
        hardware: HardwareQueue::Aggregates(hardware),
        seed: 1,
        limit: AdapterRate::default(),
    }
    .open(queue)
}

/// Sends `arrivals` (microseconds since the previous one, station from 0, bytes), numbered from 1.
/// Returns the numbers in the order of delivery, grouped by instant: one group is one aggregate.
fn deliveries(mut air: Air<u64>, arrivals: &[(u64, u16, u32)]) -> Vec<Vec<u64>> {
    let mut groups: Vec<(Instant, Vec<u64>)> = Vec::new();
    let mut collect = |air: &mut Air<u64>| {
        while let Some(output) = air.poll_output() {
            if let Output::Delivered { at, packet, .. } = output {
                match groups.last_mut().filter(|(last, _)| *last == at) {
                    Some((_, group)) => group.push(packet.payload),
                    None => groups.push((at, vec![packet.payload])),
                }
            }
        }
    };
    let mut now = Instant::ZERO;
    for (number, (gap, station, length)) in (1..).zip(arrivals) {
        now += Duration::from_micros(*gap);
        while let Some((at, _)) = air.poll_timeout().filter(|(at, _)| *at < now) {
            air.handle_timeout(at);
            collect(&mut air);
        }
        air.handle_packet(now, NodeId(0), NodeId(station + 1), packet(*length, 1, number));
        collect(&mut air);
    }
    while let Some((at, _)) = air.poll_timeout() {
        air.handle_timeout(at);
        collect(&mut air);
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn vectors() -> impl Strategy<Value = Vec<TxVector>> {
    prop::collection::vec(
        (0_u8..8, 1_u8..3).prop_map(|(mcs, streams)| ht20(mcs, streams, Guard::Ns400)),
        2..6,
    )
}

fn arrivals(stations: usize) -> impl Strategy<Value = Vec<(u64, u16, u32)>> {
    prop::collection::vec((0_u64..400, 0..stations as u16, 60_u32..1_500), 1..400)
}

fn bands(depth: usize) -> Queue {
    Box::new(Device::new(
        PfifoFast::new(QueueLimit::Packets(1_000)),
        depth,
        Order::Arrival,
    ))
}

fn one_band(depth: usize) -> Queue {
    Box::new(Device::new(
        Fifo::new(QueueLimit::Packets(1_000)),
        depth,
        Order::Arrival,
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each aggregate starts with the oldest packet of all stations; the rest of it is for the same
    /// station. There are no losses here, so there are no retransmissions.
    #[test]
    fn first_in_first_out(
        (vectors, arrivals) in vectors().prop_flat_map(|vectors| {
            let stations = vectors.len();
            (Just(vectors), arrivals(stations))
        }),
        depth in prop::sample::select(vec![1_usize, 8, 123]),
        hardware in 1_u32..4,
    ) {
        let groups = deliveries(open(vectors, hardware, one_band(depth)), &arrivals);
        let mut left: BTreeSet<u64> = (1..=arrivals.len() as u64).collect();
        for group in groups {
            prop_assert_eq!(left.first(), group.first());
            prop_assert!(group.windows(2).all(|pair| pair[0] < pair[1]));
            for number in group {
                prop_assert!(left.remove(&number));
            }
        }
        prop_assert!(left.is_empty());
    }

    /// `pfifo_fast` with one used band is a FIFO.
    #[test]
    fn one_band_is_a_fifo(
        (vectors, arrivals) in vectors().prop_flat_map(|vectors| {
            let stations = vectors.len();
            (Just(vectors), arrivals(stations))
        }),
        hardware in 1_u32..4,
    ) {
        let of = |queue| deliveries(open(vectors.clone(), hardware, queue), &arrivals);
        prop_assert_eq!(of(bands(123)), of(one_band(123)));
    }
}

/// A packet every 300 ms to a fast station beside a saturated slow one, so that no two are in the
/// driver's lists at once. Returns medians of its waiting time and of the packets ahead of it, and
/// the slow station's packets per second.
fn sparse_beside(slow: TxVector, queue: Queue) -> (Duration, usize, f64) {
    let mut air = open(vec![ht20(7, 2, Guard::Ns400), slow], 2, queue);
    let (begin, end) = (Instant::from_secs(5), Instant::from_secs(65));
    let (mut sent, mut waits, mut backlogs, mut slow_packets) = (Vec::new(), Vec::new(), Vec::new(), 0_u64);
    for _ in 0..400 {
        air.handle_packet(Instant::ZERO, NodeId(0), NodeId(2), packet(1_500, 2, 0));
    }
    let mut next = Instant::from_millis(300);
    loop {
        let due = air.poll_timeout().map_or(next, |(at, _)| at.min(next));
        if due > end {
            break;
        }
        if due == next {
            backlogs.push(air.backlog(NodeId(0)));
            air.handle_packet(due, NodeId(0), NodeId(1), packet(200, 1, sent.len() as u64));
            sent.push(due);
            next += Duration::from_millis(300);
        } else {
            air.handle_timeout(due);
        }
        let mut again = 0;
        while let Some(output) = air.poll_output() {
            match output {
                Output::Delivered {
                    at,
                    to: NodeId(1),
                    packet,
                    ..
                } if at >= begin => {
                    waits.push(at.since(sent[packet.payload as usize]));
                }
                Output::Delivered { at, to: NodeId(2), .. } => {
                    again += 1;
                    slow_packets += u64::from(at >= begin);
                }
                _ => {}
            }
        }
        for _ in 0..again {
            air.handle_packet(due, NodeId(0), NodeId(2), packet(1_500, 2, 0));
        }
    }
    waits.sort_unstable();
    backlogs.sort_unstable();
    assert!(waits.len() > 180, "{} of {} delivered", waits.len(), sent.len());
    (
        waits[waits.len() / 2],
        backlogs[backlogs.len() / 2],
        slow_packets as f64 / end.since(begin).as_secs_f64(),
    )
}

/// A station whose aggregates end at their time limit leaves a packet over each time. It must not be served before
/// those that came earlier. A sparse flow waits for what is before it: the backlog divided by the rate at which it is
/// served.
#[test]
fn a_sparse_flow_waits_for_the_backlog() {
    for slow in [
        ht20(0, 1, Guard::Ns400),
        ht20(3, 1, Guard::Ns400),
        ht20(7, 2, Guard::Ns400),
    ] {
        let (wait, backlog, rate) = sparse_beside(slow, fifo(1_000));
        let expected = backlog as f64 / rate;
        assert!(
            (wait.as_secs_f64() / expected - 1.0).abs() < 0.1,
            "{wait}: {backlog} packets at {rate}/s"
        );
    }
}

/// Airtime fairness serves a sparse station next: after the two aggregates in the hardware and one
/// backoff each.
#[test]
fn a_sparse_flow_waits_for_the_hardware_alone() {
    let queue = Airtime::new(FqParameters::MAC80211, CodelParameters::MAC80211, None);
    let (wait, _, _) = sparse_beside(ht20(0, 1, Guard::Ns400), Box::new(queue));
    assert!(wait < Duration::from_millis(2 * 4 + 1), "{wait}");
}

/// Airtime of saturated stations in proportion to their weights, at all rates. A station's next
/// aggregate may have to wait for its previous one. No other station takes its turn then.
fn shares(vectors: Vec<TxVector>, weights: &[u32], hardware: u32) -> Vec<f64> {
    let stations = vectors.len() as u16;
    let mut queue = Airtime::new(FqParameters::MAC80211, CodelParameters::MAC80211, None);
    for (station, weight) in (1..).zip(weights) {
        queue.set_weight(NodeId(station), *weight);
    }
    let mut air = open(vectors, hardware, Box::new(queue));
    let end = Instant::from_secs(20);
    for station in 1..=stations {
        for _ in 0..300 {
            air.handle_packet(
                Instant::ZERO,
                NodeId(0),
                NodeId(station),
                packet(1_500, u32::from(station), 0),
            );
        }
    }
    while let Some((at, _)) = air.poll_timeout().filter(|(at, _)| *at < end) {
        air.handle_timeout(at);
        while let Some(output) = air.poll_output() {
            if let Output::Delivered { to, .. } | Output::Dropped { to, .. } = output {
                air.handle_packet(at, NodeId(0), to, packet(1_500, u32::from(to.0), 0));
            }
        }
    }
    let airtime: Vec<f64> = (1..=stations)
        .map(|n| air.account(NodeId(n)).received.as_secs_f64())
        .collect();
    let total: f64 = airtime.iter().sum();
    airtime.iter().map(|airtime| airtime / total).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn airtime_follows_weights(
        stations in prop::collection::vec((0_u8..8, 1_u8..3, prop::sample::select(vec![64_u32, 128, 256, 512, 1_024])), 2..5),
        hardware in 1_u32..4,
    ) {
        let vectors = stations.iter().map(|(mcs, streams, _)| ht20(*mcs, *streams, Guard::Ns400)).collect();
        let weights: Vec<u32> = stations.iter().map(|(.., weight)| *weight).collect();
        let total: u32 = weights.iter().sum();
        for (share, weight) in shares(vectors, &weights, hardware).into_iter().zip(&weights) {
            let expected = f64::from(*weight) / f64::from(total);
            prop_assert!((share - expected).abs() < 0.02, "{share} in place of {expected} of {weights:?}");
        }
    }
}
