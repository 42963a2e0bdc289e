//! Settings of a hop, and the bytes of a packet on its wire.

use netburn_scenario::plan::{DEFAULT_QUEUE_TIME, Framing, MIN_DEFAULT_QUEUE};
use netburn_units::{BitRate, ByteSize, Duration, Probability};

/// Settings of a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HopConfig {
    /// Rate; `None`: serialisation takes no time, and the queue is always empty.
    pub rate: Option<BitRate>,
    /// Propagation delay.
    pub delay: Duration,
    /// Loss probability of a packet during propagation.
    pub loss: Probability,
    /// Maximum number of queued bytes, without the packet in serialisation.
    pub queue: ByteSize,
    /// Bytes on the wire of a packet.
    pub framing: HopFraming,
    /// Minimum time between two interrupts of the receiving card. Packets that arrive in between
    /// are delivered with the next interrupt.
    pub interrupt_interval: Duration,
}

/// Framing of an Ethernet packet: header, FCS, preamble and gap (IEEE 802.3 clause 3; 14 + 4 + 8 +
/// 12 bytes).
pub const ETHERNET: u32 = 38;

/// Bytes on the wire of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HopFraming {
    /// Its length and this number of bytes.
    Fixed(u32),
    /// The framing of a line.
    Line(Framing),
}

impl HopFraming {
    /// Bytes on the wire of a packet of `length` bytes.
    #[must_use]
    pub const fn bytes(self, length: u32) -> u32 {
        match self {
            HopFraming::Fixed(bytes) => length.saturating_add(bytes),
            HopFraming::Line(framing) => framing.bytes(length),
        }
    }
}

impl HopConfig {
    /// Default queue of a hop: [`DEFAULT_QUEUE_TIME`] at its rate, at least [`MIN_DEFAULT_QUEUE`].
    #[must_use]
    pub fn default_queue(rate: Option<BitRate>) -> ByteSize {
        let bits =
            |rate: BitRate| u128::from(rate.as_bps()) * u128::from(DEFAULT_QUEUE_TIME.as_nanos()) / 1_000_000_000;
        let bytes = u64::try_from(rate.map_or(0, bits) / 8).unwrap_or(u64::MAX);
        ByteSize::from_bytes(bytes).max(MIN_DEFAULT_QUEUE)
    }

    /// The same hop with an Ethernet card at its end, with this minimum time between two
    /// interrupts.
    #[must_use]
    pub fn with_interrupt_interval(self, interrupt_interval: Duration) -> Self {
        HopConfig {
            interrupt_interval,
            ..self
        }
    }

    /// Returns true if packets pass the hop without any delay.
    #[must_use]
    pub fn is_passthrough(&self) -> bool {
        self.rate.is_none() && self.delay.is_zero() && self.loss == Probability::ZERO
    }
}

impl Default for HopConfig {
    fn default() -> Self {
        HopConfig {
            rate: None,
            delay: Duration::ZERO,
            loss: Probability::ZERO,
            queue: HopConfig::default_queue(None),
            framing: HopFraming::Fixed(ETHERNET),
            interrupt_interval: Duration::ZERO,
        }
    }
}
