//! Dimensions of metrics, with their parsers and formats.

use netburn_units::{BitRate, Dbm, Duration, Probability, format_decimal};
use serde::{Deserialize, Deserializer};
use std::str::FromStr;

/// Dimension of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// Mbit/s.
    Rate,
    /// µs.
    Time,
    /// dBm.
    Level,
    /// A share or a ratio; 1 is 100 %.
    Share,
    /// A count.
    Count,
}

impl Dimension {
    /// Unit of the values.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Dimension::Rate => "Mbit/s",
            Dimension::Time => "µs",
            Dimension::Level => "dBm",
            Dimension::Share | Dimension::Count => "",
        }
    }

    /// Parses a value of a case file: a text with its unit, or a number if the dimension has none.
    ///
    /// # Errors
    /// The value is invalid; the message contains the expected form.
    pub fn read(self, text: &str) -> Result<f64, String> {
        match self {
            Dimension::Rate => parse::<BitRate>(text).map(|rate| rate.as_bps() as f64 / 1e6),
            Dimension::Time => parse(text).map(micros),
            Dimension::Level => parse::<Dbm>(text).map(Dbm::as_dbm_f64),
            Dimension::Share => {
                if text.contains('%') {
                    parse::<Probability>(text).map(Probability::as_f64)
                } else {
                    number(text, "a number or a share such as \"33.3 %\"")
                }
            }
            Dimension::Count => number(text, "a number"),
        }
    }

    /// Formats a value with its unit.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        let digits = match (self, value.abs()) {
            (Dimension::Level, _) => 0,
            (Dimension::Time, _) if (value * 10.0).fract() != 0.0 && value.abs() < 100.0 => 2,
            (Dimension::Time, _) => 1,
            (_, size) if size < 0.1 && size > 0.0 => 4,
            (Dimension::Share, _) => 3,
            (_, size) if size < 10.0 => 3,
            _ => 2,
        };
        let text = format_decimal(value, digits);
        match self.unit() {
            "" => text,
            unit => format!("{text} {unit}"),
        }
    }
}

/// Parses a quantity.
///
/// # Errors
/// The value is invalid; the message contains the expected form.
pub fn parse<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|why: T::Err| format!("`{text}`: {why}"))
}

/// Deserializes a quantity from its text.
pub(super) fn parsed<'de, T: FromStr<Err: std::fmt::Display>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    parse(&String::deserialize(from)?).map_err(serde::de::Error::custom)
}

/// Deserializes a quantity that a case can omit.
pub(super) fn optional<'de, T: FromStr<Err: std::fmt::Display>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    parsed(from).map(Some)
}

/// Value of a time as a metric, in µs.
pub(super) fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

fn number(text: &str, expected: &str) -> Result<f64, String> {
    let value: Option<f64> = text.trim().parse().ok();
    value
        .filter(|value| value.is_finite())
        .ok_or_else(|| format!("invalid value `{text}`; expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formatted_value_is_parsed_again() {
        assert_eq!(Dimension::Rate.read("29.8324 Mbit/s"), Ok(29.8324));
        assert_eq!(Dimension::Time.read("1742.4 µs"), Ok(1_742.4));
        assert_eq!(Dimension::Time.read("150 ms"), Ok(150_000.0));
        assert_eq!(Dimension::Level.read("-82 dBm"), Ok(-82.0));
        assert_eq!(Dimension::Share.read("33.5 %"), Ok(0.335));
        assert_eq!(Dimension::Share.read("0.02"), Ok(0.02));
        assert_eq!(Dimension::Count.read("5"), Ok(5.0));
        assert!(Dimension::Rate.read("29.8").unwrap_err().contains("29.8"));
        assert!(Dimension::Count.read("five").unwrap_err().contains("expected a number"));
        assert!(Dimension::Share.read("nan").is_err());
    }

    #[test]
    fn values_have_significant_digits_only() {
        assert_eq!(Dimension::Rate.show(17.9), "17.9 Mbit/s");
        assert_eq!(Dimension::Rate.show(0.003), "0.003 Mbit/s");
        assert_eq!(Dimension::Rate.show(0.0), "0 Mbit/s");
        assert_eq!(Dimension::Time.show(1_742.4), "1742.4 µs");
        assert_eq!(Dimension::Time.show(200.0), "200 µs");
        assert_eq!(Dimension::Level.show(-82.0), "-82 dBm");
        assert_eq!(Dimension::Share.show(0.3333), "0.333");
    }
}
