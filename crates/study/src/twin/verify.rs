//! The prediction of a second measurement, after a change of the network.

use crate::whatif::{changed, with_limits};
use netburn_fit::evidence::Key;
use netburn_fit::result::with_model_error;
use netburn_fit::schedule::{MIN_PHASE, Schedule};
use netburn_fit::{Measurement, Models, SimulationError, model_variance, simulated};
use netburn_parallel::pool::map;
use netburn_scenario::{Document, Environment, Plan, ScenarioError};
use netburn_units::{Duration, Seed};

/// Models of a prediction. Between the smallest and the largest of 19 values is a further one with 90 %.
pub const PREDICTING_MODELS: usize = 19;
/// Share of the values that must be as predicted.
const HELD: f64 = 0.8;

/// A prediction beside the measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// All values of the second measurement that a model predicts.
    pub values: Vec<Predicted>,
}

/// One value of the second measurement, in the unit of its quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// Phase, station and quantity.
    pub key: Key,
    /// Value of the first measurement, if it has this value.
    pub before: Option<f64>,
    /// Bounds of the 90 % interval of the prediction, and between them its median.
    pub predicted: [f64; 3],
    /// Value of the second measurement.
    pub after: f64,
}

/// Reason for which a prediction can't be verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotVerify {
    /// Other stations took part.
    #[error("the first measurement has the stations {}, and the second one {}", .0.join(", "), .1.join(", "))]
    Stations(Vec<String>, Vec<String>),
    /// The models have no such key, or the value is invalid.
    #[error(transparent)]
    Change(#[from] ScenarioError),
    /// The change is not one of the network, but of the measurement.
    #[error("--set changes the measurement, expected a change of the network")]
    Workloads,
    /// A model can't be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

impl Predicted {
    /// True if the measured value is inside the interval.
    #[must_use]
    pub fn holds(&self) -> bool {
        let [low, _, high] = self.predicted;
        (low..=high).contains(&self.after)
    }
}

impl Verification {
    /// Number of values inside their intervals.
    #[must_use]
    pub fn held(&self) -> usize {
        self.values.iter().filter(|value| value.holds()).count()
    }

    /// True if the prediction held: at least 80 % of the values are inside their 90 % intervals.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held() as f64 >= HELD * self.values.len() as f64
    }
}

/// Checks what [`verify`] needs, before models are fitted to `before`.
///
/// # Errors
/// Other stations took part, or the change is invalid.
pub fn verifiable(before: &Measurement, after: &Measurement, change: &[(String, String)]) -> Result<(), CannotVerify> {
    let (first, second) = (&before.schedule.stations, &after.schedule.stations);
    if first != second {
        return Err(CannotVerify::Stations(first.clone(), second.clone()));
    }
    measured_again(&before.draft(), after, change, MIN_PHASE, 0)?;
    Ok(())
}

/// Changes the models that were fitted to `before`, simulates them, and compares the results with `after`, of the first `length` of
/// each phase. `change` has keys and values of a scenario.
///
/// # Errors
/// Other stations took part, or the change is invalid.
pub fn verify(
    models: &Models,
    before: &Measurement,
    after: &Measurement,
    change: &[(String, String)],
    length: Duration,
    threads: usize,
) -> Result<Verification, CannotVerify> {
    verifiable(before, after, change)?;
    let length = after.schedule.used_length(length);
    let plans = models.scenarios(PREDICTING_MODELS);
    let plans = plans
        .iter()
        .zip(0..)
        .map(|(text, number)| measured_again(text, after, change, length, number));
    let plans: Vec<Plan> = plans.collect::<Result<_, _>>()?;
    let predictions = map(plans.len(), threads, &|number| {
        simulated(&plans[number], &after.keys, length)
    });
    let predictions: Vec<Vec<f64>> = predictions.into_iter().collect::<Result<_, _>>()?;
    let values = after.keys.iter().zip(&after.values).enumerate();
    let values = values.map(|(number, (key, value))| {
        let own = predictions.iter().map(|member| member[number]).collect();
        // A measurement of other phases has other values with the same number.
        let phases = [&before.schedule, &after.schedule].map(|schedule| schedule.phases.get(key.phase));
        let is_same = phases[0].map(|phase| &phase.flows) == phases[1].map(|phase| &phase.flows);
        let same = before.keys.iter().position(|own| is_same && own == key);
        Predicted {
            key: *key,
            before: same.map(|place| key.in_unit(before.values[place])),
            predicted: interval(own, model_variance(key, &after.schedule)).map(|value| key.in_unit(value)),
            after: key.in_unit(*value),
        }
    });
    Ok(Verification {
        values: values.collect(),
    })
}

/// The plan of a changed model with the workloads of the measurement.
fn measured_again(
    text: &str,
    after: &Measurement,
    change: &[(String, String)],
    length: Duration,
    number: u64,
) -> Result<Plan, CannotVerify> {
    let schedule = after.schedule.shortened(length);
    let text = schedule.in_scenario(text).expect("a fit writes valid TOML");
    let (plan, _) = Document::from_toml("model", &text)?.resolve_for(Environment::Simulate)?;
    let plan = changed(&plan, &with_limits(change))?;
    let is_measured = |own: Schedule| (own.phases, own.probes) == (schedule.phases.clone(), schedule.probes.clone());
    if !Schedule::of_plan(&plan).is_ok_and(is_measured) {
        return Err(CannotVerify::Workloads);
    }
    Ok(Plan {
        seed: Seed(1).repeat(number),
        ..plan
    })
}

/// The 90 % interval of a measured value, around its median: that of the models, and the error of a model.
fn interval(mut values: Vec<f64>, variance: f64) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    let median = values[last / 2];
    let [low, high] = with_model_error([values[0], median, values[last]], variance);
    [low, median, high]
}
