//! Differences between a device and any model of it, which the measured run alone shows.
//!
//! The model of a station is a link with a signal. So it has no slow adapter, no power save, and no antenna that is broken.
//! Each rule compares a device with another one of the same run, or with its own signal, so that the line, the server and
//! the traffic of other networks are not the reason.

use crate::evidence::Quantity;
use crate::home::{IDLE_FACTOR, IDLE_MS, SHARE_OF_LINK};
use crate::measurement::Measurement;
use netburn_workload::Direction;
use netburn_workload::config::ProbeTarget;

/// Another station moved this multiple, and used its link this many times better.
const OTHERS_MORE: f64 = 1.5;
/// The signal permits this multiple of the rate, or more. The choice of rates by drivers differs by less.
const PERMITTED_MORE: f64 = 3.0;

/// A difference between a device and its model. Stations are numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Difference {
    /// Alone, the device transfers less than its link carries, while another device transfers more.
    SlowDevice {
        /// The device.
        station: usize,
        /// Direction.
        direction: Direction,
        /// Its goodput alone, in Mbit/s.
        mbps: f64,
        /// Median rate of its link in Mbit/s.
        link_mbps: f64,
        /// The other device.
        other: usize,
        /// Goodput of the other device alone, in Mbit/s.
        other_mbps: f64,
    },
    /// Without load, the round trip of the device to the access point is long, and that of another device is short.
    SlowIdle {
        /// The device.
        station: usize,
        /// Its median round trip in ms.
        ms: f64,
        /// The other device.
        other: usize,
        /// Median round trip of the other device in ms.
        other_ms: f64,
    },
    /// The rate of the link is far below what its signal permits.
    LowRate {
        /// The device.
        station: usize,
        /// Median rate of its link in Mbit/s.
        link_mbps: f64,
        /// Rate that the signal permits in Mbit/s.
        permitted_mbps: f64,
        /// Median signal in dBm.
        signal_dbm: f64,
    },
}

impl Difference {
    /// Name in documents.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Difference::SlowDevice { .. } => "slow-device",
            Difference::SlowIdle { .. } => "slow-idle",
            Difference::LowRate { .. } => "low-rate",
        }
    }

    /// Number of the device.
    #[must_use]
    pub const fn station(&self) -> usize {
        match *self {
            Difference::SlowDevice { station, .. }
            | Difference::SlowIdle { station, .. }
            | Difference::LowRate { station, .. } => station,
        }
    }

    /// The measured values and possible reasons.
    #[must_use]
    pub fn sentence(&self, stations: &[String]) -> String {
        let name = &stations[self.station()];
        match *self {
            Difference::SlowDevice {
                direction,
                mbps,
                link_mbps,
                other,
                other_mbps,
                ..
            } => {
                let what = match direction {
                    Direction::Down => "downloads",
                    Direction::Up => "uploads",
                };
                format!(
                    "{name} alone {what} at {mbps:.0} Mbit/s on a link of {link_mbps:.0} Mbit/s, while {} reaches {other_mbps:.0} \
                     Mbit/s. The device itself is the limit: its adapter, its USB port, its processor or a program on it.",
                    stations[other]
                )
            }
            Difference::SlowIdle {
                ms, other, other_ms, ..
            } => format!(
                "{name} waits {ms:.0} ms for the access point while nothing is transferred, and {} only {other_ms:.1} ms. The \
                 reason is in the device: power save, or its adapter or driver.",
                stations[other]
            ),
            Difference::LowRate {
                link_mbps,
                permitted_mbps,
                signal_dbm,
                ..
            } => format!(
                "The link of {name} has {link_mbps:.0} Mbit/s, and its signal of {signal_dbm:.0} dBm permits {permitted_mbps:.0} \
                 Mbit/s. Interference near the device, or its antennas or driver can be the reason."
            ),
        }
    }
}

/// All differences that a measurement shows, by station.
#[must_use]
pub fn differences(measurement: &Measurement) -> Vec<Difference> {
    let stations = 0..measurement.schedule.stations.len();
    let of = |station| {
        let slow = [Direction::Down, Direction::Up];
        let slow = slow
            .into_iter()
            .find_map(|direction| slow_device(measurement, station, direction));
        [slow, slow_idle(measurement, station), low_rate(measurement, station)]
    };
    stations.flat_map(of).flatten().collect()
}

fn slow_device(measurement: &Measurement, station: usize, direction: Direction) -> Option<Difference> {
    let link = |station: usize| measurement.links[station].rate_mbps;
    let (mbps, link_mbps) = (alone(measurement, station, direction)?, link(station)?);
    if mbps >= SHARE_OF_LINK * link_mbps {
        return None;
    }
    let others = others(measurement, station).filter_map(|other| Some((other, alone(measurement, other, direction)?)));
    let uses_better = |(other, other_mbps): &(usize, f64)| {
        let share = |mbps: f64, link: f64| mbps / link;
        let is_better = |other_link| share(*other_mbps, other_link) >= OTHERS_MORE * share(mbps, link_mbps);
        *other_mbps >= OTHERS_MORE * mbps && link(*other).is_some_and(is_better)
    };
    let (other, other_mbps) = others
        .filter(uses_better)
        .max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(Difference::SlowDevice {
        station,
        direction,
        mbps,
        link_mbps,
        other,
        other_mbps,
    })
}

fn slow_idle(measurement: &Measurement, station: usize) -> Option<Difference> {
    let ms = idle(measurement, station)?;
    let others = others(measurement, station).filter_map(|other| Some((other, idle(measurement, other)?)));
    let (other, other_ms) = others.min_by(|one, other| one.1.total_cmp(&other.1))?;
    (ms >= IDLE_MS && ms >= IDLE_FACTOR * other_ms).then_some(Difference::SlowIdle {
        station,
        ms,
        other,
        other_ms,
    })
}

fn low_rate(measurement: &Measurement, station: usize) -> Option<Difference> {
    let link = measurement.links[station];
    let (link_mbps, permitted_mbps) = (link.rate_mbps?, link.permitted_mbps?);
    (permitted_mbps >= PERMITTED_MORE * link_mbps).then_some(Difference::LowRate {
        station,
        link_mbps,
        permitted_mbps,
        signal_dbm: link.signal_dbm?,
    })
}

fn others(measurement: &Measurement, station: usize) -> impl Iterator<Item = usize> {
    (0..measurement.schedule.stations.len()).filter(move |other| *other != station)
}

/// Highest goodput of a station in phases in which only it transfers, and only in this direction.
fn alone(measurement: &Measurement, station: usize, direction: Direction) -> Option<f64> {
    let own = values(measurement, station, Quantity::Goodput(direction));
    let alone = own.filter(|(phase, _)| measurement.schedule.phases[*phase].flows.len() == 1);
    alone.map(|(_, mbps)| mbps).reduce(f64::max)
}

/// Median round trip to the access point in ms while nothing is transferred.
fn idle(measurement: &Measurement, station: usize) -> Option<f64> {
    let own = values(measurement, station, Quantity::Latency(ProbeTarget::Near, 50));
    let idle = own.filter(|(phase, _)| measurement.schedule.phases[*phase].flows.is_empty());
    idle.map(|(_, ms)| ms).reduce(f64::min)
}

/// Values of a quantity of a station in their unit, with their phases.
fn values(measurement: &Measurement, station: usize, quantity: Quantity) -> impl Iterator<Item = (usize, f64)> {
    let all = measurement.keys.iter().zip(&measurement.values);
    let own = all.filter(move |(key, _)| key.station == station && key.quantity == quantity);
    own.map(|(key, value)| (key.phase, key.in_unit(*value)))
}
