//! A fit as a document.

use netburn_fit::home::DISCIPLINES;
use netburn_fit::result::Observation;
use netburn_fit::schedule::{Flow, Phase, Schedule};
use netburn_fit::{Draw, Estimate, Fit, InvalidModels, METHOD, Measurement, Models};
use netburn_medium::queue::QueueKind;
use netburn_units::Seed;
use netburn_workload::Direction;
use serde::Deserialize;
use serde_json::{Value, json};

/// The document of `netburn fit --format json`, of a fit to the run with this name. `netburn_analysis::fitted` reads it.
#[must_use]
pub fn fit_json(run: &str, fit: &Fit) -> Value {
    let (models, schedule) = (&fit.models, fit.models.schedule());
    let phases = schedule.phases.iter().map(|one| phase(one, schedule));
    let observations = fit.observations.iter().map(|one| observation(one, schedule));
    json!({
        "schema": "netburn.fit/1",
        "run": run,
        "method": METHOD,
        "seed": models.seed.0,
        "explains": models.explains(),
        "misfit": models.misfit,
        "disciplines": disciplines_json(models),
        "estimates": fit.estimates.iter().map(estimate).collect::<Vec<_>>(),
        "phases": phases.collect::<Vec<_>>(),
        "observations": observations.collect::<Vec<_>>(),
        "assumptions": fit.assumptions,
        "gaps": fit.gaps,
        "unexplained": fit.unexplained,
        "scenario": fit.scenario,
        "draws": models.draws.iter().map(draw).collect::<Vec<_>>(),
    })
}

/// The queue disciplines with their probabilities.
#[must_use]
pub fn disciplines_json(models: &Models) -> Vec<Value> {
    let each = models.disciplines.iter();
    each.map(|(kind, probability)| json!({ "queue": kind.name(), "probability": probability }))
        .collect()
}

/// A model of the posterior. Its values have the order of the estimates.
fn draw(draw: &Draw) -> Value {
    json!({ "queue": draw.discipline.name(), "probability": draw.probability, "values": draw.values })
}

/// Reason for which a document has no models of a measurement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoStoredModels {
    /// It is not the document of a fit.
    #[error("it is not the document of a fit: {0}")]
    Document(#[from] serde_json::Error),
    /// Another version of netburn wrote it.
    #[error("another version of netburn wrote it, with the method {0} instead of {METHOD}")]
    Method(u32),
    /// The measured values are others.
    #[error("its measured values are not those of this measurement")]
    OtherMeasurement,
    /// A fit finds no such discipline.
    #[error("it has a model with an unknown queue")]
    Queue,
    /// The values are not those of models.
    #[error(transparent)]
    Models(#[from] InvalidModels),
}

/// The part of a document with which networks are simulated.
#[derive(Debug, Deserialize)]
struct Stored {
    /// Documents without it are older than the first number.
    #[serde(default)]
    method: u32,
    seed: u64,
    misfit: f64,
    estimates: Vec<StoredEstimate>,
    observations: Vec<StoredObservation>,
    #[serde(default)]
    draws: Vec<StoredDraw>,
}

#[derive(Debug, Deserialize)]
struct StoredEstimate {
    key: String,
    median: f64,
}

#[derive(Debug, Deserialize)]
struct StoredObservation {
    measured: f64,
}

#[derive(Debug, Deserialize)]
struct StoredDraw {
    queue: String,
    probability: f64,
    values: Vec<f64>,
}

/// The models in the document of a fit to this measurement.
///
/// # Errors
/// The document is that of another measurement or another version of netburn, or a fit does not write it.
pub fn models_of_fit(text: &str, measurement: &Measurement) -> Result<Models, NoStoredModels> {
    let stored: Stored = serde_json::from_str(text)?;
    if stored.method != METHOD {
        return Err(NoStoredModels::Method(stored.method));
    }
    let own = measurement.keys.iter().zip(&measurement.values);
    let is_measured = own.map(|(key, value)| key.in_unit(*value));
    let home = &measurement.home;
    let keys = home.parameters().into_iter().map(|parameter| parameter.key(home));
    if !is_measured.eq(stored.observations.iter().map(|one| one.measured))
        || !keys.eq(stored.estimates.iter().map(|one| one.key.as_str()))
    {
        return Err(NoStoredModels::OtherMeasurement);
    }
    let draws = stored.draws.into_iter().map(|one| {
        Ok(Draw {
            discipline: discipline(&one.queue)?,
            probability: one.probability,
            values: one.values,
        })
    });
    let models = Models::stored(
        measurement,
        (Seed(stored.seed), stored.misfit),
        stored.estimates.iter().map(|one| one.median).collect(),
        draws.collect::<Result<_, NoStoredModels>>()?,
    )?;
    Ok(models)
}

/// A discipline that a fit can find.
fn discipline(name: &str) -> Result<QueueKind, NoStoredModels> {
    let found = DISCIPLINES.iter().find(|kind| kind.name() == name);
    found.copied().ok_or(NoStoredModels::Queue)
}

fn estimate(estimate: &Estimate) -> Value {
    json!({
        "key": estimate.key,
        "unit": estimate.parameter.unit(),
        "median": estimate.median,
        "interval": [estimate.interval.0, estimate.interval.1],
        "prior": [estimate.prior.0, estimate.prior.1],
        "identified": estimate.is_identified(),
        "needs": estimate.needs,
    })
}

fn phase(phase: &Phase, schedule: &Schedule) -> Value {
    let flow = |flow: &Flow| json!({ "station": schedule.stations[flow.station], "direction": flow.direction.key() });
    json!({
        "name": phase.describe(&schedule.stations),
        "flows": phase.flows.iter().map(flow).collect::<Vec<_>>(),
    })
}

fn observation(one: &Observation, schedule: &Schedule) -> Value {
    let quantity = one.key.quantity;
    json!({
        "phase": one.key.phase + 1,
        "station": schedule.stations[one.key.station],
        "quantity": quantity.name(),
        "direction": quantity.direction().map(Direction::key),
        "target": quantity.probe().map(|(target, _)| target.to_string()),
        "percentile": quantity.probe().map(|(_, level)| level),
        "unit": one.key.unit(),
        "measured": one.measured,
        "modelled": one.modelled[1],
        "interval": [one.interval.0, one.interval.1],
        "inside": one.agrees(),
    })
}

#[cfg(test)]
mod tests {
    use netburn_analysis::fitted::LATENCY_OFFSET_MS;
    use netburn_fit::evidence::{Key, Quantity};
    use netburn_workload::ProbeTarget;

    /// The axis of the fit is the logarithm of the latency and the offset.
    #[test]
    fn a_page_weighs_latencies_as_the_fit() {
        let key = Key {
            phase: 0,
            station: 0,
            quantity: Quantity::Latency(ProbeTarget::Near, 50),
        };
        assert!((key.in_unit(0.0) - (1.0 - LATENCY_OFFSET_MS)).abs() < 1e-12);
    }
}
