//! Random networks whose parameters are known: the simulator plays them, and a fit must find the parameters.

use crate::home::{DISCIPLINES, Parameter};
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

/// A network whose parameters are known.
#[derive(Debug, Clone)]
pub struct House {
    /// Number of stations.
    pub stations: usize,
    /// Queue discipline of the access point.
    pub discipline: QueueKind,
    /// Rates of the line in Mbit/s, down and up.
    pub line: (f64, f64),
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
            (Parameter::Busy, between(0.0, 0.3)),
            (Parameter::QueueLimit, logarithmic(60.0, 2_000.0, between(0.0, 1.0))),
        ];
        let newest = [
            (Standard::N, Width::Mhz40),
            (Standard::Ac, Width::Mhz80),
            (Standard::Ax, Width::Mhz80),
        ][between(0.0, 3.0) as usize];
        let mut modes = Vec::new();
        for station in 0..stations {
            // The first station has the newest standard, so that the access point has it.
            let is_old = station > 0 && between(0.0, 1.0) < 0.3;
            let (standard, width) = if is_old { (Standard::N, Width::Mhz40) } else { newest };
            let streams = if between(0.0, 1.0) < 0.3 { 1 } else { 2 };
            let mode = Mode {
                standard,
                width,
                streams,
            };
            modes.push((mode, ModeSource::Reported));
            values.push((Parameter::Signal(station), between(-76.0, -42.0)));
        }
        House {
            stations,
            discipline,
            line,
            values,
            home: Home {
                stations: NAMES[..stations].iter().map(|name| (*name).to_owned()).collect(),
                band: (Band::Ghz5, true),
                modes,
                signals: vec![None; stations],
                highest: [None; 2],
                line_full: [None; 2],
                has_internet_line: true,
            },
        }
    }

    /// True value of a parameter in its unit.
    #[must_use]
    pub fn value(&self, parameter: Parameter) -> Option<f64> {
        let found = self.values.iter().find(|(own, _)| *own == parameter);
        found.map(|(_, value)| *value)
    }

    /// Names of the stations.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.home.stations
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
        let schedule = Schedule::measure(&self.home.stations);
        let value = |parameter: Parameter| self.value(parameter).unwrap_or_default();
        self.home
            .scenario(&value, self.discipline, &schedule, &crate::home::NoComments)
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

/// Uniform in 0 to 1.
fn uniform(random: &mut RandomStream) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
