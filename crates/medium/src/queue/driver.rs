//! The driver's lists below a queueing discipline that knows no stations: one per station and TID, filled from the discipline
//! in its order as long as there is room, served round robin.

use super::{Drops, Tin, TransmitQueue};
use crate::edca::AccessCategory;
use crate::packet::Queued;
use netburn_units::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};

/// Packets that the lists hold together: ath9k before 4.11 (`MAX_QDEPTH`: a quarter of its 512 buffers, less a reserve).
pub const ATH9K_DEPTH: usize = 123;

/// A queueing discipline over the whole device.
pub trait Discipline<P>: std::fmt::Debug + Send {
    /// Takes a packet.
    fn enqueue(&mut self, now: Instant, packet: Queued<P>, drops: &mut Drops<P>);
    /// The next packet, whoever it is for.
    fn dequeue(&mut self, now: Instant, drops: &mut Drops<P>) -> Option<Queued<P>>;
    /// Packets that wait.
    fn packets(&self) -> usize;
    /// Their bytes.
    fn bytes(&self) -> u64;
}

/// A discipline on the driver's lists.
#[derive(Debug)]
pub struct Device<P, D> {
    discipline: D,
    depth: usize,
    held: usize,
    held_bytes: u64,
    lists: BTreeMap<Tin, List<P>>,
    /// Tins with something to send, in the order of their turn, by category.
    turns: [VecDeque<Tin>; 4],
}

#[derive(Debug)]
struct List<P> {
    packets: VecDeque<Queued<P>>,
    resend: bool,
    listed: bool,
}

impl<P, D: Discipline<P>> Device<P, D> {
    /// `discipline` over lists that hold `depth` packets together (at least one).
    pub fn new(discipline: D, depth: usize) -> Self {
        Device {
            discipline,
            depth: depth.max(1),
            held: 0,
            held_bytes: 0,
            lists: BTreeMap::new(),
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
            let list = self.lists.entry(tin).or_insert_with(List::new);
            list.packets.push_back(packet);
            list.take_turn(tin, &mut self.turns);
        }
    }
}

impl<P> List<P> {
    fn new() -> Self {
        List {
            packets: VecDeque::new(),
            resend: false,
            listed: false,
        }
    }

    fn take_turn(&mut self, tin: Tin, turns: &mut [VecDeque<Tin>; 4]) {
        if !self.listed {
            self.listed = true;
            turns[tin.category().index()].push_back(tin);
        }
    }
}

impl<P: std::fmt::Debug + Send, D: Discipline<P>> TransmitQueue<P> for Device<P, D> {
    fn enqueue(&mut self, now: Instant, packet: Queued<P>, drops: &mut Drops<P>) {
        self.discipline.enqueue(now, packet, drops);
        self.refill(now, drops);
    }

    fn next(&mut self, _now: Instant, category: AccessCategory, may: &mut dyn FnMut(Tin) -> bool) -> Option<Tin> {
        let turns = &mut self.turns[category.index()];
        for _ in 0..turns.len() {
            let tin = turns.pop_front()?;
            let list = self.lists.get_mut(&tin).expect("a listed tin has a list");
            if list.packets.is_empty() && !list.resend {
                list.listed = false;
                continue;
            }
            turns.push_back(tin);
            if may(tin) {
                return Some(tin);
            }
        }
        None
    }

    fn dequeue(&mut self, now: Instant, tin: Tin, drops: &mut Drops<P>) -> Option<Queued<P>> {
        let packet = self.lists.get_mut(&tin)?.packets.pop_front()?;
        self.held -= 1;
        self.held_bytes -= u64::from(packet.packet.length);
        self.refill(now, drops);
        Some(packet)
    }

    fn resend(&mut self, _now: Instant, tin: Tin, pending: bool) {
        let list = self.lists.entry(tin).or_insert_with(List::new);
        list.resend = pending;
        if pending {
            list.take_turn(tin, &mut self.turns);
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
