//! The load of a run on several models of its network.

use super::{NotThisNetwork, on_model};
use crate::whatif::changed;
use netburn_scenario::{Document, Environment, Plan, ScenarioError};

/// A scenario that can't be a model for a load.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoModel {
    /// It can't be simulated, neither alone nor with the load.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// It lacks stations of the load.
    #[error(transparent)]
    Network(#[from] NotThisNetwork),
}

/// The load of `run` on the network of a scenario.
///
/// # Errors
/// The scenario is no model for this load.
pub fn loaded(run: &Plan, model: &Document) -> Result<Plan, NoModel> {
    let (model, _) = model.resolve_for(Environment::Simulate)?;
    let plan = on_model(run, &model)?;
    let (checked, _) = Document::from_json(&plan.to_json()).resolve_for(Environment::Simulate)?;
    Ok(checked)
}

/// The load of `run` on each of these scenario texts, with the seeds of the run's repeats.
///
/// # Errors
/// A scenario is no model for this load.
pub fn models(run: &Plan, scenarios: &[String]) -> Result<Vec<Plan>, NoModel> {
    let each = scenarios.iter().zip(0..).map(|(text, number)| {
        let plan = loaded(run, &Document::from_toml("model", text)?)?;
        Ok(Plan {
            seed: run.seed.repeat(number),
            ..plan
        })
    });
    each.collect()
}

/// A plan with another duration, a value of the key `duration`; without one the same plan.
///
/// # Errors
/// The duration is invalid.
pub fn lasting(plan: &Plan, duration: Option<&str>) -> Result<Plan, ScenarioError> {
    match duration {
        Some(duration) => changed(plan, &[("duration".to_owned(), duration.to_owned())]),
        None => Ok(plan.clone()),
    }
}
