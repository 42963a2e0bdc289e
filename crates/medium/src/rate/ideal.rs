//! The best rate for the signal, known without trying.

use super::{Choice, RateAlgorithm, RateSet};
use crate::phy::TxVector;
use netburn_units::Instant;

/// What has the best expected goodput at the signal of the moment: a bound that no real sender reaches, which has to find out.
#[derive(Debug)]
pub struct Ideal {
    set: RateSet,
    best: TxVector,
}

impl Ideal {
    /// Chooses from `set`; `snr_db` as the set's fastest vector sees it, `None`: nothing is lost.
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
