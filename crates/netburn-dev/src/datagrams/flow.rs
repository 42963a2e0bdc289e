//! A flow of datagrams: endpoints, size, load.

use netburn_medium::packet::{Ecn, Packet};
use netburn_units::{BitRate, Duration, Instant};

/// A flow of datagrams.
#[derive(Debug, Clone, Copy)]
pub struct Flow<H> {
    /// Sender.
    pub from: H,
    /// Receiver; for a probe, the host that echoes it.
    pub to: H,
    /// Load.
    pub load: Load,
    /// Length of its packets in bytes, including the IP header: 20 to 2304 over Wi-Fi.
    pub length: u32,
    /// Content bytes of each packet, which count as goodput: its length minus 28 for UDP over IPv4.
    pub content: u32,
    /// Traffic identifier, 0 to 7.
    pub tid: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Earliest due time of its first datagram.
    pub start: Instant,
    /// True if the delay of each of its datagrams is stored: 8 bytes per datagram.
    pub delays: bool,
}

/// Load of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// A constant number of packets in flight: a packet that arrives or is dropped is followed by
    /// the next. A packet that a full queue rejected is offered again a millisecond later.
    Saturating {
        /// Packets in flight; enough to fill queue and aggregates, at most the length of the queue.
        outstanding: u32,
    },
    /// A constant rate of packets (`length`, not only their content), independent of their results.
    Constant {
        /// Rate. Datagram n is due exactly n packet times after the first.
        rate: BitRate,
        /// True if each is due at a random instant of its period instead of the period's start.
        /// Then flows of one rate don't synchronise at a full queue.
        jitter: bool,
    },
    /// Periodic datagrams that are echoed on arrival.
    Probe {
        /// Period.
        every: Duration,
    },
}

/// Payload of the driver's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// Index of the flow in the driver's list.
    pub flow: u32,
    /// Number within the flow, from 0.
    pub number: u64,
    /// Due time.
    pub due: Instant,
    /// Time of the echo, for a probe on its way back.
    pub echoed: Option<Instant>,
}

impl<H> Flow<H> {
    /// A saturating flow of 1500-byte UDP packets, best effort, from time zero.
    #[must_use]
    pub const fn saturating(from: H, to: H, outstanding: u32) -> Self {
        Flow {
            from,
            to,
            load: Load::Saturating { outstanding },
            length: 1_500,
            content: 1_472,
            tid: 0,
            ecn: Ecn::NotEct,
            start: Instant::ZERO,
            delays: false,
        }
    }

    pub(super) fn packet(&self, datagram: Datagram) -> Packet<Datagram> {
        Packet {
            length: self.length,
            // Flows differ in their addresses or ports: their hash is spread over all of 32 bits
            // (Fibonacci hashing).
            flow: (datagram.flow + 1).wrapping_mul(0x9e37_79b9),
            tid: self.tid,
            ecn: self.ecn,
            payload: datagram,
        }
    }
}
