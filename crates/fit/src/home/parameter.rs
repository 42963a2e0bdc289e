//! The table of parameters.

use super::{Home, IdleDelay, LineUse, Station, has_limit};
use crate::evidence::{Key, Quantity};
use crate::schedule::Schedule;
use netburn_medium::config::Band;
use netburn_medium::queue::QueueKind;
use netburn_workload::Direction;
use netburn_workload::config::ProbeTarget;

/// A quantity of the model that a fit estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parameter {
    /// One-way delay between the line and the server, in ms.
    ServerDelay,
    /// One-way delay of the line, in ms.
    LineDelay,
    /// Rate of the line in a direction, in Mbit/s.
    Line(Direction),
    /// Capacity of the line's queue in each direction, in KiB.
    LineQueue(Direction),
    /// Share of the airtime that other networks use in a band.
    Busy(Band),
    /// Capacity of the access point's queue in packets.
    QueueLimit,
    /// Signal of a station in dBm, as the model needs it for the measured rates.
    Signal(usize),
    /// Signal of the wireless backhaul of a unit in dBm.
    Backhaul(usize),
    /// Maximum rate of a station's adapter in a direction, in Mbit/s.
    AdapterRate(usize, Direction),
    /// Time for which a station's adapter keeps received packets, in ms.
    AdapterDelay(usize),
    /// Time without packets after which a station dozes, in ms.
    DozeTimeout(usize),
}

/// Lower bound of a line's rate, as a share of the highest measured rate. In the second that is measured, packets arrive that
/// were queued before: rates up to 5 % above that of the line were seen.
const LINE_MARGIN: f64 = 0.92;
/// Mean and deviation of a rate that was reached, on the axis above its lower bound: nine of ten are 2 to 39 % above it. TCP needs a
/// part of each phase to reach the rate.
const FULL: (f64, f64) = (-2.5, 0.95);
/// Bytes that an adapter counts for a byte of content: 1448 bytes in a packet of 1500.
const ADAPTER_BYTES: f64 = 1_500.0 / 1_448.0;

/// Axis on which a prior is normal.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Axis {
    Linear,
    Log,
    Logit,
    /// Logarithm of the excess over a measured lower bound, as a share of this bound.
    Above(f64),
}

/// A prior: normal on its axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    axis: Axis,
    /// Mean on the axis.
    pub mean: f64,
    /// Standard deviation on the axis.
    pub deviation: f64,
    range: (f64, f64),
}

impl Prior {
    fn log(median: f64, deviation: f64, range: (f64, f64)) -> Self {
        Prior {
            axis: Axis::Log,
            mean: libm::log(median),
            deviation,
            range,
        }
    }

    /// Value in the parameter's unit for a place on the axis. It is inside the range that a scenario accepts.
    #[must_use]
    pub fn value(&self, place: f64) -> f64 {
        let value = match self.axis {
            Axis::Linear => place,
            Axis::Log => libm::exp(place),
            Axis::Logit => 1.0 / (1.0 + libm::exp(-place)),
            Axis::Above(bound) => bound * (1.0 + libm::exp(place)),
        };
        value.clamp(self.range.0, self.range.1)
    }

    /// True if a model can have this value, in the parameter's unit.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.range.0..=self.range.1).contains(&value)
    }

    /// Width of an interval, on a scale that is the same for all parameters of one kind: differences for signals and shares,
    /// ratios for the others.
    #[must_use]
    pub fn width(&self, low: f64, high: f64) -> f64 {
        match self.axis {
            Axis::Linear | Axis::Logit => high - low,
            Axis::Log | Axis::Above(_) => libm::log(high / low),
        }
    }
}

impl Parameter {
    /// The prior. Medians and deviations are wide ranges of homes: nine of ten are within 1.64 deviations.
    #[must_use]
    pub fn prior(self, home: &Home) -> Prior {
        match self {
            // 2 to 52 ms: a server in the same city to one on the same continent.
            Parameter::ServerDelay => Prior::log(10.0, 1.0, (0.05, 1_000.0)),
            // 0.8 to 21 ms: fibre to DSL with interleaving.
            Parameter::LineDelay => Prior::log(4.0, 1.0, (0.05, 1_000.0)),
            // A line carries at least what was measured. A full one has 94 to 128 % of it. The excess of one that was not full
            // is 0.1 to 20 times of this, and otherwise 0.6 % to eight times.
            Parameter::Line(direction) => match home.highest[direction as usize] {
                Some(highest) => {
                    let (mean, deviation) = match home.line[direction as usize] {
                        LineUse::Full | LineUse::Managed => FULL,
                        LineUse::Free => (0.3, 1.6),
                        LineUse::Unknown => (-1.5, 2.2),
                    };
                    Prior {
                        axis: Axis::Above(highest * LINE_MARGIN),
                        mean,
                        deviation,
                        range: (0.1, 10_000.0),
                    }
                }
                None => Prior::log(50.0, 1.5, (0.1, 10_000.0)),
            },
            // 11 ms to 2 s at the highest measured rate.
            Parameter::LineQueue(direction) => {
                let usual = match direction {
                    Direction::Down => 50.0,
                    Direction::Up => 10.0,
                };
                let mbps = home.highest[direction as usize].unwrap_or(usual);
                let kib = mbps * 1e6 / 8.0 * 0.150 / 1_024.0;
                Prior::log(kib.max(16.0), 1.6, (4.0, 262_144.0))
            }
            // 1 to 38 % of the time.
            Parameter::Busy(_) => Prior {
                axis: Axis::Logit,
                mean: -2.5,
                deviation: 1.2,
                range: (0.0, 0.9),
            },
            // 80 to 3000 packets: from a small router to three times Linux's queue length.
            Parameter::QueueLimit => Prior::log(500.0, 1.1, (4.0, 20_000.0)),
            // Drivers report signals to a few dB. Without a report, all distances in a home are possible.
            Parameter::Signal(station) => {
                let (mean, deviation) = home.stations[station]
                    .signal
                    .map_or((-62.0, 10.0), |signal| (signal, 2.5));
                Prior {
                    axis: Axis::Linear,
                    mean,
                    deviation,
                    range: (-88.0, -20.0),
                }
            }
            // Units of mesh kits are put where their backhaul works: −74 to −46 dBm.
            Parameter::Backhaul(_) => Prior {
                axis: Axis::Linear,
                mean: -60.0,
                deviation: 8.5,
                range: (-88.0, -20.0),
            },
            // As a line that was full: the device alone showed its limit.
            Parameter::AdapterRate(station, direction) => {
                let alone = home.stations[station].limit[direction as usize].unwrap_or(50.0);
                let (mean, deviation) = FULL;
                Prior {
                    axis: Axis::Above(alone * ADAPTER_BYTES * LINE_MARGIN),
                    mean,
                    deviation,
                    range: (0.05, 10_000.0),
                }
            }
            Parameter::AdapterDelay(station) => {
                let measured = match home.stations[station].idle {
                    IdleDelay::Adapter(ms) => ms,
                    IdleDelay::Usual | IdleDelay::Dozing => 20.0,
                };
                // The adapter keeps a packet for once to four times the delay, because each further packet begins it again.
                Prior::log(0.6 * measured, 0.4, (0.1, 2_000.0))
            }
            // 8 to 110 ms. A longer one would not show beside probes every 50 ms.
            Parameter::DozeTimeout(_) => Prior::log(30.0, 0.8, (1.0, 1_000.0)),
        }
    }

    /// True if the parameter acts directly on an observation. An ensemble also has correlations by chance, and there are more
    /// observations than members, so that these would be stronger than the true ones together.
    #[must_use]
    pub fn acts_on(self, key: &Key, home: &Home, schedule: &Schedule) -> bool {
        let phase = &schedule.phases[key.phase];
        let is_idle = phase.flows.is_empty();
        match (self, key.quantity) {
            (Parameter::ServerDelay, Quantity::Latency(target, _)) => is_idle && target == ProbeTarget::Server,
            (Parameter::LineDelay, Quantity::Latency(target, _)) => is_idle && target != ProbeTarget::Near,
            // The acknowledgements of downloads need the uplink.
            (Parameter::Line(Direction::Up), Quantity::Goodput(_)) => true,
            (Parameter::Line(Direction::Down), Quantity::Goodput(direction)) => direction == Direction::Down,
            (Parameter::LineQueue(direction), Quantity::Latency(target, _)) => {
                phase.loads(direction) && target != ProbeTarget::Near
            }
            (Parameter::Busy(band), Quantity::Goodput(_)) => home.stations[key.station].band.0 == band,
            // A channel that is hardly faster than the line has a queue of its own.
            (Parameter::Busy(_), Quantity::Latency(target, _)) => !is_idle && target == ProbeTarget::Near,
            (Parameter::QueueLimit, Quantity::Goodput(_) | Quantity::Latency(..)) => phase.loads(Direction::Down),
            (Parameter::Signal(station), Quantity::Goodput(_)) => {
                phase.flows.iter().any(|flow| flow.station == station)
            }
            (Parameter::Signal(station), Quantity::Rate(_)) => key.station == station,
            (Parameter::Backhaul(unit), Quantity::Goodput(_)) => home.stations[key.station].unit == Some(unit),
            (Parameter::AdapterRate(station, direction), Quantity::Goodput(own)) => {
                (key.station, own) == (station, direction)
            }
            (Parameter::AdapterDelay(station) | Parameter::DozeTimeout(station), Quantity::Latency(..)) => {
                is_idle && key.station == station
            }
            _ => false,
        }
    }

    /// True if the model has this parameter with that discipline of the access point.
    #[must_use]
    pub fn exists_with(self, discipline: QueueKind) -> bool {
        self != Parameter::QueueLimit || has_limit(discipline)
    }

    /// Key of the scenario.
    #[must_use]
    pub fn key(self, home: &Home) -> String {
        match self {
            Parameter::ServerDelay => "server.link.delay".to_owned(),
            Parameter::LineDelay => "ap.home.wan.delay".to_owned(),
            Parameter::Line(direction) => format!("ap.home.wan.{}", direction.key()),
            Parameter::LineQueue(direction) => format!("ap.home.wan.queue_{}", direction.key()),
            Parameter::Busy(band) => format!("ap.home.radio.{}.channel_busy", band.name()),
            Parameter::QueueLimit => "ap.home.queue_limit".to_owned(),
            Parameter::Signal(station) => home.stations[station].key("signal"),
            Parameter::Backhaul(unit) => format!("ap.{}.backhaul_signal", Home::ap_name(Some(unit))),
            Parameter::AdapterRate(station, direction) => {
                home.stations[station].key(&format!("adapter_rate.{}", direction.key()))
            }
            Parameter::AdapterDelay(station) => home.stations[station].key("rx_interrupt_delay"),
            Parameter::DozeTimeout(station) => home.stations[station].key("power_save.timeout"),
        }
    }

    /// Unit of the values.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Parameter::ServerDelay | Parameter::LineDelay | Parameter::AdapterDelay(_) | Parameter::DozeTimeout(_) => {
                "ms"
            }
            Parameter::Line(_) | Parameter::AdapterRate(..) => "Mbit/s",
            Parameter::LineQueue(_) => "KiB",
            Parameter::Busy(_) => "share",
            Parameter::QueueLimit => "packets",
            Parameter::Signal(_) | Parameter::Backhaul(_) => "dBm",
        }
    }

    /// Value as a scenario writes it. It has three or four significant digits.
    #[must_use]
    pub fn text(self, value: f64) -> String {
        match self {
            Parameter::ServerDelay | Parameter::LineDelay | Parameter::AdapterDelay(_) | Parameter::DozeTimeout(_) => {
                format!("{} us", rounded(value * 1e3, 4))
            }
            Parameter::Line(_) | Parameter::AdapterRate(..) => format!("{} kbit/s", rounded(value * 1e3, 4)),
            Parameter::LineQueue(_) => format!("{} B", rounded(value * 1_024.0, 4)),
            Parameter::Busy(_) => format!("{:.1} %", value * 100.0),
            Parameter::QueueLimit => format!("{} packets", rounded(value, 3).max(1)),
            Parameter::Signal(_) | Parameter::Backhaul(_) => format!("{value:.1} dBm"),
        }
    }

    /// Measurement that would identify the parameter.
    #[must_use]
    pub const fn needs(self) -> &'static str {
        match self {
            Parameter::ServerDelay => "probes of the server and of the line",
            Parameter::LineDelay => "probes of the line and of the access point",
            Parameter::Line(_) => "a station whose link is faster than the line",
            Parameter::LineQueue(_) => "load that fills the line: a station whose link is faster than the line",
            Parameter::Busy(_) => "load that fills the channel, at a known signal",
            Parameter::QueueLimit => "downloads that fill the queue of the access point: a line faster than the Wi-Fi",
            Parameter::Signal(_) => "load of this station over a line that is faster than its link",
            Parameter::Backhaul(_) => {
                "load of a station of this access point, over a line that is faster than its backhaul"
            }
            Parameter::AdapterRate(..) => "load of this station alone, over a line that is faster than the device",
            Parameter::AdapterDelay(_) | Parameter::DozeTimeout(_) => "probes of this station without load",
        }
    }
}

impl Station {
    /// Key of this station in a scenario.
    fn key(&self, key: &str) -> String {
        format!("station.{}.{key}", self.name)
    }
}

/// A whole number with this number of significant digits.
fn rounded(value: f64, digits: i32) -> u64 {
    let magnitude = libm::floor(libm::log10(value.max(1.0))) as i32;
    let step = libm::pow(10.0, f64::from((magnitude + 1 - digits).max(0)));
    (libm::round(value / step) * step) as u64
}
