//! Kinds of case: one file for each family, with the keys, the metrics and their computation.
//!
//! A new kind is a type with [`Kind`], or with [`FixedMetrics`] if all of its cases have the same metrics, and a line in
//! [`KINDS`].

mod air;
mod broadcast;
mod codel;
mod formula;
mod mesh;
mod phy;
mod power_save;
mod roaming;
mod scenario;
mod signal;
mod steering;

use super::quantity::Dimension;
use super::toml_value::{Fault, Table, deserialize};
use netburn_network::Network;
use netburn_scenario::{Document, Plan};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::ops::Range;

/// Names and dimensions of a case's metrics.
pub type Metrics = Vec<(String, Dimension)>;

/// Input of a case, and the models that it runs.
pub trait Kind: Debug + Send + Sync {
    /// Metrics of the case; empty if a metric is a formula.
    fn metrics(&self) -> Metrics;

    /// Runs the case and returns the values of the `wanted` metrics, in order.
    fn run(&self, wanted: &[&str]) -> Vec<f64>;

    /// Returns the dimension of a metric.
    ///
    /// # Errors
    /// The metric is unknown; the message lists the known ones.
    fn dimension(&self, metric: &str) -> Result<Dimension, String> {
        let metrics = self.metrics();
        let found = metrics.iter().find(|(name, _)| name == metric);
        found.map(|(_, dimension)| *dimension).ok_or_else(|| {
            let names: Vec<&str> = metrics.iter().map(|(name, _)| name.as_str()).collect();
            format!("unknown metric `{metric}`; expected one of {}", names.join(", "))
        })
    }

    /// Approximate cost, to run the most expensive cases first.
    fn effort(&self) -> u64 {
        0
    }

    /// Returns `true` if the case is excluded from a quick validation because of its duration.
    fn is_slow(&self) -> bool {
        false
    }
}

/// Metric of all cases of a kind: name, dimension, and value in the result of a run.
struct Metric<R>(&'static str, Dimension, fn(&R) -> f64);

/// A kind whose cases all have the same metrics.
trait FixedMetrics: Debug + Send + Sync {
    /// Result of a run.
    type Result: 'static;
    const METRICS: &'static [Metric<Self::Result>];

    fn result(&self) -> Self::Result;

    fn effort(&self) -> u64 {
        0
    }
}

impl<T: FixedMetrics> Kind for T {
    fn metrics(&self) -> Metrics {
        let metric = |Metric(name, dimension, _): &Metric<T::Result>| ((*name).to_owned(), *dimension);
        T::METRICS.iter().map(metric).collect()
    }

    fn run(&self, wanted: &[&str]) -> Vec<f64> {
        let result = self.result();
        let value = |wanted: &&str| {
            let metric = T::METRICS.iter().find(|Metric(name, ..)| name == wanted);
            metric.map_or(f64::NAN, |Metric(.., value)| value(&result))
        };
        wanted.iter().map(value).collect()
    }

    fn effort(&self) -> u64 {
        FixedMetrics::effort(self)
    }
}

type Reader = fn(Table<'_>, Range<usize>) -> Result<Box<dyn Kind>, Fault>;

/// All kinds: name in files, and the reader of the keys.
const KINDS: [(&str, Reader); 22] = [
    ("rate", read_keys::<phy::Rate>),
    ("duration", read_keys::<phy::PpduDuration>),
    ("sensitivity", read_keys::<signal::Sensitivity>),
    ("frame-success", read_keys::<signal::FrameSuccess>),
    ("bianchi", read_keys::<formula::Bianchi>),
    ("shares", read_keys::<formula::Shares>),
    ("codel", read_keys::<codel::Codel>),
    ("power-save", read_keys::<power_save::PowerSave>),
    ("broadcast", read_keys::<broadcast::Broadcast>),
    ("roam-scan", read_keys::<roaming::RoamScan>),
    ("roam-join", read_keys::<roaming::RoamJoin>),
    ("shadowing", read_keys::<roaming::ShadowingInput>),
    ("fading", read_keys::<roaming::Fading>),
    ("ping-pong", read_keys::<roaming::PingPong>),
    ("steering-score", read_keys::<steering::SteeringScore>),
    ("steering-request", read_keys::<steering::SteeringRequest>),
    ("walk", read_keys::<roaming::Walk>),
    ("air", air::read),
    ("mesh-metric", read_keys::<mesh::LinkMetric>),
    ("mesh-discovery", read_keys::<mesh::Discovery>),
    ("hops", read_keys::<mesh::Hops>),
    ("scenario", scenario::read),
];

/// Returns the reader of a kind's keys.
///
/// # Errors
/// The kind is unknown; the message lists the known ones.
pub(super) fn reader(kind: &str) -> Result<Reader, String> {
    let found = KINDS.iter().find(|(name, _)| *name == kind);
    found.map(|(_, reader)| *reader).ok_or_else(|| {
        let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
        format!("unknown kind `{kind}`; expected one of {}", names.join(", "))
    })
}

fn read_keys<T: Kind + DeserializeOwned + 'static>(
    table: Table<'_>,
    span: Range<usize>,
) -> Result<Box<dyn Kind>, Fault> {
    Ok(Box::new(deserialize::<T>(table, span)?))
}

/// Plan of a scenario whose network can be built.
fn network_plan(text: &str) -> Result<Plan, String> {
    let document = Document::from_toml("case", text).map_err(|error| error.to_string())?;
    let plan = document.resolve().map_err(|error| error.to_string())?;
    Network::<()>::new(&plan).map_err(|error| error.to_string())?;
    Ok(plan)
}

/// Changed keys of a scenario and their values, as for `--set`.
fn changed_keys(set: &toml::Table) -> Vec<(String, String)> {
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    set.iter().map(|(key, value)| (key.clone(), text(value))).collect()
}
