//! `netburn crosscheck`: comparison of the models with independent programs.

#[cfg_attr(not(target_os = "linux"), path = "crosscheck/no_lab.rs")]
mod lab;
mod ns3;

use crate::args::{Against, CrosscheckArgs};
use crate::exit::{CliError, ExitStatus};
use netburn_record::QualityIssue;
use std::path::PathBuf;

pub(crate) use lab::flow;

/// `netburn crosscheck --against PROGRAM`.
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

/// Folder for runs. Dropping the value deletes it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        Folder(std::env::temp_dir().join(format!("netburn-crosscheck-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It exists only after a run.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
