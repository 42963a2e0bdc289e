//! A flow of datagrams: from whom to whom, how large, how many.

use netburn_medium::packet::{Ecn, Packet};
use netburn_units::{BitRate, Duration, Instant};

/// A flow.
#[derive(Debug, Clone, Copy)]
pub struct Flow<H> {
    /// Who sends.
    pub from: H,
    /// Who receives; of a probe, who sends it back.
    pub to: H,
    /// When and how much it sends.
    pub load: Load,
    /// Length of its packets in bytes, IP header included: 20 to 2304 over Wi-Fi.
    pub length: u32,
    /// Bytes of each packet that are content and count as goodput: its length less 28 for UDP over IPv4.
    pub content: u32,
    /// Traffic identifier, 0 to 7.
    pub tid: u8,
    /// Its ECN field.
    pub ecn: Ecn,
    /// When its first datagram may be due.
    pub start: Instant,
    /// Whether the delay of each of its datagrams is kept: 8 bytes a datagram.
    pub delays: bool,
}

/// When and how much a flow sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// Always so many packets on their way: one that arrives or is dropped is followed by the next. What a full queue refuses is
    /// offered again a millisecond later.
    Saturating {
        /// Packets on their way; enough to keep queue and aggregates full, no more than the queue holds.
        outstanding: u32,
    },
    /// So many bits per second of packets (`length`, not only their content), whatever becomes of them.
    Constant {
        /// The rate. Datagram n falls due n packets' time after the first, exactly.
        rate: BitRate,
        /// Whether each is due at a random instant of its period in place of the period's beginning, so that flows of one rate take no fixed
        /// turns at a full queue.
        jitter: bool,
    },
    /// One datagram every so often, sent back as soon as it arrives.
    Probe {
        /// The period.
        every: Duration,
    },
}

/// What a driver's packets carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// The flow's place in the driver's list.
    pub flow: u32,
    /// Its number within the flow, from 0.
    pub number: u64,
    /// When it was due.
    pub due: Instant,
    /// When it was sent back, for a probe on its way home.
    pub turned: Option<Instant>,
}

impl<H> Flow<H> {
    /// A saturating flow of 1500-byte UDP packets, best effort, from the beginning on.
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
            // Flows differ in their addresses or ports: their hash is spread over all of 32 bits (Fibonacci hashing).
            flow: (datagram.flow + 1).wrapping_mul(0x9e37_79b9),
            tid: self.tid,
            ecn: self.ecn,
            payload: datagram,
        }
    }
}
