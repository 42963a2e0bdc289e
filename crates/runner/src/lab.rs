//! Runs in the lab: programs and this machine's TCP around a modelled access point.

mod launcher;

use crate::agents::{ModelledNetwork, RecordingSink, run_agents};
use crate::control::{Event, RunControl};
use crate::environment::{PreparedRun, RunEnvironment};
use crate::error::RunError;
use crate::open_lab::{OpenLab, open_lab};
use launcher::LabLauncher;
use netburn_platform::Monotonic;
use netburn_record::{LabHealth, Row, RunStatus, Sink};
use netburn_run_control::run_local;
use netburn_scenario::{Environment, Plan};
use netburn_units::Instant;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The environment lab. Each run has a [`OpenLab`] of its own.
#[derive(Debug)]
pub struct Lab {
    program: PathBuf,
    /// Lab of the next run.
    open: Mutex<Option<OpenLab>>,
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
    pub fn with_open_lab(self, lab: OpenLab) -> Self {
        Lab {
            open: Mutex::new(Some(lab)),
            ..self
        }
    }
}

impl RunEnvironment for Lab {
    fn kind(&self) -> Environment {
        Environment::Lab
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
    lab: OpenLab,
    plan: &'a Plan,
    program: &'a Path,
}

impl PreparedRun for RunInLab<'_> {
    fn run(
        self: Box<Self>,
        _: Option<&Path>,
        sink: &mut (dyn Sink + Send),
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

impl ModelledNetwork for OpenLab {
    fn start(&self, zero: Monotonic) -> Result<(), String> {
        OpenLab::start(self, zero).map_err(|error| error.to_string())
    }

    fn stop(&self) {
        OpenLab::stop(self);
    }

    fn take_rows(&self) -> Vec<Row> {
        OpenLab::take_rows(self)
    }

    fn take_warnings(&self) -> Vec<String> {
        OpenLab::take_warnings(self)
    }

    fn interfaces_down(&self) -> Vec<&str> {
        OpenLab::interfaces_down(self)
    }

    fn now(&self) -> Option<Instant> {
        self.snapshots().0
    }

    fn notes(&self) -> &[String] {
        OpenLab::notes(self)
    }

    fn health(&self) -> LabHealth {
        OpenLab::health(self)
    }

    fn failed(&self) -> Option<String> {
        OpenLab::failed(self)
    }
}
