//! What a driver of datagrams needs of a network.

use super::Datagram;
use netburn_medium::air::{Air, Output};
use netburn_medium::packet::{DropReason, NodeId, Packet};
use netburn_network::{Dropper, Endpoint, Network};
use netburn_units::Instant;

/// A network that carries datagrams from host to host.
///
/// **Call order:** after every `handle_*`, drain [`poll_output`](Self::poll_output), then come back with a packet or at
/// [`poll_timeout`](Self::poll_timeout).
pub trait Carrier {
    /// Names one who sends or receives.
    type Host: Copy + std::fmt::Debug;

    /// A packet leaves `from` for `to`.
    fn handle_packet(&mut self, now: Instant, from: Self::Host, to: Self::Host, packet: Packet<Datagram>);

    /// Time has come to `now`.
    fn handle_timeout(&mut self, now: Instant);

    /// What became of a packet next.
    fn poll_output(&mut self) -> Option<Fate>;

    /// When to call [`handle_timeout`](Self::handle_timeout); `None` while nothing is under way.
    fn poll_timeout(&mut self) -> Option<Instant>;
}

/// What became of a packet.
#[derive(Debug)]
pub enum Fate {
    /// It reached its receiver.
    Delivered {
        /// When.
        at: Instant,
        /// The packet.
        packet: Packet<Datagram>,
    },
    /// It was dropped.
    Dropped {
        /// When.
        at: Instant,
        /// Why; `None`: it was lost on a wire.
        reason: Option<DropReason>,
        /// The packet.
        packet: Packet<Datagram>,
    },
}

impl Carrier for Air<Datagram> {
    type Host = NodeId;

    fn handle_packet(&mut self, now: Instant, from: NodeId, to: NodeId, packet: Packet<Datagram>) {
        self.handle_packet(now, from, to, packet);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handle_timeout(now);
    }

    fn poll_output(&mut self) -> Option<Fate> {
        loop {
            match self.poll_output()? {
                Output::Delivered { at, packet, .. } => return Some(Fate::Delivered { at, packet }),
                Output::Dropped {
                    at,
                    reason,
                    packet: Some(packet),
                    ..
                } => {
                    let reason = Some(reason);
                    return Some(Fate::Dropped { at, reason, packet });
                }
                // The receiver has it already, or the sender's host may forget it.
                Output::Dropped { .. } | Output::Sent { .. } => {}
            }
        }
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.poll_timeout().map(|(at, _)| at)
    }
}

impl Carrier for Network<Datagram> {
    type Host = Endpoint;

    fn handle_packet(&mut self, now: Instant, from: Endpoint, to: Endpoint, packet: Packet<Datagram>) {
        self.handle_packet(now, from, to, packet);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handle_timeout(now);
    }

    fn poll_output(&mut self) -> Option<Fate> {
        use netburn_network::Output;
        loop {
            match self.poll_output()? {
                Output::Delivered { at, packet, .. } => return Some(Fate::Delivered { at, packet }),
                Output::Dropped { at, by, packet, .. } => {
                    let reason = match by {
                        Dropper::Host | Dropper::Wire => Some(DropReason::QueueFull),
                        Dropper::Lost => None,
                        Dropper::Sender(reason) | Dropper::Air(reason) => Some(reason),
                    };
                    return Some(Fate::Dropped { at, reason, packet });
                }
                // The sender's host may forget it; a datagram's has nothing to forget.
                Output::Sent { .. } => {}
            }
        }
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.poll_timeout().map(|(at, _)| at)
    }
}
