//! What somebody sees of a run who looks at every packet: for captures.

use netburn_medium::air::Transmission;
use netburn_medium::packet::Ecn;
use netburn_network::Endpoint;
use netburn_tcp::Segment;
use netburn_units::Instant;

/// Something that was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seen {
    /// Data on the air, told when it ended.
    Air(Transmission),
    /// A packet at one of the network's ends.
    Packet(SeenPacket),
}

/// A packet that left an end or reached it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenPacket {
    /// When.
    pub at: Instant,
    /// Where it came from.
    pub from: Endpoint,
    /// Where it goes.
    pub to: Endpoint,
    /// Whether it was seen at `to`; else at `from`.
    pub arrived: bool,
    /// Bytes of it as an IPv4 packet.
    pub length: u32,
    /// The TID of its class.
    pub tid: u8,
    /// Whether it may be marked, or is.
    pub ecn: Ecn,
    /// The station's port.
    pub port: u16,
    /// What is in it.
    pub carries: Carries,
}

/// What a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carries {
    /// A segment of TCP.
    Segment(Segment),
    /// A probe's datagram, or its echo: the probe's number.
    Probe(u64),
}
