//! Limits that a device sets to a fleet.

use netburn_units::{BitRate, ByteSize, Duration};
use std::str::FromStr;

/// Limits that a device sets to a fleet; `None`: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Maximum rate in each direction. Downloads and uploads are paced to it; other traffic above it ends
    /// the part.
    pub rate: Option<BitRate>,
    /// Maximum number of bytes per run, both directions together. The part ends when it is exceeded.
    pub bytes: Option<ByteSize>,
    /// Maximum length of a run: baseline, load and drain.
    pub duration: Option<Duration>,
    /// Hours of the day in which the device takes part.
    pub hours: Option<Hours>,
}

/// Range of hours of the day, from the beginning of one to the beginning of another. Wraps at midnight if
/// the second is smaller. Written as `18-23`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hours {
    from: u8,
    to: u8,
}

impl Hours {
    /// Returns whether the hour that begins at `hour` o'clock (0 to 23) is in the range.
    #[must_use]
    pub const fn contain(self, hour: u8) -> bool {
        if self.from < self.to {
            self.from <= hour && hour < self.to
        } else {
            self.from <= hour || hour < self.to
        }
    }
}

impl FromStr for Hours {
    type Err = String;

    fn from_str(text: &str) -> Result<Hours, String> {
        let hour = |text: &str| text.trim().parse::<u8>().ok().filter(|hour| *hour <= 24);
        match text.split_once('-').map(|(from, to)| (hour(from), hour(to))) {
            Some((Some(from), Some(to))) if from < 24 && from != to => Ok(Hours { from, to }),
            _ => Err("expected a range of hours from 0 to 24, such as `18-23` or `22-6`".to_owned()),
        }
    }
}

impl std::fmt::Display for Hours {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(text: &str) -> Vec<u8> {
        let hours: Hours = text.parse().unwrap();
        (0..24).filter(|hour| hours.contain(*hour)).collect()
    }

    #[test]
    fn hours_go_over_midnight() {
        assert_eq!(hours("18-23"), [18, 19, 20, 21, 22]);
        assert_eq!(hours("22-2"), [0, 1, 22, 23]);
        assert_eq!(hours("22-24"), [22, 23]);
        assert_eq!(hours("23-0"), [23]);
        assert_eq!(hours("0-24").len(), 24);
        for wrong in ["", "18", "18-", "24-1", "5-5", "18-25", "-1-2", "a-b"] {
            assert!(wrong.parse::<Hours>().is_err(), "{wrong}");
        }
    }
}
