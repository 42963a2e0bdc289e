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
    /// A setting of the server's link changed: [`planned_sent`](crate::Network::planned_sent) has other times than before.
    SentTimesChanged {
        /// Time.
        at: Instant,
    },
}

/// Location of a drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropSite {
    /// The queue of the server's own host was full: its TCP is informed immediately.
    Host,
    /// The queue of a wired hop was full, or its queue discipline dropped the packet.
    Wire,
    /// The packet was lost on a wire.
    Lost,
    /// A transmit queue of the sender's own radio, or its retry limit.
    Sender(DropReason),
    /// A transmit queue of an access point, its retry limit, or the receiver's adapter.
    Air(DropReason),
}

/// Header fields of a packet that the queue disciplines of a WAN link read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Headers {
    dscp: u8,
    kind: AckKind,
    returned_by: Option<Reflector>,
    next: u32,
}

/// A host between station and server that returns a packet to its sender, as it answers an ICMP echo request (RFC 792).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reflector {
    /// The access point that receives the packet from the air, or the device to whose port the station has a cable.
    AccessPoint,
    /// The first hop beyond the router: the provider end of the WAN link.
    LineEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum AckKind {
    #[default]
    None,
    Other,
    Pure,
}

/// Acknowledgement of a TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// Next expected sequence number, modulo 2³².
    pub next: u32,
    /// True for an acknowledgement without data, SACK blocks, ECE, CWR and other flags: a later one of the same flow
    /// replaces it.
    pub pure_ack: bool,
}

impl Headers {
    /// Header fields of a packet with this DSCP (RFC 2474), 0 to 63, without an acknowledgement.
    #[must_use]
    pub const fn new(dscp: u8) -> Self {
        Headers {
            dscp,
            kind: AckKind::None,
            returned_by: None,
            next: 0,
        }
    }

    /// The same for a packet of a station behind a line that does not reach the server: this host returns it to the station.
    /// It is then delivered to the station, with the server as its source.
    #[must_use]
    pub const fn returned_by(self, host: Reflector) -> Self {
        Headers {
            returned_by: Some(host),
            ..self
        }
    }

    /// Header fields of the answer to a packet: it has the same DSCP, and no host returns it again.
    pub(crate) const fn answer(self) -> Self {
        Headers::new(self.dscp)
    }

    /// Host that returns the packet.
    pub(crate) const fn reflector(self) -> Option<Reflector> {
        self.returned_by
    }

    /// The same with an acknowledgement.
    #[must_use]
    pub const fn with_ack(self, ack: Ack) -> Self {
        Headers {
            kind: if ack.pure_ack { AckKind::Pure } else { AckKind::Other },
            next: ack.next,
            ..self
        }
    }

    /// Header fields of a packet of which only the traffic identifier is known: the DSCP is the one that RFC 8325
    /// section 4.3 maps to it, and of several the one that workloads use.
    #[must_use]
    pub const fn of_tid(tid: u8) -> Self {
        Headers::new(match tid {
            1 | 2 => 8,
            3 => 18,
            4 => 34,
            5 => 40,
            6 => 46,
            7 => 48,
            _ => 0,
        })
    }

    /// DSCP.
    #[must_use]
    pub const fn dscp(self) -> u8 {
        self.dscp
    }

    /// Acknowledgement, if the packet has one.
    #[must_use]
    pub const fn ack(self) -> Option<Ack> {
        match self.kind {
            AckKind::None => None,
            kind => Some(Ack {
                next: self.next,
                pure_ack: matches!(kind, AckKind::Pure),
            }),
        }
    }
}

/// Types of packets' payloads: an alias of the bounds.
pub trait Payload: std::fmt::Debug + Send + 'static {}

impl<P: std::fmt::Debug + Send + 'static> Payload for P {}

/// A payload with its source and destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope<P> {
    pub(crate) from: Endpoint,
    pub(crate) to: Endpoint,
    pub(crate) headers: Headers,
    pub(crate) payload: P,
}

/// A packet from one endpoint to another inside the network.
pub(crate) type NetPacket<P> = Packet<Envelope<P>>;

/// Wraps a packet with its route.
pub(crate) fn wrap<P>(from: Endpoint, to: Endpoint, headers: Headers, packet: Packet<P>) -> NetPacket<P> {
    packet.map(|payload| Envelope {
        from,
        to,
        headers,
        payload,
    })
}

/// Returns the source, the destination, and the packet as it was sent, except for its mark.
pub(crate) fn unwrap<P>(packet: NetPacket<P>) -> (Endpoint, Endpoint, Packet<P>) {
    let (from, to) = (packet.payload.from, packet.payload.to);
    (from, to, packet.map(|envelope| envelope.payload))
}
