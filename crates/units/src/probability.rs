//! Probabilities and shares of a whole.

use crate::quantity::{self, QuantityError, Unit, unit};
use std::fmt;
use std::str::FromStr;

/// A probability, or a share of a whole, in parts per billion: 0 to 1 000 000 000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Probability(u32);

const ONE: u32 = 1_000_000_000;

impl Probability {
    /// Probability 0.
    pub const ZERO: Probability = Probability(0);
    /// Probability 1.
    pub const ONE: Probability = Probability(ONE);

    /// `parts` per billion; `None` above one billion.
    #[must_use]
    pub const fn from_ppb(parts: u32) -> Option<Self> {
        if parts <= ONE { Some(Self(parts)) } else { None }
    }

    /// In parts per billion.
    #[must_use]
    pub const fn as_ppb(self) -> u32 {
        self.0
    }

    /// As a fraction of one, for display and statistics.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(ONE)
    }
}

const UNITS: &[Unit] = &[unit(&["%"], 10_000_000), unit(&["ppm"], 1_000)];

impl FromStr for Probability {
    type Err = QuantityError;

    /// Parses `"1 %"`, `"0.1%"`, `"50 ppm"`.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let parts = quantity::parse(text, UNITS, "1 %")?;
        u32::try_from(parts)
            .ok()
            .and_then(Probability::from_ppb)
            .ok_or_else(|| QuantityError::out_of_range(text, "a share is 0 to 100 %"))
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000_000, self.0 % 10_000_000);
        let text = format!("{whole}.{rest:07}");
        f.pad(&format!("{} %", text.trim_end_matches('0').trim_end_matches('.')))
    }
}
