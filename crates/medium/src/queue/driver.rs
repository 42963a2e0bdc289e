//! Lists of the driver below a queue discipline without station queues. There is one list per
//! station and TID. The lists are filled in the order of the discipline while there is room.

use super::round_robin::RoundRobin;
use super::tins::Tins;
use super::{Drops, Readiness, StationState, StationTid, TransmitQueue, Unsent};
use crate::edca::AccessCategory;
use crate::packet::{DropReason, NodeId, Queued};
use netburn_units::{BitRate, Duration, Instant};
use std::collections::VecDeque;

/// Packets in all lists together: ath9k before 4.11 (`MAX_QDEPTH`: a quarter of its 512 buffers,
/// minus a reserve).
pub const ATH9K_DEPTH: u16 = 123;

/// Packets of one access category that are kept for a sleeping station (mac80211:
/// `STA_MAX_TX_BUFFER`). A new packet replaces the oldest.
pub const POWER_SAVE_BUFFER: usize = 64;

/// A queue discipline for the whole device.
pub trait Discipline<P>: std::fmt::Debug + Send {
    /// Adds a packet.
    fn enqueue(&mut self, now: Instant, packet: Queued<P>, drops: &mut Drops<P>);
    /// Returns true if [`enqueue`](Self::enqueue) and then [`dequeue`](Self::dequeue) would return this packet and
    /// change nothing else.
    fn passes(&self, packet: &Queued<P>) -> bool {
        let _ = packet;
        false
    }
    /// Next packet, for any receiver.
    fn dequeue(&mut self, now: Instant, drops: &mut Drops<P>) -> Option<Queued<P>>;
    /// Drops all packets, because the queue is replaced.
    fn clear(&mut self, drops: &mut Drops<P>);
    /// Number of queued packets.
    fn packets(&self) -> usize;
    /// Their bytes.
    fn bytes(&self) -> u64;
    /// Sets the rate of the link below, if the discipline depends on it.
    fn set_rate(&mut self, _: BitRate) {}
}

/// Order in which lists are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Order {
    /// By the arrival of the first packet: a device with a single queue that takes further packets
    /// for the first station from its lists.
    #[default]
    Arrival,
    /// Round robin, as ath9k before 4.11.
    RoundRobin,
}

/// A discipline above the driver's lists.
#[derive(Debug)]
pub struct Device<P, D> {
    discipline: D,
    depth: usize,
    order: Order,
    held: usize,
    held_bytes: u64,
    lists: Tins<List<P>>,
    /// Tins with something to send, in round-robin order, by category.
    turns: [RoundRobin; 4],
    /// Stations that are asleep or gone.
    away: Vec<Away<P>>,
    /// By station: index in `away` plus one; 0: none. A radio of a network with many stations that
    /// move knows most of them as gone.
    away_at: Vec<u16>,
}

/// A station that is asleep, with its power-save buffers by category, or gone.
#[derive(Debug)]
struct Away<P> {
    station: NodeId,
    gone: bool,
    buffers: [VecDeque<Queued<P>>; 4],
}

#[derive(Debug)]
struct List<P> {
    packets: VecDeque<Queued<P>>,
    unsent: Unsent,
}

impl<P, D: Discipline<P>> Device<P, D> {
    /// Creates `discipline` above lists for `depth` packets together (at least one).
    pub fn new(discipline: D, depth: usize, order: Order) -> Self {
        Device {
            discipline,
            depth: depth.max(1),
            order,
            held: 0,
            held_bytes: 0,
            lists: Tins::default(),
            turns: Default::default(),
            away: Vec::new(),
            away_at: Vec::new(),
        }
    }

    fn refill(&mut self, now: Instant, drops: &mut Drops<P>) {
        while self.held < self.depth {
            let Some(packet) = self.discipline.dequeue(now, drops) else {
                return;
            };
            self.put(packet, drops);
        }
    }

    /// Adds a packet to the list of its tin, or to the buffer of a station that is away.
    #[inline]
    fn put(&mut self, packet: Queued<P>, drops: &mut Drops<P>) {
        match self.away_place(packet.to) {
            Some(place) => self.away[place].put(packet, drops),
            None => self.list(packet),
        }
    }

    /// Index in `away` of a station that is asleep or gone.
    fn away_place(&self, station: NodeId) -> Option<usize> {
        usize::from(*self.away_at.get(station.index())?).checked_sub(1)
    }

    fn set_away_place(&mut self, station: NodeId, place: Option<usize>) {
        let index = station.index();
        if self.away_at.len() <= index {
            self.away_at.resize(index + 1, 0);
        }
        self.away_at[index] = place.map_or(0, |place| place as u16 + 1);
    }

    /// Adds a packet to the list of its tin.
    fn list(&mut self, packet: Queued<P>) {
        let tin = StationTid {
            to: packet.to,
            tid: packet.packet.tid,
        };
        self.held += 1;
        self.held_bytes += u64::from(packet.packet.length);
        let list = self.lists.entry(tin, List::new);
        list.packets.push_back(packet);
        self.turns[tin.category().index()].join_last(tin);
    }

    /// Removes a station's packets from the lists, in the order of arrival.
    fn unlist(&mut self, station: NodeId) -> Vec<Queued<P>> {
        let mut packets = Vec::new();
        for tid in 0..8 {
            if let Some(list) = self.lists.get_mut(StationTid { to: station, tid }) {
                packets.extend(list.packets.drain(..));
            }
        }
        packets.sort_by_key(|packet| packet.arrival);
        self.held -= packets.len();
        self.held_bytes -= packets
            .iter()
            .map(|queued| u64::from(queued.packet.length))
            .sum::<u64>();
        packets
    }
}

impl<P> Away<P> {
    fn put(&mut self, packet: Queued<P>, drops: &mut Drops<P>) {
        if self.gone {
            drops.push((packet, DropReason::Disassociated));
            return;
        }
        let category = AccessCategory::from_tid(packet.packet.tid).index();
        let buffer = &mut self.buffers[category];
        if buffer.len() >= POWER_SAVE_BUFFER
            && let Some(oldest) = buffer.pop_front()
        {
            drops.push((oldest, DropReason::PowerSaveBuffer));
        }
        buffer.push_back(packet);
    }

    fn packets(&self) -> impl Iterator<Item = &Queued<P>> {
        self.buffers.iter().flatten()
    }
}

impl<P> List<P> {
    fn new() -> Self {
        List {
            packets: VecDeque::new(),
            unsent: Unsent::Nothing,
        }
    }

    /// Arrival number of the next packet; `None` without packets.
    fn arrival(&self) -> Option<u64> {
        match self.unsent {
            Unsent::Nothing => self.packets.front().map(|packet| packet.arrival),
            Unsent::LeftOver { arrival } => Some(arrival),
            // Older than all queued packets.
            Unsent::Retransmission => Some(0),
        }
    }
}

impl<P: std::fmt::Debug + Send, D: Discipline<P>> TransmitQueue<P> for Device<P, D> {
    fn enqueue(&mut self, now: Instant, packet: Queued<P>, drops: &mut Drops<P>) {
        if self.held >= self.depth {
            self.discipline.enqueue(now, packet, drops);
        } else if self.discipline.passes(&packet) {
            self.put(packet, drops);
        } else {
            self.discipline.enqueue(now, packet, drops);
            self.refill(now, drops);
        }
    }

    fn next(
        &mut self,
        _now: Instant,
        category: AccessCategory,
        may: &mut dyn FnMut(StationTid) -> Readiness,
    ) -> Option<StationTid> {
        let turns = &mut self.turns[category.index()];
        let mut earliest: Option<(u64, StationTid, Readiness)> = None;
        for _ in 0..turns.len() {
            let tin = turns.first()?;
            let Some(arrival) = self.lists.get(tin)?.arrival() else {
                turns.leave();
                continue;
            };
            turns.pass();
            let readiness = may(tin);
            match self.order {
                Order::RoundRobin if readiness == Readiness::Now => return Some(tin),
                Order::Arrival
                    if readiness != Readiness::Later && earliest.is_none_or(|(first, ..)| arrival < first) =>
                {
                    earliest = Some((arrival, tin, readiness));
                }
                Order::RoundRobin | Order::Arrival => {}
            }
        }
        // Later arrivals wait for an earlier one that will be ready soon.
        let (_, tin, readiness) = earliest?;
        (readiness == Readiness::Now).then_some(tin)
    }

    fn dequeue(&mut self, now: Instant, tin: StationTid, drops: &mut Drops<P>) -> Option<Queued<P>> {
        let packet = self.lists.get_mut(tin)?.packets.pop_front()?;
        self.held -= 1;
        self.held_bytes -= u64::from(packet.packet.length);
        self.refill(now, drops);
        Some(packet)
    }

    fn is_idle(&self, tin: StationTid) -> bool {
        self.lists.get(tin).is_none_or(|list| list.packets.is_empty())
    }

    fn clear(&mut self, drops: &mut Drops<P>) {
        let held = self.lists.in_order().flat_map(|list| list.packets.drain(..));
        drops.extend(held.map(|packet| (packet, DropReason::QueueReplaced)));
        (self.held, self.held_bytes) = (0, 0);
        let kept = self.away.iter_mut().flat_map(|away| &mut away.buffers);
        let kept = kept.flat_map(|buffer| buffer.drain(..));
        drops.extend(kept.map(|packet| (packet, DropReason::QueueReplaced)));
        self.discipline.clear(drops);
    }

    fn set_station(&mut self, now: Instant, station: NodeId, state: StationState, drops: &mut Drops<P>) {
        let place = self.away_place(station);
        let kept = place.map(|place| {
            let kept = self.away.swap_remove(place).buffers;
            if let Some(moved) = self.away.get(place) {
                self.set_away_place(moved.station, Some(place));
            }
            self.set_away_place(station, None);
            kept
        });
        let mut packets: Vec<_> = kept.into_iter().flatten().flatten().collect();
        packets.sort_by_key(|packet| packet.arrival);
        // Packets in the lists arrived later: a station that was away had none there.
        packets.extend(self.unlist(station));
        if state == StationState::Awake {
            for packet in packets {
                self.list(packet);
            }
        } else {
            let mut away = Away {
                station,
                gone: state == StationState::Gone,
                buffers: Default::default(),
            };
            for packet in packets {
                away.put(packet, drops);
            }
            self.set_away_place(station, Some(self.away.len()));
            self.away.push(away);
        }
        self.refill(now, drops);
    }

    fn set_unsent(&mut self, _now: Instant, tin: StationTid, unsent: Unsent) {
        self.lists.entry(tin, List::new).unsent = unsent;
        if unsent.is_some() {
            self.turns[tin.category().index()].join_last(tin);
        }
    }

    fn charge_airtime(&mut self, _tin: StationTid, _airtime: Duration) {}

    fn packets(&self) -> usize {
        let kept: usize = self.away.iter().map(|away| away.packets().count()).sum();
        self.held + kept + self.discipline.packets()
    }

    fn bytes(&self) -> u64 {
        let kept = self.away.iter().flat_map(Away::packets);
        let kept: u64 = kept.map(|queued| u64::from(queued.packet.length)).sum();
        self.held_bytes + kept + self.discipline.bytes()
    }
}
