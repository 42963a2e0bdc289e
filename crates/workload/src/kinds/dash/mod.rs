//! Adaptive streaming over HTTP: segments in sequence, whose bit rate follows the buffer of the player. The next is due
//! when the previous one has ended and the buffer has room for it.

mod ladder;

pub use ladder::{Dash, MAX_BIT_RATES, MAX_MEDIA_BUFFER, MAX_MEDIA_RATE, SEGMENT_LENGTHS};

use super::Pattern;
use super::kind::Kind;
use crate::common::{ConfigError, Connections, Goal, PlayerConfig, Requests, Volume, wrong};
use crate::direction::Direction;
use netburn_units::{BitRate, Duration};

/// `dash`: segments of 4 s, 145 kbit/s to 16.8 Mbit/s, and a buffer of 30 s. Goals: no stall, and segments of
/// at least 4.5 Mbit/s, the lowest bit rate of 1080p in the ladder.
pub const DASH: Kind = Kind {
    label: "Adaptive streaming",
    default_goals: &[
        Goal::NoStall,
        Goal::Rate {
            at_least: BitRate::from_bps(4_500_000),
            window: Duration::from_secs(2),
            step: Duration::from_millis(100),
        },
    ],
    can_repeat: false,
    is_rated_by_throughput: true,
    is_waited_for: false,
    latency_noun: "segment",
    rate_noun: Some("segments"),
    supports: |goal| matches!(goal, Goal::Rate { .. } | Goal::NoStall),
    ..Kind::http("dash", "dash", || DashClient::default().into())
};

/// Settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DashClient {
    /// Use of connections.
    pub connections: Connections,
    /// Ladder and buffer.
    pub dash: Dash,
}

impl Default for DashClient {
    fn default() -> Self {
        DashClient {
            connections: Connections::Keep,
            dash: Dash::default(),
        }
    }
}

impl Pattern for DashClient {
    fn kind(&self) -> &'static Kind {
        &DASH
    }

    /// `segments of 4 s at 145 kbit/s to 16.8 Mbit/s, selected by a buffer of 30 s`
    fn describe(&self) -> String {
        let dash = &self.dash;
        let (length, least, most) = (dash.segment, dash.lowest(), dash.highest());
        let buffer = dash.max_buffer;
        format!("segments of {length} at {least} to {most}, selected by a buffer of {buffer}")
    }

    fn validate_settings(&self) -> Result<(), ConfigError> {
        match self.dash.validate() {
            Ok(()) => Ok(()),
            Err((key, problem)) => wrong("dash", format!("has an invalid `{key}`: {problem}")),
        }
    }

    /// The player can't request more than it plays and stores.
    fn volume(&self, direction: Direction, span: Duration) -> Volume {
        if direction == Direction::Up {
            return Volume::default();
        }
        let media = span.as_nanos().saturating_add(self.dash.max_buffer.as_nanos());
        let segments = media.div_ceil(self.dash.segment.as_nanos().max(1));
        Volume::new(segments, self.dash.segment_size(self.dash.highest()))
    }

    fn mean_rate(&self) -> Option<BitRate> {
        Some(self.dash.highest())
    }

    fn requests(&self) -> Option<Requests> {
        let requests = Requests::kept(self.dash.segment_size(self.dash.highest()));
        Some(Requests {
            connections: self.connections,
            ..requests
        })
    }

    fn playback(&self) -> Option<PlayerConfig> {
        Some(PlayerConfig {
            start: self.dash.start,
            rate: self.dash.lowest(),
            max_buffer: self.dash.max_buffer,
        })
    }

    fn dash(&self) -> Option<&Dash> {
        Some(&self.dash)
    }
}
