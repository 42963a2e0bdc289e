//! A fit as a document.

use netburn_fit::result::Observation;
use netburn_fit::schedule::{Flow, Phase, Schedule};
use netburn_fit::{Estimate, Fit};
use netburn_workload::Direction;
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
