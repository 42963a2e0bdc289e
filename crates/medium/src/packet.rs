//! What the air carries, and for whom.

use netburn_units::Instant;

/// A station, an access point's radio, or whoever else is on a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u16);

impl NodeId {
    /// As an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Explicit congestion notification (RFC 3168).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Ecn {
    /// The transport doesn't take part: such packets are dropped, not marked.
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
    /// Whether the packet may be marked in place of being dropped.
    #[must_use]
    pub const fn markable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

/// A packet of the network layer: the payload of one MSDU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<P> {
    /// Its length in bytes, IP header included; 20 to 2304 (802.11-2020 clause 9.2.4.7.1, less LLC and SNAP).
    pub length: u32,
    /// A hash of its flow's addresses and ports.
    pub flow: u32,
    /// Traffic identifier, 0 to 7.
    pub tid: u8,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Whatever it stands for.
    pub payload: P,
}

/// A packet in a transmit queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued<P> {
    /// The receiver.
    pub to: NodeId,
    /// When it entered the queue.
    pub since: Instant,
    /// Its position in the order of arrival at this queue's node; 0 where only one queue orders its packets.
    pub arrival: u64,
    /// The packet.
    pub packet: Packet<P>,
}

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// CoDel's decision.
    Aqm,
    /// It was sent as often as the retry limit allows.
    RetryLimit,
    /// It came to the receiver's adapter faster than that can pass packets on to its host.
    AdapterFull,
    /// Another queue took the place of the one that it waited in.
    QueueReplaced,
    /// It has no way to go: the sender has no link to the receiver.
    NoLink,
}
