//! The result of one house.

use crate::store::Entry;
use serde::{Deserialize, Serialize};

/// The result of one house.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HouseResult {
    /// Number of the house, which is its seed.
    pub house: u64,
    /// Number of its stations.
    pub stations: usize,
    /// Rates of its line in Mbit/s, down and up.
    pub line: (f64, f64),
    /// Queue discipline of its access point.
    pub discipline: String,
    /// Further properties.
    #[serde(default)]
    pub traits: Vec<String>,
    /// The largest differences between the measurement and the model, one sentence each.
    #[serde(default)]
    pub unexplained: Vec<String>,
    /// True if the measurement shows the discipline, by the truth.
    pub shows_discipline: bool,
    /// Disciplines with their probabilities.
    #[serde(default)]
    pub disciplines: Vec<(String, f64)>,
    /// The discipline that the fit identified.
    pub found: Option<String>,
    /// Misfit of the model; about 1 if it explains the measurement.
    pub misfit: f64,
    /// True if the fit says that its model explains the measurement.
    pub explains: bool,
    /// Parameters that the house has.
    pub parameters: Vec<ParameterResult>,
    /// Values with each change.
    pub predicted: Vec<Predicted>,
    /// Verdicts of the stations with each change.
    pub verdicts: Vec<Verdicts>,
    /// The recommended remedy, if changes were tried.
    pub remedy: Option<Remedy>,
}

/// An estimated parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParameterResult {
    /// Kind: `line down`, `signal`.
    pub kind: String,
    /// True value.
    pub truth: f64,
    /// Estimate.
    pub estimate: Interval,
    /// True if the fit says that the run identifies it.
    pub is_identified: bool,
}

/// A median with its 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Median.
    pub median: f64,
    /// Upper bound.
    pub high: f64,
}

/// A predicted value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// Name of the change.
    pub change: String,
    /// Name of the station.
    pub station: String,
    /// Kind: `page load`, `call delay`, `throughput`.
    pub kind: String,
    /// Median of the runs of the changed house.
    pub truth: f64,
    /// Value of one run of the changed house.
    pub one: f64,
    /// Prediction.
    pub prediction: Interval,
}

/// Verdicts of a station with a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdicts {
    /// Name of the change.
    pub change: String,
    /// Name of the station.
    pub station: String,
    /// True if the station meets its goals in most runs of the changed house.
    pub truth: bool,
    /// True if it meets them in most predictions.
    pub prediction: bool,
    /// True if nine of ten predictions agree.
    pub is_sure: bool,
}

/// Distances from the goals of the whole house, 0 if all are met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remedy {
    /// Distance without a change.
    pub before: f64,
    /// The recommended remedy, with the distance in the house that has it. `None` without a recommendation.
    pub recommended: Option<(String, f64)>,
    /// The proposed remedy with the smallest distance, if there is one.
    pub best: Option<(String, f64)>,
}

impl Entry for HouseResult {
    type Key = u64;

    fn key(&self) -> u64 {
        self.house
    }
}

impl Interval {
    /// True if the value is inside.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}
