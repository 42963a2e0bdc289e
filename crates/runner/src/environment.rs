//! The trait of all environments.

use crate::control::RunControl;
use crate::error::{RunError, Unsupported};
use netburn_record::{RunStatus, Sink};
use netburn_scenario::{Environment, Plan};
use std::path::Path;

/// An environment that executes runs. [`Environment`] has only its name.
///
/// **Call order:** [`check`](Self::check) a plan once; then for each run [`prepare`](Self::prepare) and
/// [`PreparedRun::run`]. [`run`](Self::run) is all three.
pub trait RunEnvironment: Sync {
    /// Name of the environment.
    fn kind(&self) -> Environment;

    /// Checks that the environment can run the plan, without permissions of this machine and without other machines.
    ///
    /// # Errors
    /// [`Unsupported`] with the reason.
    fn check(&self, plan: &Plan) -> Result<(), Unsupported> {
        plan.check_for(self.kind())?;
        Ok(())
    }

    /// Acquires what one run needs: a lab, or members of a fleet. Without it there is nothing to record.
    ///
    /// # Errors
    /// Something is missing, or [`RunError::Interrupted`].
    fn prepare<'a>(&'a self, plan: &'a Plan, control: &RunControl<'_>) -> Result<Box<dyn PreparedRun + 'a>, RunError>;

    /// Number of runs that may execute at the same time without disturbing each other.
    fn concurrency(&self) -> usize {
        1
    }

    /// Executes one run without a folder, and passes its rows to `sink`.
    ///
    /// # Errors
    /// [`RunError`] if the run has no result.
    fn run(&self, plan: &Plan, sink: &mut (dyn Sink + Send), control: &RunControl<'_>) -> Result<RunStatus, RunError> {
        self.check(plan)?;
        self.prepare(plan, control)?.run(None, sink, control)
    }
}

/// A run that can start.
pub trait PreparedRun {
    /// Executes the run and passes its rows to `sink`, which it synchronises at least once a second.
    /// `folder` is the folder of the record, for results that arrive after the end of the run.
    ///
    /// # Errors
    /// [`RunError::Storage`] if `sink` returns an error, [`RunError::Aborted`], and [`RunError::NotMeasured`].
    fn run(
        self: Box<Self>,
        folder: Option<&Path>,
        sink: &mut (dyn Sink + Send),
        control: &RunControl<'_>,
    ) -> Result<RunStatus, RunError>;
}
