//! Runs in the lab: programs and this machine's TCP around a modelled access point.

mod launcher;

use crate::agents::{RecordingSink, run_agents};
use crate::control::{Event, RunControl};
use crate::environment::{PreparedRun, RunEnvironment};
use crate::error::{RunError, Unsupported};
use launcher::LabLauncher;
use netburn_lab::LabError;
use netburn_record::{RunStatus, Sink};
use netburn_run_control::run_local;
use netburn_scenario::{Environment, Plan};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The environment lab. Each run has a [`netburn_lab::Lab`] of its own.
#[derive(Debug)]
pub struct Lab {
    program: PathBuf,
    /// Lab of the next run.
    open: Mutex<Option<netburn_lab::Lab>>,
}

impl Lab {
    /// `program` is the executable of netburn. It must have the commands `agent`, `serve --join` and `lab-init`.
    #[must_use]
    pub fn new(program: &Path) -> Self {
        Lab {
            program: program.to_owned(),
            open: Mutex::new(None),
        }
    }

    /// Uses an open lab for the first run, whose plan must be the one of that lab.
    #[must_use]
    pub fn with_open_lab(self, lab: netburn_lab::Lab) -> Self {
        Lab {
            open: Mutex::new(Some(lab)),
            ..self
        }
    }
}

/// Opens a lab for a plan. `program` is the executable of netburn, which must have the command `lab-init`.
///
/// # Errors
/// The machine does not permit a lab, or the plan's network is invalid.
pub fn open_lab(plan: &Plan, program: &Path) -> Result<netburn_lab::Lab, LabError> {
    let mut helper = Command::new(program);
    helper.arg("lab-init");
    netburn_lab::Lab::open(plan, helper)
}

impl RunEnvironment for Lab {
    fn kind(&self) -> Environment {
        Environment::Lab
    }

    fn check(&self, plan: &Plan) -> Result<(), Unsupported> {
        plan.check_for(Environment::Lab)?;
        Ok(())
    }

    fn prepare<'a>(&'a self, plan: &'a Plan, control: &RunControl<'_>) -> Result<Box<dyn PreparedRun + 'a>, RunError> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        let lab = match open {
            Some(lab) => lab,
            None => {
                control.report(Event::OpeningLab(plan));
                open_lab(plan, &self.program)?
            }
        };
        control.report(Event::LabOpen(&lab));
        Ok(Box::new(RunInLab {
            lab,
            plan,
            program: &self.program,
        }))
    }
}

/// A run whose lab is open.
struct RunInLab<'a> {
    lab: netburn_lab::Lab,
    plan: &'a Plan,
    program: &'a Path,
}

impl PreparedRun for RunInLab<'_> {
    fn run(
        self: Box<Self>,
        _: Option<&Path>,
        sink: &mut dyn Sink,
        control: &RunControl<'_>,
    ) -> Result<RunStatus, RunError> {
        let recording = RecordingSink::in_lab(sink, &self.lab);
        run_agents(
            &mut LabLauncher::new(&self.lab, self.program),
            recording,
            control,
            async |options| run_local(self.plan, options).await,
        )
    }
}
