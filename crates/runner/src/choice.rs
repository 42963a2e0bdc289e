//! Choice of the environment of a scenario for which none was requested.

use crate::control::{Event, RunControl};
use crate::lab::open_lab;
use netburn_lab::LabError;
use netburn_scenario::{Document, Environment};
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
    pub lab: Option<netburn_lab::Lab>,
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

/// Chooses an environment: the lab if the machine permits it, else the simulator; local for a scenario without an access point.
/// Opens a lab to find out whether the machine permits it. `program` is the executable of netburn, which must have the command
/// `lab-init`.
#[must_use]
pub fn choose(document: &Document, program: &Path, control: &RunControl<'_>) -> Choice {
    let choice = |environment, reason| Choice {
        environment,
        reason,
        lab: None,
    };
    if document.resolve().is_ok_and(|plan| plan.aps.is_empty()) {
        return choice(Environment::Local, Reason::NoAccessPoint);
    }
    let Ok((plan, _)) = document.resolve_for(Environment::Lab) else {
        return choice(Environment::Simulate, Reason::NotForLab);
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
