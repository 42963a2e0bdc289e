//! Errors of runs and of fleets as errors of a command.

use crate::exit::CliError;
use crate::lab_opening::no_lab;
use netburn_fleet_controller::control_client::ControlError;
use netburn_fleet_controller::fleet_run::WaitError;
use netburn_runner::RunError;

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Unsupported(error) => CliError::Usage(error.to_string()),
            RunError::Lab(error) => no_lab(&error),
            RunError::Members(WaitError::Control(error)) => unfound(error),
            RunError::Storage {
                folder: Some(folder),
                reason,
            } => CliError::Failed(format!(
                "the record can't be written: {reason}; the rows so far are in {path}, and `netburn report {path}` \
                 completes the record once there is space",
                path = folder.display()
            )),
            RunError::Aborted { folder: Some(folder) } => CliError::Failed(format!(
                "aborted; `netburn report {}` completes the record",
                folder.display()
            )),
            error => CliError::Failed(error.to_string()),
        }
    }
}

/// A missing controller is a usage error; a controller that does not respond is a failure.
pub(crate) fn unfound(error: ControlError) -> CliError {
    match error {
        ControlError::None | ControlError::State(_) => CliError::Usage(error.to_string()),
        _ => CliError::Failed(error.to_string()),
    }
}
