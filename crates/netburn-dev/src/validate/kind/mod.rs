//! Kinds of case: one file per kind, with its keys, metrics and their computation.

pub mod air;
pub mod broadcast;
pub mod codel;
pub mod formula;
pub mod mesh;
pub mod phy;
pub mod power_save;
pub mod roaming;
pub mod scenario;
pub mod signal;
pub mod steering;

use super::quantity::Dimension;
use super::toml_value::deserialize;
use serde::Deserialize;
use std::ops::Range;
use toml::de::DeTable;

/// Kind of a case, as named in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Data rate of a PHY.
    Rate,
    /// Duration of a PPDU.
    Duration,
    /// Receiver sensitivity for an MCS.
    Sensitivity,
    /// Probability that a frame arrives.
    FrameSuccess,
    /// Bianchi's model of saturation, in closed form.
    Bianchi,
    /// Shares of stations with given aggregates, in closed form.
    Shares,
    /// CoDel's drops from a standing queue.
    Codel,
    /// Packets to a station that dozes.
    PowerSave,
    /// Broadcast packets to the stations of an access point.
    Broadcast,
    /// Times of a scan.
    RoamScan,
    /// Frames with which a station joins.
    RoamJoin,
    /// Autocorrelation of shadowing.
    Shadowing,
    /// Crossings of fast fading.
    Fading,
    /// Moves of a station between two equal access points.
    PingPong,
    /// Score of a radio, by which DAWN steers.
    SteeringScore,
    /// Request of a steering policy to a station.
    SteeringRequest,
    /// A station that moves through the network of a scenario.
    Walk,
    /// Stations and an access point on the simulated air.
    Air,
    /// Airtime metric of a mesh link.
    MeshMetric,
    /// Path discovery of a mesh without an answer.
    MeshDiscovery,
    /// A chain of access points with wireless backhaul.
    Hops,
    /// A whole scenario, simulated.
    Scenario,
}

/// Input of a case.
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
    /// See [`Kind::PowerSave`].
    PowerSave(Box<power_save::PowerSaveInput>),
    /// See [`Kind::Broadcast`].
    Broadcast(Box<broadcast::BroadcastInput>),
    /// See [`Kind::RoamScan`].
    RoamScan(roaming::RoamScan),
    /// See [`Kind::RoamJoin`].
    RoamJoin(roaming::RoamJoin),
    /// See [`Kind::Shadowing`].
    Shadowing(roaming::ShadowingInput),
    /// See [`Kind::Fading`].
    Fading(roaming::FadingInput),
    /// See [`Kind::PingPong`].
    PingPong(roaming::PingPong),
    /// See [`Kind::SteeringScore`].
    SteeringScore(steering::SteeringScore),
    /// See [`Kind::SteeringRequest`].
    SteeringRequest(steering::SteeringRequest),
    /// See [`Kind::Walk`].
    Walk(Box<roaming::Walk>),
    /// See [`Kind::Air`].
    Air(Box<air::AirInput>),
    /// See [`Kind::MeshMetric`].
    MeshMetric(mesh::LinkMetric),
    /// See [`Kind::MeshDiscovery`].
    MeshDiscovery(mesh::Discovery),
    /// See [`Kind::Hops`].
    Hops(mesh::Hops),
    /// See [`Kind::Scenario`].
    Scenario(Box<scenario::ScenarioInput>),
}

/// Names and dimensions of a case's metrics.
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
            Kind::PowerSave => Input::PowerSave(Box::new(power_save::PowerSaveInput::read(table, span)?)),
            Kind::Broadcast => Input::Broadcast(Box::new(broadcast::BroadcastInput::read(table, span)?)),
            Kind::RoamScan => Input::RoamScan(deserialize(table, span)?),
            Kind::RoamJoin => Input::RoamJoin(deserialize(table, span)?),
            Kind::Shadowing => Input::Shadowing(deserialize(table, span)?),
            Kind::Fading => Input::Fading(deserialize(table, span)?),
            Kind::PingPong => Input::PingPong(deserialize(table, span)?),
            Kind::SteeringScore => Input::SteeringScore(deserialize(table, span)?),
            Kind::SteeringRequest => Input::SteeringRequest(deserialize(table, span)?),
            Kind::Walk => Input::Walk(Box::new(roaming::Walk::read(table, span)?)),
            Kind::Air => Input::Air(Box::new(air::AirInput::read(table, span)?)),
            Kind::MeshMetric => Input::MeshMetric(deserialize(table, span)?),
            Kind::MeshDiscovery => Input::MeshDiscovery(deserialize(table, span)?),
            Kind::Hops => {
                let hops: mesh::Hops = deserialize(table, span.clone())?;
                hops.check().map_err(|error| (error, span))?;
                Input::Hops(hops)
            }
            Kind::Scenario => Input::Scenario(Box::new(scenario::ScenarioInput::read(table, span)?)),
        })
    }

    /// Metrics of the case; empty for a scenario.
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
            Input::PowerSave(_) => power_save::PowerSaveInput::metrics(),
            Input::Broadcast(_) => broadcast::BroadcastInput::metrics(),
            Input::RoamScan(_) => roaming::RoamScan::metrics(),
            Input::RoamJoin(_) => roaming::RoamJoin::metrics(),
            Input::Shadowing(_) => one("correlation", Dimension::Share),
            Input::Fading(_) => roaming::FadingInput::metrics(),
            Input::PingPong(_) => one("moves per scan", Dimension::Share),
            Input::SteeringScore(_) => one("score", Dimension::Count),
            Input::SteeringRequest(_) => steering::SteeringRequest::metrics(),
            Input::Walk(_) => roaming::Walk::metrics(),
            Input::Air(air) => air.metrics(),
            Input::MeshMetric(_) => one("metric", Dimension::Count),
            Input::MeshDiscovery(discovery) => discovery.metrics(),
            Input::Hops(_) => mesh::Hops::metrics(),
            Input::Scenario(_) => Vec::new(),
        }
    }

    /// Returns the dimension of a metric.
    ///
    /// # Errors
    /// The metric is unknown; the message lists the known ones.
    pub(super) fn dimension(&self, metric: &str) -> Result<Dimension, String> {
        if let Input::Scenario(scenario) = self {
            return scenario.dimension(metric);
        }
        let metrics = self.metrics();
        let found = metrics.iter().find(|(name, _)| name == metric);
        found.map(|(_, dimension)| *dimension).ok_or_else(|| {
            let names: Vec<&str> = metrics.iter().map(|(name, _)| name.as_str()).collect();
            format!("unknown metric `{metric}`; expected one of {}", names.join(", "))
        })
    }

    /// Returns `true` if the case is excluded from a quick validation because of its duration.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        matches!(self, Input::Scenario(scenario) if scenario.is_slow())
    }

    /// Approximate cost, to run the most expensive cases first.
    pub(super) fn effort(&self) -> u64 {
        match self {
            Input::Air(air) => air.effort(),
            Input::Walk(walk) => walk.effort(),
            Input::Fading(fading) => fading.effort(),
            Input::Hops(_) => 1_000_000,
            Input::Scenario(scenario) => scenario.effort(),
            _ => 0,
        }
    }

    /// Runs the case and returns the values of the `wanted` metrics, in order.
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
            Input::PowerSave(sleeper) => sleeper.run(wanted),
            Input::Broadcast(broadcast) => broadcast.run(wanted),
            Input::RoamScan(scan) => each(&|metric| scan.run(metric)),
            Input::RoamJoin(join) => each(&|metric| join.run(metric)),
            Input::Shadowing(shadowing) => each(&|_| shadowing.run()),
            Input::Fading(fading) => fading.run(wanted),
            Input::PingPong(stations) => each(&|_| stations.run()),
            Input::SteeringScore(radio) => each(&|_| radio.run()),
            Input::SteeringRequest(station) => each(&|metric| station.run(metric)),
            Input::Walk(walk) => walk.run(wanted),
            Input::Air(air) => air.run(wanted),
            Input::MeshMetric(link) => each(&|_| link.run()),
            Input::MeshDiscovery(discovery) => each(&|metric| discovery.run(metric)),
            Input::Hops(hops) => each(&|metric| hops.run(metric)),
            Input::Scenario(scenario) => scenario.run(wanted),
        }
    }
}

fn one(name: &str, dimension: Dimension) -> Metrics {
    vec![(name.to_owned(), dimension)]
}
