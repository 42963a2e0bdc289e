//! Outputs of a network.

use netburn_medium::packet::{DropReason, Packet};
use netburn_units::Instant;

/// Endpoint of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// The server beyond the wired hop.
    Server,
    /// A station, by its number in the plan.
    Station(u16),
}

/// Output of a network.
#[derive(Debug)]
pub enum Output<P> {
    /// A packet was delivered.
    Delivered {
        /// Time of delivery.
        at: Instant,
        /// Source.
        from: Endpoint,
        /// Destination.
        to: Endpoint,
        /// The packet, with its ECN mark.
        packet: Packet<P>,
    },
    /// A packet was dropped.
    Dropped {
        /// Time of the drop.
        at: Instant,
        /// Location of the drop.
        by: DropSite,
        /// Source.
        from: Endpoint,
        /// Destination.
        to: Endpoint,
        /// The packet. If it was still queued in its sender's host, that host no longer holds it.
        packet: Packet<P>,
    },
    /// Packets of one flow have left a sender's host: its TCP may free them.
    Sent {
        /// Time.
        at: Instant,
        /// Endpoint of the sender.
        from: Endpoint,
        /// Flow.
        flow: u32,
        /// Number of packets.
        packets: u32,
        /// Their bytes.
        bytes: u32,
    },
}

/// Location of a drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropSite {
    /// The queue of the server's own host was full: its TCP is informed immediately.
    Host,
    /// The queue of a wired hop was full.
    Wire,
    /// The packet was lost on a wire.
    Lost,
    /// A transmit queue of the sender's own radio, or its retry limit.
    Sender(DropReason),
    /// A transmit queue of an access point, its retry limit, or the receiver's adapter.
    Air(DropReason),
}

/// A payload with its source and destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope<P> {
    pub(crate) from: Endpoint,
    pub(crate) to: Endpoint,
    /// `None` for management frames, which stay inside the network.
    pub(crate) payload: Option<P>,
}

/// A packet inside the network.
pub(crate) type NetPacket<P> = Packet<Envelope<P>>;

/// Wraps a packet with its route.
pub(crate) fn wrap<P>(from: Endpoint, to: Endpoint, packet: Packet<P>) -> NetPacket<P> {
    Packet {
        length: packet.length,
        flow: packet.flow,
        tid: packet.tid,
        ecn: packet.ecn,
        payload: Envelope {
            from,
            to,
            payload: Some(packet.payload),
        },
    }
}

/// Returns the source, the destination, and the packet as it was sent, except for its mark.
pub(crate) fn unwrap<P>(packet: NetPacket<P>) -> (Endpoint, Endpoint, Packet<P>) {
    let Envelope { from, to, payload } = packet.payload;
    let packet = Packet {
        length: packet.length,
        flow: packet.flow,
        tid: packet.tid,
        ecn: packet.ecn,
        payload: payload.expect("management frames are not delivered to endpoints"),
    };
    (from, to, packet)
}
