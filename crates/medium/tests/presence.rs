//! Packets for stations that sleep, listen to another channel, or are not associated.

use netburn_medium::config::QueueLimit;
use netburn_medium::edca::AccessCategory;
use netburn_medium::packet::{DropReason, Ecn, NodeId, Packet, Queued};
use netburn_medium::queue::codel::CodelParameters;
use netburn_medium::queue::driver::{Device, Order};
use netburn_medium::queue::fifo::Fifo;
use netburn_medium::queue::fq::FqParameters;
use netburn_medium::queue::fq_mac::FqMac;
use netburn_medium::queue::{Drops, Readiness, StationState, TransmitQueue};
use netburn_units::Instant;

const SLEEPER: NodeId = NodeId(1);
const OTHER: NodeId = NodeId(2);

/// A FIFO for the whole device, and a device queue of 10 packets.
fn fifo() -> Device<u64, Fifo<u64>> {
    Device::new(Fifo::new(QueueLimit::Packets(2_000)), 10, Order::Arrival)
}

/// Adds full-size packets. Returns the numbers of those that are dropped for this reason.
fn add(queue: &mut dyn TransmitQueue<u64>, to: NodeId, numbers: std::ops::Range<u64>, reason: DropReason) -> Vec<u64> {
    let mut dropped = Vec::new();
    for number in numbers {
        let packet = Packet {
            length: 1_500,
            flow: u32::from(to.0),
            tid: 0,
            ecn: Ecn::NotEct,
            payload: number,
        };
        let queued = Queued {
            to,
            since: Instant::ZERO,
            arrival: number,
            packet,
        };
        let mut drops = Drops::new();
        queue.enqueue(Instant::ZERO, queued, &mut drops);
        dropped.extend(numbers_of(drops, reason));
    }
    dropped
}

fn numbers_of(drops: Drops<u64>, reason: DropReason) -> Vec<u64> {
    drops
        .into_iter()
        .map(|(queued, found)| {
            assert_eq!(found, reason);
            queued.packet.payload
        })
        .collect()
}

fn set(queue: &mut dyn TransmitQueue<u64>, state: StationState, reason: DropReason) -> Vec<u64> {
    let mut drops = Drops::new();
    queue.set_station(Instant::ZERO, SLEEPER, state, &mut drops);
    numbers_of(drops, reason)
}

/// Numbers of all packets that can be sent.
fn sent(queue: &mut dyn TransmitQueue<u64>) -> Vec<u64> {
    let (mut sent, mut drops) = (Vec::new(), Drops::new());
    while let Some(tin) = queue.next(Instant::ZERO, AccessCategory::BestEffort, &mut |_| Readiness::Now) {
        let queued = queue.dequeue(Instant::ZERO, tin, &mut drops);
        sent.push(queued.expect("who is served has a packet").packet.payload);
    }
    assert!(drops.is_empty());
    sent
}

/// 100 Mbit/s for 120 ms are 1000 packets of 1500 bytes. mac80211 keeps the newest 64 of a sleeping station
/// (`STA_MAX_TX_BUFFER`): 936 are lost. Another station is served meanwhile.
#[test]
fn a_device_queue_keeps_64_packets_of_a_sleeping_station() {
    let mut queue = fifo();
    let reason = DropReason::PowerSaveBuffer;
    assert_eq!(set(&mut queue, StationState::Asleep, reason), [0_u64; 0]);
    assert_eq!(add(&mut queue, SLEEPER, 0..1_000, reason), (0..936).collect::<Vec<_>>());
    assert_eq!((queue.packets(), queue.bytes()), (64, 64 * 1_500));
    add(&mut queue, OTHER, 1_000..1_003, reason);
    assert_eq!(sent(&mut queue), [1_000, 1_001, 1_002]);
    assert_eq!(set(&mut queue, StationState::Awake, reason), [0_u64; 0]);
    assert_eq!(sent(&mut queue), (936..1_000).collect::<Vec<_>>());
    assert_eq!((queue.packets(), queue.bytes()), (0, 0));
}

/// Packets that are in the device queue already move to the buffer, ahead of later ones.
#[test]
fn packets_keep_their_order_when_a_station_falls_asleep() {
    let mut queue = fifo();
    let reason = DropReason::PowerSaveBuffer;
    add(&mut queue, SLEEPER, 0..20, reason);
    set(&mut queue, StationState::Asleep, reason);
    assert_eq!(sent(&mut queue), [0_u64; 0]);
    add(&mut queue, SLEEPER, 20..30, reason);
    set(&mut queue, StationState::Awake, reason);
    assert_eq!(sent(&mut queue), (0..30).collect::<Vec<_>>());
}

/// Queues for each station keep a sleeping station's packets.
#[test]
fn station_queues_lose_nothing() {
    let mut queue = FqMac::new(FqParameters::MAC80211, CodelParameters::MAC80211);
    let reason = DropReason::PowerSaveBuffer;
    set(&mut queue, StationState::Asleep, reason);
    assert_eq!(add(&mut queue, SLEEPER, 0..1_000, reason), [0_u64; 0]);
    assert_eq!(queue.packets(), 1_000);
}

#[test]
fn packets_of_a_station_that_left_are_dropped() {
    let mut queue = fifo();
    let reason = DropReason::Disassociated;
    add(&mut queue, SLEEPER, 0..5, reason);
    add(&mut queue, OTHER, 5..6, reason);
    assert_eq!(set(&mut queue, StationState::Gone, reason), [0, 1, 2, 3, 4]);
    assert_eq!(add(&mut queue, SLEEPER, 6..8, reason), [6, 7]);
    assert_eq!(sent(&mut queue), [5]);
    set(&mut queue, StationState::Awake, reason);
    add(&mut queue, SLEEPER, 8..9, reason);
    assert_eq!(sent(&mut queue), [8]);
    assert_eq!((queue.packets(), queue.bytes()), (0, 0));
}
