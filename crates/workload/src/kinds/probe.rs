//! Probes: a datagram on a fixed grid, echoed by the server or by a hop on the way to it.

use super::kind::{Kind, Transport};
use super::{Pattern, text};
use crate::common::{ConfigError, Grid, Volume, named, within, wrong};
use crate::direction::Direction;
use netburn_units::{ByteSize, Duration};
use std::ops::RangeInclusive;

/// Sizes of the UDP payload.
pub const PROBE_SIZES: RangeInclusive<ByteSize> = ByteSize::from_bytes(64)..=ByteSize::from_bytes(1400);

/// `probe`: a datagram of 64 B every 50 ms, echoed by the server; no goal. A datagram without a
/// reply within 3 s is lost.
pub const PROBE: Kind = Kind {
    label: "Probe",
    default_timeout: Duration::from_secs(3),
    transport: Transport::Echo,
    latency_noun: "round trip",
    ..Kind::http("probe", "probe", || Probe::default().into())
};

/// Host that answers the datagrams of a probe. The targets are in the order of a packet's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ProbeTarget {
    /// The access point of the station; on real devices the default gateway.
    Near,
    /// The first hop beyond the router: the provider end of the internet line.
    Line,
    /// The server.
    #[default]
    Server,
}

named!(ProbeTarget, "target", Near = "near", Line = "line", Server = "server",);

/// Settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// UDP payload of a datagram; 64 B to 1400 B.
    pub size: ByteSize,
    /// Due times.
    pub grid: Grid,
    /// Maximum number of datagrams in flight.
    pub outstanding: u32,
    /// Host that answers.
    pub target: ProbeTarget,
}

impl Default for Probe {
    fn default() -> Self {
        Probe {
            size: ByteSize::from_bytes(64),
            grid: Grid::regular(Duration::from_millis(50)),
            outstanding: 1000,
            target: ProbeTarget::Server,
        }
    }
}

impl Pattern for Probe {
    fn kind(&self) -> &'static Kind {
        &PROBE
    }

    fn describe(&self) -> String {
        let to = match self.target {
            ProbeTarget::Near => " to the access point",
            ProbeTarget::Line => " to the first hop beyond the router",
            ProbeTarget::Server => "",
        };
        let Grid { interval, jitter } = self.grid;
        format!("a datagram of {}{to} {}", self.size, text::every(interval, jitter))
    }

    fn validate_settings(&self) -> Result<(), ConfigError> {
        if !PROBE_SIZES.contains(&self.size) {
            let (least, most) = (PROBE_SIZES.start(), PROBE_SIZES.end());
            return wrong("object_size", format!("is {}; {least} to {most}", self.size));
        }
        within("outstanding", u64::from(self.outstanding), 1, 1000)?;
        self.grid.validate()
    }

    fn operation_size(&self) -> Option<ByteSize> {
        Some(self.size)
    }

    fn volume(&self, _direction: Direction, span: Duration) -> Volume {
        Volume::new(self.grid.operations_within(span), self.size)
    }

    fn grid(&self) -> Option<Grid> {
        Some(self.grid)
    }

    fn max_in_flight(&self) -> u32 {
        self.outstanding.max(1)
    }

    fn target(&self) -> Option<ProbeTarget> {
        Some(self.target)
    }
}
