//! Fixed rate.

use super::{Choice, RateAlgorithm};
use crate::phy::TxVector;
use netburn_units::Instant;

/// Always uses this vector.
#[derive(Debug, Clone, Copy)]
pub struct Fixed(pub TxVector);

impl RateAlgorithm for Fixed {
    fn choose(&mut self, _now: Instant, _failures: u32) -> Choice {
        Choice {
            vector: self.0,
            frames: None,
        }
    }
}
