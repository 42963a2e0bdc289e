//! What comes out of a network.

use netburn_medium::packet::{DropReason, Packet};
use netburn_units::Instant;

/// An end of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// The server beyond the wired hop.
    Server,
    /// A station, by its number in the plan.
    Station(u16),
}

/// Something that happened.
#[derive(Debug)]
pub enum Output<P> {
    /// A packet reached its end.
    Delivered {
        /// When.
        at: Instant,
        /// Where it came from.
        from: Endpoint,
        /// Where it is.
        to: Endpoint,
        /// The packet, with its ECN mark.
        packet: Packet<P>,
    },
    /// A packet was dropped on the way.
    Dropped {
        /// When.
        at: Instant,
        /// Where.
        by: Dropper,
        /// Where it came from.
        from: Endpoint,
        /// Where it was going.
        to: Endpoint,
        /// The packet. Its sender's host has it no longer if it was still there.
        packet: Packet<P>,
    },
    /// Packets of one flow have left an end's host for good: what its TCP may free.
    Sent {
        /// When.
        at: Instant,
        /// The end.
        from: Endpoint,
        /// The flow.
        flow: u32,
        /// How many packets.
        packets: u32,
        /// Their bytes.
        bytes: u32,
    },
}

/// Who dropped a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dropper {
    /// The queue of the sender's own host, the server's, was full: its TCP learns at once.
    Host,
    /// The queue of a wired hop was full.
    Wire,
    /// It was lost on a wire.
    Lost,
    /// A transmit queue of the sender's own radio, or its retry limit.
    Sender(DropReason),
    /// A transmit queue of an access point, its retry limit, or the receiver's adapter.
    Air(DropReason),
}

/// A payload with where it comes from and goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parcel<P> {
    pub(crate) from: Endpoint,
    pub(crate) to: Endpoint,
    pub(crate) payload: P,
}

/// A packet on its way.
pub(crate) type Moving<P> = Packet<Parcel<P>>;

/// The same packet around another payload.
pub(crate) fn wrap<P>(from: Endpoint, to: Endpoint, packet: Packet<P>) -> Moving<P> {
    Packet {
        length: packet.length,
        flow: packet.flow,
        tid: packet.tid,
        ecn: packet.ecn,
        payload: Parcel {
            from,
            to,
            payload: packet.payload,
        },
    }
}

/// The packet as it came in, but for its mark; where from and where to.
pub(crate) fn unwrap<P>(packet: Moving<P>) -> (Endpoint, Endpoint, Packet<P>) {
    let Parcel { from, to, payload } = packet.payload;
    let packet = Packet {
        length: packet.length,
        flow: packet.flow,
        tid: packet.tid,
        ecn: packet.ecn,
        payload,
    };
    (from, to, packet)
}
