//! Responsiveness under load (draft-ietf-ippm-responsiveness-09): probes on a fixed grid, and load without end on
//! connections of its own.
//!
//! An operation is a probe or an object of the load ([`Part`]). A foreign probe uses a connection of its own, and a self probe
//! uses a connection with load.

mod loads;
mod schedule;

pub use crate::responsiveness::Part;

pub(crate) use loads::Loads;
pub(crate) use schedule::ProbeSchedule;

use super::kind::Kind;
use super::{Pattern, text};
use crate::common::{ConfigError, Connections, Goal, Requests, Volume, within, wrong};
use crate::direction::Direction;
use crate::schedule::Schedule;
use netburn_units::{ByteSize, Duration, Instant, Seed};
use std::ops::RangeInclusive;

/// Size of an object that a load connection transfers: 8 GiB, as the large object of
/// draft-ietf-ippm-responsiveness-09. The next object follows without a pause.
pub const LOAD_OBJECT: ByteSize = ByteSize::from_gib(8);

/// Size of the object of a probe.
pub const PROBE_OBJECT: ByteSize = ByteSize::from_bytes(1);

/// Maximum number of load connections of one direction: MNP of draft-ietf-ippm-responsiveness-09.
pub const MAX_LOAD_CONNECTIONS: u32 = 16;

/// Times between two probes of one kind. The minimum is the reciprocal of MPS of draft-ietf-ippm-responsiveness-09, which is
/// 100 probes per second. With the maximum, each window of a goal has five.
pub const PROBE_INTERVALS: RangeInclusive<Duration> = Duration::from_millis(10)..=Duration::from_secs(1);

/// `responsiveness`: four connections with load in each direction, and ten probes of each kind per
/// second. A probe without a response fails after 5 s. Goal: 1000 round trips per minute, from which the draft
/// calls the responsiveness good.
pub const RESPONSIVENESS: Kind = Kind {
    label: "Responsiveness",
    default_goals: &[Goal::Rpm {
        at_least: 1000,
        window: Duration::from_secs(5),
        step: Duration::from_secs(1),
    }],
    default_timeout: Duration::from_secs(5),
    has_own_connections: true,
    has_handshake_times: true,
    has_self_probes: true,
    is_waited_for: false,
    supports: |goal| matches!(goal, Goal::Rpm { .. }),
    ..Kind::http("responsiveness", "responsiveness", || Responsiveness::default().into())
};

/// Settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Responsiveness {
    /// Time between two probes of one kind; 10 ms to 1 s.
    pub interval: Duration,
    /// Connections that transfer load while probes are sent.
    pub load: LoadConnections,
}

/// Number of load connections of each direction, 0 to [`MAX_LOAD_CONNECTIONS`]. Without any, a `responsiveness` workload has
/// only foreign probes, beside the load of other workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoadConnections {
    /// From the server to the station.
    pub down: u32,
    /// From the station to the server.
    pub up: u32,
}

impl LoadConnections {
    /// Number of both directions.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.down.saturating_add(self.up)
    }

    /// Number of one direction.
    #[must_use]
    pub const fn in_direction(self, direction: Direction) -> u32 {
        match direction {
            Direction::Down => self.down,
            Direction::Up => self.up,
        }
    }
}

impl Default for Responsiveness {
    fn default() -> Self {
        Responsiveness {
            interval: Duration::from_millis(100),
            load: LoadConnections { down: 4, up: 4 },
        }
    }
}

impl Pattern for Responsiveness {
    fn kind(&self) -> &'static Kind {
        &RESPONSIVENESS
    }

    fn describe(&self) -> String {
        let every = text::rounded(self.interval);
        match (self.load.down, self.load.up) {
            (0, 0) => format!("foreign probes every {every}, without a load of its own"),
            (down, up) => format!("foreign and self probes every {every}, load connections: {down} down, {up} up"),
        }
    }

    fn validate_settings(&self) -> Result<(), ConfigError> {
        if !PROBE_INTERVALS.contains(&self.interval) {
            let (least, most) = (PROBE_INTERVALS.start(), PROBE_INTERVALS.end());
            return wrong("interval", format!("is {}; {least} to {most}", self.interval));
        }
        let most = u64::from(MAX_LOAD_CONNECTIONS);
        within("load_down", u64::from(self.load.down), 0, most)?;
        within("load_up", u64::from(self.load.up), 0, most)
    }

    fn schedule(&self, start: Instant, seed: Seed, index: u64) -> Box<dyn Schedule> {
        let alternate = self.load.count() > 0;
        Box::new(ProbeSchedule::new(self.interval, alternate, start, seed, index))
    }

    fn operation_size(&self) -> Option<ByteSize> {
        Some(match self.load.count() {
            0 => PROBE_OBJECT,
            _ => LOAD_OBJECT,
        })
    }

    fn volume(&self, direction: Direction, span: Duration) -> Volume {
        let probes = match direction {
            Direction::Down => span.as_nanos().div_ceil(self.interval.as_nanos().max(1)),
            Direction::Up => 0,
        };
        Volume {
            is_unlimited: self.load.in_direction(direction) > 0,
            ..Volume::new(probes, PROBE_OBJECT)
        }
    }

    fn requests(&self) -> Option<Requests> {
        Some(Requests {
            objects: 1,
            object_size: PROBE_OBJECT,
            connections: Connections::New,
        })
    }

    fn interval(&self) -> Option<Duration> {
        Some(self.interval)
    }

    fn max_in_flight(&self) -> u32 {
        1000
    }

    fn responsiveness(&self) -> Option<&Responsiveness> {
        Some(self)
    }

    fn is_load(&self, sequence: u64) -> bool {
        Part::from_sequence(sequence) == Part::Load
    }
}
