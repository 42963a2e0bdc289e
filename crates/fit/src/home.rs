//! The model that is fitted: one access point with one radio, its stations, a line and a server.
//!
//! [`Parameter`] lists what is estimated. Each has its key of the scenario, its prior, and its axis, on which the prior is
//! normal. The rest of the model is measured directly, or it is an assumption.

mod parameter;
mod text;

pub use parameter::{Parameter, Prior};
pub(crate) use text::{Comments, NoComments};

use crate::evidence::{Key, Quantity, goodput};
use crate::links::{LinkSamples, Mode, ModeSource};
use crate::schedule::Schedule;
use netburn_medium::config::{Band, Width};
use netburn_medium::queue::QueueKind;
use netburn_workload::Direction;
use netburn_workload::config::ProbeTarget;

/// Bytes on the line per byte of content: 1448 bytes of content in a packet of 1500, and 38 bytes of Ethernet's framing.
pub(crate) const LINE_BYTES: f64 = 1_538.0 / 1_448.0;

/// Additional wait of probes of the line from which it was full, in ms. Medians of the idle line differ by less.
const LINE_WAIT_MS: f64 = 5.0;
/// The same, as a share of the round trip to the access point.
const LINE_WAIT_SHARE: f64 = 0.25;
/// Sums of two phases above this ratio are the same.
const SAME_SUM: f64 = 0.95;

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
    /// True if a phase with at least 95 % of this sum filled the line: down and up. `None` if that is not visible.
    pub line_full: [Option<bool>; 2],
    /// True if probes reached a hop beyond the router, so that the line of the model is the internet line. Otherwise it is the
    /// path to the server, which may be in the home.
    pub has_internet_line: bool,
}

impl Home {
    /// The model for these links and observations.
    pub(crate) fn new(schedule: &Schedule, links: &[LinkSamples], keys: &[Key], values: &[Option<f64>]) -> Self {
        let recorded = links.iter().find_map(LinkSamples::band);
        let band = recorded.unwrap_or(Band::Ghz5);
        let view = View { schedule, keys, values };
        let mut known = keys.iter().zip(values).filter(|(_, value)| value.is_some());
        let directions = [Direction::Down, Direction::Up];
        Home {
            stations: schedule.stations.clone(),
            band: (band, recorded.is_some()),
            modes: links.iter().map(|link| link.mode(band)).collect(),
            signals: links.iter().map(LinkSamples::signal_dbm).collect(),
            highest: directions.map(|direction| Some(view.sums(direction).first()?.0)),
            line_full: directions.map(|direction| view.fills_line(direction)),
            has_internet_line: known.any(|(key, _)| key.is_of_line()),
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
            Parameter::LineQueue(Direction::Down),
            Parameter::LineQueue(Direction::Up),
            Parameter::Busy,
            Parameter::QueueLimit,
        ];
        let signals = (0..self.stations.len()).map(Parameter::Signal);
        shared.into_iter().chain(signals).collect()
    }

    /// Place of a parameter in [`Home::parameters`]; `None` if the model has no such parameter.
    #[must_use]
    pub fn number_of(&self, parameter: Parameter) -> Option<usize> {
        self.parameters().iter().position(|own| *own == parameter)
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

/// Observations of a run, before the model has its parameters.
struct View<'a> {
    schedule: &'a Schedule,
    keys: &'a [Key],
    values: &'a [Option<f64>],
}

impl View<'_> {
    /// Sum of the goodput of all stations in each phase, in Mbit/s on the line, with the number of the phase. The highest is first.
    fn sums(&self, direction: Direction) -> Vec<(f64, usize)> {
        let sum = |phase: usize| {
            let known = self.keys.iter().zip(self.values);
            goodput(
                known.filter_map(|(key, value)| Some((key, (*value)?))),
                phase,
                direction,
            ) * LINE_BYTES
        };
        let sums = (0..self.schedule.phases.len()).map(|phase| (sum(phase), phase));
        let mut sums: Vec<(f64, usize)> = sums.filter(|(sum, _)| *sum > 0.0).collect();
        sums.sort_by(|one, other| other.0.total_cmp(&one.0));
        sums
    }

    /// True if a phase with at least 95 % of the highest sum filled the line. Then probes of the line wait longer than those of
    /// the access point, for any station that transfers. False if they wait hardly longer, and only one phase reached this sum:
    /// a line with queue management has hardly a queue, but several phases reach it.
    fn fills_line(&self, direction: Direction) -> Option<bool> {
        let sums = self.sums(direction);
        let (highest, _) = *sums.first()?;
        let is_highest = |(sum, _): &&(f64, usize)| *sum > highest * SAME_SUM;
        let phases = sums.iter().filter(is_highest).map(|(_, phase)| *phase);
        let of_phase = |phase: usize| {
            let flows = self.schedule.phases[phase].flows.iter();
            flows.map(move |flow| (phase, flow.station))
        };
        let waits = phases.clone().flat_map(of_phase);
        let waits: Vec<LineWait> = waits
            .filter_map(|(phase, station)| self.line_wait(phase, station))
            .collect();
        if waits.iter().any(LineWait::is_long) {
            return Some(true);
        }
        let is_short = !waits.is_empty() && waits.iter().all(|wait| wait.ms <= LINE_WAIT_MS);
        (is_short && phases.count() == 1).then_some(false)
    }

    /// Time for which probes of this station wait at the line, and not at the access point, longer than in the idle phase.
    fn line_wait(&self, phase: usize, station: usize) -> Option<LineWait> {
        let median = |phase: usize, target| {
            let key = Key {
                phase,
                station,
                quantity: Quantity::Latency(target, 50),
            };
            let place = self.keys.iter().position(|own| *own == key)?;
            Some(key.in_unit(self.values[place]?))
        };
        // Without a hop beyond the router, the line is the path to the server.
        let far = |phase| median(phase, ProbeTarget::Line).or_else(|| median(phase, ProbeTarget::Server));
        let beyond = |phase: usize| Some(far(phase)? - median(phase, ProbeTarget::Near)?);
        let idle = self.schedule.phases.iter().position(|phase| phase.flows.is_empty())?;
        Some(LineWait {
            ms: beyond(phase)? - beyond(idle)?,
            near_ms: median(phase, ProbeTarget::Near)?,
        })
    }
}

/// Wait at a line, beside the round trip to the access point, both in ms.
struct LineWait {
    ms: f64,
    near_ms: f64,
}

impl LineWait {
    /// True if the line has a queue. Both medians differ by chance, the more the longer the queue of the access point is.
    fn is_long(&self) -> bool {
        self.ms > LINE_WAIT_MS + LINE_WAIT_SHARE * self.near_ms
    }
}

/// True if the discipline's limit makes a difference: the others drop packets long before it.
#[must_use]
pub fn has_limit(discipline: QueueKind) -> bool {
    matches!(discipline, QueueKind::Fifo | QueueKind::StationRr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::keys;
    use crate::schedule::Device;

    /// The phone is the fastest, and its page has probes of the server only. The laptop is nearly as fast.
    #[test]
    fn a_station_with_probes_of_the_line_shows_that_it_is_full() {
        let device = |name: &str, probes: &[ProbeTarget]| Device {
            name: name.to_owned(),
            probes: probes.to_vec(),
        };
        let schedule = Schedule::for_devices(&[
            device("laptop", ProbeTarget::ALL),
            device("phone", &[ProbeTarget::Server]),
        ]);
        let keys = keys(&schedule);
        let full = |laptop_mbps: f64, line_ms: f64, near_ms: f64| {
            let value = |key: &Key| {
                let flows = &schedule.phases[key.phase].flows;
                let is_idle = flows.is_empty();
                let in_unit = match (key.quantity, key.station) {
                    (Quantity::Goodput(Direction::Down), _) if flows.len() > 1 => 10.0,
                    (Quantity::Goodput(Direction::Down), 0) => laptop_mbps,
                    (Quantity::Goodput(Direction::Down), _) => 56.5,
                    (Quantity::Latency(ProbeTarget::Line, _), 0) if is_idle => 12.0,
                    (Quantity::Latency(ProbeTarget::Line, _), 0) => line_ms,
                    (Quantity::Latency(ProbeTarget::Near, _), 0) if is_idle => 1.0,
                    (Quantity::Latency(ProbeTarget::Near, _), 0) => near_ms,
                    _ => return None,
                };
                // The inverse of `Key::in_unit`: latencies are above 5 ms on their axis.
                Some(libm::log(in_unit - key.in_unit(0.0) + 1.0))
            };
            let values: Vec<Option<f64>> = keys.iter().map(value).collect();
            let view = View {
                schedule: &schedule,
                keys: &keys,
                values: &values,
            };
            view.fills_line(Direction::Down)
        };
        // The line adds 38 ms to its 11 ms, and the access point hardly anything.
        assert_eq!(full(56.4, 50.0, 1.0), Some(true));
        // The queue is that of the access point: beyond it, the delay is that of the idle line.
        assert_eq!(full(56.4, 61.0, 50.0), None);
        // Both could be: 8 ms more at the line, and 50 ms at the access point.
        assert_eq!(full(56.4, 69.0, 50.0), None);
        // Only the phone reached the highest sum, so no probe shows what it filled.
        assert_eq!(full(40.0, 50.0, 1.0), None);
        // Only the laptop reached it, and the line has no queue, or one that may be by chance.
        assert_eq!(full(80.0, 12.5, 1.0), Some(false));
        assert_eq!(full(80.0, 69.0, 50.0), None);
    }
}
