//! Power and its ratios.

use crate::quantity::{self, QuantityError, Unit, unit};
use std::fmt;
use std::str::FromStr;

/// A power in hundredths of a dBm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dbm(i32);

impl Dbm {
    /// `hundredths` of a dBm: −62 dBm is −6200.
    #[must_use]
    pub const fn from_hundredths(hundredths: i32) -> Self {
        Self(hundredths)
    }

    /// `dbm` whole dBm; within ± 21 million.
    #[must_use]
    pub const fn from_dbm(dbm: i32) -> Self {
        Self(dbm.checked_mul(100).expect("a power that fits 32 bits of 0.01 dBm"))
    }

    /// In hundredths of a dBm.
    #[must_use]
    pub const fn as_hundredths(self) -> i32 {
        self.0
    }

    /// In dBm, for display and statistics.
    #[must_use]
    pub fn as_dbm_f64(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

/// A ratio of powers in hundredths of a dB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Db(i32);

impl Db {
    /// 0 dB.
    pub const ZERO: Db = Db(0);

    /// `db` whole dB; within ± 21 million.
    #[must_use]
    pub const fn from_db(db: i32) -> Self {
        Self(db.checked_mul(100).expect("a ratio that fits 32 bits of 0.01 dB"))
    }

    /// In dB, for models, display and statistics.
    #[must_use]
    pub fn as_db_f64(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

const UNITS: &[Unit] = &[unit(&["dBm"], 100)];
const RATIO_UNITS: &[Unit] = &[unit(&["dB"], 100)];

impl FromStr for Db {
    type Err = QuantityError;

    /// Parses `"5 dB"`, `"-2.5dB"`. Range: ±200 dB.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let hundredths = quantity::parse(text, RATIO_UNITS, "5 dB")?;
        match i32::try_from(hundredths) {
            Ok(value) if value.abs() <= 20_000 => Ok(Db(value)),
            _ => Err(QuantityError::out_of_range(text, "a ratio is −200 to 200 dB")),
        }
    }
}

impl fmt::Display for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hundredths(self.0, "dB", f)
    }
}

impl FromStr for Dbm {
    type Err = QuantityError;

    /// Parses `"-62 dBm"`, `"16.02dBm"`. Range: ±200 dBm.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let hundredths = quantity::parse(text, UNITS, "-62 dBm")?;
        match i32::try_from(hundredths) {
            Ok(value) if value.abs() <= 20_000 => Ok(Dbm(value)),
            _ => Err(QuantityError::out_of_range(text, "a power is −200 to 200 dBm")),
        }
    }
}

impl fmt::Display for Dbm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hundredths(self.0, "dBm", f)
    }
}

fn write_hundredths(hundredths: i32, unit: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, rest) = (hundredths.unsigned_abs() / 100, hundredths.unsigned_abs() % 100);
    let text = match rest {
        0 => format!("{sign}{whole} {unit}"),
        r if r % 10 == 0 => format!("{sign}{whole}.{} {unit}", r / 10),
        r => format!("{sign}{whole}.{r:02} {unit}"),
    };
    f.pad(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios() {
        for (text, shown) in [("5 dB", "5 dB"), ("-2.5dB", "-2.5 dB"), ("0.25 dB", "0.25 dB")] {
            assert_eq!(text.parse::<Db>().unwrap().to_string(), shown);
        }
        assert!("5".parse::<Db>().is_err() && "5 dBm".parse::<Db>().is_err());
        assert!("201 dB".parse::<Db>().is_err());
    }
}
