//! Ideal rate control: the best rate for the signal, without probing.

use super::{Choice, RateAlgorithm, RateSet};
use crate::phy::TxVector;
use netburn_units::Instant;

/// Rate with the best expected goodput at the current signal: an upper bound that real senders
/// don't reach, because they have to probe.
#[derive(Debug)]
pub struct Ideal {
    set: RateSet,
    best: TxVector,
}

impl Ideal {
    /// Chooses from `set`. `snr_db` applies to the set's fastest vector; `None`: no losses.
    #[must_use]
    pub fn new(set: RateSet, snr_db: Option<f64>) -> Self {
        let best = set.best(snr_db).vector;
        Ideal { set, best }
    }
}

impl RateAlgorithm for Ideal {
    fn choose(&mut self, _now: Instant, _failures: u32) -> Choice {
        Choice {
            vector: self.best,
            frames: None,
        }
    }

    fn handle_signal(&mut self, snr_db: Option<f64>) {
        self.best = self.set.best(snr_db).vector;
    }
}
