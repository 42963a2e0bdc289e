//! Opening of a lab on systems other than Linux: it is never possible.

use crate::exit::CliError;
use crate::program::program;
use netburn_runner::{LabError, OpenLab, open_lab};
use netburn_scenario::Plan;

pub(crate) fn open(plan: &Plan) -> Result<OpenLab, CliError> {
    open_lab(plan, &program()?).map_err(|error| no_lab(&error))
}

pub(crate) fn no_lab(error: &LabError) -> CliError {
    CliError::Usage(format!("no lab: {error}. `--on simulate` models the same without it"))
}

pub(crate) fn announce_opening(_: &Plan) {}

pub(crate) fn announce(lab: &OpenLab) {
    match *lab {}
}

pub(crate) fn devices(lab: &OpenLab) -> String {
    match *lab {}
}

pub(crate) fn explained(error: &LabError) -> String {
    error.to_string()
}
