//! Broadcast traffic of networks: its arrivals, its frames, and the buffers in which it waits for a
//! DTIM beacon. [`on_air`] sends the frames.

mod on_air;

use crate::group::DtimBuffer;
use crate::layout::Layout;
use netburn_medium::packet::NodeId;
use netburn_scenario::Plan;
use netburn_scenario::plan::RadioRef;
use netburn_units::{Duration, Instant, RandomStream, earlier};
pub(crate) use on_air::Context;
use std::collections::{BTreeMap, BTreeSet};

/// Packets of a network whose recipients are remembered.
const REMEMBERED: usize = 256;

/// Counters of a network's broadcast traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BroadcastStats {
    /// Packets from the wire.
    pub packets: u64,
    /// Group-addressed frames of the access points to their stations.
    pub frames: u64,
    /// Frames of those that waited for a DTIM beacon.
    pub buffered: u64,
    /// Frames that a full buffer dropped.
    pub dropped: u64,
    /// Receptions, each by one station.
    pub received: u64,
    /// Frames that an associated station did not receive, each counted once for each such station.
    pub lost: u64,
    /// Sum of the delays of all receptions, from the wire to the station.
    pub delay: Duration,
    /// Longest of these delays.
    pub longest_delay: Duration,
}

impl BroadcastStats {
    /// Mean delay of a reception; `None` without one.
    #[must_use]
    pub fn mean_delay(&self) -> Option<Duration> {
        (self.received > 0).then(|| self.delay / self.received)
    }
}

/// Broadcast traffic of all networks.
#[derive(Debug)]
pub(crate) struct Broadcasts {
    sources: Vec<Source>,
    /// Recent packets by their number.
    packets: BTreeMap<u32, Broadcast>,
    next_packet: u32,
    /// Cached time of the next timer.
    due: Option<Instant>,
}

/// Broadcast traffic of one network.
#[derive(Debug)]
struct Source {
    /// Index in the plan's networks.
    network: usize,
    interval: Duration,
    arrival_rng: RandomStream,
    next: Instant,
    radios: Vec<Bss>,
    stats: BroadcastStats,
}

/// A radio of a network.
#[derive(Debug)]
struct Bss {
    radio: NodeId,
    ap: usize,
    /// Packets that wait for a DTIM beacon.
    buffer: DtimBuffer<u32>,
}

/// A broadcast packet.
#[derive(Debug)]
struct Broadcast {
    source: usize,
    began: Instant,
    /// Access points that have it.
    reached: BTreeSet<usize>,
}

/// A frame that carries a broadcast packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BroadcastFrame {
    /// A packet to the stations of a radio. `dtim`: after a DTIM beacon.
    Bss { packet: u32, dtim: bool },
    /// A packet to the other members of a mesh.
    Mesh { packet: u32, mesh: u16 },
    /// A packet to another access point over a 4-address link.
    Link { packet: u32 },
}

impl Broadcasts {
    pub(crate) fn new(plan: &Plan, layout: &Layout, begin: Instant) -> Self {
        let source = |(index, network): (usize, &netburn_scenario::plan::Network)| {
            let interval = network.broadcast_interval?;
            let bss = |name: &RadioRef| {
                let radio = layout.radios.iter().position(|radio| radio.name == *name)?;
                Some(Bss {
                    radio: NodeId(radio as u16),
                    ap: layout.radios[radio].ap,
                    buffer: DtimBuffer::new(network.dtim_period),
                })
            };
            let mut source = Source {
                network: index,
                interval,
                arrival_rng: plan.seed.stream("broadcast", index as u64),
                next: begin,
                radios: network.radios.iter().filter_map(bss).collect(),
                stats: BroadcastStats::default(),
            };
            source.advance();
            Some(source)
        };
        let mut broadcasts = Broadcasts {
            sources: plan.networks.iter().enumerate().filter_map(source).collect(),
            packets: BTreeMap::new(),
            next_packet: 0,
            due: None,
        };
        broadcasts.schedule();
        broadcasts
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Counters of a network, by its index in the plan; `None` if it has no broadcast traffic.
    pub(crate) fn stats(&self, network: usize) -> Option<BroadcastStats> {
        let mut sources = self.sources.iter();
        sources
            .find(|source| source.network == network)
            .map(|source| source.stats)
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    /// Next packet that arrives by `now`.
    fn poll_arrival(&mut self, now: Instant) -> Option<u32> {
        let source = self.sources.iter().position(|source| source.next <= now)?;
        let at = &mut self.sources[source];
        let began = at.next;
        at.advance();
        at.stats.packets += 1;
        let packet = self.next_packet;
        self.next_packet = packet.wrapping_add(1);
        let reached = BTreeSet::new();
        self.packets.insert(packet, Broadcast { source, began, reached });
        if self.packets.len() > REMEMBERED * self.sources.len() {
            self.packets.pop_first();
        }
        self.schedule();
        Some(packet)
    }

    /// Marks that an access point has a packet. Returns false if it had it before.
    fn reach(&mut self, packet: u32, ap: usize) -> bool {
        self.packets
            .get_mut(&packet)
            .is_some_and(|packet| packet.reached.insert(ap))
    }

    /// Lets a packet wait for the next DTIM beacon of a radio. `phase`: that of its beacons.
    fn hold(&mut self, now: Instant, source: usize, place: usize, phase: Duration, packet: u32) {
        let at = &mut self.sources[source];
        let bss = &mut at.radios[place];
        at.stats.buffered += 1;
        let dropped = bss.buffer.hold(now, phase, packet);
        at.stats.dropped += u64::from(dropped.is_some());
        self.schedule();
    }

    /// True if packets wait for the DTIM beacon of a radio.
    fn is_holding(&self, source: usize, place: usize) -> bool {
        self.sources[source].radios[place].buffer.is_holding()
    }

    /// Next DTIM beacon by `now`: the source and the place of its radio, and its packets. If the access point is `away`,
    /// they wait for the next DTIM beacon.
    fn poll_dtim(&mut self, now: Instant, away: impl Fn(NodeId) -> bool) -> Option<(usize, usize, Vec<u32>)> {
        let mut places = self.sources.iter_mut().enumerate();
        let (source, place, packets) = places.find_map(|(source, at)| {
            let mut radios = at.radios.iter_mut().enumerate();
            radios.find_map(|(place, bss)| Some((source, place, bss.buffer.poll(now, away(bss.radio))?)))
        })?;
        self.schedule();
        Some((source, place, packets))
    }

    fn schedule(&mut self) {
        let radios = self.sources.iter().flat_map(|source| &source.radios);
        let beacon = radios.filter_map(|bss| bss.buffer.poll_timeout()).min();
        let next = self.sources.iter().map(|source| source.next).min();
        self.due = earlier(beacon, next);
    }
}

impl Source {
    /// Draws the time of the next packet: 0 to twice the interval after the last one.
    fn advance(&mut self) {
        let gap = self.arrival_rng.duration_below(self.interval * 2);
        self.next += gap.max(Duration::from_nanos(1));
    }
}
