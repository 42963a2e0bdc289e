//! A stream: objects in sequence. The next is due one interval after the previous was due, or when the previous ended if
//! that was later. So the schedule shifts and does not catch up.

use super::Pattern;
use super::kind::Kind;
use crate::common::{ConfigError, Goal, Grid, PlayerConfig, Requests};
use crate::schedule::{Paced, Schedule};
use netburn_units::{BitRate, ByteSize, Duration, Instant, Seed};

const RATE: BitRate = BitRate::from_mbps(25);

/// `4kstream`: objects of 1 MiB at 25 Mbit/s (one every 335.5 ms) into a player of 20 Mbit/s.
/// Goals: at least 20 Mbit/s in every window of 2 s, and no stall.
pub const STREAM: Kind = Kind {
    label: "Video",
    default_goals: &[
        Goal::Rate {
            at_least: BitRate::from_mbps(20),
            window: Duration::from_secs(2),
            step: Duration::from_millis(100),
        },
        Goal::NoStall,
    ],
    can_repeat: false,
    is_rated_by_throughput: true,
    is_waited_for: false,
    default_rate: Some(RATE),
    supports: |goal| matches!(goal, Goal::Rate { .. } | Goal::NoStall),
    ..Kind::http("stream", "4kstream", || Stream::default().into())
};

/// Settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Objects of an operation.
    pub requests: Requests,
    /// Time between operations.
    pub grid: Grid,
    /// Video player that consumes the bytes.
    pub player: Option<PlayerConfig>,
}

impl Default for Stream {
    fn default() -> Self {
        let size = ByteSize::from_mib(1);
        Stream {
            requests: Requests::kept(size),
            grid: Grid::at_rate(RATE, size),
            player: Some(PlayerConfig::default()),
        }
    }
}

impl Pattern for Stream {
    fn kind(&self) -> &'static Kind {
        &STREAM
    }

    fn validate_settings(&self) -> Result<(), ConfigError> {
        self.requests.validate("objects", 1)?;
        self.grid.validate()?;
        self.player.map_or(Ok(()), |player| player.validate())
    }

    fn schedule(&self, start: Instant, seed: Seed, index: u64) -> Box<dyn Schedule> {
        Box::new(Paced::new(self.grid, start, seed, index))
    }

    fn requests(&self) -> Option<Requests> {
        Some(self.requests)
    }

    fn grid(&self) -> Option<Grid> {
        Some(self.grid)
    }

    fn playback(&self) -> Option<PlayerConfig> {
        self.player
    }
}
