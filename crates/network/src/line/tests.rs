//! Closed forms and laws of the disciplines behind a shaper.

use super::cake::CakeConfig;
use super::pacer::{Pacer, PacerConfig};
use crate::hop::{HopEvent, HopFraming};
use crate::output::{Ack, Endpoint, Envelope, Headers, NetPacket};
use netburn_medium::packet::{Ecn, Packet};
use netburn_medium::queue::{Place, QueueKind};
use netburn_scenario::plan::{Framing, Isolation, Tins};
use netburn_units::{BitRate, Duration, Instant, Seed};
use proptest::prelude::*;
use std::collections::BTreeMap;

const RAW: HopFraming = HopFraming::Line(Framing::Raw);
/// 10 Mbit/s: 1500 bytes take 1.2 ms.
const RATE: BitRate = BitRate::from_mbps(10);

fn config(kind: QueueKind, isolation: Isolation) -> PacerConfig {
    PacerConfig {
        kind,
        shaper: Some(RATE),
        link: RATE,
        cake: CakeConfig {
            tins: Tins::Diffserv3,
            isolation,
            rtt: Duration::from_millis(100),
            memory: None,
            ack_filter: false,
            framing: RAW,
        },
    }
}

fn pacer(config: &PacerConfig) -> Pacer<u64> {
    Pacer::new(config, Seed(1).stream("cake", 0))
}

/// A packet of the server to a station.
#[derive(Debug, Clone, Copy)]
struct Flow {
    number: u32,
    station: u16,
    tid: u8,
    length: u32,
    ecn: Ecn,
    headers: Headers,
}

impl Flow {
    fn new(number: u32) -> Self {
        Flow {
            number,
            station: 0,
            tid: 0,
            length: 1_500,
            ecn: Ecn::NotEct,
            headers: Headers::default(),
        }
    }

    fn packet(self, payload: u64) -> NetPacket<u64> {
        Packet {
            length: self.length,
            flow: self.number,
            tid: self.tid,
            ecn: self.ecn,
            payload: Envelope {
                from: Endpoint::Server,
                to: Endpoint::Station(self.station),
                headers: self.headers,
                payload,
            },
        }
    }
}

/// Events up to `until`, in order.
fn run(pacer: &mut Pacer<u64>, until: Instant) -> Vec<(Instant, HopEvent<NetPacket<u64>>)> {
    let mut events = Vec::new();
    while let Some(at) = pacer.poll_timeout().filter(|at| *at <= until) {
        pacer.handle_timeout(at);
        events.extend(std::iter::from_fn(|| pacer.poll_event()));
    }
    events
}

/// Bytes of each flow that left in `seconds`, without the first one, if each flow always has `queued` packets waiting.
fn saturated(pacer: &mut Pacer<u64>, flows: &[Flow], queued: u64, seconds: i64) -> BTreeMap<u32, u64> {
    let mut bytes = BTreeMap::new();
    for flow in flows {
        for payload in 0..queued {
            pacer.handle_packet(Instant::ZERO, flow.packet(payload));
        }
    }
    while let Some(at) = pacer.poll_timeout().filter(|at| *at < Instant::from_secs(seconds)) {
        pacer.handle_timeout(at);
        while let Some((_, event)) = pacer.poll_event() {
            let packet = match event {
                HopEvent::Arrived(packet) => {
                    if at >= Instant::from_secs(1) {
                        *bytes.entry(packet.flow).or_default() += u64::from(packet.length);
                    }
                    packet
                }
                HopEvent::Dropped(packet) => packet,
                other => panic!("{other:?}"),
            };
            pacer.handle_packet(at, packet);
        }
    }
    bytes
}

fn assert_share(bytes: &BTreeMap<u32, u64>, flows: impl Iterator<Item = u32>, share: f64) {
    let total: u64 = bytes.values().sum();
    let own: u64 = flows.map(|flow| bytes.get(&flow).copied().unwrap_or(0)).sum();
    let measured = own as f64 / total as f64;
    assert!(
        (measured / share - 1.0).abs() < 0.01,
        "{measured} instead of {share}: {bytes:?}"
    );
}

/// Five flows with packets of different lengths get a fifth each, within 1 %. All together get the rate.
#[test]
fn equal_flows_share_the_rate() {
    for kind in [QueueKind::FqCodel, QueueKind::Cake] {
        let mut pacer = pacer(&config(kind, Isolation::Flows));
        let lengths = [1_500, 1_500, 1_200, 600, 300];
        let flows: Vec<Flow> = lengths
            .iter()
            .zip(1..)
            .map(|(length, number)| Flow {
                length: *length,
                ..Flow::new(number)
            })
            .collect();
        let bytes = saturated(&mut pacer, &flows, 20, 21);
        for flow in 1..=5 {
            assert_share(&bytes, std::iter::once(flow), 0.2);
        }
        let rate = bytes.values().sum::<u64>() as f64 * 8.0 / 20.0;
        assert!((rate / 10e6 - 1.0).abs() < 0.001, "{rate} bit/s");
    }
}

/// One station with one flow, and another one with nine. With isolation by destination each station gets half. Without
/// it each flow gets a tenth. All flows have the same source, so that `triple-isolate` divides each quantum by ten.
#[test]
fn hosts_share_the_rate() {
    let mut flows = vec![Flow::new(1)];
    flows.extend((2..=10).map(|number| Flow {
        station: 1,
        ..Flow::new(number)
    }));
    for (isolation, share) in [
        (Isolation::DualDsthost, 0.5),
        (Isolation::Flows, 0.1),
        (Isolation::DualSrchost, 0.1),
        (Isolation::TripleIsolate, 0.1),
        (Isolation::Hosts, 0.5),
    ] {
        let bytes = saturated(&mut pacer(&config(QueueKind::Cake, isolation)), &flows, 20, 61);
        assert_share(&bytes, std::iter::once(1), share);
        assert_share(&bytes, 2..=10, 1.0 - share);
    }
}

/// Two floods. Packets marked EF (46) are in the voice tin, which has priority up to a quarter of the rate; those
/// marked CS1 (8) are in the bulk tin, up to a 16th. Best effort gets the rest.
#[test]
fn a_marked_flood_does_not_displace_best_effort() {
    for (dscp, share) in [(46, 0.25), (8, 1.0 / 16.0)] {
        let flows = [
            Flow::new(1),
            Flow {
                headers: Headers::new(dscp),
                ..Flow::new(2)
            },
        ];
        let bytes = saturated(&mut pacer(&config(QueueKind::Cake, Isolation::Flows)), &flows, 20, 41);
        assert_share(&bytes, std::iter::once(2), share);
        assert_share(&bytes, std::iter::once(1), 1.0 - share);
    }
}

/// Delays of a flow with a packet of 200 bytes each 20 ms beside eight saturated flows.
fn sparse_delays(kind: QueueKind, dscp: u8) -> Vec<Duration> {
    let mut pacer = pacer(&config(kind, Isolation::TripleIsolate));
    let sparse = Flow {
        length: 200,
        headers: Headers::new(dscp),
        ..Flow::new(99)
    };
    for flow in 1..=8 {
        for payload in 0..20 {
            pacer.handle_packet(Instant::ZERO, Flow::new(flow).packet(payload));
        }
    }
    let (mut delays, mut sent) = (Vec::new(), BTreeMap::new());
    for number in 50..500 {
        let now = Instant::from_millis(number * 20);
        while let Some(at) = pacer.poll_timeout().filter(|at| *at < now) {
            for (at, event) in run(&mut pacer, at) {
                match event {
                    HopEvent::Arrived(packet) if packet.flow == 99 => {
                        delays.push(at.since(sent[&packet.payload.payload]));
                    }
                    HopEvent::Arrived(packet) | HopEvent::Dropped(packet) => pacer.handle_packet(at, packet),
                    other => panic!("{other:?}"),
                }
            }
        }
        sent.insert(number as u64, now);
        pacer.handle_packet(now, sparse.packet(number as u64));
    }
    // In the FIFO the last ones still wait.
    assert!(delays.len() >= 430, "{}", delays.len());
    delays
}

/// A sparse flow waits for the packet that leaves, 1.2 ms, and with `fq-codel` at most for one quantum of each active
/// flow. In a FIFO it would wait for all 160 queued packets, 192 ms.
#[test]
fn a_sparse_flow_waits_for_one_quantum() {
    let longest = |kind, dscp| sparse_delays(kind, dscp).into_iter().max().unwrap();
    assert!(longest(QueueKind::Cake, 0) <= Duration::from_micros(1_200));
    assert!(longest(QueueKind::Cake, 46) <= Duration::from_micros(1_200));
    assert!(longest(QueueKind::FqCodel, 0) <= Duration::from_micros(8 * 1_200));
    assert!(longest(QueueKind::Fifo, 0) > Duration::from_millis(150));
}

/// A shaper counts the framing: 1500 bytes are 1518 on DOCSIS, which take 1.2144 ms at 10 Mbit/s. The first packet leaves
/// at once; there is no burst.
#[test]
fn a_shaper_counts_the_framing() {
    let mut docsis = config(QueueKind::Fifo, Isolation::Flows);
    docsis.cake.framing = HopFraming::Line(Framing::Docsis);
    let mut pacer = pacer(&docsis);
    for payload in 0..3 {
        pacer.handle_packet(Instant::ZERO, Flow::new(1).packet(payload));
    }
    let left: Vec<i64> = run(&mut pacer, Instant::from_secs(1))
        .iter()
        .map(|(at, _)| at.as_nanos())
        .collect();
    assert_eq!(left, [0, 1_214_400, 2_428_800]);
}

/// With ECN, COBALT marks and drops nothing. Without it, COBALT drops.
#[test]
fn cake_marks_packets_with_ecn() {
    for ecn in [Ecn::Ect0, Ecn::NotEct] {
        let mut pacer = pacer(&config(QueueKind::Cake, Isolation::Flows));
        let flow = Flow { ecn, ..Flow::new(1) };
        for payload in 0..100 {
            pacer.handle_packet(Instant::ZERO, flow.packet(payload));
        }
        let (mut marked, mut dropped) = (0, 0);
        for millis in 0..5_000 {
            for (at, event) in run(&mut pacer, Instant::from_millis(millis)) {
                match event {
                    HopEvent::Arrived(packet) => {
                        marked += u32::from(packet.ecn == Ecn::Ce);
                        pacer.handle_packet(at, flow.packet(0));
                    }
                    HopEvent::Dropped(_) => {
                        dropped += 1;
                        pacer.handle_packet(at, flow.packet(0));
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        if ecn == Ecn::Ect0 {
            assert!(marked > 50 && dropped == 0, "{marked} marked, {dropped} dropped");
        } else {
            assert!(marked == 0 && dropped > 50, "{marked} marked, {dropped} dropped");
        }
    }
}

/// At the memory limit the longest queue loses packets. A packet of 1500 bytes counts 2304 bytes (truesize: 2048 + 256),
/// so that 100 kB hold 43 of them. A short flow loses none.
#[test]
fn the_longest_queue_is_dropped_from() {
    let mut limited = config(QueueKind::Cake, Isolation::Flows);
    limited.cake.memory = Some(100_000);
    let mut pacer = pacer(&limited);
    for payload in 0..10 {
        pacer.handle_packet(Instant::ZERO, Flow::new(1).packet(payload));
    }
    for payload in 0..200 {
        pacer.handle_packet(Instant::ZERO, Flow::new(2).packet(payload));
    }
    // The first packet of flow 1 left at once.
    assert_eq!(pacer.packets(), 43);
    let events = run(&mut pacer, Instant::ZERO);
    let dropped = |flow| {
        let drops = events
            .iter()
            .filter(|(_, event)| matches!(event, HopEvent::Dropped(packet) if packet.flow == flow));
        drops.count()
    };
    assert_eq!((dropped(1), dropped(2)), (0, 210 - 1 - 43));
}

/// Six acknowledgements that arrive together, of 52 bytes. The first one leaves at once. A pure one is dropped when two of
/// its flow with lower numbers wait: of 2000 to 6000, only 5000 and 6000 are left. An acknowledgement with data, or a
/// second one with the same number, is not dropped.
#[test]
fn acknowledgements_that_later_ones_replace_are_dropped() {
    let ack = |flow: u32, next: u32, pure_ack: bool| Flow {
        length: 52,
        headers: Headers::new(0).with_ack(Ack { next, pure_ack }),
        ..Flow::new(flow)
    };
    let left = |filter: bool, acks: &[Flow]| {
        let mut config = config(QueueKind::Cake, Isolation::Flows);
        config.cake.ack_filter = filter;
        let mut pacer = pacer(&config);
        for (payload, flow) in (0..).zip(acks) {
            pacer.handle_packet(Instant::ZERO, flow.packet(payload));
        }
        let events = run(&mut pacer, Instant::from_secs(1));
        let arrived = events.iter().filter_map(|(_, event)| match event {
            HopEvent::Arrived(packet) => packet.payload.headers.ack().map(|ack| ack.next),
            _ => None,
        });
        arrived.collect::<Vec<_>>()
    };
    let pure_acks: Vec<Flow> = (1..=6).map(|number| ack(1, number * 1_000, true)).collect();
    assert_eq!(left(true, &pure_acks), [1_000, 5_000, 6_000]);
    assert_eq!(left(false, &pure_acks).len(), 6);
    // Over the end of the sequence numbers.
    let wrapped: Vec<Flow> = (0..6)
        .map(|number| ack(1, (u32::MAX - 2_500).wrapping_add(number * 1_000), true))
        .collect();
    assert_eq!(left(true, &wrapped).len(), 3);
    for other in [
        [1_000, 2_000, 2_000, 2_000].map(|next| ack(1, next, true)),
        [1_000, 2_000, 3_000, 4_000].map(|next| ack(1, next, false)),
    ] {
        assert_eq!(left(true, &other).len(), 4);
    }
}

/// Default memory: 4 MiB at 10 Mbit/s; at 1 Gbit/s four times 12.5 MB, but at most 10 240 packets.
#[test]
fn default_memory_by_hand() {
    let of = |mbps| super::cake::default_memory(BitRate::from_mbps(mbps), Duration::from_millis(100));
    assert_eq!((of(10), of(100), of(1_000)), (4 << 20, 5_000_000, 10_240 * 1_514));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Packets are conserved: each one leaves, is dropped, or is queued. Packets of a flow keep their order. Two packets
    /// leave at least the time of the first one's bytes apart.
    #[test]
    fn laws_of_a_shaper(
        kind in prop::sample::select(QueueKind::all_on(Place::Line)),
        isolation in prop::sample::select(vec![
            Isolation::Flows, Isolation::Hosts, Isolation::DualSrchost, Isolation::DualDsthost, Isolation::TripleIsolate,
        ]),
        tins in prop::sample::select(vec![Tins::Besteffort, Tins::Diffserv3, Tins::Diffserv4, Tins::Diffserv8]),
        framing in prop::sample::select(Framing::ALL.to_vec()),
        rate in 100_000_u64..1_000_000_000,
        memory in prop::option::of(3_000_u64..200_000),
        until in 0_i64..3_000,
        packets in prop::collection::vec((0_i64..3_000_000, 20_u32..1_600, 0_u32..6, any::<bool>()), 1..300),
    ) {
        let mut config = config(kind, isolation);
        config.shaper = Some(BitRate::from_bps(rate));
        (config.cake.tins, config.cake.framing, config.cake.memory) = (tins, HopFraming::Line(framing), memory);
        let mut pacer = pacer(&config);
        let (mut now, mut events) = (Instant::ZERO, Vec::new());
        for (payload, (gap, length, number, ecn)) in (0..).zip(&packets) {
            now += Duration::from_nanos(*gap as u64);
            events.extend(run(&mut pacer, now));
            let flow = Flow {
                station: *number as u16 % 3,
                // The packets of a flow have the same DSCP.
                headers: Headers::new([0, 8, 46, 34, 16, 48][*number as usize]),
                length: *length,
                ecn: if *ecn { Ecn::Ect0 } else { Ecn::NotEct },
                ..Flow::new(*number)
            };
            pacer.handle_packet(now, flow.packet(payload));
        }
        events.extend(run(&mut pacer, now + Duration::from_millis(until as u64)));
        prop_assert_eq!(events.len() + pacer.packets(), packets.len());
        let mut last: BTreeMap<u32, u64> = BTreeMap::new();
        let mut free = Instant::from_nanos(i64::MIN / 2);
        let (mut seen, mut before) = (std::collections::BTreeSet::new(), Instant::ZERO);
        for (at, event) in events {
            prop_assert!(at >= before);
            before = at;
            let (packet, left) = match event {
                HopEvent::Arrived(packet) => (packet, true),
                HopEvent::Dropped(packet) => (packet, false),
                other => panic!("{other:?}"),
            };
            let payload = packet.payload.payload;
            prop_assert!(seen.insert(payload), "packet {payload} twice");
            if left {
                prop_assert!(last.insert(packet.flow, payload).is_none_or(|last| last < payload));
                prop_assert!(at >= free, "{at:?} before {free:?}");
                let nanos = u64::from(framing.bytes(packet.length)) * 8_000_000_000 / rate;
                free = at + Duration::from_nanos(nanos);
            }
        }
    }
}
