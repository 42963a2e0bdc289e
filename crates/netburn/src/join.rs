//! The hidden life of participants: what a controller starts on this machine.

use crate::exit::{Ended, Stop};
use netburn_fleet::{FleetError, Join};

/// `netburn agent`.
pub(crate) fn agent() -> Result<Ended, Stop> {
    take_part(netburn_fleet::agent_main)
}

/// `netburn serve --join`.
pub(crate) fn server() -> Result<Ended, Stop> {
    take_part(netburn_fleet::server_main)
}

fn take_part(life: fn(&Join) -> Result<(), FleetError>) -> Result<Ended, Stop> {
    let join = Join::from_environment().map_err(|e| Stop::Wrong(e.to_string()))?;
    match life(&join) {
        // Whoever ended it says why, once.
        Ok(()) | Err(FleetError::RunEnded(_) | FleetError::Declined(_) | FleetError::EndedEarly(_)) => Ok(Ended::Ran),
        Err(error) => Err(Stop::NotMeasured(format!("{}: {error}", join.name))),
    }
}
