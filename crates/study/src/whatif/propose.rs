//! From a run to the changes that can be simulated for its causes.

use netburn_analysis::explain::Cause;
use netburn_analysis::explain::causes::{Interventions, what_ifs};
use netburn_record::Summary;
use netburn_scenario::{Document, Environment, Plan, ScenarioError};

/// Proposed changes for the causes of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Proposal {
    /// The unchanged plan, if there is a change to simulate.
    pub plan: Option<Plan>,
    /// The changes, and the causes without one.
    pub changes: Interventions,
}

/// Proposes changes for the causes of a run in any environment. `plan` is its plan, or that of a model of its network. A
/// plan that does not describe the air has none, with the reason. `duration` replaces the duration of the plan; it is a
/// value of the key `duration`.
///
/// # Errors
/// The duration is invalid.
pub fn propose(
    plan: &Plan,
    summary: &Summary,
    causes: &[Cause],
    duration: Option<&str>,
) -> Result<Proposal, ScenarioError> {
    if causes.is_empty() {
        return Ok(Proposal::default());
    }
    let mut document = Document::from_json(&plan.to_json());
    if let Some(duration) = duration {
        document.set("duration", duration)?;
        // The only possible error is the requested time.
        document.resolve()?;
    }
    let Ok((plan, _)) = document.resolve_for(Environment::Simulate) else {
        let why = "the run's scenario has no radio settings (`joins`, `signal`). With a model of the network (--model), it could be";
        return Ok(Proposal {
            plan: None,
            changes: Interventions::not_simulated(&why),
        });
    };
    let changes = what_ifs(&plan, summary, causes);
    Ok(Proposal {
        plan: (!changes.what_ifs.is_empty()).then_some(plan),
        changes,
    })
}
