//! Payloads of the simulator's packets.

use netburn_network::Endpoint as Place;
use netburn_tcp::Packet as Segment;
use netburn_units::Instant;
use netburn_workload::kinds::video_call::video::MediaPacket;
use netburn_workload::{Direction, RequestId};

/// End of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum End {
    /// Station.
    Client,
    /// Server.
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

    /// Network endpoint, for a connection of that station with that host.
    pub(crate) const fn place(self, station: u16, peer: Place) -> Place {
        match self {
            End::Client => Place::Station(station),
            End::Server => peer,
        }
    }
}

/// Payload of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// Segment of a connection.
    Segment {
        /// Number of the connection.
        connection: u32,
        /// Receiving end.
        to: End,
        segment: Segment,
    },
    /// Probe, or its echo.
    Probe {
        /// Index of the client.
        client: u32,
        /// Request of the workload.
        id: RequestId,
        /// Time of the echo at the server, on the way back. `None` on the way there, and for a probe that a host between
        /// station and server returns.
        echoed: Option<Instant>,
    },
    /// Packet of a call.
    OneWay {
        /// Index of the client.
        client: u32,
        /// Request of the workload.
        id: RequestId,
        direction: Direction,
    },
    /// Packet of a frame of a video call.
    Media {
        /// Index of the client.
        client: u32,
        /// Receiving end.
        to: End,
        packet: MediaPacket,
    },
    /// Feedback of an end of a video call.
    Feedback {
        /// Index of the client.
        client: u32,
        /// Receiving end.
        to: End,
        /// Number of the feedback.
        number: u32,
    },
}

/// IPv4 and TCP with timestamps: 20 + 20 + 12 bytes (RFC 791, 9293, 7323).
pub(crate) const TCP_HEADERS: u32 = 52;
/// IPv4 and UDP: 20 + 8 bytes.
pub(crate) const UDP_HEADERS: u32 = 28;

/// Length of a segment's packet: headers, options and content. A SACK option is 4 bytes and 8 for
/// each block (RFC 2018 §3).
pub(crate) fn length(segment: &Segment) -> u32 {
    let blocks = segment.segment.sack.as_slice().len() as u32;
    let sack = if blocks == 0 { 0 } else { 4 + 8 * blocks };
    TCP_HEADERS + sack + segment.segment.length
}
