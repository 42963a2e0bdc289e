//! Laws of each transmit queue alone, without the air: accounts, order, limits, turns.

use netburn_medium::config::{Aql, QueueLimit};
use netburn_medium::edca::AccessCategory;
use netburn_medium::packet::{DropReason, Ecn, NodeId, Packet, Queued};
use netburn_medium::queue::airtime::Airtime;
use netburn_medium::queue::codel::CodelParameters;
use netburn_medium::queue::driver::{Device, Order};
use netburn_medium::queue::fifo::Fifo;
use netburn_medium::queue::fq::FqParameters;
use netburn_medium::queue::fq_codel::FqCodel;
use netburn_medium::queue::fq_mac::FqMac;
use netburn_medium::queue::pfifo_fast::PfifoFast;
use netburn_medium::queue::station_rr::StationRr;
use netburn_medium::queue::{Drops, Place, QueueConfig, QueueKind, Readiness, StationTid, TransmitQueue, Unsent};
use netburn_units::{ByteSize, Duration, Instant};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Queue = Box<dyn TransmitQueue<u64>>;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn tin(to: u16) -> StationTid {
    StationTid { to: NodeId(to), tid: 0 }
}

/// A packet for a station, in a flow that only this station and TID have.
fn queued(to: u16, tid: u8, flow: u32, length: u32, number: u64) -> Queued<u64> {
    Queued {
        to: NodeId(to),
        since: Instant::ZERO,
        arrival: number,
        packet: Packet {
            length,
            flow: u32::from(to) * 64 + u32::from(tid) * 8 + flow,
            tid,
            ecn: Ecn::NotEct,
            payload: number,
        },
    }
}

/// Small limits, so that they are reached.
fn small(packets: u32, memory: u64, batch: u32) -> FqParameters {
    FqParameters {
        packets,
        memory,
        batch,
        ..FqParameters::MAC80211
    }
}

/// Every discipline of a radio, with the defaults of a station.
fn registered() -> impl Strategy<Value = Queue> {
    let kinds = prop::sample::select(QueueKind::all_on(Place::Radio));
    kinds.prop_filter_map("a queue of a radio", |kind| QueueConfig::for_station(kind).build())
}

fn queues() -> impl Strategy<Value = Queue> {
    let order = prop_oneof![Just(Order::Arrival), Just(Order::RoundRobin)];
    let limit = prop_oneof![
        (1_u32..20).prop_map(QueueLimit::Packets),
        (100_u64..20_000).prop_map(|bytes| QueueLimit::Bytes(ByteSize::from_bytes(bytes))),
    ];
    let codel = CodelParameters::MAC80211;
    let fq =
        || (2_u32..40, 5_000_u64..60_000, 1_u32..5).prop_map(|(packets, memory, batch)| small(packets, memory, batch));
    prop_oneof![
        (limit.clone(), 1_usize..10, order.clone())
            .prop_map(|(limit, depth, order)| -> Queue { Box::new(Device::new(Fifo::new(limit), depth, order)) }),
        (limit.clone(), 1_usize..10, order.clone())
            .prop_map(|(limit, depth, order)| -> Queue { Box::new(Device::new(PfifoFast::new(limit), depth, order)) }),
        (fq(), 1_usize..10, order).prop_map(move |(fq, depth, order)| -> Queue {
            Box::new(Device::new(FqCodel::new(fq, CodelParameters::QDISC), depth, order))
        }),
        limit.prop_map(|limit| -> Queue { Box::new(StationRr::new(limit)) }),
        fq().prop_map(move |fq| -> Queue { Box::new(FqMac::new(fq, codel)) }),
        fq().prop_map(move |fq| -> Queue { Box::new(Airtime::new(fq, codel, None)) }),
        registered(),
    ]
}

/// Expected content of a queue: packets by number, with their tin, flow and length.
#[derive(Default)]
struct Held(BTreeMap<u64, (StationTid, u32, u32)>);

impl Held {
    fn put(&mut self, queued: &Queued<u64>) {
        let tin = StationTid {
            to: queued.to,
            tid: queued.packet.tid,
        };
        self.0
            .insert(queued.packet.payload, (tin, queued.packet.flow, queued.packet.length));
    }

    fn drop(&mut self, drops: &mut Drops<u64>) {
        for (queued, _) in drops.drain(..) {
            assert!(self.0.remove(&queued.packet.payload).is_some(), "dropped twice");
        }
    }

    fn count(&self, tin: StationTid) -> usize {
        self.0.values().filter(|(queue, ..)| *queue == tin).count()
    }

    fn bytes(&self) -> u64 {
        self.0.values().map(|(.., length)| u64::from(*length)).sum()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Each packet is dequeued once or dropped once; packets and bytes are counted exactly. A
    /// served station has packets and is ready. A non-empty queue serves a station. The packets of
    /// one flow keep their order.
    #[test]
    fn each_packet_is_accounted_for(
        mut queue in queues(),
        steps in prop::collection::vec((0_u8..8, 1_u16..5, 0_u8..8, 0_u32..3, 60_u32..1_600, 0_u64..30), 1..300),
    ) {
        let mut held = Held::default();
        let mut unsent: BTreeMap<StationTid, bool> = BTreeMap::new();
        let (mut drops, mut now) = (Vec::new(), Instant::ZERO);
        for (number, (what, to, tid, flow, length, wait)) in (0..).zip(steps) {
            now += ms(wait);
            let tin = StationTid { to: NodeId(to), tid };
            match what {
                0..=3 => {
                    let packet = Queued { since: now, ..queued(to, tid, flow, length, number) };
                    held.put(&packet);
                    queue.enqueue(now, packet, &mut drops);
                    prop_assert!(drops.iter().all(|(_, why)| *why == DropReason::QueueFull || *why == DropReason::Aqm));
                    held.drop(&mut drops);
                }
                4..=5 => {
                    let (category, only) = (AccessCategory::ALL[usize::from(tid) % 4], what == 5);
                    let mut asked = Vec::new();
                    let mut may = |tin: StationTid| {
                        asked.push(tin);
                        if only && tin.to != NodeId(to) { Readiness::Later } else { Readiness::Now }
                    };
                    let Some(next) = queue.next(now, category, &mut may) else { continue };
                    prop_assert!(asked.contains(&next) && next.category() == category);
                    prop_assert!(!only || next.to == NodeId(to));
                    prop_assert!(held.count(next) > 0 || unsent.get(&next) == Some(&true));
                    if let Some(sent) = queue.dequeue(now, next, &mut drops) {
                        held.drop(&mut drops);
                        let (of, flow, length) = held.0.remove(&sent.packet.payload).expect("held");
                        prop_assert_eq!((of, length), (next, sent.packet.length));
                        prop_assert!(held.0.range(..sent.packet.payload).all(|(_, (_, other, _))| *other != flow));
                    }
                    held.drop(&mut drops);
                    queue.on_pushed_to_hw(next, ms(1));
                    queue.charge_airtime(next, ms(1));
                    queue.on_completed(next, ms(1));
                }
                6 => {
                    let left = [Unsent::Nothing, Unsent::LeftOver { arrival: number }, Unsent::Retransmission][length as usize % 3];
                    unsent.insert(tin, left.is_some());
                    queue.set_unsent(now, tin, left);
                }
                _ => {
                    if let Some(sent) = queue.dequeue(now, tin, &mut drops) {
                        prop_assert_eq!(held.0.remove(&sent.packet.payload).map(|(of, ..)| of), Some(tin));
                    }
                    held.drop(&mut drops);
                }
            }
            prop_assert_eq!((queue.packets(), queue.bytes()), (held.0.len(), held.bytes()));
            let waits = AccessCategory::ALL.map(|category| queue.next(now, category, &mut |_| Readiness::Now).is_some());
            let any = !held.0.is_empty() || unsent.values().any(|unsent| *unsent);
            prop_assert_eq!(waits.contains(&true), any);
        }
        queue.clear(&mut drops);
        prop_assert!(drops.iter().all(|(_, why)| *why == DropReason::QueueReplaced));
        held.drop(&mut drops);
        prop_assert!(held.0.is_empty());
        prop_assert_eq!((queue.packets(), queue.bytes()), (0, 0));
    }
}

/// Enqueues packets with these stations, TIDs and lengths, and returns the numbers of the dropped
/// ones.
fn fill(queue: &mut dyn TransmitQueue<u64>, packets: &[(u16, u8, u32)]) -> Vec<u64> {
    let mut drops = Vec::new();
    for (number, (to, tid, length)) in (1..).zip(packets) {
        queue.enqueue(Instant::ZERO, queued(*to, *tid, 0, *length, number), &mut drops);
    }
    drops
        .into_iter()
        .map(|(queued, why)| {
            assert_eq!(why, DropReason::QueueFull);
            queued.packet.payload
        })
        .collect()
}

/// Serves the best-effort category until it is empty, one packet at a time.
fn serve(queue: &mut dyn TransmitQueue<u64>) -> Vec<u64> {
    let mut all = Vec::new();
    while let Some(next) = queue.next(Instant::ZERO, AccessCategory::BestEffort, &mut |_| Readiness::Now) {
        let sent = queue.dequeue(Instant::ZERO, next, &mut Vec::new());
        all.push(sent.expect("who is served has a packet").packet.payload);
    }
    all
}

/// The packet that fills a limit is accepted and the next is not. The limit applies to the device
/// (FIFO), to a band, to a station; the driver's lists hold one packet more.
#[test]
fn limits_are_reached_and_not_passed() {
    let bytes = |bytes| QueueLimit::Bytes(ByteSize::from_bytes(bytes));
    let three = [
        (1, 0, 1_000),
        (1, 0, 1_000),
        (2, 0, 1_000),
        (2, 0, 1_000),
        (1, 0, 1_000),
    ];
    for (limit, dropped) in [
        (QueueLimit::Packets(2), vec![4, 5]),
        (bytes(2_000), vec![4, 5]),
        (bytes(1_999), vec![3, 4, 5]),
    ] {
        let mut device = Device::new(Fifo::new(limit), 1, Order::Arrival);
        assert_eq!(fill(&mut device, &three), dropped, "{limit:?}");
        let mut bands = Device::new(PfifoFast::new(limit), 1, Order::Arrival);
        assert_eq!(fill(&mut bands, &three), dropped, "{limit:?}");
    }
    for (limit, dropped) in [
        (QueueLimit::Packets(2), vec![5]),
        (bytes(2_000), vec![5]),
        (bytes(1_999), vec![2, 4, 5]),
    ] {
        let mut queue = StationRr::new(limit);
        assert_eq!(fill(&mut queue, &three), dropped, "{limit:?}");
        // Packets that left make room.
        assert_eq!(serve(&mut queue).len() + dropped.len(), three.len());
        assert_eq!(fill(&mut queue, &three), dropped, "{limit:?}");
    }
    // Bands: 6 and 7 are voice, 4 and 5 video; 0 and 3 best effort; 1 and 2 background. The first
    // packet is in the driver's list.
    let of_every_tid = [0, 0, 6, 4, 0, 3, 1, 2, 7, 5].map(|tid| (1, tid, 100));
    let mut bands = Device::new(PfifoFast::new(QueueLimit::Packets(2)), 1, Order::Arrival);
    assert_eq!(fill(&mut bands, &of_every_tid), [6, 9, 10]);
    let mut order = Vec::new();
    while bands.packets() > 0 {
        for category in AccessCategory::ALL {
            if let Some(next) = bands.next(Instant::ZERO, category, &mut |_| Readiness::Now) {
                let sent = bands.dequeue(Instant::ZERO, next, &mut Vec::new());
                order.push(sent.expect("a packet").packet.payload);
            }
        }
    }
    assert_eq!(order, [1, 3, 4, 2, 5, 7, 8]);
}

/// Four packets for the first station, two for the second and one for the third.
const UNEVEN: [(u16, u8, u32); 7] = [
    (1, 0, 1_000),
    (1, 0, 1_000),
    (1, 0, 1_000),
    (2, 0, 1_000),
    (3, 0, 1_000),
    (2, 0, 1_000),
    (1, 0, 1_000),
];

/// Round robin with one packet each; in order of arrival, that order.
#[test]
fn stations_are_served_in_turn() {
    let many = QueueLimit::Packets(100);
    let fq = FqMac::new(FqParameters::MAC80211, CodelParameters::MAC80211);
    let by_turns: [Queue; 3] = [
        Box::new(StationRr::new(many)),
        Box::new(Device::new(Fifo::new(many), 100, Order::RoundRobin)),
        Box::new(fq),
    ];
    for mut queue in by_turns {
        assert!(fill(&mut *queue, &UNEVEN).is_empty());
        assert_eq!(serve(&mut *queue), [1, 4, 5, 2, 6, 3, 7], "{queue:?}");
        // A station that left and returns is last.
        fill(&mut *queue, &UNEVEN[3..]);
        assert_eq!(serve(&mut *queue), [1, 2, 4, 3], "{queue:?}");
    }
    let mut device = Device::new(Fifo::new(many), 100, Order::Arrival);
    fill(&mut device, &UNEVEN);
    // A station that will be ready soon keeps its position; one that won't is passed over.
    let mut may = |of: Readiness| {
        device.next(Instant::ZERO, AccessCategory::BestEffort, &mut |next| {
            if next == tin(1) { of } else { Readiness::Now }
        })
    };
    assert_eq!(may(Readiness::Soon), None);
    assert_eq!(may(Readiness::Later), Some(tin(2)));
    assert_eq!(serve(&mut device), [1, 2, 3, 4, 5, 6, 7]);
}

/// Retransmissions precede everything; leftover packets keep their order of arrival.
#[test]
fn unsent_packets_keep_their_order_of_arrival() {
    let mut device = Device::new(Fifo::new(QueueLimit::Packets(100)), 100, Order::Arrival);
    fill(&mut device, &[(1, 0, 100), (2, 0, 100)]);
    let mut first = |unsent| {
        device.set_unsent(Instant::ZERO, tin(3), unsent);
        device.next(Instant::ZERO, AccessCategory::BestEffort, &mut |_| Readiness::Now)
    };
    assert_eq!(first(Unsent::LeftOver { arrival: 3 }), Some(tin(1)));
    assert_eq!(first(Unsent::LeftOver { arrival: 0 }), Some(tin(3)));
    assert_eq!(first(Unsent::Retransmission), Some(tin(3)));
    assert_eq!(first(Unsent::Nothing), Some(tin(1)));
}

fn fq_codel(parameters: FqParameters) -> Device<u64, FqCodel<u64>> {
    Device::new(FqCodel::new(parameters, CodelParameters::QDISC), 1, Order::Arrival)
}

/// Deficit round robin by hand, with a quantum of 1514 (RFC 8290 §4.2). One packet of 1514 bytes
/// uses up the quantum, and so do two of 757 bytes. Two of 1000 bytes leave a deficit of 486 bytes.
#[test]
fn flows_take_turns_by_bytes() {
    let mut queue = fq_codel(FqParameters::QDISC);
    let packets: Vec<(u16, u8, u32)> = [(1, 1_514); 5]
        .into_iter()
        .chain([(2, 757); 6])
        .map(|(to, length)| (to, 0, length))
        .collect();
    fill(&mut queue, &packets);
    assert_eq!(serve(&mut queue), [1, 6, 7, 2, 8, 9, 3, 10, 11, 4, 5]);
    // Turns: the first sends 1000 bytes, has 514 left and sends another, then has a deficit of 486.
    // The second sends two. The first has 1028 and sends two again, deficit 972. The second sends
    // two. The first has 542 and sends one, deficit 458.
    let packets: Vec<(u16, u8, u32)> = [(1, 1_000); 6]
        .into_iter()
        .chain([(2, 757); 6])
        .map(|(to, length)| (to, 0, length))
        .collect();
    fill(&mut queue, &packets);
    assert_eq!(serve(&mut queue), [1, 2, 7, 8, 3, 4, 9, 10, 5, 11, 12, 6]);
}

/// A new flow precedes those that had their turn; once it has been empty it is an old one (RFC 8290
/// §4.2).
#[test]
fn a_new_flow_goes_first_once() {
    let mut queue = fq_codel(FqParameters::QDISC);
    let put = |queue: &mut Device<u64, _>, to, number| {
        let packet = queued(to, 0, 0, 1_514, number);
        queue.enqueue(Instant::ZERO, packet, &mut Vec::new());
    };
    let take = |queue: &mut Device<u64, _>| {
        let next = queue.next(Instant::ZERO, AccessCategory::BestEffort, &mut |_| Readiness::Now)?;
        let sent = queue.dequeue(Instant::ZERO, next, &mut Vec::new())?;
        Some(sent.packet.payload)
    };
    // The first packet moves to the driver's list immediately, the second becomes the next one when
    // the first is taken.
    for number in 1..=5 {
        put(&mut queue, 1, number);
    }
    assert_eq!(take(&mut queue), Some(1));
    put(&mut queue, 2, 10);
    assert_eq!(take(&mut queue), Some(2));
    assert_eq!(take(&mut queue), Some(10), "before 3, 4 and 5");
    // It was found empty: it waits for its turn among the old ones.
    put(&mut queue, 2, 11);
    assert_eq!(
        [take(&mut queue), take(&mut queue), take(&mut queue)],
        [Some(3), Some(11), Some(4)]
    );
}

/// 1500 bytes are a buffer of 2048 and an `sk_buff` of 256: the truesize of 2304 in Linux. 1664
/// bytes still fit into 2048 beside 384 of headroom and shared info, 1665 take 4096.
#[test]
fn memory_is_counted_as_the_kernel_does() {
    for (length, memory, dropped) in [
        (1_500, 3 * 2_304, vec![1]),
        (1_500, 4 * 2_304, vec![]),
        (1_500, 4 * 2_304 - 1, vec![1]),
        (1_664, 4 * 2_304, vec![]),
        (1_665, 4 * 4_352, vec![]),
        (1_665, 4 * 4_352 - 1, vec![1]),
        (128, 4 * 768, vec![]),
        (128, 4 * 768 - 1, vec![1]),
    ] {
        let mut queue = FqMac::new(small(1_000, memory, 1), CodelParameters::MAC80211);
        assert_eq!(fill(&mut queue, &[(1, 0, length); 4]), dropped, "{length} in {memory}");
    }
}

/// The flow with the most bytes loses its oldest packets (RFC 8290 §4.1.3): one, or a batch until
/// half of its bytes are dropped.
#[test]
fn the_fattest_flow_loses_its_head() {
    let packets = [
        (1, 0, 100),
        (1, 0, 100),
        (1, 0, 100),
        (2, 0, 1_000),
        (2, 0, 1_000),
        (3, 0, 500),
    ];
    let mut queue = FqMac::new(small(5, 1 << 20, 1), CodelParameters::MAC80211);
    assert_eq!(fill(&mut queue, &packets), [4]);
    // Of ten packets of 1000 bytes, one for another flow: 5000 bytes are half, or what the batch
    // allows.
    for (batch, dropped) in [(1, 1), (3, 3), (64, 5)] {
        let mut queue = FqMac::new(small(10, 1 << 20, batch), CodelParameters::MAC80211);
        let mut packets = vec![(1, 0, 1_000); 10];
        packets.push((2, 0, 500));
        let expected: Vec<u64> = (1..=dropped).collect();
        assert_eq!(fill(&mut queue, &packets), expected, "{batch}");
        assert_eq!(queue.packets(), 11 - expected.len());
    }
}

/// Two stations with the same hash are kept apart: the second uses its own overflow flow.
#[test]
fn flows_of_two_stations_never_mix() {
    let one = FqParameters {
        flows: 1,
        ..FqParameters::MAC80211
    };
    let mut queue = FqMac::new(one, CodelParameters::MAC80211);
    fill(&mut queue, &UNEVEN);
    assert_eq!(serve(&mut queue), [1, 4, 5, 2, 6, 3, 7]);
}

/// A station is served while its deficit is not below its airtime in the hardware (Linux 5.5
/// `ieee80211_next_txq`). Each round adds its weight in microseconds, 256 by default.
#[test]
fn airtime_is_paid_back() {
    let open = || {
        let mut queue = Airtime::new(FqParameters::MAC80211, CodelParameters::MAC80211, None);
        fill(&mut queue, &[(1, 0, 100), (2, 0, 100)]);
        queue
    };
    let next =
        |queue: &mut Airtime<u64>| queue.next(Instant::ZERO, AccessCategory::BestEffort, &mut |_| Readiness::Now);
    // The most recent one is in front, and stays there until its deficit is used up.
    let mut queue = open();
    assert_eq!([next(&mut queue), next(&mut queue)], [Some(tin(2)); 2]);
    queue.charge_airtime(tin(2), Duration::from_micros(256));
    assert_eq!(next(&mut queue), Some(tin(2)), "nothing is left and nothing is owed");
    queue.charge_airtime(tin(2), Duration::from_nanos(1));
    assert_eq!(next(&mut queue), Some(tin(1)));
    // A round has given the second 256 µs; the first is served until it is in deficit as well.
    queue.charge_airtime(tin(1), Duration::from_micros(257));
    assert_eq!(next(&mut queue), Some(tin(2)));
    // A weight of 1024 pays four times as fast: after 10 ms each, the first waits for 10 rounds of
    // the other.
    let mut queue = open();
    queue.set_weight(NodeId(1), 1_024);
    queue.charge_airtime(tin(1), ms(10));
    queue.charge_airtime(tin(2), ms(10));
    assert_eq!(next(&mut queue), Some(tin(1)));
    // Airtime in the hardware counts as used until it is charged.
    let mut queue = open();
    queue.on_pushed_to_hw(tin(2), Duration::from_micros(257));
    assert_eq!(next(&mut queue), Some(tin(1)));
    let mut queue = open();
    queue.on_pushed_to_hw(tin(2), Duration::from_micros(256));
    assert_eq!(next(&mut queue), Some(tin(2)));
    // A station that will be ready soon keeps its position. One that will not is passed over.
    // Without a ready station none is served.
    let mut queue = open();
    let mut may = |first, second| {
        queue.next(Instant::ZERO, AccessCategory::BestEffort, &mut |asked| {
            if asked == tin(2) { first } else { second }
        })
    };
    assert_eq!(may(Readiness::Soon, Readiness::Now), None);
    assert_eq!(may(Readiness::Later, Readiness::Now), Some(tin(1)));
    assert_eq!(may(Readiness::Later, Readiness::Later), None);
}

/// Airtime queue limits (`ieee80211_txq_airtime_check`). A station may always pass packets on below
/// 5 ms of its own. Below 12 ms it may do so only while the sum is below 24 ms.
#[test]
fn airtime_queue_limits() {
    let micros = Duration::from_micros;
    for (own, others, may) in [
        (4_999, 0, true),
        (4_999, 30_000, true),
        (5_000, 30_000, false),
        (5_000, 18_999, true),
        (5_000, 19_000, false),
        (11_999, 0, true),
        (12_000, 0, false),
    ] {
        let mut queue = Airtime::new(FqParameters::MAC80211, CodelParameters::MAC80211, Some(Aql::default()));
        fill(&mut queue, &[(1, 0, 100)]);
        queue.on_pushed_to_hw(tin(1), micros(own));
        queue.on_pushed_to_hw(tin(2), micros(others));
        let category = AccessCategory::BestEffort;
        assert_eq!(queue.pending(NodeId(1), category), (micros(own), micros(own + others)));
        // A weight that covers the pending airtime in one round.
        queue.set_weight(NodeId(1), 65_535);
        let next = queue.next(Instant::ZERO, category, &mut |_| Readiness::Now);
        assert_eq!(next.is_some(), may, "{own} and {others}");
        queue.on_completed(tin(1), micros(own));
        // No more than the pending airtime is removed.
        queue.on_completed(tin(2), micros(others + 1));
        assert_eq!(queue.pending(NodeId(1), category), (Duration::ZERO, Duration::ZERO));
    }
}

/// Scenarios and messages go by the places; the network goes by what can be built. CAKE is built by the network.
#[test]
fn disciplines_are_built_where_a_scenario_can_use_them() {
    for kind in QueueKind::ALL {
        let config = QueueConfig::for_station(*kind);
        assert_eq!(
            config.discipline::<()>().is_some(),
            kind.is_on(Place::Wire),
            "{}",
            kind.name()
        );
        assert_eq!(
            config.build::<()>().is_some(),
            kind.is_on(Place::Radio),
            "{}",
            kind.name()
        );
    }
}

/// CoDel of one station can be changed alone. CoDel drops packets of a queue of 60 ms after one
/// interval above the target. The interval is 100 ms by default, and 300 ms with a target of 50 ms.
#[test]
fn codel_is_of_one_station() {
    for slow in [false, true] {
        let mut queue = FqMac::new(FqParameters::MAC80211, CodelParameters::MAC80211);
        if slow {
            queue.set_codel(tin(1), CodelParameters::MAC80211_SLOW);
        }
        let mut first_drop = None;
        let mut drops = Vec::new();
        for millis in 0..600_u64 {
            let now = Instant::ZERO + ms(millis);
            let packet = Queued {
                since: now,
                ..queued(1, 0, 0, 1_500, millis)
            };
            queue.enqueue(now, packet, &mut drops);
            if millis >= 60 {
                queue.dequeue(now, tin(1), &mut drops);
            }
            if !drops.is_empty() {
                assert_eq!(drops[0].1, DropReason::Aqm);
                first_drop.get_or_insert(millis);
            }
        }
        assert_eq!(first_drop, Some(if slow { 60 + 300 } else { 60 + 100 }));
    }
}
