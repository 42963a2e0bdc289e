//! A vector and what follows from it.

use crate::phy::{Format, Modulation, PhyError, TxVector, response};
use netburn_units::Duration;

/// How a PPDU is sent, what its length costs, and how long its answer lasts. Reckoned once per vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending {
    /// The vector.
    pub vector: TxVector,
    /// What it comes to.
    pub format: Format,
    /// An ACK to it.
    pub ack: Duration,
    /// A BlockAck to it.
    pub block_ack: Duration,
}

impl Sending {
    /// By `vector`, with BlockAcks of a window of `window` MPDUs, on a PHY that is clocked `clock` times slower than usual.
    ///
    /// # Errors
    /// When the standard has no such vector.
    pub fn new(vector: &TxVector, window: u32, clock: u64) -> Result<Self, PhyError> {
        let answer = response::to(vector);
        Ok(Sending {
            vector: *vector,
            format: vector.format()?.slower(clock),
            ack: response::duration(&answer, response::ACK) * clock,
            block_ack: response::duration(&answer, response::block_ack(window)) * clock,
        })
    }

    /// How long the answer to so many MPDUs lasts: ACK for one, BlockAck for more.
    #[must_use]
    pub const fn answer(&self, mpdus: usize) -> Duration {
        if mpdus == 1 { self.ack } else { self.block_ack }
    }

    /// Whether a lone MPDU is sent as it is. VHT and later send it in an A-MPDU of one.
    #[must_use]
    pub(super) const fn sends_bare(&self) -> bool {
        matches!(
            self.vector.modulation,
            Modulation::Ht { .. } | Modulation::Ofdm(_) | Modulation::Dsss(_)
        )
    }
}
