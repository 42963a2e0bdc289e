//! `netburn crosscheck --against lab` on systems other than Linux.

use crate::args::{CrosscheckArgs, FlowEnd};
use crate::exit::{CliError, ExitStatus};
use crate::lab_opening::no_lab;
use netburn_runner::LabError;

pub(super) fn crosscheck(_: &CrosscheckArgs) -> Result<ExitStatus, CliError> {
    Err(no_lab(&LabError))
}

/// `netburn flow`.
pub(crate) fn flow(_: &FlowEnd) -> Result<ExitStatus, CliError> {
    Err(no_lab(&LabError))
}
