//! The commands: each resolves its arguments, runs the programs, and prints the comparison.

pub(crate) mod lab;
mod ns3;
pub(crate) mod sqm;
pub(crate) mod twin;
pub(crate) mod validate;

use crate::args::{Against, CrosscheckArgs, SpeedArgs};
use crate::exit::{CliError, ExitStatus, eprint_message};
use crate::interrupt;
use netburn_record::{QualityIssue, Run, RunStatus};
use netburn_runner::{Event, RunControl, RunEnvironment, repeat};
use netburn_scenario::Plan;
use std::path::{Path, PathBuf};

/// Number of measurements in the lab until a result counts as unreliable.
const ATTEMPTS: u32 = 3;

/// `netburn-dev crosscheck --against PROGRAM`.
pub(crate) fn crosscheck(args: &CrosscheckArgs) -> Result<ExitStatus, CliError> {
    match args.against {
        Against::Ns3 => ns3::crosscheck(args),
        Against::Lab | Against::Kernel => lab::crosscheck(args),
    }
}

/// `netburn-dev speed`.
pub(crate) fn speed(args: &SpeedArgs) -> Result<ExitStatus, CliError> {
    ns3::speed::speed(args)
}

/// Returns the reasons why values of the lab are unreliable, without those that `--busy` accepts.
fn unaccepted_issues(args: &CrosscheckArgs, issues: &[QualityIssue]) -> Vec<String> {
    let unaccepted = issues.iter().filter(|issue| !(args.busy && issue.is_busy_machine()));
    unaccepted.map(ToString::to_string).collect()
}

/// Measures in the lab until its self-check passes. Returns the last measurement, and why it is unreliable.
fn until_reliable<T>(
    attempts: u32,
    mut measure: impl FnMut() -> Result<(T, Vec<String>), CliError>,
) -> Result<(T, Vec<String>), CliError> {
    let mut last = measure()?;
    for _ in 1..attempts {
        if last.1.is_empty() {
            break;
        }
        last = measure()?;
    }
    Ok(last)
}

/// Folder for runs, which is deleted with the value.
fn temporary_folder() -> Result<tempfile::TempDir, CliError> {
    tempfile::Builder::new()
        .prefix("netburn-crosscheck-")
        .tempdir()
        .map_err(CliError::failed)
}

/// Path of this executable, which also runs the processes of a lab.
fn program() -> Result<PathBuf, CliError> {
    std::env::current_exe().map_err(CliError::failed)
}

/// Runs a plan in an environment, and records it to a folder.
fn run_plan(plan: &Plan, environment: &dyn RunEnvironment, folder: &Path) -> Result<Run, CliError> {
    let observer = |event: Event<'_>| {
        if let Event::Warning(text) | Event::LabWarning(text) = event {
            eprint_message(text);
        }
    };
    let control = RunControl::new(interrupt::cancel()?, &observer);
    let done = repeat(plan, environment, folder, &control)?;
    match done.status {
        RunStatus::Interrupted => Err(CliError::Failed("interrupted".to_owned())),
        _ => Ok(done.run),
    }
}
