//! Choice of the environment of a scenario for which none was requested.

use crate::control::{Event, RunControl};
use crate::open_lab::{LabError, OpenLab, open_lab};
use netburn_scenario::plan::Ap;
use netburn_scenario::{Document, Environment, Plan};
use std::path::Path;

/// A chosen environment.
#[derive(Debug)]
pub struct Choice {
    /// Name of the environment.
    pub environment: Environment,
    /// Reason of the choice.
    pub reason: Reason,
    /// The lab that was opened to find out that the machine permits it. The first run can use it:
    /// [`Lab::with_open_lab`](crate::Lab::with_open_lab).
    pub lab: Option<OpenLab>,
}

/// Reason of a choice.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The scenario has no access point that could be modelled, so it runs on local.
    NoAccessPoint,
    /// The lab can't run the scenario, so it is simulated, or invalid.
    NotForLab,
    /// The machine permits a lab.
    LabPermitted,
    /// The machine does not permit a lab, so the scenario is simulated.
    NoLab(LabError),
}

/// The environment in which a scenario runs if none is requested and the machine permits it: the lab, the simulator for a
/// scenario that the lab can't run, and local for one without an access point. It depends on the scenario alone.
#[must_use]
pub fn preferred(document: &Document) -> Environment {
    preference(document).0
}

/// The preferred environment, and the plan for the lab.
fn preference(document: &Document) -> (Environment, Option<Plan>) {
    if document
        .resolve()
        .is_ok_and(|plan| plan.aps.iter().all(Ap::is_only_observed))
    {
        return (Environment::Local, None);
    }
    match document.resolve_for(Environment::Lab) {
        Ok((plan, _)) => (Environment::Lab, Some(plan)),
        Err(_) => (Environment::Simulate, None),
    }
}

/// Chooses the [`preferred`] environment, or the simulator if the machine does not permit a lab. Opens a lab to find that out.
/// `program` is the executable of netburn, which must have the command `lab-init`.
#[must_use]
pub fn choose(document: &Document, program: &Path, control: &RunControl<'_>) -> Choice {
    let choice = |environment, reason| Choice {
        environment,
        reason,
        lab: None,
    };
    let plan = match preference(document) {
        (_, Some(plan)) => plan,
        (Environment::Local, None) => return choice(Environment::Local, Reason::NoAccessPoint),
        (other, None) => return choice(other, Reason::NotForLab),
    };
    control.report(Event::OpeningLab(&plan));
    match open_lab(&plan, program) {
        Ok(lab) => Choice {
            lab: Some(lab),
            ..choice(Environment::Lab, Reason::LabPermitted)
        },
        Err(error) => choice(Environment::Simulate, Reason::NoLab(error)),
    }
}
