//! The commands: each resolves its arguments, runs the programs, and prints the comparison.

pub(crate) mod lab;
mod ns3;
pub(crate) mod validate;

use crate::args::{Against, CrosscheckArgs};
use crate::exit::{CliError, ExitStatus};
use netburn_record::{QualityIssue, Summary};
use netburn_report::sanitise::sanitise;
use netburn_runner::{Cancel, Event, RunControl, RunEnvironment, repeat};
use netburn_scenario::Plan;
use std::path::{Path, PathBuf};

/// `netburn-dev crosscheck --against PROGRAM`.
pub(crate) fn crosscheck(args: &CrosscheckArgs) -> Result<ExitStatus, CliError> {
    match args.against {
        Against::Ns3 => ns3::crosscheck(args),
        Against::Lab | Against::Kernel => lab::crosscheck(args),
    }
}

/// Returns the reasons why values of the lab are unreliable, without those that `--busy` accepts.
fn unaccepted_issues(args: &CrosscheckArgs, issues: &[QualityIssue]) -> Vec<String> {
    let unaccepted = issues.iter().filter(|issue| !(args.busy && issue.is_busy_machine()));
    unaccepted.map(ToString::to_string).collect()
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

/// Runs a plan in an environment, records it to a folder, and returns its summary.
fn run_plan(plan: &Plan, environment: &dyn RunEnvironment, folder: &Path) -> Result<Summary, CliError> {
    let observer = |event: Event<'_>| {
        if let Event::Warning(text) | Event::LabWarning(text) = event {
            eprintln!("{}", sanitise(text));
        }
    };
    let done = repeat(
        plan,
        environment,
        folder,
        &RunControl::new(Cancel::default(), &observer),
    )?;
    Ok(done.run.summary().clone())
}
