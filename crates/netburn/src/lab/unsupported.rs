//! `netburn lab` on systems other than Linux.

use crate::args::LabArgs;
use crate::exit::{CliError, ExitStatus};
use crate::lab_opening::no_lab;
use netburn_runner::LabError;

/// `netburn lab SCENARIO`.
pub(crate) fn lab(_: &LabArgs) -> Result<ExitStatus, CliError> {
    Err(no_lab(&LabError))
}

pub(crate) fn helper() -> i32 {
    2
}

pub(crate) fn keep_terminal() -> Result<(), CliError> {
    Err(no_lab(&LabError))
}
