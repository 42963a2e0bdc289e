//! Exit statuses, and output of the commands.

use netburn_dev::store::StoreError;
use netburn_lab::LabError;
use netburn_report::sanitise::sanitise;
use netburn_runner::RunError;
use std::io::{self, Write};
use std::process::ExitCode;

/// Result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// The command ran: 0.
    Success,
    /// A value is out of tolerance: 1.
    OutOfTolerance,
    /// No reliable measurement: 3.
    NotMeasured,
}

/// Error that ends a command, with its message.
#[derive(Debug)]
pub(crate) enum CliError {
    /// Invalid input, or a missing program: 2.
    Usage(String),
    /// No measurement: 3.
    Failed(String),
}

impl CliError {
    /// The message.
    pub(crate) fn message(self) -> String {
        match self {
            CliError::Usage(text) | CliError::Failed(text) => text,
        }
    }

    pub(crate) fn failed(error: impl std::fmt::Display) -> CliError {
        CliError::Failed(error.to_string())
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Lab(error) => error.into(),
            RunError::Unsupported(_) => CliError::Usage(error.to_string()),
            error => CliError::failed(error),
        }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        CliError::Usage(sanitise(&error.to_string()))
    }
}

impl From<LabError> for CliError {
    fn from(error: LabError) -> Self {
        match error {
            // The machine permits a lab. The helper process of this one has exited.
            LabError::HelperExited(_) => CliError::Failed(format!("no lab: {error}")),
            error => CliError::Usage(format!("no lab: {error}; `netburn doctor` prints what permits it")),
        }
    }
}

/// Prints the error of a command, and returns the exit status.
pub(crate) fn exit_code(result: Result<ExitStatus, CliError>) -> ExitCode {
    ExitCode::from(match result {
        Ok(ExitStatus::Success) => 0,
        Ok(ExitStatus::OutOfTolerance) => 1,
        Ok(ExitStatus::NotMeasured) => 3,
        Err(CliError::Usage(why)) => {
            eprint_message(&why);
            2
        }
        Err(CliError::Failed(why)) => {
            eprint_message(&why);
            3
        }
    })
}

/// Prints a message of one or several lines on standard error, without control characters. Write errors are ignored.
pub(crate) fn eprint_message(text: &str) {
    let mut out = io::stderr().lock();
    for line in text.lines() {
        let _ = writeln!(out, "{}", sanitise(line));
    }
}

/// Writes data to standard output. A closed pipe is not an error.
pub(crate) fn print_stdout(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::failed(error)),
        _ => Ok(()),
    }
}
