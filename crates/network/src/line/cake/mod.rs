//! CAKE: common applications kept enhanced (`sch_cake.c`; Høiland-Jørgensen, Täht, Morton, 2018).
//!
//! A packet goes to a tin by its DSCP ([`diffserv`]), there to a queue by its flow and hosts (`hash`). The tins share
//! the rate by their schedules; within a tin, DRR++ serves its queues (`tin`). [`cobalt`] drops or marks.
//!
//! Differences from the kernel:
//!
//! - The filter of acknowledgements never drops one with SACK blocks, ECE or CWR, and has no `aggressive` form.
//! - Hosts are counted exactly, without hashing. The quantum divided by the flows of a host has 16 bits after the
//!   point; the kernel rounds it at random to whole bytes.
//! - A shaper outside of this type limits the rate. There is no `ingress`, `autorate-ingress`, `nat` and `wash`.

pub mod cobalt;
pub mod diffserv;
mod flow;
mod hash;
mod tin;

use crate::hop::HopFraming;
use crate::output::Headers;
use cobalt::CobaltParameters;
use netburn_medium::packet::{DropReason, Packet, Queued};
use netburn_medium::queue::Drops;
use netburn_medium::queue::driver::Discipline;
use netburn_medium::queue::fq::{spread, truesize};
use netburn_scenario::plan::{Isolation, Tins};
use netburn_units::{BitRate, Duration, Instant, RandomStream};
use tin::{CountedHosts, Tin};

/// Settings of CAKE in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CakeConfig {
    /// Priority tins.
    pub tins: Tins,
    /// Isolation of flows and hosts.
    pub isolation: Isolation,
    /// Round trip that the AQM expects.
    pub rtt: Duration,
    /// Limit of memory as the kernel counts it (truesize), in bytes; `None`: [`default_memory`].
    pub memory: Option<u64>,
    /// True if a pure acknowledgement that a later one replaces is dropped.
    pub ack_filter: bool,
    /// Framing of the link, which the tins' schedules and the flows' deficits count.
    pub framing: HopFraming,
}

/// Properties of a packet that CAKE reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Labels {
    /// Source host.
    pub source: u32,
    /// Destination host.
    pub destination: u32,
    /// DSCP and acknowledgement.
    pub headers: Headers,
}

/// CAKE in one direction.
#[derive(Debug)]
pub struct Cake<P> {
    config: CakeConfig,
    labels: fn(&Packet<P>) -> Labels,
    rate: u64,
    tins: Vec<Tin<P>>,
    packets: usize,
    memory: u64,
    blue_rng: RandomStream,
}

/// Default limit of memory: 4 MiB, or four times the bytes of a round trip at the rate if that is more
/// (`cake_reconfigure`). At most 10 240 packets of the maximum size.
#[must_use]
pub fn default_memory(rate: BitRate, rtt: Duration) -> u64 {
    let bytes = u128::from(rate.as_bps()) / 8 * u128::from(rtt.as_nanos()) * 4 / 1_000_000_000;
    (bytes as u64).clamp(4 << 20, 10_240 * 1_514)
}

impl<P: std::fmt::Debug + Send> Cake<P> {
    /// Creates the discipline for a link with this rate. `labels` reads a packet.
    #[must_use]
    pub fn new(config: CakeConfig, rate: BitRate, labels: fn(&Packet<P>) -> Labels, blue_rng: RandomStream) -> Self {
        let mut cake = Cake {
            config,
            labels,
            rate: 0,
            tins: Vec::new(),
            packets: 0,
            memory: 0,
            blue_rng,
        };
        let tin = |_| Tin::new(None, CobaltParameters::new(None, config.rtt), config.framing);
        cake.tins = (0..diffserv::count(config.tins)).map(tin).collect();
        cake.set_rate(rate);
        cake
    }

    /// Hash that selects a queue.
    fn hash(&self, packet: &Packet<P>, labels: Labels) -> u32 {
        match self.config.isolation {
            Isolation::Hosts => spread(spread(labels.source) ^ labels.destination),
            _ => spread(packet.flow),
        }
    }

    /// Hosts that count for the share of a flow (`cake_dsrc`, `cake_ddst`).
    fn counted(&self) -> CountedHosts {
        let isolation = self.config.isolation;
        CountedHosts {
            source: matches!(isolation, Isolation::DualSrchost | Isolation::TripleIsolate),
            destination: matches!(isolation, Isolation::DualDsthost | Isolation::TripleIsolate),
        }
    }

    /// Tin to serve: the last one that meets its schedule, or else the one whose schedule is met first
    /// (`cake_dequeue`).
    fn choose(&self, now: Instant) -> usize {
        let mut best: Option<(Instant, usize)> = None;
        for (index, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.has_flows()) {
            if tin.time_next <= now || best.is_none_or(|(time, _)| tin.time_next <= time) {
                best = Some((tin.time_next, index));
            }
        }
        best.map_or(0, |(_, index)| index)
    }

    /// Charges a packet to the schedule of a tin (`cake_advance_shaper`).
    fn advance(&mut self, now: Instant, index: usize, length: u32) {
        let bytes = self.config.framing.bytes(length);
        let rate = diffserv::threshold(self.config.tins, index, self.rate).max(1);
        let nanos = u128::from(bytes) * 8_000_000_000 / u128::from(rate);
        let span = Duration::from_nanos(nanos as u64);
        let tin = &mut self.tins[index];
        tin.time_next = if tin.time_next < now {
            tin.time_next + span
        } else {
            tin.time_next.max(now + span)
        };
    }

    fn drop_from_longest(&mut self, now: Instant, drops: &mut Drops<P>) {
        let longest = self.tins.iter().enumerate();
        let longest = longest.filter_map(|(index, tin)| tin.longest().map(|(bytes, flow)| (bytes, index, flow)));
        let longest = longest.max_by_key(|(bytes, index, _)| (*bytes, std::cmp::Reverse(*index)));
        let dropped = longest.and_then(|(_, index, flow)| self.tins[index].drop_first(now, flow));
        match dropped {
            Some(packet) => {
                self.forget(&packet);
                drops.push((packet, DropReason::QueueFull));
            }
            // Without packets nothing is counted.
            None => (self.packets, self.memory) = (0, 0),
        }
    }

    fn forget(&mut self, packet: &Queued<P>) {
        self.packets -= 1;
        self.memory -= truesize(packet.packet.length);
    }

    fn limit(&self) -> u64 {
        let usual = || default_memory(BitRate::from_bps(self.rate), self.config.rtt);
        self.config.memory.unwrap_or_else(usual)
    }
}

impl<P: std::fmt::Debug + Send> Discipline<P> for Cake<P> {
    fn enqueue(&mut self, now: Instant, packet: Queued<P>, drops: &mut Drops<P>) {
        let labels = (self.labels)(&packet.packet);
        let hash = self.hash(&packet.packet, labels);
        let counted = self.counted();
        self.packets += 1;
        self.memory += truesize(packet.packet.length);
        let tin = &mut self.tins[diffserv::of_dscp(self.config.tins, labels.headers.dscp())];
        // The schedule of an empty tin does not keep credit.
        if tin.bytes == 0 {
            tin.time_next = tin.time_next.max(now);
        }
        let queue = tin.flows.find(hash);
        tin.enqueue(queue, (labels.source, labels.destination), counted, packet);
        let read = self.labels;
        let ack = |packet: &Packet<P>| read(packet).headers.ack();
        let filtered = self.config.ack_filter.then(|| tin.filter_acks(queue, ack)).flatten();
        if let Some(packet) = filtered {
            self.forget(&packet);
            drops.push((packet, DropReason::Aqm));
        }
        while self.memory > self.limit() {
            self.drop_from_longest(now, drops);
        }
    }

    fn dequeue(&mut self, now: Instant, drops: &mut Drops<P>) -> Option<Queued<P>> {
        let counted = self.counted();
        let mut first = true;
        while self.packets > 0 {
            let index = self.choose(now);
            let visit = self.tins[index].dequeue(now, first, counted, &mut self.blue_rng)?;
            first = false;
            for packet in visit.dropped {
                self.forget(&packet);
                drops.push((packet, DropReason::Aqm));
            }
            if let Some(packet) = visit.sent {
                self.forget(&packet);
                self.advance(now, index, packet.packet.length);
                return Some(packet);
            }
        }
        None
    }

    fn clear(&mut self, drops: &mut Drops<P>) {
        let packets = self.tins.iter_mut().flat_map(Tin::drain);
        drops.extend(packets.map(|packet| (packet, DropReason::QueueReplaced)));
        (self.packets, self.memory) = (0, 0);
    }

    fn packets(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.tins.iter().map(|tin| tin.bytes).sum()
    }

    /// Shares, quanta and targets follow from the rate.
    fn set_rate(&mut self, rate: BitRate) {
        self.rate = rate.as_bps().max(1);
        for (index, tin) in self.tins.iter_mut().enumerate() {
            let bytes = diffserv::threshold(self.config.tins, index, self.rate / 8);
            tin.quantum = tin::quantum(Some(bytes));
            tin.cobalt = CobaltParameters::new(Some(bytes), self.config.rtt);
        }
    }
}
