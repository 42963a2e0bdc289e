//! The model that is fitted: one access point with a radio in each band, its stations, a line and a server.
//!
//! [`Parameter`] lists what is estimated. Each has its key of the scenario, its prior, and its axis, on which the prior is
//! normal. The rest of the model is measured directly, or it is an assumption.

mod parameter;
mod reading;
mod text;

pub use parameter::{Parameter, Prior};
pub(crate) use reading::{IDLE_FACTOR, IDLE_MS, SHARE_OF_LINK};
pub(crate) use text::{Comments, NoComments};

use crate::evidence::Key;
use crate::links::{LinkSamples, Mode, ModeSource};
use crate::schedule::Schedule;
use netburn_medium::config::{Band, Width};
use netburn_medium::queue::QueueKind;
use netburn_workload::Direction;
use reading::Reading;
use std::collections::BTreeSet;

/// Bytes on the line per byte of content: 1448 bytes of content in a packet of 1500, and 38 bytes of Ethernet's framing.
pub(crate) const LINE_BYTES: f64 = 1_538.0 / 1_448.0;

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
    /// Stations in the order of the schedule.
    pub stations: Vec<Station>,
    /// Further access points behind that of the line, which is the router.
    pub units: Vec<Unit>,
    /// Highest sum of the goodput of all stations in a phase, in Mbit/s on the line: down and up. `None` without load.
    pub highest: [Option<f64>; 2],
    /// Use of the line in a phase with at least 95 % of this sum: down and up.
    pub line: [LineUse; 2],
    /// True if probes reached a hop beyond the router, so that the line of the model is the internet line. Otherwise it is the
    /// path to the server, which may be in the home.
    pub has_internet_line: bool,
}

/// A station, as far as it is known before the fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Station {
    /// Name.
    pub name: String,
    /// Band of its radio, and whether the station recorded it.
    pub band: (Band, bool),
    /// Mode of its link, and how it is known.
    pub mode: (Mode, ModeSource),
    /// Index of its access point in [`Home::units`]; `None` for the router.
    pub unit: Option<usize>,
    /// Recorded median signal in dBm.
    pub signal: Option<f64>,
    /// Highest goodput in Mbit/s if the device itself is the limit, and neither its link nor the line: down and up.
    pub limit: [Option<f64>; 2],
    /// Delay of its own while nothing is transferred.
    pub idle: IdleDelay,
}

/// A further access point, of which stations recorded another radio in the same band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// Band of its radio.
    pub band: Band,
    /// True if its backhaul uses this radio: it has the channel of the router's radio, and its stations have longer round trips
    /// to the line without load. Otherwise the backhaul counts as wired.
    pub is_wireless: bool,
    /// True if its radio has the channel of the router's radio in this band, or if a channel is not known.
    pub shares_channel: bool,
}

/// Use of the line by the load of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineUse {
    /// Not visible.
    Unknown,
    /// The line had capacity left.
    Free,
    /// The line was full, and packets waited in its queue.
    Full,
    /// The line was full, and something kept its queue short: queue management such as SQM, in the router or of the provider.
    Managed,
}

/// Delay that one station has without load, and the others have not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum IdleDelay {
    /// None.
    Usual,
    /// Each packet waits for this time in ms, also on the way to the access point: the adapter or its driver.
    Adapter(f64),
    /// Answers that take longer than the adapter stays awake wait for a beacon: power save.
    Dozing,
}

impl LineUse {
    /// True if the line was full.
    #[must_use]
    pub const fn is_full(self) -> bool {
        matches!(self, LineUse::Full | LineUse::Managed)
    }
}

impl Home {
    /// The model for these links and observations. `schedule` has the phases of the network as it is: without those after a
    /// change.
    pub(crate) fn new(schedule: &Schedule, links: &[LinkSamples], keys: &[Key], values: &[Option<f64>]) -> Self {
        let recorded = links.iter().find_map(LinkSamples::band);
        let usual = recorded.unwrap_or(Band::Ghz5);
        let mut known = keys.iter().zip(values).filter(|(_, value)| value.is_some());
        let directions = [Direction::Down, Direction::Up];
        let bands: Vec<Band> = links.iter().map(|link| link.band().unwrap_or(usual)).collect();
        let reading = Reading {
            schedule,
            keys,
            values,
            bands: &bands,
        };
        let (units, unit_of) = reading.units(links);
        let station = |(number, link): (usize, &LinkSamples)| Station {
            name: schedule.stations[number].clone(),
            band: (bands[number], link.band().is_some()),
            mode: link.mode(bands[number]),
            unit: unit_of[number],
            signal: link.signal_dbm(),
            limit: directions.map(|direction| reading.limit(number, direction)),
            idle: reading.idle_delay(number),
        };
        Home {
            stations: links.iter().enumerate().map(station).collect(),
            units,
            highest: directions.map(|direction| Some(reading.sums(direction).first()?.0)),
            line: directions.map(|direction| reading.line_use(direction)),
            has_internet_line: known.any(|(key, _)| key.is_of_line()),
        }
    }

    /// All parameters of the model.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        let directions = [Direction::Down, Direction::Up];
        let mut all = vec![
            Parameter::ServerDelay,
            Parameter::LineDelay,
            Parameter::Line(Direction::Down),
            Parameter::Line(Direction::Up),
        ];
        let with_queue = directions
            .into_iter()
            .filter(|one| self.line[*one as usize] != LineUse::Managed);
        all.extend(with_queue.map(Parameter::LineQueue));
        all.extend(self.bands().into_iter().map(Parameter::Busy));
        all.push(Parameter::QueueLimit);
        all.extend((0..self.stations.len()).map(Parameter::Signal));
        let wireless = self.units.iter().enumerate().filter(|(_, unit)| unit.is_wireless);
        all.extend(wireless.map(|(number, _)| Parameter::Backhaul(number)));
        for (number, station) in self.stations.iter().enumerate() {
            let limited = directions
                .into_iter()
                .filter(|one| station.limit[*one as usize].is_some());
            all.extend(limited.map(|direction| Parameter::AdapterRate(number, direction)));
            match station.idle {
                IdleDelay::Usual => {}
                IdleDelay::Adapter(_) => all.push(Parameter::AdapterDelay(number)),
                IdleDelay::Dozing => all.push(Parameter::DozeTimeout(number)),
            }
        }
        all
    }

    /// Bands of the radios, each once.
    #[must_use]
    pub fn bands(&self) -> Vec<Band> {
        let bands: BTreeSet<Band> = self.stations.iter().map(|station| station.band.0).collect();
        bands.into_iter().collect()
    }

    /// Place of a parameter in [`Home::parameters`]; `None` if the model has no such parameter.
    #[must_use]
    pub fn number_of(&self, parameter: Parameter) -> Option<usize> {
        self.parameters().iter().position(|own| *own == parameter)
    }

    /// Name of an access point: the router or a unit.
    pub(crate) fn ap_name(unit: Option<usize>) -> String {
        unit.map_or_else(|| "home".to_owned(), |unit| format!("unit-{}", unit + 1))
    }

    /// Mode of the access points' radios in a band: it has what any of its stations uses, and at least two streams.
    pub(crate) fn radio(&self, band: Band) -> Mode {
        let own = self.stations.iter().filter(|station| station.band.0 == band);
        let largest = own.map(|station| station.mode.0).reduce(|one, other| Mode {
            standard: one.standard.max(other.standard),
            width: one.width.max(other.width),
            streams: one.streams.max(other.streams),
        });
        let largest = largest.unwrap_or(Mode {
            standard: band.default_standard(),
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
