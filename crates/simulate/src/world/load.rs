//! What the network carries for the simulator.

use netburn_network::Endpoint as Place;
use netburn_tcp::Packet as Segment;
use netburn_units::Instant;
use netburn_workload::{Priority, RequestId};

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum End {
    /// The station's.
    Client,
    /// The server's.
    Server,
}

impl End {
    pub(crate) const BOTH: [End; 2] = [End::Client, End::Server];

    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    pub(crate) const fn other(self) -> End {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }

    /// Where it is, for a connection of that station.
    pub(crate) const fn place(self, station: u16) -> Place {
        match self {
            End::Client => Place::Station(station),
            End::Server => Place::Server,
        }
    }
}

/// A packet's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// Of a connection, by its number.
    Segment {
        /// Which connection.
        connection: u32,
        /// For which end.
        to: End,
        /// The segment.
        segment: Segment,
    },
    /// A probe, or its echo.
    Probe {
        /// Whose.
        user: u32,
        /// Which.
        id: RequestId,
        /// When the server got it, on the way back.
        echoed: Option<Instant>,
    },
}

/// IPv4 and TCP with timestamps: 20 + 20 + 12 bytes (RFC 791, 9293, 7323).
pub(crate) const TCP_HEADERS: u32 = 52;
/// IPv4 and UDP: 20 + 8 bytes.
pub(crate) const UDP_HEADERS: u32 = 28;

/// The length of a segment's packet: headers, options and content. A SACK option is 4 bytes and 8 for each block (RFC 2018 §3).
pub(crate) fn length(segment: &Segment) -> u32 {
    let blocks = segment.segment.sack.as_slice().len() as u32;
    let sack = if blocks == 0 { 0 } else { 4 + 8 * blocks };
    TCP_HEADERS + sack + segment.segment.length
}

/// The TID of a class of packets: the user priority that its DSCP maps to (RFC 8325).
pub(crate) const fn tid(priority: Priority) -> u8 {
    match priority {
        Priority::Background => 1,
        Priority::BestEffort => 0,
        Priority::Video => 5,
        Priority::Voice => 6,
    }
}
