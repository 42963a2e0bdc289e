//! Flow queueing by deficit round robin with new flows first (RFC 8290). The form is the one that
//! Linux shares between the `fq_codel` qdisc and mac80211 (`fq_impl.h`). It has a set of hashed
//! flows, and *tins* that each serve their own flows.

use super::codel::{Codel, CodelParameters, Source};
use super::tins::Tins;
use super::{Drops, StationTid};
use crate::packet::{DropReason, Queued};
use netburn_units::Instant;
use std::collections::VecDeque;

/// Parameters of a set of flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FqParameters {
    /// Number of flows of the hash table.
    pub flows: u32,
    /// Bytes per turn of a flow.
    pub quantum: u32,
    /// Limit of packets.
    pub packets: u32,
    /// Limit of memory as the kernel counts it (truesize), in bytes.
    pub memory: u64,
    /// Maximum number of packets dropped together from the largest flow on overflow, and at most
    /// half of it.
    pub batch: u32,
}

impl FqParameters {
    /// The `fq_codel` qdisc: 1024 flows, quantum 1514, 10 240 packets, 32 MiB, batches of 64.
    pub const QDISC: FqParameters = FqParameters {
        flows: 1_024,
        quantum: 1_514,
        packets: 10_240,
        memory: 32 << 20,
        batch: 64,
    };
    /// mac80211: 4096 flows, quantum 300, 8192 packets, 16 MiB (4 MiB without VHT), one at a time.
    pub const MAC80211: FqParameters = FqParameters {
        flows: 4_096,
        quantum: 300,
        packets: 8_192,
        memory: 16 << 20,
        batch: 1,
    };
}

/// Flows and their tins.
#[derive(Debug)]
pub struct Fq<P> {
    parameters: FqParameters,
    /// Flows that had a packet, and the tins' own flows.
    flows: Vec<Flow<P>>,
    /// By hash: index in `flows` plus one; 0: none. Empty until the first packet, because most
    /// nodes of a station that moves never send.
    places: Vec<u16>,
    tins: Tins<TinState>,
    /// Flows with packets.
    busy: Vec<u32>,
    packets: u32,
    bytes: u64,
    memory: u64,
}

#[derive(Debug)]
struct Flow<P> {
    waiting: Waiting<P>,
    deficit: i64,
    codel: Codel,
    /// Tin that serves it while it has packets or a position in a list.
    tin: Option<StationTid>,
    /// Index in `busy` plus one; 0: none.
    busy: u32,
}

/// Packets of a flow.
#[derive(Debug)]
struct Waiting<P> {
    packets: VecDeque<Queued<P>>,
    bytes: u64,
}

#[derive(Debug)]
struct TinState {
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// Flow for packets whose own flow serves another tin.
    fallback: u32,
    packets: u32,
    codel: CodelParameters,
}

impl<P> Flow<P> {
    fn new() -> Self {
        Flow {
            waiting: Waiting {
                packets: VecDeque::new(),
                bytes: 0,
            },
            deficit: 0,
            codel: Codel::default(),
            tin: None,
            busy: 0,
        }
    }
}

impl<P> Source<P> for Waiting<P> {
    fn pop(&mut self) -> Option<Queued<P>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.packet.length);
        Some(packet)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<P> Fq<P> {
    /// Creates empty flows.
    #[must_use]
    pub fn new(parameters: FqParameters) -> Self {
        Fq {
            parameters,
            flows: Vec::new(),
            places: Vec::new(),
            tins: Tins::default(),
            busy: Vec::new(),
            packets: 0,
            bytes: 0,
            memory: 0,
        }
    }

    /// Sets the CoDel parameters of a tin.
    pub fn set_codel(&mut self, tin: StationTid, codel: CodelParameters) {
        tin_state(&mut self.tins, &mut self.flows, tin, codel).codel = codel;
    }

    /// Adds a packet for `tin`; `codel` are the CoDel parameters of a new tin. Drops from the
    /// largest flow on overflow.
    pub fn enqueue(&mut self, tin: StationTid, codel: CodelParameters, packet: Queued<P>, drops: &mut Drops<P>) {
        let hashed = self.hashed(packet.packet.flow);
        let state = tin_state(&mut self.tins, &mut self.flows, tin, codel);
        let index = match self.flows[hashed as usize].tin {
            Some(other) if other != tin => state.fallback,
            _ => hashed,
        };
        let flow = &mut self.flows[index as usize];
        let listed = flow.tin.is_some();
        flow.tin = Some(tin);
        let length = packet.packet.length;
        flow.waiting.bytes += u64::from(length);
        flow.waiting.packets.push_back(packet);
        self.packets += 1;
        self.bytes += u64::from(length);
        self.memory += truesize(length);
        if flow.busy == 0 {
            self.busy.push(index);
            flow.busy = self.busy.len() as u32;
        }
        state.packets += 1;
        if !listed {
            flow.deficit = i64::from(self.parameters.quantum);
            state.new.push_back(index);
        }
        while self.packets > self.parameters.packets || self.memory > self.parameters.memory {
            self.drop_from_fattest(drops);
        }
    }

    /// Next packet of `tin`.
    pub fn dequeue(&mut self, now: Instant, tin: StationTid, drops: &mut Drops<P>) -> Option<Queued<P>> {
        let state = self.tins.get_mut(tin)?;
        let quantum = i64::from(self.parameters.quantum);
        loop {
            let (index, is_new) = match (state.new.front(), state.old.front()) {
                (Some(index), _) => (*index, true),
                (None, Some(index)) => (*index, false),
                (None, None) => return None,
            };
            let flow = &mut self.flows[index as usize];
            if flow.deficit <= 0 {
                // A single flow gets all its turns at once.
                let is_single = state.new.len() + state.old.len() == 1;
                let turns = if is_single { 1 - flow.deficit / quantum } else { 1 };
                flow.deficit += turns * quantum;
                if is_new {
                    state.new.pop_front();
                    state.old.push_back(index);
                } else if !is_single {
                    state.old.pop_front();
                    state.old.push_back(index);
                }
                continue;
            }
            let (packets, dropped) = (flow.waiting.packets.len(), drops.len());
            let sent = flow.codel.dequeue(now, &state.codel, &mut flow.waiting, drops);
            let left = flow.waiting.packets.len();
            let gone = (packets - left) as u32;
            state.packets -= gone;
            self.packets -= gone;
            for (packet, _) in drops[dropped..].iter() {
                self.bytes -= u64::from(packet.packet.length);
                self.memory -= truesize(packet.packet.length);
            }
            if let Some(packet) = sent {
                let length = packet.packet.length;
                flow.deficit -= i64::from(length);
                self.bytes -= u64::from(length);
                self.memory -= truesize(length);
                if left == 0 {
                    idle(&mut self.busy, &mut self.flows, index);
                }
                return Some(packet);
            }
            if !is_new || state.old.is_empty() {
                flow.tin = None;
            }
            idle(&mut self.busy, &mut self.flows, index);
            if is_new {
                state.new.pop_front();
                // An emptied new flow passes the list of old ones once, so that it can't starve
                // them (RFC 8290 section 4.2).
                if !state.old.is_empty() {
                    state.old.push_back(index);
                }
            } else {
                state.old.pop_front();
            }
        }
    }

    /// Returns true if no flow of a tin has packets or a position in its lists.
    pub(super) fn is_idle(&self, tin: StationTid) -> bool {
        self.tins
            .get(tin)
            .is_none_or(|state| state.new.is_empty() && state.old.is_empty())
    }

    /// Number of packets of a tin.
    #[must_use]
    pub fn tin_packets(&self, tin: StationTid) -> u32 {
        self.tins.get(tin).map_or(0, |state| state.packets)
    }

    /// Total number of packets.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.packets as usize
    }

    /// Total number of bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Drops all packets. The set must not be used afterwards.
    pub fn clear(&mut self, drops: &mut Drops<P>) {
        // By hash, then the tins' own flows, as the kernel's table is ordered.
        let hashed: Vec<usize> = self
            .places
            .iter()
            .filter_map(|place| usize::from(*place).checked_sub(1))
            .collect();
        let own = (0..self.flows.len())
            .filter(|index| !hashed.contains(index))
            .collect::<Vec<_>>();
        for index in hashed.into_iter().chain(own) {
            let waiting = self.flows[index].waiting.packets.drain(..);
            drops.extend(waiting.map(|packet| (packet, DropReason::QueueReplaced)));
        }
        (self.packets, self.bytes, self.memory) = (0, 0, 0);
    }

    /// Index of the flow that packets with this number hash to.
    #[inline]
    fn hashed(&mut self, flow: u32) -> u32 {
        let flows = self.parameters.flows.max(1);
        if self.places.is_empty() {
            self.places = vec![0; flows as usize];
        }
        let place = &mut self.places[(spread(flow) % flows) as usize];
        if *place == 0 {
            self.flows.push(Flow::new());
            *place = u16::try_from(self.flows.len()).expect("fewer than 65 536 flows and tins");
        }
        u32::from(*place) - 1
    }

    /// Drops from the head of the flow with the most bytes: one packet, or a batch.
    fn drop_from_fattest(&mut self, drops: &mut Drops<P>) {
        let fattest = self
            .busy
            .iter()
            .copied()
            .max_by_key(|index| self.flows[*index as usize].waiting.bytes);
        let Some(index) = fattest else { return };
        let flow = &mut self.flows[index as usize];
        let enough = flow.waiting.bytes / 2;
        let mut freed = 0;
        for _ in 0..self.parameters.batch.max(1) {
            let Some(packet) = flow.waiting.pop() else { break };
            freed += u64::from(packet.packet.length);
            self.packets -= 1;
            self.bytes -= u64::from(packet.packet.length);
            self.memory -= truesize(packet.packet.length);
            if let Some(state) = flow.tin.and_then(|tin| self.tins.get_mut(tin)) {
                state.packets -= 1;
            }
            drops.push((packet, DropReason::QueueFull));
            if freed >= enough {
                break;
            }
        }
        if self.flows[index as usize].waiting.packets.is_empty() {
            idle(&mut self.busy, &mut self.flows, index);
        }
    }
}

/// State of a tin, created if there is none.
#[inline]
fn tin_state<'a, P>(
    tins: &'a mut Tins<TinState>,
    flows: &mut Vec<Flow<P>>,
    tin: StationTid,
    codel: CodelParameters,
) -> &'a mut TinState {
    tins.entry(tin, || {
        flows.push(Flow::new());
        TinState {
            new: VecDeque::new(),
            old: VecDeque::new(),
            fallback: flows.len() as u32 - 1,
            packets: 0,
            codel,
        }
    })
}

/// Removes a flow without packets.
fn idle<P>(busy: &mut Vec<u32>, flows: &mut [Flow<P>], index: u32) {
    let place = flows[index as usize].busy;
    if place == 0 {
        return;
    }
    busy.swap_remove(place as usize - 1);
    if let Some(moved) = busy.get(place as usize - 1) {
        flows[*moved as usize].busy = place;
    }
    flows[index as usize].busy = 0;
}

/// Spreads flows over the hash table, as the kernel's hash does: neighbouring numbers must not
/// always get different flows (the finaliser of MurmurHash3, 32 bits).
#[must_use]
pub const fn spread(flow: u32) -> u32 {
    let mut hash = flow;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// Memory of a received packet of this length in the kernel. It consists of the `sk_buff` and of a
/// buffer for data, headroom and shared info. The size of the buffer is a power of two.
#[must_use]
pub fn truesize(length: u32) -> u64 {
    u64::from((length + 64 + 320).next_power_of_two()) + 256
}
