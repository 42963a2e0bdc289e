//! Capacity traces in the format of mahimahi.

use netburn_units::BitRate;
use std::sync::Arc;

/// Capacity of a link over time: each entry is the time in ms of an opportunity to deliver [`Trace::OPPORTUNITY`] bytes.
/// After the last one the trace repeats (mahimahi, `mm-link`; Netravali et al., 2015).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    times: Arc<[u32]>,
}

/// An invalid trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceError {
    /// Number of the line, or of the entry, from 1.
    pub line: usize,
    /// The found and the expected value.
    pub message: String,
    /// The correction.
    pub help: &'static str,
}

impl Trace {
    /// Bytes of an opportunity.
    pub const OPPORTUNITY: u32 = 1_500;
    /// Maximum number of opportunities.
    pub const MAX: usize = 500_000;

    /// Reads a file: one time per line. Empty lines at the end are ignored.
    ///
    /// # Errors
    /// A line is not a whole number from 0, or is earlier than the line before; there are more than [`Trace::MAX`]; or
    /// the last time is 0.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let error = |line, message, help| TraceError { line, message, help };
        let mut times: Vec<u32> = Vec::new();
        for (line, text) in (1..).zip(text.trim_end().lines()) {
            let found = text.trim();
            let shown: String = found.chars().take(20).collect();
            let time = match found.parse::<i64>() {
                Ok(time) if time < 0 => {
                    let message = format!("found `{shown}`, expected a time from 0");
                    return Err(error(
                        line,
                        message,
                        "add a constant to all times, so that none is negative",
                    ));
                }
                Ok(time) => u32::try_from(time).ok(),
                Err(_) => None,
            };
            let Some(time) = time else {
                let message = format!(
                    "found `{shown}`, expected a time in ms, a whole number up to {}",
                    u32::MAX
                );
                return Err(error(line, message, "write one time per line, without a unit"));
            };
            if let Some(last) = times.last().filter(|last| **last > time) {
                let message = format!("found `{time}` after `{last}`, expected times in ascending order");
                return Err(error(line, message, "sort the lines by time"));
            }
            if times.len() == Trace::MAX {
                let message = format!("found more than {} lines", Trace::MAX);
                return Err(error(line, message, "use a shorter trace; it repeats"));
            }
            times.push(time);
        }
        if times.last().is_none_or(|last| *last == 0) {
            let message = "found no time above 0, expected one".to_owned();
            return Err(error(
                times.len().max(1),
                message,
                "the last time is the length of the trace",
            ));
        }
        Ok(Trace { times: times.into() })
    }

    /// Times of the opportunities in ms, in order.
    #[must_use]
    pub fn times(&self) -> &[u32] {
        &self.times
    }

    /// Length in ms; more than 0.
    #[must_use]
    pub fn length(&self) -> u32 {
        self.times.last().copied().unwrap_or(1)
    }

    /// Mean rate.
    #[must_use]
    pub fn mean_rate(&self) -> BitRate {
        let bits = self.times.len() as u64 * u64::from(Trace::OPPORTUNITY) * 8;
        BitRate::from_bps((bits * 1_000 / u64::from(self.length())).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> (usize, String) {
        let error = Trace::parse(text).unwrap_err();
        (error.line, format!("{}; {}", error.message, error.help))
    }

    #[test]
    fn invalid_traces() {
        for (text, line, expected) in [
            (
                "1\n-2\n",
                2,
                "found `-2`, expected a time from 0; add a constant to all times, so that none is negative",
            ),
            (
                "5\n9\n7\n",
                3,
                "found `7` after `9`, expected times in ascending order; sort the lines by time",
            ),
            (
                "1\n2 ms\n",
                2,
                "found `2 ms`, expected a time in ms, a whole number up to 4294967295; write one time per line, without a unit",
            ),
            (
                "1\n\n2\n",
                2,
                "found ``, expected a time in ms, a whole number up to 4294967295; write one time per line, without a unit",
            ),
            (
                "",
                1,
                "found no time above 0, expected one; the last time is the length of the trace",
            ),
            (
                "0\n0\n",
                2,
                "found no time above 0, expected one; the last time is the length of the trace",
            ),
        ] {
            assert_eq!(wrong(text), (line, expected.to_owned()), "{text:?}");
        }
    }

    /// Three opportunities of 1500 bytes in 4 ms: 9 Mbit/s.
    #[test]
    fn mean_rate_by_hand() {
        let trace = Trace::parse("1\n1\n4\n\n").unwrap();
        assert_eq!((trace.times(), trace.length()), (&[1, 1, 4][..], 4));
        assert_eq!(trace.mean_rate(), BitRate::from_mbps(9));
    }
}
