//! `netburn-dev`: the commands of netburn's developers.
//!
//! - [`args`] – the arguments.
//! - [`command`] – one module for each program that the models are compared with.
//! - [`exit`] – exit statuses, errors and output. [`interrupt`]: SIGINT ends runs.

mod args;
mod command;
mod exit;
mod interrupt;

use args::{Cli, Command};
use clap::Parser;
use exit::{CliError, ExitStatus, exit_code};
use netburn_run_control::{AgentError, Join};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(match Cli::parse().command {
        Command::Validate(args) => command::validate::validate(&args),
        Command::Crosscheck(args) => command::crosscheck(&args),
        Command::Speed(args) => command::speed(&args),
        Command::Twin(args) => command::twin::twin(&args),
        Command::Sqm(args) => command::sqm::sqm(&args),
        Command::Flow(args) => command::lab::flow(&args.end),
        Command::LabInit => std::process::exit(netburn_lab::init::main()),
        Command::Agent => take_part(netburn_run_control::agent_main),
        Command::Serve { .. } => take_part(netburn_run_control::server_main),
    })
}

/// Runs an agent or the server of a run in the lab.
fn take_part(life: fn(&Join) -> Result<(), AgentError>) -> Result<ExitStatus, CliError> {
    let join = Join::from_environment().map_err(|error| CliError::Usage(error.to_string()))?;
    netburn_run_control::take_part(&join, life).map_err(CliError::Failed)?;
    Ok(ExitStatus::Success)
}
