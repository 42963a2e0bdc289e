//! Path of this executable.

use crate::exit::CliError;
use std::path::PathBuf;

/// Path of this executable, which also runs agents, servers and the lab's helper.
pub(crate) fn program() -> Result<PathBuf, CliError> {
    std::env::current_exe().map_err(|error| CliError::Failed(error.to_string()))
}
