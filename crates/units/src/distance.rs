//! Distances.

use crate::quantity::{self, FormatUnit, QuantityError, Size, Unit, format_unit, unit};
use std::fmt;
use std::str::FromStr;

/// A distance in millimetres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Distance(u64);

impl Distance {
    /// `millimetres` mm.
    #[must_use]
    pub const fn from_millimetres(millimetres: u64) -> Self {
        Self(millimetres)
    }

    /// `metres` m; at most 18 × 10¹⁵.
    #[must_use]
    pub const fn from_metres(metres: u64) -> Self {
        Self(metres.checked_mul(1_000).expect("a distance that fits 64 bits of mm"))
    }

    /// In millimetres.
    #[must_use]
    pub const fn as_millimetres(self) -> u64 {
        self.0
    }
}

const UNITS: &[Unit] = &[
    unit(&["m"], 1_000),
    unit(&["cm"], 10),
    unit(&["mm"], 1),
    unit(&["km"], 1_000_000),
    Unit {
        names: &["ft"],
        size: Size::Rounded {
            numerator: 3_048,
            denominator: 10,
        },
    },
];

const FORMAT_UNITS: &[FormatUnit] = &[
    format_unit("km", 1_000_000, 6),
    format_unit("m", 1_000, 3),
    format_unit("mm", 1, 0),
];

impl FromStr for Distance {
    type Err = QuantityError;

    /// Parses `"6 m"`, `"20 ft"`, `"1.5km"`. A foot is 304.8 mm; feet are rounded to the nearest
    /// millimetre.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let millimetres = quantity::parse(text, UNITS, "6 m")?;
        u64::try_from(millimetres)
            .map(Distance)
            .map_err(|_| QuantityError::out_of_range(text, "a distance is not negative"))
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        quantity::format(self.0, FORMAT_UNITS, f)
    }
}
