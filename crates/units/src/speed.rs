//! Speeds.

use crate::quantity::{self, FormatUnit, QuantityError, Size, Unit, format_unit, unit};
use std::fmt;
use std::str::FromStr;

/// A speed in millimetres per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Speed(u64);

impl Speed {
    /// `millimetres` mm/s.
    #[must_use]
    pub const fn from_millimetres_per_second(millimetres: u64) -> Self {
        Self(millimetres)
    }

    /// In millimetres per second.
    #[must_use]
    pub const fn as_millimetres_per_second(self) -> u64 {
        self.0
    }
}

const UNITS: &[Unit] = &[
    unit(&["m/s"], 1_000),
    unit(&["mm/s"], 1),
    Unit {
        names: &["km/h"],
        size: Size::Rounded {
            numerator: 10_000,
            denominator: 36,
        },
    },
];

const FORMAT_UNITS: &[FormatUnit] = &[format_unit("m/s", 1_000, 3), format_unit("mm/s", 1, 0)];

impl FromStr for Speed {
    type Err = QuantityError;

    /// Parses `"1.5 m/s"`, `"4 km/h"`; km/h are rounded to the nearest millimetre per second.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let millimetres = quantity::parse(text, UNITS, "1 m/s")?;
        u64::try_from(millimetres)
            .map(Speed)
            .map_err(|_| QuantityError::out_of_range(text, "a speed is not negative"))
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        quantity::format(self.0, FORMAT_UNITS, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3.6 km/h are 1 m/s; 5 km/h are 1388.9 mm/s.
    #[test]
    fn units() {
        let speed = |text: &str| text.parse::<Speed>().map(Speed::as_millimetres_per_second);
        assert_eq!(speed("1 m/s").unwrap(), 1_000);
        assert_eq!(speed("3.6 km/h").unwrap(), 1_000);
        assert_eq!(speed("5km/h").unwrap(), 1_389);
        assert_eq!(Speed(1_389).to_string(), "1.389 m/s");
        assert!(speed("1").is_err() && speed("-1 m/s").is_err());
    }
}
