//! Processes that a controller starts on this machine: agents and servers.

use crate::exit::{CliError, ExitStatus};
use netburn_fleet::{FleetError, Join};

/// `netburn agent`.
pub(crate) fn agent() -> Result<ExitStatus, CliError> {
    take_part(netburn_fleet::agent_main)
}

/// `netburn serve --join`.
pub(crate) fn server() -> Result<ExitStatus, CliError> {
    take_part(netburn_fleet::server_main)
}

fn take_part(life: fn(&Join) -> Result<(), FleetError>) -> Result<ExitStatus, CliError> {
    let join = Join::from_environment().map_err(|e| CliError::Usage(e.to_string()))?;
    match life(&join) {
        // The coordinator prints the reason, once.
        Ok(()) | Err(FleetError::RunEnded(_) | FleetError::Declined(_) | FleetError::EndedEarly(_)) => {
            Ok(ExitStatus::Success)
        }
        Err(error) => Err(CliError::Failed(format!("{}: {error}", join.name))),
    }
}
