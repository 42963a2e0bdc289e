//! Causes of what a load misses on models of a network, and the changes to try on them.

use super::lasting;
use crate::causes::missed;
use crate::whatif::{Change, Interventions, propose};
use netburn_analysis::explain::{Explanation, explain as by_rules};
use netburn_parallel::pool::map;
use netburn_record::{Run, Summary};
use netburn_scenario::{Plan, ScenarioError};
use netburn_simulate::{SimulateError, in_memory};
use std::ops::ControlFlow;

/// Causes in one model.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The load on the model.
    pub plan: Plan,
    /// Its run.
    pub summary: Summary,
    /// The causes of what it misses.
    pub explanation: Explanation,
}

/// Changes for the causes of a diagnosis.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempts {
    /// Proposed changes, and the causes without one.
    pub proposed: Interventions,
    /// The load on each model, with the requested duration.
    pub models: Vec<Plan>,
    /// Proposed changes that each model accepts.
    pub changes: Vec<Change>,
}

/// A load that can't be diagnosed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoDiagnosis {
    /// A model can't be simulated.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// The run of a model can't be read.
    #[error(transparent)]
    Record(#[from] netburn_record::Error),
}

impl Diagnosis {
    /// The causes of the goals that the load misses: in the likeliest model or, if this one misses none, in the first that does.
    /// `explain` gets the run, its plan and the causes by the rules, and returns the causes.
    ///
    /// # Errors
    /// A model can't be simulated; or the error of `explain`.
    pub fn of_load<E: From<NoDiagnosis>>(
        likely: &Plan,
        models: &[Plan],
        threads: usize,
        explain: impl FnOnce(&Run, &Plan, &Explanation) -> Result<Explanation, E>,
    ) -> Result<Self, E> {
        let plans: Vec<&Plan> = std::iter::once(likely).chain(models).collect();
        let misses = map(plans.len(), threads, &|number| {
            let summary = netburn_simulate::summary(plans[number], "load", &mut |_| ControlFlow::Continue(()));
            summary.map(|summary| summary.is_some_and(|summary| !missed(plans[number], &summary).is_empty()))
        });
        let misses: Result<Vec<bool>, SimulateError> = misses.into_iter().collect();
        let first = misses.map_err(NoDiagnosis::from)?.iter().position(|misses| *misses);
        let plan = plans[first.unwrap_or(0)].clone();
        let run = in_memory(&plan).map_err(NoDiagnosis::from)?;
        let explanation = match first {
            Some(_) => explain(&run, &plan, &by_rules(&run).map_err(NoDiagnosis::from)?)?,
            None => Explanation::default(),
        };
        Ok(Diagnosis {
            summary: run.summary().clone(),
            plan,
            explanation,
        })
    }

    /// The changes for the causes, on each of `models`. `duration` replaces that of the load; it is a value of the key
    /// `duration`.
    ///
    /// # Errors
    /// The duration is invalid.
    pub fn attempts(&self, models: &[Plan], duration: Option<&str>) -> Result<Attempts, ScenarioError> {
        let proposed = propose(&self.plan, &self.summary, &self.explanation.causes, duration)?.changes;
        let models = models.iter().map(|model| lasting(model, duration));
        let models: Vec<Plan> = models.collect::<Result<_, _>>()?;
        let what_ifs = proposed.what_ifs.iter().cloned();
        let changes = what_ifs.filter_map(|what_if| Change::on_each(what_if, &models));
        Ok(Attempts {
            changes: changes.collect(),
            proposed,
            models,
        })
    }
}
