//! A model that was fitted to a run, beside what the run measured. `netburn fit` stores it in the folder of the run.

use netburn_workload::ProbeTarget;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// Name of the file in the folder of a run.
pub const FILE: &str = "fit.json";
/// Maximum size of the file in bytes. Twelve stations with 64 phases need a third of it.
const MAX_SIZE: u64 = 4 << 20;
/// Schema of the document.
const SCHEMA: &str = "netburn.fit/1";
/// Maximum number of observations and of all lists.
const MAX_ITEMS: usize = 10_000;
/// Maximum of all numbers, in ms, Mbit/s and the units of parameters.
const MAX_VALUE: f64 = 1e9;
/// Share of the values of a good model that are inside their 90 % intervals, at least. Values of one phase depend on each
/// other, so that the share of a few dozen is often below 90 %.
const GOOD: f64 = 0.8;
/// Added to latencies before their ratio, in ms, so that differences far below it do not count. The fit does the same.
pub const LATENCY_OFFSET_MS: f64 = 5.0;

/// A fitted model, as `netburn fit --format json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedView {
    schema: String,
    /// True if the model explains the run.
    pub explains: bool,
    /// Mean square of the differences between the run and the model, in standard deviations. About 1 is expected.
    pub misfit: f64,
    /// Queue disciplines of the access point, the likeliest first.
    pub disciplines: Vec<DisciplineView>,
    /// Parameters of the model.
    pub estimates: Vec<EstimateView>,
    /// Phases of the measurement.
    pub phases: Vec<PhaseView>,
    /// Measured values beside those of the model.
    pub observations: Vec<ObservationView>,
    /// Assumptions, one sentence each.
    pub assumptions: Vec<String>,
    /// Properties that the run can't show, one sentence each.
    pub gaps: Vec<String>,
    /// Values that the model does not explain, one sentence each.
    pub unexplained: Vec<String>,
}

/// A queue discipline with its probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DisciplineView {
    /// Name.
    pub queue: String,
    /// Probability.
    pub probability: f64,
}

/// Estimate of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EstimateView {
    /// Key of the scenario.
    pub key: String,
    /// Unit of the values.
    pub unit: String,
    /// Median.
    pub median: f64,
    /// Bounds of the 90 % interval.
    pub interval: [f64; 2],
    /// True if the run identifies the parameter.
    pub identified: bool,
    /// Measurement that would identify it; `None` if it is identified.
    pub needs: Option<String>,
}

/// A phase of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseView {
    /// Name: `laptop down`.
    pub name: String,
    /// Transfers; none in an idle phase.
    pub flows: Vec<FlowView>,
}

/// A transfer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowView {
    /// Name of the station.
    pub station: String,
    /// Direction of the content.
    pub direction: Way,
}

/// Direction of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// To the station.
    Down,
    /// From the station.
    Up,
}

/// One measured value beside that of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservationView {
    /// Number of the phase, from 1.
    pub phase: usize,
    /// Name of the station.
    pub station: String,
    /// Kind of value.
    pub quantity: QuantityName,
    /// Direction of a goodput.
    pub direction: Option<Way>,
    /// Host that answers the probes of a latency: `near`, `line`, `server`.
    pub target: Option<String>,
    /// Percentile of a latency.
    pub percentile: Option<u8>,
    /// Measured value in ms or Mbit/s.
    pub measured: f64,
    /// Median of the models.
    pub modelled: f64,
    /// Bounds of the 90 % interval of a measured value, if the model is right.
    pub interval: [f64; 2],
}

/// Kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuantityName {
    /// Mean rate of the content in Mbit/s.
    Goodput,
    /// A percentile of round trips in ms.
    Latency,
    /// Rate of the Wi-Fi link in Mbit/s.
    Rate,
}

impl QuantityName {
    /// Name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            QuantityName::Goodput => "goodput",
            QuantityName::Latency => "latency",
            QuantityName::Rate => "rate",
        }
    }

    /// Unit of the values.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            QuantityName::Goodput | QuantityName::Rate => "Mbit/s",
            QuantityName::Latency => "ms",
        }
    }
}

impl Way {
    /// Name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Way::Down => "down",
            Way::Up => "up",
        }
    }
}

impl ObservationView {
    /// True if the measured value is inside the interval.
    #[must_use]
    pub fn agrees(&self) -> bool {
        (self.interval[0]..=self.interval[1]).contains(&self.measured)
    }

    /// Distance of the measured value from the interval, as the logarithm of a ratio; 0 inside. Differences of latencies far
    /// below 5 ms do not count, as in the fit.
    #[must_use]
    pub fn distance(&self) -> f64 {
        let offset = match self.quantity {
            QuantityName::Goodput | QuantityName::Rate => 0.01,
            QuantityName::Latency => LATENCY_OFFSET_MS,
        };
        let ratio = |high: f64, low: f64| ((high.max(0.0) + offset) / (low.max(0.0) + offset)).ln();
        let [low, high] = self.interval;
        ratio(self.measured, high).max(ratio(low, self.measured)).max(0.0)
    }

    /// The host that answers the probes.
    #[must_use]
    pub fn host(&self) -> Option<ProbeTarget> {
        self.target.as_deref()?.parse().ok()
    }
}

/// Agreement of a model with the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It explains the run.
    Good,
    /// It explains the run on average, and less than 80 % of the values are inside their intervals.
    Partial,
    /// It does not explain the run.
    None,
}

impl FittedView {
    /// Number of measured values inside their intervals.
    #[must_use]
    pub fn inside(&self) -> usize {
        self.observations.iter().filter(|one| one.agrees()).count()
    }

    /// Agreement of the model with the measurement.
    #[must_use]
    pub fn trust(&self) -> Trust {
        if !self.explains {
            Trust::None
        } else if (self.inside() as f64) < GOOD * self.observations.len() as f64 {
            Trust::Partial
        } else {
            Trust::Good
        }
    }

    /// Names of the stations, in the order of their first observations.
    #[must_use]
    pub fn stations(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for one in &self.observations {
            if !names.contains(&one.station.as_str()) {
                names.push(&one.station);
            }
        }
        names
    }

    /// The observations of a station.
    pub fn of_station<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ObservationView> {
        self.observations.iter().filter(move |one| one.station == name)
    }

    /// The phase of an observation.
    #[must_use]
    pub fn phase_of(&self, one: &ObservationView) -> Option<&PhaseView> {
        self.phases.get(one.phase.checked_sub(1)?)
    }

    /// Reason for which a document is not a fit of a run with these stations; `None` if it is one.
    fn fault(&self, stations: &[&str]) -> Option<String> {
        if self.schema != SCHEMA {
            return Some(format!("found schema `{}`, expected `{SCHEMA}`", self.schema));
        }
        let lengths = [
            self.disciplines.len(),
            self.estimates.len(),
            self.phases.len(),
            self.phases.iter().map(|phase| phase.flows.len()).sum(),
            self.observations.len(),
            self.assumptions.len(),
            self.gaps.len(),
            self.unexplained.len(),
        ];
        if lengths.iter().any(|length| *length > MAX_ITEMS) {
            return Some(format!("it has more than {MAX_ITEMS} items"));
        }
        let of_phases = self
            .phases
            .iter()
            .flat_map(|phase| phase.flows.iter().map(|flow| &flow.station));
        let mut named = self.observations.iter().map(|one| &one.station).chain(of_phases);
        if let Some(other) = named.find(|name| !stations.contains(&name.as_str())) {
            return Some(format!("the run has no station `{other}`"));
        }
        let of_observations = self.observations.iter();
        let of_observations =
            of_observations.flat_map(|one| [one.measured, one.modelled, one.interval[0], one.interval[1]]);
        let of_estimates = self.estimates.iter();
        let of_estimates = of_estimates.flat_map(|one| [one.median, one.interval[0], one.interval[1]]);
        let mut numbers = of_observations.chain(of_estimates).chain([self.misfit]);
        if let Some(other) = numbers.find(|value| value.is_nan() || value.abs() > MAX_VALUE) {
            return Some(format!("found {other:e}, expected at most {MAX_VALUE:e}"));
        }
        let lost = self.observations.iter().find(|one| self.phase_of(one).is_none());
        lost.map(|one| format!("it has no phase {}", one.phase))
    }
}

/// The fit in the folder of a run with these stations; `None` without a file.
///
/// # Errors
/// The file can't be read, or is not a fit of this run.
pub fn stored(folder: &Path, stations: &[&str]) -> Result<Option<FittedView>, String> {
    let text = document(folder)?;
    let view = text.map(|text| read(&text, stations));
    view.transpose().map_err(|why| format!("{FILE}: {why}"))
}

/// Text of the file in the folder of a run; `None` without a file.
///
/// # Errors
/// The file can't be read, or it is too large.
pub fn document(folder: &Path) -> Result<Option<String>, String> {
    let path = folder.join(FILE);
    let invalid = |why: String| format!("{FILE}: {why}");
    let found = match std::fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(|error| invalid(error.to_string()))?,
    };
    if !found.is_file() || found.len() > MAX_SIZE {
        return Err(invalid(format!("expected a file of at most {MAX_SIZE} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| invalid(error.to_string()))?;
    Ok(Some(text))
}

/// Reads the document of a fit to a run with these stations.
fn read(text: &str, stations: &[&str]) -> Result<FittedView, String> {
    let fit: FittedView = serde_json::from_str(text).map_err(|error| error.to_string())?;
    fit.fault(stations).map_or(Ok(fit), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn observation(measured: f64, low: f64, high: f64) -> Value {
        json!({
            "phase": 1, "station": "tv", "quantity": "goodput", "direction": "down", "target": null, "percentile": null,
            "unit": "Mbit/s", "measured": measured, "modelled": (low + high) / 2.0, "interval": [low, high], "inside": true,
        })
    }

    fn document(explains: bool, observations: &[Value]) -> Value {
        json!({
            "schema": "netburn.fit/1", "run": "run", "seed": 1, "explains": explains, "misfit": 1.5,
            "disciplines": [{ "queue": "fifo", "probability": 1.0 }],
            "estimates": [{
                "key": "ap.home.wan.down", "unit": "Mbit/s", "median": 50.0, "interval": [40.0, 60.0], "prior": [1.0, 90.0],
                "identified": false, "needs": "load",
            }],
            "phases": [{ "name": "tv down", "flows": [{ "station": "tv", "direction": "down" }] }],
            "observations": observations, "assumptions": ["a"], "gaps": [], "unexplained": [], "scenario": "",
        })
    }

    fn fit(explains: bool, observations: &[Value]) -> FittedView {
        read(&document(explains, observations).to_string(), &["tv"]).unwrap()
    }

    #[test]
    fn a_model_is_good_if_four_of_five_values_are_inside() {
        let (inside, outside) = (observation(10.0, 9.0, 10.0), observation(8.9, 9.0, 10.0));
        let four_of_five = [vec![inside.clone(); 4], vec![outside.clone()]].concat();
        let good = fit(true, &four_of_five);
        assert_eq!((good.inside(), good.trust()), (4, Trust::Good));
        let three_of_four = [vec![inside; 3], vec![outside]].concat();
        assert_eq!(fit(true, &three_of_four).trust(), Trust::Partial);
        assert_eq!(fit(false, &four_of_five).trust(), Trust::None);
    }

    #[test]
    fn the_distance_is_that_from_the_nearest_bound() {
        let fit = fit(
            true,
            &[
                observation(20.0, 9.0, 10.0),
                observation(9.5, 9.0, 10.0),
                observation(4.5, 9.0, 10.0),
            ],
        );
        let distances: Vec<f64> = fit.observations.iter().map(ObservationView::distance).collect();
        assert!((distances[0] - 2_f64.ln()).abs() < 0.01, "{distances:?}");
        assert!(
            distances[1] == 0.0 && (distances[2] - 2_f64.ln()).abs() < 0.01,
            "{distances:?}"
        );
    }

    #[test]
    fn documents_that_are_no_fit_of_the_run_are_rejected() {
        let valid = document(true, &[observation(1.0, 0.0, 2.0)]);
        assert!(read(&valid.to_string(), &["tv"]).is_ok());
        assert!(
            read(&valid.to_string(), &["laptop"])
                .unwrap_err()
                .contains("no station `tv`")
        );
        let with = |path: &str, value: Value| {
            let mut changed = valid.clone();
            *changed.pointer_mut(path).unwrap() = value;
            read(&changed.to_string(), &["tv"])
        };
        assert!(
            with("/schema", json!("netburn.fit/2"))
                .unwrap_err()
                .contains("expected `netburn.fit/1`")
        );
        for phase in [0, 2] {
            let lost = with("/observations/0/phase", json!(phase)).unwrap_err();
            assert!(lost.contains(&format!("no phase {phase}")), "{lost}");
        }
        assert!(with("/gaps", json!(vec!["x"; MAX_ITEMS + 1])).is_err());
        assert!(with("/observations/0/quantity", json!("mood")).is_err());
        for path in ["/observations/0/interval/1", "/estimates/0/median", "/misfit"] {
            assert!(with(path, json!(1e9)).is_ok());
            assert!(with(path, json!(-1e10)).unwrap_err().contains("at most 1e9"));
        }
        let text = valid.to_string();
        for end in (0..text.len()).step_by(7) {
            assert!(read(&text[..end], &["tv"]).is_err());
        }
        // No number of a document is infinite.
        assert!(read(&text.replace("\"misfit\":1.5", "\"misfit\":1e999"), &["tv"]).is_err());
    }
}
