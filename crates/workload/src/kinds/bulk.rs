//! Downloads and uploads: large objects in sequence, unthrottled.

use super::Pattern;
use super::kind::Kind;
use crate::common::{ConfigError, Goal, Requests, Volume};
use crate::direction::Direction;
use netburn_units::{ByteSize, Duration};

/// `download`: objects of 1 GiB in sequence, no goal.
pub const DOWNLOAD: Kind = Kind {
    label: "Download",
    has_own_connections: true,
    is_bulk: true,
    is_rated_by_throughput: true,
    is_waited_for: false,
    // The objects have no meaningful size.
    supports: |goal| matches!(goal, Goal::Rate { .. }),
    ..Kind::http("download", "download", || Bulk::new(Direction::Down).into())
};

/// `upload`: as the download, station to server.
pub const UPLOAD: Kind = Kind {
    label: "Upload",
    name: "upload",
    built_in: "upload",
    default_settings: || Bulk::new(Direction::Up).into(),
    ..DOWNLOAD
};

/// Settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bulk {
    /// Objects of an operation.
    pub requests: Requests,
    /// Direction of the content.
    pub direction: Direction,
    /// Number of independent sequences of objects; 1 to 1000. Each has one object in flight, on a connection of its own.
    pub streams: u32,
}

impl Bulk {
    /// Default settings of a direction.
    #[must_use]
    pub const fn new(direction: Direction) -> Self {
        Bulk {
            requests: Requests::kept(ByteSize::from_gib(1)),
            direction,
            streams: 1,
        }
    }
}

/// Those of `download`.
impl Default for Bulk {
    fn default() -> Self {
        Bulk::new(Direction::Down)
    }
}

impl Pattern for Bulk {
    fn kind(&self) -> &'static Kind {
        match self.direction {
            Direction::Down => &DOWNLOAD,
            Direction::Up => &UPLOAD,
        }
    }

    fn describe(&self) -> String {
        let size = self.requests.object_size;
        let what = match self.streams {
            0 | 1 => format!("objects of {size}"),
            streams => format!("{streams} streams of objects of {size}"),
        };
        let up = match self.direction {
            Direction::Down => "",
            Direction::Up => ", sent by the station",
        };
        format!("{what} one after another{up}")
    }

    fn validate_settings(&self) -> Result<(), ConfigError> {
        self.requests.validate("streams", self.streams)
    }

    fn volume(&self, direction: Direction, _span: Duration) -> Volume {
        if direction == self.direction {
            Volume::UNLIMITED
        } else {
            Volume::default()
        }
    }

    fn requests(&self) -> Option<Requests> {
        Some(self.requests)
    }

    fn direction(&self) -> Direction {
        self.direction
    }

    fn max_in_flight(&self) -> u32 {
        self.streams.max(1)
    }

    fn bulk(&self) -> Option<&Bulk> {
        Some(self)
    }
}
