//! What small queues would have kept in the server's sockets, where its kernel hands over all that its windows permit.
//!
//! Linux lets a connection have two of its bursts below TCP and begin a third (TCP Small Queues); the rest waits in its socket, and
//! what others send passes it by. A kernel whose device takes everything at once never has anything below TCP. So the rest waits
//! here: of a flow whose bursts are [announced](Sockets::expect), three of them are on the link's queue, and each packet that has
//! been sent lets the next ones follow. Flows that weren't announced aren't held.
//!
//! Laws: a flow's packets keep their order; what waits has something of its flow ahead of it.

use crate::output::Moving;
use std::collections::{BTreeMap, VecDeque};

/// How many bursts of a flow may be on the link's queue.
const BURSTS: u64 = 3;

/// Flows and what they hold back.
#[derive(Debug)]
pub(crate) struct Sockets<P> {
    flows: BTreeMap<u32, Socket<P>>,
    waiting: u64,
}

#[derive(Debug)]
struct Socket<P> {
    /// Bytes that may be ahead.
    most: u64,
    /// Bytes on the link's queue, with what is being sent.
    ahead: u64,
    waiting: VecDeque<Moving<P>>,
}

impl<P> Sockets<P> {
    pub(crate) const fn new() -> Self {
        Sockets {
            flows: BTreeMap::new(),
            waiting: 0,
        }
    }

    /// A burst of so many bytes follows.
    pub(crate) fn expect(&mut self, flow: u32, bytes: u64) {
        let socket = self.flows.entry(flow).or_insert_with(|| Socket {
            most: 0,
            ahead: 0,
            waiting: VecDeque::new(),
        });
        socket.most = BURSTS * bytes;
    }

    /// Bytes that wait here.
    pub(crate) const fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Whether a packet has to wait.
    pub(crate) fn holds(&self, packet: &Moving<P>) -> bool {
        let socket = self.flows.get(&packet.flow);
        socket.is_some_and(|socket| !socket.waiting.is_empty() || !socket.admits(packet.length))
    }

    /// A packet that has to wait does.
    pub(crate) fn hold(&mut self, packet: Moving<P>) {
        if let Some(socket) = self.flows.get_mut(&packet.flow) {
            self.waiting += u64::from(packet.length);
            socket.waiting.push_back(packet);
        }
    }

    /// A packet is on the link's queue.
    pub(crate) fn went(&mut self, flow: u32, length: u32) {
        if let Some(socket) = self.flows.get_mut(&flow) {
            socket.ahead += u64::from(length);
        }
    }

    /// A packet has been sent.
    pub(crate) fn left(&mut self, flow: u32, length: u32) {
        if let Some(socket) = self.flows.get_mut(&flow) {
            socket.ahead = socket.ahead.saturating_sub(u64::from(length));
            if socket.ahead == 0 && socket.waiting.is_empty() {
                self.flows.remove(&flow);
            }
        }
    }

    /// The next packet of a flow that may follow now.
    pub(crate) fn next(&mut self, flow: u32) -> Option<Moving<P>> {
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
        self.ahead == 0 || self.ahead + u64::from(length) <= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_that_has_nothing_here_is_forgotten() {
        let mut sockets = Sockets::<()>::new();
        sockets.expect(7, 1_500);
        sockets.went(7, 1_500);
        sockets.left(7, 0);
        assert_eq!(sockets.flows.len(), 1, "its packet is still to be sent");
        sockets.left(7, 1_500);
        assert!(sockets.flows.is_empty());
        // Its only packet found no room.
        sockets.expect(7, 1_500);
        sockets.left(7, 0);
        assert!(sockets.flows.is_empty());
    }
}
