//! The model that is fitted: one access point with one radio, its stations, a line and a server.
//!
//! [`Parameter`] lists what is estimated. Each has its key of the scenario, its prior, and its axis, on which the prior is
//! normal. The rest of the model is measured directly, or it is an assumption.

mod parameter;
mod text;

pub use parameter::{Parameter, Prior};
pub(crate) use text::{Comments, NoComments};

use crate::evidence::{Key, Quantity};
use crate::links::{LinkSamples, Mode, ModeSource};
use crate::schedule::Schedule;
use netburn_medium::config::{Band, Width};
use netburn_medium::queue::QueueKind;
use netburn_workload::Direction;

/// Bytes on the line per byte of content: 1448 bytes of content in a packet of 1500, and 38 bytes of Ethernet's framing.
const LINE_BYTES: f64 = 1_538.0 / 1_448.0;

/// Candidates for the queue discipline of the access point.
pub const DISCIPLINES: [QueueKind; 5] = [
    QueueKind::Fifo,
    QueueKind::StationRr,
    QueueKind::FqCodel,
    QueueKind::FqMac,
    QueueKind::Airtime,
];

/// The parts of the model that are known before the fit, and the readings that the priors need.
#[derive(Debug, Clone, PartialEq)]
pub struct Home {
    /// Names of the stations.
    pub stations: Vec<String>,
    /// Band of the radio, and whether a station recorded it.
    pub band: (Band, bool),
    /// Mode of each station's link, and how it is known.
    pub modes: Vec<(Mode, ModeSource)>,
    /// Recorded median signal of each station in dBm.
    pub signals: Vec<Option<f64>>,
    /// Highest sum of the goodput of all stations in a phase, in Mbit/s on the line: down and up. `None` without load.
    pub highest: [Option<f64>; 2],
}

impl Home {
    /// The model for these links and observations.
    pub(crate) fn new(schedule: &Schedule, links: &[LinkSamples], keys: &[Key], values: &[Option<f64>]) -> Self {
        let recorded = links.iter().find_map(LinkSamples::band);
        let band = recorded.unwrap_or(Band::Ghz5);
        let highest = |direction| {
            let sum = |phase: usize| {
                let own = keys.iter().zip(values).filter(|(key, _)| key.phase == phase);
                let rates = own.filter(|(key, _)| key.quantity == Quantity::Goodput(direction));
                rates
                    .filter_map(|(key, value)| Some(key.in_unit((*value)?)))
                    .sum::<f64>()
            };
            let sums = (0..schedule.phases.len()).map(sum);
            let highest = sums.fold(0.0, f64::max) * LINE_BYTES;
            (highest > 0.0).then_some(highest)
        };
        Home {
            stations: schedule.stations.clone(),
            band: (band, recorded.is_some()),
            modes: links.iter().map(|link| link.mode(band)).collect(),
            signals: links.iter().map(LinkSamples::signal_dbm).collect(),
            highest: [highest(Direction::Down), highest(Direction::Up)],
        }
    }

    /// All parameters of the model.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        let shared = [
            Parameter::ServerDelay,
            Parameter::LineDelay,
            Parameter::Line(Direction::Down),
            Parameter::Line(Direction::Up),
            Parameter::LineQueue,
            Parameter::Busy,
            Parameter::QueueLimit,
        ];
        let signals = (0..self.stations.len()).map(Parameter::Signal);
        shared.into_iter().chain(signals).collect()
    }

    /// Mode of the access point's radio: it has what any station uses, and at least two streams.
    pub(crate) fn radio(&self) -> Mode {
        let modes = self.modes.iter().map(|(mode, _)| *mode);
        let largest = modes.reduce(|one, other| Mode {
            standard: one.standard.max(other.standard),
            width: one.width.max(other.width),
            streams: one.streams.max(other.streams),
        });
        let largest = largest.unwrap_or(Mode {
            standard: self.band.0.default_standard(),
            width: Width::Mhz20,
            streams: 2,
        });
        Mode {
            streams: largest.streams.max(2),
            ..largest
        }
    }
}

/// True if the discipline's limit makes a difference: the others drop packets long before it.
#[must_use]
pub fn has_limit(discipline: QueueKind) -> bool {
    matches!(discipline, QueueKind::Fifo | QueueKind::StationRr)
}
