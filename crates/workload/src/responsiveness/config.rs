//! Parameters of a responsiveness test.

use crate::Direction;
use netburn_stats::rpm;
use netburn_units::{ByteSize, Duration, Probability};
use std::num::{NonZeroU32, NonZeroUsize};

/// Minimum length of an interval.
pub const MIN_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum time limit of a test, and of the probes before its load.
pub const MAX_TIME: Duration = Duration::from_secs(600);
/// Maximum of MNP.
pub const MAX_CONNECTIONS: u32 = 64;
/// Maximum of MPS.
pub const MAX_PROBES: u32 = 1000;
/// Maximum of MAD.
pub const MAX_INTERVALS: usize = 100;

/// Parameters of a test. The names in parentheses are those of draft-ietf-ippm-responsiveness-09.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Directions that are loaded at the same time: one or both.
    pub directions: Vec<Direction>,
    /// Duration of the probes before the load. Not in the draft. Default 2 s; zero for none.
    pub idle: Duration,
    /// Length of an interval (ID). Default 5 s.
    pub interval: Duration,
    /// Intervals of the moving average and of the stability check (MAD). Default 4.
    pub intervals: NonZeroUsize,
    /// Maximum standard deviation of stable values, as a share of their mean (SDT). Default 5 %.
    pub tolerance: Probability,
    /// Share of the shortest times in the trimmed mean (TMP). Default 95 %.
    pub kept: Probability,
    /// Connections of each direction at the start (INP). Default 1.
    pub first: u32,
    /// Connections that each interval adds to each direction (INC). Default 1.
    pub added: u32,
    /// Maximum number of load connections of each direction (MNP). Default 16.
    pub connections: u32,
    /// Maximum number of probes of each kind per second (MPS). Default 100.
    pub probes_per_second: u32,
    /// Maximum share of the goodput that probes use (PTC). Default 5 %.
    pub probe_share: Probability,
    /// Time limit of the load. The draft leaves it open. Default 60 s.
    pub time: Duration,
    /// Time without progress after which a probe has failed. Default 5 s.
    pub probe_timeout: Duration,
    /// Maximum number of bytes of the load; `None` for no limit.
    pub data: Option<ByteSize>,
    /// Round trips of a TLS handshake with the server. Default 1, as with TLS 1.3 (RFC 8446 §2).
    pub tls_round_trips: NonZeroU32,
}

/// A parameter out of its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: found {found}, expected {expected}")]
pub struct ConfigError {
    /// Name of the parameter: that of the draft in lower case, or `directions`, `idle` or `time`.
    pub name: &'static str,
    /// Value.
    pub found: String,
    /// Range.
    pub expected: String,
}

impl Config {
    /// Returns a test of these directions at the same time, with all defaults.
    #[must_use]
    pub fn new(directions: Vec<Direction>) -> Self {
        Config {
            directions,
            idle: Duration::from_secs(2),
            interval: Duration::from_secs(5),
            intervals: rpm::INTERVALS,
            tolerance: rpm::TOLERANCE,
            kept: rpm::KEPT,
            first: 1,
            added: 1,
            connections: 16,
            probes_per_second: 100,
            probe_share: rpm::TOLERANCE,
            time: Duration::from_secs(60),
            probe_timeout: Duration::from_secs(5),
            data: None,
            tls_round_trips: NonZeroU32::MIN,
        }
    }

    /// Returns the length of MAD intervals.
    #[must_use]
    pub fn window(&self) -> Duration {
        // Both factors are limited, so the product is far below the maximum duration.
        self.interval * self.intervals.get() as u64
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ConfigError`] for the first parameter out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let fault = |name, found: String, expected: String| Err(ConfigError { name, found, expected });
        let count = self.directions.len();
        if !(1..=2).contains(&count) || (count == 2 && self.directions[0] == self.directions[1]) {
            let expected = "one direction, or both".to_owned();
            return fault("directions", format!("{count} directions"), expected);
        }
        if self.interval < MIN_INTERVAL || self.interval > MAX_TIME {
            return fault("id", self.interval.to_string(), format!("{MIN_INTERVAL} to {MAX_TIME}"));
        }
        if self.idle > MAX_TIME {
            return fault("idle", self.idle.to_string(), format!("at most {MAX_TIME}"));
        }
        if self.intervals.get() > MAX_INTERVALS {
            return fault("mad", self.intervals.to_string(), format!("1 to {MAX_INTERVALS}"));
        }
        for (name, share) in [("tmp", self.kept), ("ptc", self.probe_share)] {
            if share == Probability::ZERO {
                return fault(name, "0".to_owned(), "more than 0 %, at most 100 %".to_owned());
            }
        }
        if self.connections < self.first.max(1) || self.connections > MAX_CONNECTIONS {
            let expected = format!("{} to {MAX_CONNECTIONS}", self.first.max(1));
            return fault("mnp", self.connections.to_string(), expected);
        }
        if self.probes_per_second == 0 || self.probes_per_second > MAX_PROBES {
            return fault("mps", self.probes_per_second.to_string(), format!("1 to {MAX_PROBES}"));
        }
        // One interval for the goodput, and MAD intervals for the score.
        let least = self.window() + self.interval;
        if self.time < least || self.time > MAX_TIME {
            let expected = format!("{least} to {MAX_TIME} (at least MAD + 1 intervals)");
            return fault("time", self.time.to_string(), expected);
        }
        Ok(())
    }
}
