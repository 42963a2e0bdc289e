//! One tin of CAKE: its flows, its hosts, and DRR++ between them.

use super::cobalt::CobaltParameters;
use super::flow::Set;
use super::hash::Flows;
use crate::hop::HopFraming;
use crate::output::Ack;
use netburn_medium::packet::{Packet, Queued};
use netburn_units::{Instant, RandomStream};
use std::collections::{BTreeMap, VecDeque};

/// Hosts that count for the share of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CountedHosts {
    pub(super) source: bool,
    pub(super) destination: bool,
}

/// Packets that a visit of a tin dropped, and the one that it sends.
#[derive(Debug)]
pub(super) struct Visit<P> {
    pub(super) dropped: Vec<Queued<P>>,
    /// The packet; `None` if the flow was empty, so that a tin must be chosen again.
    pub(super) sent: Option<Queued<P>>,
}

#[derive(Debug)]
pub(super) struct Tin<P> {
    pub(super) flows: Flows<P>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    decaying: VecDeque<u16>,
    /// Numbers of sparse and of bulk flows.
    sparse: u32,
    bulk: u32,
    /// Bulk flows by host.
    sources: BTreeMap<u32, u32>,
    destinations: BTreeMap<u32, u32>,
    pub(super) quantum: i64,
    framing: HopFraming,
    pub(super) cobalt: CobaltParameters,
    /// Time of the next packet at the tin's share of the rate.
    pub(super) time_next: Instant,
    pub(super) bytes: u64,
}

impl<P> Tin<P> {
    /// Creates a tin with this rate in bytes per second.
    pub(super) fn new(rate: Option<u64>, cobalt: CobaltParameters, framing: HopFraming) -> Self {
        Tin {
            flows: Flows::default(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            sparse: 0,
            bulk: 0,
            sources: BTreeMap::new(),
            destinations: BTreeMap::new(),
            quantum: quantum(rate),
            framing,
            cobalt,
            time_next: Instant::from_nanos(i64::MIN / 2),
            bytes: 0,
        }
    }

    /// Returns true if a sparse or bulk flow is in the rotation.
    pub(super) fn has_flows(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// Adds a packet to the flow with this index.
    pub(super) fn enqueue(&mut self, index: u16, hosts: (u32, u32), counted: CountedHosts, packet: Queued<P>) {
        let quantum = self.quantum;
        let length = u64::from(packet.packet.length);
        self.bytes += length;
        let flow = self.flows.get_mut(index);
        flow.bytes += length;
        flow.packets.push_back(packet);
        match flow.set {
            Set::None | Set::Decaying => {
                let decayed = flow.set == Set::Decaying;
                flow.set = Set::Sparse;
                (flow.source, flow.destination) = hosts;
                if decayed {
                    self.decaying.retain(|other| *other != index);
                }
                self.new.push_back(index);
                self.sparse += 1;
                let load = self.load(hosts, counted);
                self.flows.get_mut(index).deficit = (quantum << 16) / load;
            }
            Set::SparseWait => {
                flow.set = Set::Bulk;
                self.sparse -= 1;
                self.add_bulk(index);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// Removes a pure acknowledgement that the last packet of a queue replaces (`cake_ack_filter`): the first of two of the
    /// same flow with a lower number. So one stays, and the sender's congestion window still grows.
    pub(super) fn filter_acks(&mut self, index: u16, ack: impl Fn(&Packet<P>) -> Option<Ack>) -> Option<Queued<P>> {
        let flow = self.flows.get_mut(index);
        let last = flow.packets.back()?;
        let (number, newest) = (last.packet.flow, ack(&last.packet)?.next);
        let replaced = |queued: &Queued<P>| {
            let own = ack(&queued.packet).filter(|_| queued.packet.flow == number);
            // Sequence numbers wrap (RFC 9293 section 3.4).
            own.is_some_and(|own| own.pure_ack && (newest.wrapping_sub(own.next) as i32) > 0)
        };
        let mut found = (0..flow.packets.len() - 1).filter(|at| replaced(&flow.packets[*at]));
        let (first, _) = (found.next()?, found.next()?);
        let packet = flow.packets.remove(first)?;
        flow.bytes -= u64::from(packet.packet.length);
        self.bytes -= u64::from(packet.packet.length);
        Some(packet)
    }

    /// Next packet, from the flow whose turn it is. `first`: a flow that decays is visited before the others. Only the
    /// first visit for a packet does this, so that one such flow decays for each packet.
    pub(super) fn dequeue(
        &mut self,
        now: Instant,
        mut first: bool,
        counted: CountedHosts,
        random: &mut RandomStream,
    ) -> Option<Visit<P>> {
        loop {
            let list = match (
                first && !self.decaying.is_empty(),
                self.new.is_empty(),
                self.old.is_empty(),
            ) {
                (true, ..) | (false, true, true) => &mut self.decaying,
                (false, false, _) => &mut self.new,
                (false, true, false) => &mut self.old,
            };
            first = false;
            let index = list.pop_front()?;
            if self.flows.get(index).deficit > 0 {
                return Some(self.serve(now, index, random));
            }
            self.turn(index, counted);
        }
    }

    /// Gives a flow its next quantum, and moves it to the end of the old flows.
    fn turn(&mut self, index: u16, counted: CountedHosts) {
        let flow = self.flows.get_mut(index);
        if flow.set == Set::Sparse {
            if flow.packets.is_empty() {
                flow.set = Set::SparseWait;
            } else {
                flow.set = Set::Bulk;
                self.sparse -= 1;
                self.add_bulk(index);
            }
        }
        let flow = self.flows.get(index);
        let load = self.load((flow.source, flow.destination), counted);
        self.flows.get_mut(index).deficit += (self.quantum << 16) / load;
        self.old.push_back(index);
    }

    /// Takes the next packet of a flow that was removed from the front of its list.
    fn serve(&mut self, now: Instant, index: u16, random: &mut RandomStream) -> Visit<P> {
        let flow = self.flows.get_mut(index);
        let mut dropped = Vec::new();
        while let Some(mut packet) = flow.pop() {
            self.bytes -= u64::from(packet.packet.length);
            let drop = flow.cobalt.must_drop(now, &self.cobalt, &mut packet, random);
            // The last packet is never dropped.
            if drop && !flow.packets.is_empty() {
                dropped.push(packet);
                continue;
            }
            flow.deficit -= i64::from(self.framing.bytes(packet.packet.length)) << 16;
            match flow.set {
                Set::Sparse => self.new.push_front(index),
                Set::Decaying => self.decaying.push_front(index),
                Set::None | Set::SparseWait | Set::Bulk => self.old.push_front(index),
            }
            return Visit {
                dropped,
                sent: Some(packet),
            };
        }
        flow.cobalt.on_empty(now, &self.cobalt);
        let was = flow.set;
        flow.set = if flow.cobalt.is_active(now) {
            self.decaying.push_back(index);
            Set::Decaying
        } else {
            Set::None
        };
        match was {
            Set::Sparse | Set::SparseWait => self.sparse -= 1,
            Set::Bulk => self.remove_bulk(index),
            Set::None | Set::Decaying => {}
        }
        Visit { dropped, sent: None }
    }

    /// Drops the first packet of the flow with the most bytes (`cake_drop`).
    pub(super) fn drop_first(&mut self, now: Instant, index: u16) -> Option<Queued<P>> {
        let flow = self.flows.get_mut(index);
        let packet = flow.pop()?;
        flow.cobalt.on_overflow(now, &self.cobalt);
        self.bytes -= u64::from(packet.packet.length);
        Some(packet)
    }

    /// Flow with the most bytes, with their number.
    pub(super) fn longest(&self) -> Option<(u64, u16)> {
        let listed = self.new.iter().chain(&self.old);
        let bytes = listed.map(|index| (self.flows.get(*index).bytes, *index));
        bytes.max_by_key(|(bytes, index)| (*bytes, std::cmp::Reverse(*index)))
    }

    /// Removes all packets.
    pub(super) fn drain(&mut self) -> Vec<Queued<P>> {
        self.bytes = 0;
        let listed = self.new.iter().chain(&self.old);
        let mut packets = Vec::new();
        for index in listed {
            let flow = self.flows.get_mut(*index);
            packets.extend(flow.packets.drain(..));
            flow.bytes = 0;
        }
        packets
    }

    /// Number of flows that share the rate of this flow's host; at least 1 (`host_load`).
    fn load(&self, (source, destination): (u32, u32), counted: CountedHosts) -> i64 {
        let of = |hosts: &BTreeMap<u32, u32>, host: u32| hosts.get(&host).copied().unwrap_or(0);
        let source = if counted.source { of(&self.sources, source) } else { 0 };
        let destination = if counted.destination {
            of(&self.destinations, destination)
        } else {
            0
        };
        i64::from(source.max(destination).max(1))
    }

    fn add_bulk(&mut self, index: u16) {
        let flow = self.flows.get(index);
        self.bulk += 1;
        *self.sources.entry(flow.source).or_default() += 1;
        *self.destinations.entry(flow.destination).or_default() += 1;
    }

    fn remove_bulk(&mut self, index: u16) {
        let flow = self.flows.get(index);
        self.bulk -= 1;
        for (hosts, host) in [
            (&mut self.sources, flow.source),
            (&mut self.destinations, flow.destination),
        ] {
            if let Some(count) = hosts.get_mut(&host) {
                *count -= 1;
                if *count == 0 {
                    hosts.remove(&host);
                }
            }
        }
    }
}

/// Bytes per turn of a flow in a tin with this rate in bytes per second: rate ÷ 4096, 300 to 1514 (`cake_set_rate`).
pub(super) fn quantum(rate: Option<u64>) -> i64 {
    rate.map_or(1_514, |rate| (rate / 4_096).clamp(300, 1_514) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hop::HopFraming;
    use netburn_medium::packet::{Ecn, NodeId, Packet};
    use netburn_units::Duration;

    /// Rate ÷ 4096, 300 to 1514 bytes: 10 Mbit/s are 1 250 000 bytes per second.
    #[test]
    fn quanta_by_hand() {
        assert_eq!(quantum(Some(125_000)), 300);
        assert_eq!(quantum(Some(1_250_000)), 305);
        assert_eq!(quantum(Some(12_500_000)), 1_514);
        assert_eq!(quantum(None), 1_514);
    }

    /// Nine flows whose hashes have the same remainder: eight get the queues of the set, from the one of the hash
    /// onward, and the ninth shares the first. When the flows have left, another one gets the queue of its hash.
    #[test]
    fn eight_flows_of_a_set_have_queues_of_their_own() {
        let cobalt = CobaltParameters::new(None, Duration::from_millis(100));
        let mut tin = Tin::new(None, cobalt, HopFraming::Fixed(0));
        let counted = CountedHosts {
            source: false,
            destination: false,
        };
        let packet = |flow| Queued {
            to: NodeId(0),
            since: Instant::ZERO,
            arrival: 0,
            packet: Packet {
                length: 100,
                flow,
                tid: 0,
                ecn: Ecn::NotEct,
                payload: (),
            },
        };
        let mut queues = Vec::new();
        for flow in 0..9 {
            let queue = tin.flows.find(13 + flow * 1_024);
            tin.enqueue(queue, (0, 0), counted, packet(flow));
            queues.push(queue);
        }
        assert_eq!(queues, [13, 14, 15, 8, 9, 10, 11, 12, 13]);
        let mut random = netburn_units::Seed(1).stream("blue", 0);
        // Each visit that finds an empty queue removes it, after the interval in which it decays.
        let late = Instant::from_secs(10);
        while tin.has_flows() || !tin.decaying.is_empty() {
            tin.dequeue(late, false, counted, &mut random);
            if !tin.has_flows() {
                tin.dequeue(late + Duration::from_secs(10), true, counted, &mut random);
            }
        }
        assert_eq!(tin.flows.find(14 + 99 * 1_024), 14);
    }
}
