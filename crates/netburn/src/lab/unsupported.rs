//! `netburn lab` on systems other than Linux.

use crate::args::LabArgs;
use crate::exit::{CliError, ExitStatus};
use crate::lab_opening::no_lab;
use crate::plan;
use netburn_runner::LabError;
use netburn_scenario::Environment;

/// `netburn lab SCENARIO`.
pub(crate) fn lab(args: &LabArgs) -> Result<ExitStatus, CliError> {
    args.commands().map_err(CliError::Usage)?;
    let scenario = plan::changed(&args.changes())?;
    plan::resolved(&scenario, Environment::Lab)?;
    Err(no_lab(&LabError))
}

pub(crate) fn helper() -> i32 {
    2
}

pub(crate) fn keep_terminal() -> Result<(), CliError> {
    Err(no_lab(&LabError))
}
