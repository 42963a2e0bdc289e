//! TCP Small Queues for the server, if its kernel passes on all data that its windows permit.
//!
//! Linux lets a connection have two of its bursts below TCP and start a third (TCP Small Queues).
//! The rest waits in its socket, and other flows overtake it. A kernel whose device accepts
//! everything immediately never has data below TCP. So the rest waits here. Of a flow whose bursts
//! are [announced](SmallQueues::expect), three are on the link's queue, and each sent packet lets
//! the next ones follow. Other flows are not limited.
//!
//! Laws: a flow's packets keep their order; if a packet waits here, a packet of its flow is queued
//! on the link.

use crate::output::NetPacket;
use std::collections::{BTreeMap, VecDeque};

/// Maximum number of bursts of a flow on the link's queue.
const BURSTS: u64 = 3;

/// Flows and their waiting packets.
#[derive(Debug)]
pub(crate) struct SmallQueues<P> {
    flows: BTreeMap<u32, Socket<P>>,
    waiting: u64,
}

#[derive(Debug)]
struct Socket<P> {
    /// Maximum bytes on the link's queue.
    limit: u64,
    /// Bytes on the link's queue, including the packet in serialisation.
    queued: u64,
    waiting: VecDeque<NetPacket<P>>,
}

impl<P> SmallQueues<P> {
    pub(crate) const fn new() -> Self {
        SmallQueues {
            flows: BTreeMap::new(),
            waiting: 0,
        }
    }

    /// Announces a burst of this size.
    pub(crate) fn expect(&mut self, flow: u32, bytes: u64) {
        let socket = self.flows.entry(flow).or_insert_with(|| Socket {
            limit: 0,
            queued: 0,
            waiting: VecDeque::new(),
        });
        socket.limit = BURSTS * bytes;
    }

    /// Returns true if no flow is announced.
    pub(crate) fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Bytes that wait here.
    pub(crate) const fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Returns true if a packet has to wait.
    pub(crate) fn must_wait(&self, packet: &NetPacket<P>) -> bool {
        let socket = self.flows.get(&packet.flow);
        socket.is_some_and(|socket| !socket.waiting.is_empty() || !socket.admits(packet.length))
    }

    /// Adds a packet that has to wait.
    pub(crate) fn hold(&mut self, packet: NetPacket<P>) {
        if let Some(socket) = self.flows.get_mut(&packet.flow) {
            self.waiting += u64::from(packet.length);
            socket.waiting.push_back(packet);
        }
    }

    /// Counts a packet that was queued on the link.
    pub(crate) fn on_queued(&mut self, flow: u32, length: u32) {
        if let Some(socket) = self.flows.get_mut(&flow) {
            socket.queued += u64::from(length);
        }
    }

    /// Counts a packet that was sent.
    pub(crate) fn on_sent(&mut self, flow: u32, length: u32) {
        if let Some(socket) = self.flows.get_mut(&flow) {
            socket.queued = socket.queued.saturating_sub(u64::from(length));
            if socket.queued == 0 && socket.waiting.is_empty() {
                self.flows.remove(&flow);
            }
        }
    }

    /// Next packet of a flow that may be queued on the link now.
    pub(crate) fn next(&mut self, flow: u32) -> Option<NetPacket<P>> {
        let socket = self.flows.get_mut(&flow)?;
        let length = socket.waiting.front()?.length;
        if !socket.admits(length) {
            return None;
        }
        self.waiting -= u64::from(length);
        socket.waiting.pop_front()
    }
}

impl<P> Socket<P> {
    fn admits(&self, length: u32) -> bool {
        self.queued == 0 || self.queued + u64::from(length) <= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_flow_is_removed() {
        let mut small_queues = SmallQueues::<()>::new();
        small_queues.expect(7, 1_500);
        small_queues.on_queued(7, 1_500);
        small_queues.on_sent(7, 0);
        assert_eq!(small_queues.flows.len(), 1, "its packet is still to be sent");
        small_queues.on_sent(7, 1_500);
        assert!(small_queues.flows.is_empty());
        // Its only packet was dropped.
        small_queues.expect(7, 1_500);
        small_queues.on_sent(7, 0);
        assert!(small_queues.flows.is_empty());
    }
}
