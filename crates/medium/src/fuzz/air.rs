//! Operations on an [`Air`], decoded from bytes, and the laws that must hold for all of them.

use super::Bytes;
use crate::aggregation::{Framing, Limits};
use crate::air::{Air, AirConfig, ChannelConfig, LinkConfig, NodeConfig, Output};
use crate::config::{AdapterRate, Aql, Composition, Guard, HardwareQueue, QueueLimit, Width};
use crate::edca::{AccessCategory, EdcaParameters};
use crate::packet::{Ecn, NodeId, Packet, Queued};
use crate::phy::{Modulation, TxVector, dsss, ofdm};
use crate::queue::airtime::Airtime;
use crate::queue::codel::CodelParameters;
use crate::queue::fq::FqParameters;
use crate::queue::{Drops, Place, QueueConfig, QueueKind, Readiness, StationTid, TransmitQueue, Unsent};
use crate::rate::{MinstrelParameters, RateChoice};
use netburn_units::{BitRate, ByteSize, Duration, Instant, Seed};
use std::collections::BTreeMap;

/// Runs the operations and checks the laws. Every packet is delivered once, dropped once, or still
/// queued. Packets of one flow and TID arrive in order. A channel is never busy for longer than the
/// elapsed time. Handling a timeout at its time makes progress.
///
/// # Panics
/// If a law is violated.
pub fn check(bytes: &[u8]) {
    let mut bytes = Bytes::new(bytes);
    let config = layout(&mut bytes);
    let queues = config.nodes.iter().map(|_| queue(&mut bytes)).collect();
    let air = Air::new(&config, queues).expect("the vectors below are the standard's");
    let mut world = World {
        air,
        now: Instant::ZERO,
        config,
        offered: 0,
        ended: 0,
        packets: BTreeMap::new(),
        last: BTreeMap::new(),
    };
    while !bytes.is_empty() {
        world.operate(&mut bytes);
    }
    world.finish();
}

struct World {
    air: Air<u32>,
    now: Instant,
    config: AirConfig,
    offered: usize,
    ended: usize,
    /// Packets in flight: sender, receiver, flow and TID.
    packets: BTreeMap<u32, (NodeId, NodeId, u32, u8)>,
    /// Last packet that each flow received.
    last: BTreeMap<(NodeId, NodeId, u32, u8), u32>,
}

impl World {
    fn operate(&mut self, bytes: &mut Bytes) {
        match bytes.below(13) {
            0..=4 => {
                let (from, to) = (self.node(bytes), self.node(bytes));
                let burst = [1, 1, 2, 5, 20, 80][bytes.below(6)];
                let length = [20, 64, 200, 576, 1_000, 1_500, 1_500, 2_304][bytes.below(8)];
                let tid = bytes.byte() & 7;
                let ecn = bytes.one_of(&[Ecn::NotEct, Ecn::Ect0]);
                let flow = bytes.below(3) as u32;
                for _ in 0..burst {
                    self.offer(from, to, length, tid, flow, ecn);
                }
            }
            5 => {
                let span = Duration::from_micros([1, 9, 34, 100, 500, 4_000, 30_000][bytes.below(7)]);
                self.advance(self.now + span);
            }
            6 | 7 => {
                for _ in 0..=bytes.below(32) {
                    self.step();
                }
            }
            8 => {
                let (from, to) = (self.node(bytes), self.node(bytes));
                let snr = snr(bytes);
                self.air.set_snr(from, to, snr);
            }
            9 => {
                let (node, queue) = (self.node(bytes), unlimited(bytes));
                self.air.set_queue(self.now, node, queue);
            }
            10 => {
                let rate = bytes.one_of(&[None, Some(BitRate::from_mbps(1)), Some(BitRate::from_mbps(50))]);
                let limit = AdapterRate {
                    up: rate,
                    down: rate,
                    transfer: rate.map(|_| 3),
                };
                self.air.set_limit(self.node(bytes), limit);
            }
            11 => {
                let (from, to) = (self.node(bytes), self.node(bytes));
                let (vector, rate) = (vector(bytes), RateChoice::Minstrel(MinstrelParameters::default()));
                self.air
                    .set_rate(from, to, vector, rate)
                    .expect("a vector of the standard");
            }
            _ => {
                let (from, to) = (self.node(bytes), self.node(bytes));
                let vector = vector(bytes);
                self.air.set_vector(from, to, vector).expect("a vector of the standard");
            }
        }
        self.drain();
    }

    fn node(&self, bytes: &mut Bytes) -> NodeId {
        NodeId(bytes.below(self.config.nodes.len()) as u16)
    }

    fn offer(&mut self, from: NodeId, to: NodeId, length: u32, tid: u8, flow: u32, ecn: Ecn) {
        let number = self.offered as u32;
        self.offered += 1;
        // Different for each receiver and TID, because two tins in one flow would be spread over
        // two queues.
        let flow = flow + 3 * (u32::from(tid) + 8 * u32::from(to.0));
        self.packets.insert(number, (from, to, flow, tid));
        let packet = Packet {
            length,
            flow,
            tid,
            ecn,
            payload: number,
        };
        self.air.handle_packet(self.now, from, to, packet);
    }

    /// Advances to the next timeout, which must make progress.
    fn step(&mut self) {
        let Some((at, _)) = self.air.poll_timeout() else { return };
        assert!(at >= self.now, "the past is over: {at} at {}", self.now);
        assert_eq!(
            self.air.poll_timeout().map(|(at, _)| at),
            Some(at),
            "it must not change by being asked"
        );
        self.advance(at);
    }

    fn advance(&mut self, to: Instant) {
        self.air.handle_timeout(to);
        self.now = self.now.max(to);
        if let Some((at, _)) = self.air.poll_timeout() {
            assert!(at > to, "{at} was to be handled by {to}");
        }
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.air.poll_output() {
            match output {
                Output::Delivered { at, from, to, packet } => {
                    assert!(at <= self.now);
                    let known = self.packets.remove(&packet.payload);
                    let flow = (from, to, packet.flow, packet.tid);
                    assert_eq!(known, Some(flow), "{} was delivered", packet.payload);
                    let last = self.last.insert(flow, packet.payload);
                    assert!(
                        last.is_none_or(|last| last < packet.payload),
                        "{last:?} before {}",
                        packet.payload
                    );
                    self.ended += 1;
                }
                Output::Dropped { from, to, packet, .. } => {
                    let Some(packet) = packet else { continue };
                    let known = self.packets.remove(&packet.payload);
                    assert_eq!(
                        known,
                        Some((from, to, packet.flow, packet.tid)),
                        "{} was dropped",
                        packet.payload
                    );
                    self.ended += 1;
                }
                Output::Sent { .. } | Output::Group { .. } => {}
            }
        }
        let queued: usize = (0..self.config.nodes.len())
            .map(|n| self.air.backlog(NodeId(n as u16)))
            .sum();
        assert_eq!(
            self.offered,
            self.ended + queued,
            "offered; delivered or dropped, and queued"
        );
        let elapsed = self.now.since(Instant::ZERO);
        for channel in 0..self.config.channels.len() {
            let account = self.air.channel_account(channel);
            assert!(
                account.busy <= elapsed && account.overlapped <= account.busy,
                "{account:?} in {elapsed}"
            );
            let parts = account.data + account.control + account.others + account.overlapped;
            assert_eq!(parts, account.busy, "{account:?}");
        }
    }

    /// Without further input the air becomes idle, unless other networks keep it busy.
    fn finish(&mut self) {
        let busy = self.config.channels.iter().any(|channel| channel.busy > 0.0);
        for _ in 0..200_000 {
            if self.air.poll_timeout().is_none() || busy && self.packets.is_empty() {
                break;
            }
            self.step();
        }
        assert!(
            self.packets.is_empty(),
            "{} packets never leave the channel",
            self.packets.len()
        );
        if self.air.poll_timeout().is_none() {
            self.account();
        }
    }

    /// While idle, the airtime sent by the nodes equals the data time of their channels.
    fn account(&self) {
        for (channel, _) in self.config.channels.iter().enumerate() {
            let nodes = self.config.nodes.iter().enumerate();
            let here = nodes.filter(|(_, node)| node.channel == channel);
            let sent: Duration = here.map(|(node, _)| self.air.account(NodeId(node as u16)).sent).sum();
            let account = self.air.channel_account(channel);
            assert_eq!(sent, account.data + account.overlapped_data, "{account:?}");
        }
    }
}

fn layout(bytes: &mut Bytes) -> AirConfig {
    let channels: Vec<ChannelConfig> = (0..=bytes.below(2))
        .map(|_| ChannelConfig {
            busy: bytes.one_of(&[0.0, 0.0, 0.0, 0.2, 0.7]),
            eifs: bytes.one_of(&[None, Some(Modulation::Ofdm(ofdm::Rate::M6))]),
            protection: bytes.below(8) == 7,
            ..ChannelConfig::ofdm()
        })
        .collect();
    let count = 2 + bytes.below(5);
    let on: Vec<usize> = (0..count).map(|_| bytes.below(channels.len())).collect();
    let mut nodes = Vec::new();
    for node in 0..count {
        let peers = (0..count).filter(|peer| *peer != node && on[*peer] == on[node]);
        let mut links = Vec::new();
        for peer in peers {
            // Sometimes an unreachable one.
            if bytes.below(8) != 7 {
                links.push(link(peer, bytes));
            }
        }
        let mut edca = EdcaParameters::default_set(15);
        if bytes.below(3) == 0 {
            edca[1].txop = Duration::from_micros(2_528);
        }
        nodes.push(NodeConfig {
            channel: on[node],
            edca,
            hardware: bytes.one_of(&[
                HardwareQueue::Aggregates(2),
                HardwareQueue::Aggregates(1),
                HardwareQueue::Frames(8),
                HardwareQueue::Frames(100),
                HardwareQueue::Time(Duration::from_millis(5)),
                HardwareQueue::Unlimited,
            ]),
            // Not drawn, so that the corpus keeps its meaning.
            composition: [Composition::Txop, Composition::Driver][node / 2 % 2],
            rts_threshold: bytes.one_of(&[None, None, Some(0), Some(3_000)]),
            rts_rate: Modulation::Ofdm(ofdm::Rate::M24),
            framing: bytes.one_of(&[Framing::QOS, Framing::CCMP, Framing::PLAIN]),
            limit: AdapterRate {
                up: bytes.one_of(&[None, None, Some(BitRate::from_mbps(7))]),
                down: bytes.one_of(&[None, None, Some(BitRate::from_mbps(3))]),
                // Not drawn, so that the corpus keeps its meaning.
                transfer: [None, Some(2), Some(20)][node % 3],
            },
            links,
        });
    }
    let mut hidden = Vec::new();
    for _ in 0..bytes.below(4) {
        hidden.push((bytes.below(count), bytes.below(count)));
    }
    hidden.retain(|(a, b)| a != b);
    AirConfig {
        channels,
        nodes,
        hidden,
        seed: Seed(u64::from(bytes.byte())),
    }
}

fn link(to: usize, bytes: &mut Bytes) -> LinkConfig {
    let limits = Limits {
        ampdu: true,
        frames: bytes.one_of(&[64, 64, 2, 64]),
        window: 64,
        time: Duration::from_micros(bytes.one_of(&[4_000, 5_484, 1_000])),
        bytes: 65_535,
        amsdu: bytes.one_of(&[0, 0, 3_839, 7_935]),
        tries: bytes.one_of(&[1, 3, 10]),
    };
    LinkConfig {
        to,
        vector: vector(bytes),
        rate: bytes.one_of(&[
            RateChoice::Fixed,
            RateChoice::Ideal,
            RateChoice::Minstrel(MinstrelParameters {
                update: Duration::from_millis(50),
                weight: 0.25,
                probe: Duration::from_millis(20),
                probe_frames: 8,
            }),
        ]),
        snr_db: snr(bytes),
        limits: if bytes.below(4) == 0 {
            Limits {
                tries: limits.tries,
                ..Limits::NONE
            }
        } else {
            limits
        },
    }
}

fn snr(bytes: &mut Bytes) -> Option<f64> {
    bytes.one_of(&[None, None, Some(-10.0), Some(3.0), Some(10.0), Some(20.0), Some(35.0)])
}

fn vector(bytes: &mut Bytes) -> TxVector {
    let (modulation, width, streams, guard) = bytes.one_of(&[
        (Modulation::Dsss(dsss::Rate::M11), Width::Mhz20, 1, Guard::Ns800),
        (Modulation::Ofdm(ofdm::Rate::M54), Width::Mhz20, 1, Guard::Ns800),
        (Modulation::Ht { mcs: 0 }, Width::Mhz20, 1, Guard::Ns400),
        (Modulation::Ht { mcs: 7 }, Width::Mhz20, 2, Guard::Ns400),
        (Modulation::Vht { mcs: 9 }, Width::Mhz80, 2, Guard::Ns400),
        (Modulation::He { mcs: 11 }, Width::Mhz40, 1, Guard::Ns800),
        (Modulation::Eht { mcs: 13 }, Width::Mhz160, 2, Guard::Ns800),
    ]);
    TxVector {
        modulation,
        width,
        guard,
        streams,
        signal_extension: false,
        short_preamble: false,
    }
}

fn queue(bytes: &mut Bytes) -> Box<dyn TransmitQueue<u32>> {
    let kinds = QueueKind::all_on(Place::Radio);
    let config = queue_config(bytes, &kinds, kinds.len() + 1);
    config.and_then(|config| config.build()).unwrap_or_else(limited)
}

/// Replacement queue: without checks of limits, because it did not pass the packets to the
/// hardware.
fn unlimited(bytes: &mut Bytes) -> Box<dyn TransmitQueue<u32>> {
    let kinds = QueueKind::all_on(Place::Radio);
    let config = queue_config(bytes, &kinds, kinds.len()).and_then(|config| config.build());
    config.expect("a queue of a radio")
}

/// One of `choices` queues; `None` for a number without a discipline.
fn queue_config(bytes: &mut Bytes, kinds: &[QueueKind], choices: usize) -> Option<QueueConfig> {
    let limit = bytes.one_of(&[
        QueueLimit::Packets(1_000),
        QueueLimit::Packets(10),
        QueueLimit::Packets(1),
        QueueLimit::Bytes(ByteSize::from_bytes(20_000)),
    ]);
    let depth = bytes.one_of(&[123, 1, 8]);
    let kind = *kinds.get(bytes.below(choices))?;
    Some(QueueConfig {
        limit,
        depth,
        ..QueueConfig::for_station(kind)
    })
}

fn limited() -> Box<dyn TransmitQueue<u32>> {
    Box::new(Limited(Airtime::new(
        FqParameters::MAC80211,
        CodelParameters::MAC80211,
        Some(Aql::default()),
    )))
}

/// Airtime fairness with limits; checks that no packet is passed on beyond them.
#[derive(Debug)]
struct Limited(Airtime<u32>);

impl TransmitQueue<u32> for Limited {
    fn enqueue(&mut self, now: Instant, packet: Queued<u32>, drops: &mut Drops<u32>) {
        self.0.enqueue(now, packet, drops);
    }
    fn next(
        &mut self,
        now: Instant,
        category: AccessCategory,
        may: &mut dyn FnMut(StationTid) -> Readiness,
    ) -> Option<StationTid> {
        self.0.next(now, category, may)
    }
    fn dequeue(&mut self, now: Instant, tin: StationTid, drops: &mut Drops<u32>) -> Option<Queued<u32>> {
        self.0.dequeue(now, tin, drops)
    }
    fn clear(&mut self, drops: &mut Drops<u32>) {
        self.0.clear(drops);
    }
    fn set_unsent(&mut self, now: Instant, tin: StationTid, unsent: Unsent) {
        self.0.set_unsent(now, tin, unsent);
    }
    fn may_push(&self, tin: StationTid) -> bool {
        self.0.may_push(tin)
    }
    fn on_pushed_to_hw(&mut self, tin: StationTid, airtime: Duration) {
        let aql = Aql::default();
        let (own, total) = self.0.pending(tin.to, tin.category());
        assert!(own < aql.low || own < aql.high && total < aql.total, "{own} of {total}");
        self.0.on_pushed_to_hw(tin, airtime);
    }
    fn on_completed(&mut self, tin: StationTid, airtime: Duration) {
        let (own, _) = self.0.pending(tin.to, tin.category());
        assert!(airtime <= own, "{airtime} of {own}");
        self.0.on_completed(tin, airtime);
    }
    fn charge_airtime(&mut self, tin: StationTid, airtime: Duration) {
        self.0.charge_airtime(tin, airtime);
    }
    fn packets(&self) -> usize {
        self.0.packets()
    }
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}
