//! Packets of a run, for captures.

use netburn_medium::air::Transmission;
use netburn_medium::packet::Ecn;
use netburn_network::Endpoint;
use netburn_tcp::Segment;
use netburn_units::Instant;

/// Event of a capture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CaptureEvent {
    /// Data transmission on the air, at its end.
    Air(Transmission),
    /// A packet at an endpoint of the network.
    Packet(CapturedPacket),
}

/// A packet that left an endpoint or arrived at one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapturedPacket {
    /// Time.
    pub at: Instant,
    /// Source.
    pub from: Endpoint,
    /// Destination.
    pub to: Endpoint,
    /// True if it was captured at `to`, false if at `from`.
    pub arrived: bool,
    /// Length as an IPv4 packet in bytes.
    pub length: u32,
    /// DSCP, 0 to 63.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Port of the station.
    pub port: u16,
    /// Content.
    pub content: PacketContent,
}

/// Content of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketContent {
    /// A TCP segment.
    Segment(Segment),
    /// A probe's datagram, its echo, or a packet of a call: the number of the operation.
    Datagram(u64),
}
