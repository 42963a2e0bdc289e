//! What a case can run: one file per kind, each with its keys, its metrics, and how they are reckoned.

pub mod air;
pub mod codel;
pub mod formula;
pub mod phy;
pub mod scenario;
pub mod signal;

use super::file::deserialize;
use super::quantity::Dimension;
use serde::Deserialize;
use std::ops::Range;
use toml::de::DeTable;

/// The kinds, by their names in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The data rate of a PHY.
    Rate,
    /// The time of a PPDU on the air.
    Duration,
    /// The signal that an MCS needs.
    Sensitivity,
    /// The chance that a frame arrives.
    FrameSuccess,
    /// Bianchi's model of saturation, in closed form.
    Bianchi,
    /// The shares of stations whose aggregates are given, in closed form.
    Shares,
    /// CoDel's drops from a standing queue.
    Codel,
    /// Stations and an access point on the simulated air.
    Air,
    /// A whole scenario, simulated.
    Scenario,
}

/// What a case runs.
#[derive(Debug, Clone)]
pub enum Input {
    /// See [`Kind::Rate`].
    Rate(phy::Rate),
    /// See [`Kind::Duration`].
    Duration(phy::PpduDuration),
    /// See [`Kind::Sensitivity`].
    Sensitivity(signal::Sensitivity),
    /// See [`Kind::FrameSuccess`].
    FrameSuccess(signal::FrameSuccess),
    /// See [`Kind::Bianchi`].
    Bianchi(formula::Bianchi),
    /// See [`Kind::Shares`].
    Shares(formula::Shares),
    /// See [`Kind::Codel`].
    Codel(codel::Codel),
    /// See [`Kind::Air`].
    Air(Box<air::AirInput>),
    /// See [`Kind::Scenario`].
    Scenario(Box<scenario::ScenarioInput>),
}

/// Metrics of a case by name, and what they are measured in.
pub type Metrics = Vec<(String, Dimension)>;

impl Input {
    /// Reads the keys of a kind.
    pub(super) fn read(kind: Kind, table: DeTable<'_>, span: Range<usize>) -> Result<Self, (String, Range<usize>)> {
        Ok(match kind {
            Kind::Rate => Input::Rate(deserialize(table, span)?),
            Kind::Duration => Input::Duration(deserialize(table, span)?),
            Kind::Sensitivity => Input::Sensitivity(deserialize(table, span)?),
            Kind::FrameSuccess => Input::FrameSuccess(deserialize(table, span)?),
            Kind::Bianchi => Input::Bianchi(deserialize(table, span)?),
            Kind::Shares => Input::Shares(deserialize(table, span)?),
            Kind::Codel => Input::Codel(deserialize(table, span)?),
            Kind::Air => Input::Air(Box::new(air::AirInput::read(table, span)?)),
            Kind::Scenario => Input::Scenario(Box::new(scenario::ScenarioInput::read(table, span)?)),
        })
    }

    /// What can be asked of it by name; of a scenario there is no list.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        match self {
            Input::Rate(_) => one("rate", Dimension::Rate),
            Input::Duration(_) => one("duration", Dimension::Time),
            Input::Sensitivity(_) => signal::Sensitivity::metrics(),
            Input::FrameSuccess(_) => one("arrived", Dimension::Share),
            Input::Bianchi(_) => formula::Bianchi::metrics(),
            Input::Shares(shares) => shares.metrics(),
            Input::Codel(codel) => codel.metrics(),
            Input::Air(air) => air.metrics(),
            Input::Scenario(_) => Vec::new(),
        }
    }

    /// What a metric is measured in.
    ///
    /// # Errors
    /// There is no such metric: which there are.
    pub(super) fn dimension(&self, metric: &str) -> Result<Dimension, String> {
        if let Input::Scenario(scenario) = self {
            return scenario.dimension(metric);
        }
        let metrics = self.metrics();
        let found = metrics.iter().find(|(name, _)| name == metric);
        found.map(|(_, dimension)| *dimension).ok_or_else(|| {
            let names: Vec<&str> = metrics.iter().map(|(name, _)| name.as_str()).collect();
            format!(
                "there is no metric `{metric}`; metrics of this case are {}",
                names.join(", ")
            )
        })
    }

    /// Whether it takes so long that a quick look leaves it out.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        matches!(self, Input::Scenario(scenario) if scenario.is_slow())
    }

    /// About how much work it is, to run the longest first.
    pub(super) fn effort(&self) -> u64 {
        match self {
            Input::Air(air) => air.effort(),
            Input::Scenario(scenario) => scenario.effort(),
            _ => 0,
        }
    }

    /// Runs it: the value of each of the `wanted` metrics, in their order.
    #[must_use]
    pub fn run(&self, wanted: &[&str]) -> Vec<f64> {
        let each = |value: &dyn Fn(&str) -> f64| wanted.iter().map(|metric| value(metric)).collect();
        match self {
            Input::Rate(rate) => each(&|_| rate.run()),
            Input::Duration(duration) => each(&|_| duration.run()),
            Input::Sensitivity(sensitivity) => each(&|metric| sensitivity.run(metric)),
            Input::FrameSuccess(success) => each(&|_| success.run()),
            Input::Bianchi(model) => each(&|metric| model.run(metric)),
            Input::Shares(shares) => each(&|metric| shares.run(metric)),
            Input::Codel(codel) => codel.run(wanted),
            Input::Air(air) => air.run(wanted),
            Input::Scenario(scenario) => scenario.run(wanted),
        }
    }
}

fn one(name: &str, dimension: Dimension) -> Metrics {
    vec![(name.to_owned(), dimension)]
}
