//! `netburn fleet check`.

use crate::args::Format;
use clap::Args;
use std::path::PathBuf;

/// Measure the phases of an SSH login and find slow ones
///
/// netburn logs in with the system's `ssh` and a key, without a question. It runs `echo`, and runs it again over the
/// open connection. For a slow phase it prints the likely cause and a remedy. It changes nothing on the other machine.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Machines, as in the command line of `ssh`
    #[arg(required = true, value_name = "USER@HOST")]
    pub(crate) hosts: Vec<String>,
    /// Configuration file for `ssh` [default: its own]
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_config: Option<PathBuf>,
    /// Format of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}
