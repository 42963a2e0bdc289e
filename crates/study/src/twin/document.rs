//! A fit as a document.

use netburn_fit::evidence::Quantity;
use netburn_fit::result::Observation;
use netburn_fit::schedule::{Flow, Phase, Schedule};
use netburn_fit::{Estimate, Fit};
use serde_json::{Value, json};

/// The document of `netburn fit --format json`, of a fit to the run with this name. `netburn_analysis::fitted` reads it.
#[must_use]
pub fn fit_json(run: &str, fit: &Fit) -> Value {
    let schedule = fit.schedule();
    let phases = schedule.phases.iter().map(|one| phase(one, schedule));
    let observations = fit.observations.iter().map(|one| observation(one, schedule));
    json!({
        "schema": "netburn.fit/1",
        "run": run,
        "seed": fit.seed.0,
        "explains": fit.explains(),
        "misfit": fit.misfit,
        "disciplines": disciplines_json(fit),
        "estimates": fit.estimates.iter().map(estimate).collect::<Vec<_>>(),
        "phases": phases.collect::<Vec<_>>(),
        "observations": observations.collect::<Vec<_>>(),
        "assumptions": fit.assumptions,
        "gaps": fit.gaps,
        "unexplained": fit.unexplained,
        "scenario": fit.scenario,
    })
}

/// The queue disciplines with their probabilities.
#[must_use]
pub fn disciplines_json(fit: &Fit) -> Vec<Value> {
    let each = fit.disciplines.iter();
    each.map(|(kind, probability)| json!({ "queue": kind.name(), "probability": probability }))
        .collect()
}

fn estimate(estimate: &Estimate) -> Value {
    json!({
        "key": estimate.key,
        "unit": estimate.parameter.unit(),
        "median": estimate.median,
        "interval": [estimate.interval.0, estimate.interval.1],
        "prior": [estimate.prior.0, estimate.prior.1],
        "identified": estimate.is_identified,
        "needs": (!estimate.is_identified).then(|| estimate.parameter.needs()),
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
    let (quantity, direction, target, percentile) = match one.key.quantity {
        Quantity::Goodput(direction) => ("goodput", Some(direction.key()), None, None),
        Quantity::Rate(direction) => ("rate", Some(direction.key()), None, None),
        Quantity::Latency(target, level) => ("latency", None, Some(target.to_string()), Some(level)),
    };
    json!({
        "phase": one.key.phase + 1,
        "station": schedule.stations[one.key.station],
        "quantity": quantity,
        "direction": direction,
        "target": target,
        "percentile": percentile,
        "unit": one.key.unit(),
        "measured": one.measured,
        "modelled": one.modelled[1],
        "interval": [one.interval.0, one.interval.1],
        "inside": one.agrees(),
    })
}
