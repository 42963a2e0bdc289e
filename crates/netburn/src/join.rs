//! Processes that a controller starts on this machine: agents and servers.

use crate::exit::{CliError, ExitStatus};
use netburn_run_control::{AgentError, Join};

/// `netburn agent`.
pub(crate) fn agent() -> Result<ExitStatus, CliError> {
    take_part(netburn_run_control::agent_main)
}

/// `netburn serve --join`.
pub(crate) fn server() -> Result<ExitStatus, CliError> {
    take_part(netburn_run_control::server_main)
}

fn take_part(life: fn(&Join) -> Result<(), AgentError>) -> Result<ExitStatus, CliError> {
    let join = Join::from_environment().map_err(|error| CliError::Usage(error.to_string()))?;
    netburn_run_control::take_part(&join, life).map_err(CliError::Failed)?;
    Ok(ExitStatus::Success)
}
