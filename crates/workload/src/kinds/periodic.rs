//! Periodic requests: objects on a fixed grid, several outstanding. Latency counts from the due time.

use super::Pattern;
use super::kind::Kind;
use crate::common::{ConfigError, Goal, Grid, Requests};
use netburn_units::{BitRate, ByteSize, Duration};

const RATE: BitRate = BitRate::from_mbps(1);

/// `voip`: 16 KiB at 1 Mbit/s (one every 131.1 ms), up to 8 outstanding; goal 150 ms.
pub const CALLS: Kind = Kind {
    label: "Call",
    default_goals: &[Goal::Latency {
        limit: Duration::from_millis(150),
    }],
    default_rate: Some(RATE),
    operations_noun: "calls",
    ..Kind::http("calls", "voip", || Periodic::default().into())
};

/// Settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Periodic {
    /// Objects of an operation.
    pub requests: Requests,
    /// Due times.
    pub grid: Grid,
    /// Maximum number of operations in flight.
    pub outstanding: u32,
}

impl Default for Periodic {
    fn default() -> Self {
        let size = ByteSize::from_kib(16);
        Periodic {
            requests: Requests::kept(size),
            grid: Grid::at_rate(RATE, size),
            outstanding: 8,
        }
    }
}

impl Pattern for Periodic {
    fn kind(&self) -> &'static Kind {
        &CALLS
    }

    fn validate_settings(&self) -> Result<(), ConfigError> {
        self.requests.validate("outstanding", self.outstanding)?;
        self.grid.validate()
    }

    fn requests(&self) -> Option<Requests> {
        Some(self.requests)
    }

    fn grid(&self) -> Option<Grid> {
        Some(self.grid)
    }

    fn max_in_flight(&self) -> u32 {
        self.outstanding.max(1)
    }
}
