//! The driver's lists below a queueing discipline that knows no stations: one per station and TID, filled from the discipline
//! in its order as long as there is room.

use super::tins::Tins;
use super::turns::Turns;
use super::{Drops, Readiness, Tin, TransmitQueue, Unsent};
use crate::edca::AccessCategory;
use crate::packet::{DropReason, Queued};
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

/// Packets that the lists hold together: ath9k before 4.11 (`MAX_QDEPTH`: a quarter of its 512 buffers, less a reserve).
pub const ATH9K_DEPTH: u16 = 123;

/// A queueing discipline over the whole device.
pub trait Discipline<P>: std::fmt::Debug + Send {
    /// Takes a packet.
    fn enqueue(&mut self, now: Instant, packet: Queued<P>, drops: &mut Drops<P>);
    /// The next packet, whoever it is for.
    fn dequeue(&mut self, now: Instant, drops: &mut Drops<P>) -> Option<Queued<P>>;
    /// Drops all that waits: another queue takes its place.
    fn clear(&mut self, drops: &mut Drops<P>);
    /// Packets that wait.
    fn packets(&self) -> usize;
    /// Their bytes.
    fn bytes(&self) -> u64;
}

/// Which list is served next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Order {
    /// The one whose first packet came first: a device that is one queue and, for the station at its head, looks as far as the
    /// lists hold for more to aggregate.
    #[default]
    Arrival,
    /// In turn, as ath9k did before 4.11.
    RoundRobin,
}

/// A discipline on the driver's lists.
#[derive(Debug)]
pub struct Device<P, D> {
    discipline: D,
    depth: usize,
    order: Order,
    held: usize,
    held_bytes: u64,
    lists: Tins<List<P>>,
    /// Tins with something to send, in the order of their turn, by category.
    turns: [Turns; 4],
}

#[derive(Debug)]
struct List<P> {
    packets: VecDeque<Queued<P>>,
    unsent: Unsent,
}

impl<P, D: Discipline<P>> Device<P, D> {
    /// `discipline` over lists that hold `depth` packets together (at least one).
    pub fn new(discipline: D, depth: usize, order: Order) -> Self {
        Device {
            discipline,
            depth: depth.max(1),
            order,
            held: 0,
            held_bytes: 0,
            lists: Tins::default(),
            turns: Default::default(),
        }
    }

    fn refill(&mut self, now: Instant, drops: &mut Drops<P>) {
        while self.held < self.depth {
            let Some(packet) = self.discipline.dequeue(now, drops) else {
                return;
            };
            let tin = Tin {
                to: packet.to,
                tid: packet.packet.tid,
            };
            self.held += 1;
            self.held_bytes += u64::from(packet.packet.length);
            let list = self.lists.entry(tin, List::new);
            list.packets.push_back(packet);
            self.turns[tin.category().index()].join_last(tin);
        }
    }
}

impl<P> List<P> {
    fn new() -> Self {
        List {
            packets: VecDeque::new(),
            unsent: Unsent::Nothing,
        }
    }

    /// The place in the order of arrival of what goes next; `None` while there is nothing to send.
    fn arrival(&self) -> Option<u64> {
        match self.unsent {
            Unsent::Nothing => self.packets.front().map(|packet| packet.arrival),
            Unsent::LeftOver { arrival } => Some(arrival),
            // It came before everything that waits.
            Unsent::Retransmission => Some(0),
        }
    }
}

impl<P: std::fmt::Debug + Send, D: Discipline<P>> TransmitQueue<P> for Device<P, D> {
    fn enqueue(&mut self, now: Instant, packet: Queued<P>, drops: &mut Drops<P>) {
        self.discipline.enqueue(now, packet, drops);
        self.refill(now, drops);
    }

    fn next(&mut self, _now: Instant, category: AccessCategory, may: &mut dyn FnMut(Tin) -> Readiness) -> Option<Tin> {
        let turns = &mut self.turns[category.index()];
        let mut earliest: Option<(u64, Tin, Readiness)> = None;
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

    fn dequeue(&mut self, now: Instant, tin: Tin, drops: &mut Drops<P>) -> Option<Queued<P>> {
        let packet = self.lists.get_mut(tin)?.packets.pop_front()?;
        self.held -= 1;
        self.held_bytes -= u64::from(packet.packet.length);
        self.refill(now, drops);
        Some(packet)
    }

    fn clear(&mut self, drops: &mut Drops<P>) {
        let held = self.lists.in_order().flat_map(|list| list.packets.drain(..));
        drops.extend(held.map(|packet| (packet, DropReason::QueueReplaced)));
        (self.held, self.held_bytes) = (0, 0);
        self.discipline.clear(drops);
    }

    fn set_unsent(&mut self, _now: Instant, tin: Tin, unsent: Unsent) {
        self.lists.entry(tin, List::new).unsent = unsent;
        if unsent.is_some() {
            self.turns[tin.category().index()].join_last(tin);
        }
    }

    fn charge(&mut self, _tin: Tin, _airtime: Duration) {}

    fn packets(&self) -> usize {
        self.held + self.discipline.packets()
    }

    fn bytes(&self) -> u64 {
        self.held_bytes + self.discipline.bytes()
    }
}
