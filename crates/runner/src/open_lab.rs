//! Opening of labs.

use netburn_scenario::Plan;
use std::path::Path;
use std::process::Command;

pub use netburn_lab::{Lab as OpenLab, LabError};

/// Opens a lab for a plan. `program` is the executable of netburn, which must have the command `lab-init`.
///
/// # Errors
/// The machine does not permit a lab, or the plan's network is invalid.
pub fn open_lab(plan: &Plan, program: &Path) -> Result<OpenLab, LabError> {
    let mut helper = Command::new(program);
    helper.arg("lab-init");
    OpenLab::open(plan, helper)
}
