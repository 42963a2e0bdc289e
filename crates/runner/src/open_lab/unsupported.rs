//! Opening of labs on systems other than Linux: it is never possible.

use netburn_scenario::Plan;
use std::path::Path;

/// An open lab. It has no values on this system.
#[derive(Debug)]
pub enum OpenLab {}

/// Error of opening a lab.
#[derive(Debug, thiserror::Error)]
#[error("the lab needs Linux (network namespaces and TUN devices)")]
pub struct LabError;

/// Returns an error.
///
/// # Errors
/// [`LabError`], always.
pub fn open_lab(_plan: &Plan, _program: &Path) -> Result<OpenLab, LabError> {
    Err(LabError)
}
