//! Random networks whose parameters are known: the simulator plays them, and a fit must find the parameters.

use crate::home::{DISCIPLINES, IdleDelay, LineUse, Parameter, Station};
use crate::links::{Mode, ModeSource};
use crate::schedule::Schedule;
use crate::{evidence, home::Home};
use netburn_medium::config::{Band, Standard, Width};
use netburn_medium::queue::QueueKind;
use netburn_record::Run;
use netburn_scenario::{Document, Environment, Plan, ScenarioError};
use netburn_simulate::SimulateError;
use netburn_units::{RandomStream, Seed};
use netburn_workload::Direction;

/// Names of the stations.
const NAMES: [&str; 6] = ["laptop", "tv", "phone", "tablet", "pc", "console"];
/// Common lines: rates down and up in Mbit/s.
const LINES: [(f64, f64); 8] = [
    (16.0, 1.0),
    (25.0, 5.0),
    (50.0, 10.0),
    (100.0, 40.0),
    (250.0, 25.0),
    (250.0, 250.0),
    (500.0, 50.0),
    (1_000.0, 50.0),
];

/// A property that not every house has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Trait {
    /// This station uses the 2.4 GHz band, with 802.11n at 20 MHz.
    LowBand(usize),
    /// The adapter of this station has a maximum rate in Mbit/s, in both directions.
    Limited(usize, f64),
    /// This station dozes after a time in ms without packets, and wakes for each beacon of this number.
    Dozing(usize, f64, u64),
    /// The router has CAKE at this share of the line's rates.
    Managed(f64),
    /// This station uses a second access point, with this signal in dBm, whose backhaul on the channel of the first one has this
    /// signal in dBm.
    Hop(usize, f64, f64),
}

/// A network whose parameters are known.
#[derive(Debug, Clone)]
pub struct House {
    /// Number of stations.
    pub stations: usize,
    /// Queue discipline of the access point.
    pub discipline: QueueKind,
    /// Rates of the line in Mbit/s, down and up.
    pub line: (f64, f64),
    /// Further properties.
    pub traits: Vec<Trait>,
    values: Vec<(Parameter, f64)>,
    home: Home,
}

/// A house that cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum HouseError {
    /// Its scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The simulator rejects it.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
}

impl House {
    /// A random house of 2 to `most` stations, at most 6.
    #[must_use]
    pub fn random(seed: Seed, most: usize) -> Self {
        let mut random = seed.stream("house", 0);
        let stations = 2 + random.below(most.clamp(2, NAMES.len()) as u64 - 1) as usize;
        let discipline = DISCIPLINES[random.below(DISCIPLINES.len() as u64) as usize];
        let line = LINES[random.below(LINES.len() as u64) as usize];
        let mut between = |low: f64, high: f64| low + (high - low) * uniform(&mut random);
        // Products of two factors: small values are as likely as large ones.
        let logarithmic = |low: f64, high: f64, share: f64| low * libm::pow(high / low, share);
        let mut queue = |mbps: f64| {
            let ms = logarithmic(30.0, 600.0, between(0.0, 1.0));
            (mbps * 1e3 / 8.0 * ms / 1_024.0).max(16.0)
        };
        let queues = [queue(line.0), queue(line.1)];
        let mut values = vec![
            (Parameter::ServerDelay, logarithmic(2.0, 40.0, between(0.0, 1.0))),
            (Parameter::LineDelay, logarithmic(1.0, 15.0, between(0.0, 1.0))),
            (Parameter::Line(Direction::Down), line.0),
            (Parameter::Line(Direction::Up), line.1),
            (Parameter::LineQueue(Direction::Down), queues[0]),
            (Parameter::LineQueue(Direction::Up), queues[1]),
            (Parameter::Busy(Band::Ghz5), between(0.0, 0.3)),
            (Parameter::QueueLimit, logarithmic(60.0, 2_000.0, between(0.0, 1.0))),
        ];
        let newest = [
            (Standard::N, Width::Mhz40),
            (Standard::Ac, Width::Mhz80),
            (Standard::Ax, Width::Mhz80),
        ][between(0.0, 3.0) as usize];
        let mut known = Vec::new();
        for (station, name) in NAMES.iter().enumerate().take(stations) {
            // The first station has the newest standard, so that the access point has it.
            let is_old = station > 0 && between(0.0, 1.0) < 0.3;
            let (standard, width) = if is_old { (Standard::N, Width::Mhz40) } else { newest };
            let streams = if between(0.0, 1.0) < 0.3 { 1 } else { 2 };
            let mode = Mode {
                standard,
                width,
                streams,
            };
            known.push(Station {
                name: (*name).to_owned(),
                band: (Band::Ghz5, true),
                mode: (mode, ModeSource::Reported),
                unit: None,
                signal: None,
                limit: [None; 2],
                idle: IdleDelay::Usual,
            });
            values.push((Parameter::Signal(station), between(-76.0, -42.0)));
        }
        House {
            stations,
            discipline,
            line,
            traits: Vec::new(),
            values,
            home: Home {
                stations: known,
                units: Vec::new(),
                highest: [None; 2],
                line: [LineUse::Unknown; 2],
                has_internet_line: true,
            },
        }
    }

    /// A random house with further properties: on average one of them.
    #[must_use]
    pub fn varied(seed: Seed, most: usize) -> Self {
        let mut house = House::random(seed, most);
        let mut random = seed.stream("traits", 0);
        let mut between = |low: f64, high: f64| low + (high - low) * uniform(&mut random);
        let last = house.stations as f64 - 0.001;
        // The first station keeps the band of the radio.
        if between(0.0, 1.0) < 0.3 {
            let others = 1..house.stations;
            house
                .traits
                .extend(others.filter(|_| between(0.0, 1.0) < 0.5).map(Trait::LowBand));
        }
        let (is_limited, station, share) = (between(0.0, 1.0) < 0.25, between(0.0, last), between(0.0, 1.0));
        if is_limited {
            house
                .traits
                .push(Trait::Limited(station as usize, 5.0 * libm::pow(12.0, share)));
        }
        let (dozes, station, timeout, beacons) = (
            between(0.0, 1.0) < 0.25,
            between(0.0, last),
            between(10.0, 100.0),
            between(1.0, 3.999),
        );
        if dozes {
            house
                .traits
                .push(Trait::Dozing(station as usize, timeout, beacons as u64));
        }
        let (is_managed, share) = (between(0.0, 1.0) < 0.25, between(0.85, 0.95));
        if is_managed {
            house.traits.push(Trait::Managed(share));
        }
        let (has_hop, station) = (between(0.0, 1.0) < 0.2, between(1.0, last));
        let (signal, backhaul) = (between(-65.0, -40.0), between(-72.0, -55.0));
        let is_low = house.traits.contains(&Trait::LowBand(station as usize));
        if has_hop && !is_low {
            house.traits.push(Trait::Hop(station as usize, signal, backhaul));
        }
        house
    }

    /// True value of a parameter in its unit. With SQM, the rate of the line is that of the shaper.
    #[must_use]
    pub fn value(&self, parameter: Parameter) -> Option<f64> {
        let base = self.base(parameter);
        let of_trait = self.traits.iter().find_map(|own| match (*own, parameter) {
            (Trait::Managed(share), Parameter::Line(_)) => base.map(|rate| rate * share),
            (Trait::Limited(station, mbps), Parameter::AdapterRate(own, _)) if own == station => Some(mbps),
            (Trait::Dozing(station, ms, _), Parameter::DozeTimeout(own)) if own == station => Some(ms),
            (Trait::Hop(station, signal, _), Parameter::Signal(own)) if own == station => Some(signal),
            (Trait::Hop(_, _, backhaul), Parameter::Backhaul(_)) => Some(backhaul),
            _ => None,
        });
        of_trait.or(base)
    }

    /// The same without the further properties.
    fn base(&self, parameter: Parameter) -> Option<f64> {
        let found = self.values.iter().find(|(own, _)| *own == parameter);
        found.map(|(_, value)| *value)
    }

    /// Names of the stations.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.home.stations.iter().map(|station| station.name.clone()).collect()
    }

    /// Sets the true value of a parameter.
    pub fn set(&mut self, parameter: Parameter, value: f64) {
        if let Some(own) = self.values.iter_mut().find(|(own, _)| *own == parameter) {
            own.1 = value;
        }
    }

    /// The scenario of the house with the measurement for a fit.
    #[must_use]
    pub fn scenario(&self) -> String {
        let schedule = Schedule::measure(&self.names());
        let value = |parameter: Parameter| self.base(parameter).unwrap_or_default();
        let text = self
            .home
            .scenario(&value, self.discipline, &schedule, &crate::home::NoComments);
        if self.traits.is_empty() {
            return text;
        }
        let mut file: toml::Table = text.parse().expect("the scenario of a home is TOML");
        for (key, value) in self.traits.iter().flat_map(|own| self.keys_of(*own)) {
            set(&mut file, &key, &value);
        }
        file.to_string()
    }

    /// Keys and values of a property in a scenario.
    fn keys_of(&self, property: Trait) -> Vec<(String, String)> {
        let of = |station: usize, key: &str| format!("station.{}.{key}", self.home.stations[station].name);
        let own = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        match property {
            Trait::LowBand(station) => vec![
                own("ap.home.radio.2g.width", "20 MHz"),
                (of(station, "joins"), "home.2g".to_owned()),
                (of(station, "standard"), "802.11n".to_owned()),
            ],
            Trait::Limited(station, mbps) => {
                vec![(of(station, "adapter_rate"), format!("{:.0} kbit/s", mbps * 1e3))]
            }
            Trait::Dozing(station, timeout, beacons) => vec![
                (of(station, "power_save.mode"), "legacy".to_owned()),
                (of(station, "power_save.timeout"), format!("{timeout:.0} ms")),
                (of(station, "power_save.listen_interval"), beacons.to_string()),
            ],
            Trait::Managed(share) => vec![
                own("ap.home.wan.discipline", "cake"),
                own("ap.home.wan.shaper", &format!("{:.0} %", share * 100.0)),
            ],
            Trait::Hop(station, signal, backhaul) => vec![
                own("ap.node.backhaul", "home.5g"),
                own("ap.node.backhaul_signal", &format!("{backhaul:.1} dBm")),
                own("ap.node.queue", "airtime"),
                own("ap.node.radio.5g.standard", self.home.radio(Band::Ghz5).standard.name()),
                own(
                    "ap.node.radio.5g.width",
                    &format!("{} MHz", self.home.radio(Band::Ghz5).width.as_mhz()),
                ),
                (of(station, "joins"), "node.5g".to_owned()),
                (of(station, "signal"), format!("{signal:.1} dBm")),
            ],
        }
    }

    /// Simulates the measurement of the house.
    ///
    /// # Errors
    /// The scenario is invalid.
    pub fn measure(&self, seed: Seed) -> Result<Run, HouseError> {
        simulate(&self.scenario(), seed)
    }
}

/// Simulates a scenario and returns its run in memory.
///
/// # Errors
/// The scenario is invalid, or it cannot be simulated.
pub fn simulate(scenario: &str, seed: Seed) -> Result<Run, HouseError> {
    let document = Document::from_toml("house.toml", scenario)?;
    let mut plan: Plan = document.resolve_for(Environment::Simulate)?.0;
    plan.seed = seed;
    Ok(netburn_simulate::in_memory(&plan)?)
}

/// True if a phase of the measurement with several stations fills the queue of the access point rather than the line, so that
/// it shows the discipline: the sum of the downloads is below 80 % of the line, and probes of the access point wait.
#[must_use]
pub fn shows_discipline(house: &House, measurement: &crate::Measurement) -> bool {
    let all = measurement.schedule.phases.iter().enumerate();
    let mut shared = all.filter(|(_, phase)| phase.flows.len() > 1 && phase.loads(Direction::Down));
    shared.any(|(number, _)| {
        let values = measurement.keys.iter().zip(measurement.values.iter().copied());
        evidence::goodput(values, number, Direction::Down) < 0.8 * house.line.0
    })
}

/// Sets a key of a scenario file. Numbers are numbers.
fn set(file: &mut toml::Table, key: &str, value: &str) {
    let Some((section, rest)) = key.split_once('.') else {
        let number = value.parse().map(toml::Value::Integer);
        let value = number.unwrap_or_else(|_| toml::Value::String(value.to_owned()));
        file.insert(key.to_owned(), value);
        return;
    };
    let empty = || toml::Value::Table(toml::Table::new());
    if let toml::Value::Table(own) = file.entry(section).or_insert_with(empty) {
        set(own, rest, value);
    }
}

/// Uniform in 0 to 1.
fn uniform(random: &mut RandomStream) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
