//! Causes of a recorded run.

use super::decide::{Diagnosis, Options, decide};
use super::explain::explain;
use super::goal::missed;
use super::model::Model;
use netburn_analysis::explain::Explanation;
use netburn_record::{Environment, Run};
use netburn_scenario::{Document, Plan};

/// Plan of a run whose causes a simulation can show; `None` for a measured run, for a scenario without the settings of the air,
/// and if nothing is missed.
#[must_use]
pub fn plan_of(run: &Run) -> Option<Plan> {
    let header = run.header();
    if !matches!(header.environment, Environment::Simulate | Environment::Lab) {
        return None;
    }
    let document = Document::from_json(&header.plan.to_json());
    let (plan, _) = document.resolve_for(Environment::Simulate).ok()?;
    (!missed(&plan, run.summary()).is_empty()).then_some(plan)
}

/// Causes of a run whose plan is [`plan_of`] it.
#[must_use]
pub fn diagnose(run: &Run, plan: &Plan, model: &dyn Model, options: Options) -> Diagnosis {
    decide(plan, &missed(plan, run.summary()), model, options)
}

/// Causes of a run whose plan is [`plan_of`] it, or that of a [model](crate::twin) of its network, merged with those of the
/// rules.
#[must_use]
pub fn simulated(run: &Run, plan: &Plan, rules: &Explanation, model: &dyn Model) -> (Explanation, Diagnosis) {
    let diagnosis = diagnose(run, plan, model, Options::default());
    (explain(plan, rules, &diagnosis), diagnosis)
}
