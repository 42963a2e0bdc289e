//! A vector and its derived values.

use crate::phy::{Format, Modulation, PhyError, TxVector, response};
use netburn_units::Duration;

/// Vector of a PPDU, with its format and the durations of its responses. Computed once per vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending {
    /// Vector.
    pub vector: TxVector,
    /// Format of the vector.
    pub format: Format,
    /// Duration of an ACK in response.
    pub ack: Duration,
    /// Duration of a BlockAck in response.
    pub block_ack: Duration,
}

impl Sending {
    /// Computes the values of `vector`, with BlockAcks for a window of `window` MPDUs, on a PHY
    /// whose clock is `clock` times slower.
    ///
    /// # Errors
    /// If the standard doesn't have this vector.
    pub fn new(vector: &TxVector, window: u32, clock: u64) -> Result<Self, PhyError> {
        let response = response::vector_for(vector);
        Ok(Sending {
            vector: *vector,
            format: vector.format()?.slower(clock),
            ack: response::duration(&response, response::ACK) * clock,
            block_ack: response::duration(&response, response::block_ack(window)) * clock,
        })
    }

    /// Duration of the response to this number of MPDUs: ACK for one, BlockAck for more.
    #[must_use]
    pub const fn response(&self, mpdus: usize) -> Duration {
        if mpdus == 1 { self.ack } else { self.block_ack }
    }

    /// Returns true if a single MPDU is sent without an A-MPDU. VHT and later send an A-MPDU of
    /// one.
    #[must_use]
    pub(super) const fn sends_bare(&self) -> bool {
        matches!(
            self.vector.modulation,
            Modulation::Ht { .. } | Modulation::Ofdm(_) | Modulation::Dsss(_)
        )
    }
}
