//! Channel access: filling the hardware, contention, internal collisions, and the backoff
//! afterwards (clause 10.23.2).

use super::Air;
use super::Event;
use super::channel::ContenderOwner;
use crate::packet::NodeId;
use netburn_units::Instant;

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Starts the contention of a category if it has something to send and doesn't contend yet.
    #[inline]
    pub(super) fn contend(&mut self, now: Instant, id: NodeId, category: usize) {
        let node = &self.nodes[id.index()];
        let slot = &node.categories[category];
        if !slot.waiting && !node.away && !slot.hardware.is_empty() {
            self.start_contention(now, id, category);
        }
    }

    #[inline(never)]
    fn start_contention(&mut self, now: Instant, id: NodeId, category: usize) {
        let node = &mut self.nodes[id.index()];
        if node
            .exchange
            .as_ref()
            .is_some_and(|exchange| exchange.category == category)
        {
            return;
        }
        self.due = None;
        let contender = node.categories[category].contender;
        node.categories[category].waiting = true;
        let contention = &mut self.channels[node.channel].contention;
        if contention.must_draw(now, contender) {
            let slots = node.draw(category);
            contention.back_off(now, contender, slots, false);
        }
        contention.wait(contender);
    }

    /// Fills the hardware of a category.
    #[inline]
    pub(super) fn fill(&mut self, now: Instant, id: NodeId, category: usize) {
        let node = &mut self.nodes[id.index()];
        node.fill(now, category);
        if let Some(at) = node.take_bus_done() {
            self.schedule(at, Event::Up { node: id });
        }
    }

    /// Fills the hardware, the highest category first, and starts their contention, except for the
    /// category `except`.
    pub(super) fn fill_all(&mut self, now: Instant, id: NodeId, except: Option<usize>) {
        for category in (0..4).rev() {
            self.fill(now, id, category);
            if Some(category) != except {
                self.contend(now, id, category);
            }
        }
        self.report_drops(now, id);
    }

    /// Starts the transmissions whose backoff has ended; of one node, the highest category.
    pub(super) fn handle_backoff(&mut self, now: Instant) {
        for index in 0..self.channels.len() {
            if self.channels[index].contention.next_due().is_none_or(|at| at > now) {
                continue;
            }
            let mut winners = std::mem::take(&mut self.winners);
            self.channels[index].contention.winners(now, &mut winners);
            for (place, contender) in winners.iter().enumerate() {
                match self.channels[index].owners[contender.0 as usize] {
                    ContenderOwner::Obss => self.obss_begin(now, index),
                    ContenderOwner::Node(id, category) => {
                        // Contenders are numbered by node and ascending category.
                        let higher = winners[place + 1..].iter().any(|other| {
                            matches!(self.channels[index].owners[other.0 as usize], ContenderOwner::Node(same, _) if same == id)
                        });
                        self.nodes[id.index()].categories[category].waiting = false;
                        if higher || self.nodes[id.index()].exchange.is_some() {
                            self.internal_collision(now, id, category);
                        } else {
                            self.begin_access(now, id, category);
                        }
                    }
                }
            }
            winners.clear();
            self.winners = winners;
        }
    }

    /// A higher category of the same node has won the channel (clause 10.23.2.4): as after a
    /// collision on the air, but without a transmission.
    pub(super) fn internal_collision(&mut self, now: Instant, id: NodeId, category: usize) {
        let node = &mut self.nodes[id.index()];
        let slot = &mut node.categories[category];
        slot.window.fail(&slot.parameters, node.retry_limit);
        slot.waiting = true;
        let contender = slot.contender;
        let slots = node.draw(category);
        let contention = &mut self.channels[node.channel].contention;
        contention.wait(contender);
        contention.back_off(now, contender, slots, true);
    }

    /// Draws a new backoff, and contends if there is more to send.
    pub(super) fn back_off(&mut self, now: Instant, id: NodeId, category: usize, failed: bool) {
        let node = &mut self.nodes[id.index()];
        let slots = node.draw(category);
        let slot = &mut node.categories[category];
        let contention = &mut self.channels[node.channel].contention;
        if slot.hardware.is_empty() {
            contention.back_off(now, slot.contender, slots, failed);
        } else {
            slot.waiting = true;
            contention.wait(slot.contender);
            contention.back_off(now, slot.contender, slots, failed);
        }
    }
}
