//! Runs on this machine: programs and its TCP over the loopback interface, without Wi-Fi.

use crate::agents::{RecordingSink, run_agents};
use crate::control::RunControl;
use crate::environment::{PreparedRun, RunEnvironment};
use crate::error::RunError;
use netburn_record::{RunStatus, Sink};
use netburn_run_control::{ThisMachine, run_local};
use netburn_scenario::{Environment, Plan};
use std::path::{Path, PathBuf};

/// The environment local.
#[derive(Debug)]
pub struct Local {
    program: PathBuf,
}

impl Local {
    /// `program` is the executable of netburn. It must have the commands `agent` and `serve --join`.
    #[must_use]
    pub fn new(program: &Path) -> Self {
        Local {
            program: program.to_owned(),
        }
    }
}

impl RunEnvironment for Local {
    fn kind(&self) -> Environment {
        Environment::Local
    }

    fn prepare<'a>(&'a self, plan: &'a Plan, _: &RunControl<'_>) -> Result<Box<dyn PreparedRun + 'a>, RunError> {
        Ok(Box::new(RunOnLoopback {
            plan,
            program: &self.program,
        }))
    }
}

/// A run over the loopback interface.
struct RunOnLoopback<'a> {
    plan: &'a Plan,
    program: &'a Path,
}

impl PreparedRun for RunOnLoopback<'_> {
    fn run(
        self: Box<Self>,
        _: Option<&Path>,
        sink: &mut (dyn Sink + Send),
        control: &RunControl<'_>,
    ) -> Result<RunStatus, RunError> {
        let mut launcher = ThisMachine {
            program: self.program.to_owned(),
        };
        let recording = RecordingSink::on_loopback(sink);
        run_agents(&mut launcher, recording, control, async |options| {
            run_local(self.plan, options).await
        })
    }
}
