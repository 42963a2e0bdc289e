//! Packets of the air, and their nodes.

use netburn_units::Instant;

/// A station, an access point's radio, or another node of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u16);

impl NodeId {
    /// Index of the node.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Explicit congestion notification (RFC 3168).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Ecn {
    /// Not ECN-capable: such packets are dropped, not marked.
    #[default]
    NotEct,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// Returns true if the packet may be marked instead of dropped.
    #[must_use]
    pub const fn markable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

/// In place of a TID: a management frame, which is sent at the lowest basic rate and outside of all
/// BlockAck agreements.
pub(crate) const MANAGEMENT: u8 = 8;

/// LLC and SNAP headers in bytes, which the model adds to every packet.
const LLC_SNAP: u32 = 8;

/// A packet of the network layer: the payload of one MSDU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<P> {
    /// Length in bytes, including the IP header; 20 to 2304 (802.11-2020 clause 9.2.4.7.1, minus
    /// LLC and SNAP).
    pub length: u32,
    /// Hash of its flow's addresses and ports.
    pub flow: u32,
    /// Traffic identifier, 0 to 7; of [management frames](Self::management) another value.
    pub tid: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Payload of the caller.
    pub payload: P,
}

impl<P> Packet<P> {
    /// A management frame with a body of `body` bytes, which counts as at least 8 bytes.
    #[must_use]
    pub const fn management(body: u32, payload: P) -> Self {
        Packet {
            length: body.saturating_sub(LLC_SNAP),
            flow: 0,
            tid: MANAGEMENT,
            ecn: Ecn::NotEct,
            payload,
        }
    }

    /// The same packet with another payload.
    #[inline]
    #[must_use]
    pub fn map<Q>(self, convert: impl FnOnce(P) -> Q) -> Packet<Q> {
        Packet {
            length: self.length,
            flow: self.flow,
            tid: self.tid,
            ecn: self.ecn,
            payload: convert(self.payload),
        }
    }
}

/// A packet in a transmit queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued<P> {
    /// Receiver.
    pub to: NodeId,
    /// Time at which it entered the queue.
    pub since: Instant,
    /// Position in the order of arrival at this queue's node; 0 if only one queue orders its
    /// packets.
    pub arrival: u64,
    /// Packet.
    pub packet: Packet<P>,
}

/// Reason of a drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// CoDel dropped it.
    Aqm,
    /// It reached the retry limit.
    RetryLimit,
    /// The receiver's adapter was full: packets arrived faster than it passes them to its host.
    AdapterFull,
    /// The queue was replaced.
    QueueReplaced,
    /// The sender has no link to the receiver, or the receiver is not associated.
    NoLink,
    /// The receiver was disassociated.
    Disassociated,
    /// The receiver slept, and its power-save buffer was full.
    PowerSaveBuffer,
}
