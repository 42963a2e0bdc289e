//! Interface of the datagram driver to a network.

use super::Datagram;
use netburn_medium::air::{Air, Output};
use netburn_medium::packet::{DropReason, NodeId, Packet};
use netburn_network::{DropSite, Endpoint, Network};
use netburn_units::Instant;

/// A network that transports datagrams between hosts.
///
/// **Call order:** after every `handle_*`, drain [`poll_output`](Self::poll_output), then wait for
/// a packet or for [`poll_timeout`](Self::poll_timeout).
pub trait Carrier {
    /// Identifies a sender or receiver.
    type Host: Copy + std::fmt::Debug;

    /// Sends a packet from `from` to `to`.
    fn handle_packet(&mut self, now: Instant, from: Self::Host, to: Self::Host, packet: Packet<Datagram>);

    /// Processes all events up to `now`.
    fn handle_timeout(&mut self, now: Instant);

    /// Result of the next packet.
    fn poll_output(&mut self) -> Option<Fate>;

    /// Time of the next [`handle_timeout`](Self::handle_timeout); `None` while the network is idle.
    fn poll_timeout(&mut self) -> Option<Instant>;
}

/// Result of a packet.
#[derive(Debug)]
pub enum Fate {
    /// The packet was delivered.
    Delivered {
        /// Time of delivery.
        at: Instant,
        /// The packet.
        packet: Packet<Datagram>,
    },
    /// The packet was dropped.
    Dropped {
        /// Time of the drop.
        at: Instant,
        /// Reason; `None`: lost on a wire.
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
                // The receiver has it already, or the sender's host may free it.
                Output::Dropped { .. } | Output::Sent { .. } | Output::Group { .. } => {}
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
                        DropSite::Host | DropSite::Wire => Some(DropReason::QueueFull),
                        DropSite::Lost => None,
                        DropSite::Sender(reason) | DropSite::Air(reason) => Some(reason),
                    };
                    return Some(Fate::Dropped { at, reason, packet });
                }
                // The sender's host may free it; datagrams hold no buffer.
                Output::Sent { .. } | Output::SentTimesChanged { .. } => {}
            }
        }
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.poll_timeout().map(|(at, _)| at)
    }
}
