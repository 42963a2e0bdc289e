//! `netburn fleet`: the controller and its members.

mod check;
mod deploy;
pub(crate) mod install;
mod join;
mod list;
mod own;
pub(crate) mod qr;
mod revoke;
mod serve;

pub(crate) use join::join;
pub(crate) use list::text as members_text;
pub(crate) use own::OwnController;
pub(crate) use serve::show_code;

use crate::args::{FleetArgs, FleetCommand};
use crate::errors::unfound;
use crate::exit::{CliError, ExitStatus};
use netburn_dashboard::measurement::Measurements;
use netburn_deploy::ssh::SshError;
use netburn_fleet_controller::control_client::ControlClient;
use netburn_fleet_controller::hub::State;
use netburn_protocol::messages::MAX_NAME;
use netburn_runner::pool::processors;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// The measurements of the controller with this state, with records in this folder.
pub(crate) type MeasurementsOf = fn(State, &Path) -> Arc<dyn Measurements>;

/// `netburn fleet …`. The page of a controller starts `measurements`.
pub(crate) fn fleet(args: &FleetArgs, measurements: MeasurementsOf) -> Result<ExitStatus, CliError> {
    match &args.command {
        FleetCommand::Serve(args) => serve::serve(args, measurements),
        FleetCommand::Join(args) => join(args),
        FleetCommand::List(args) => list::list(args),
        FleetCommand::Revoke(args) => revoke::revoke(args),
        FleetCommand::Deploy(args) => deploy::deploy(args),
        FleetCommand::Check(args) => check::check(args),
    }
}

/// Maximum size in bytes of a file with a token or an address.
pub(crate) const MAX_TOKEN_FILE: u64 = 4096;

/// State folder of this user's controller.
pub(crate) fn state() -> Result<State, CliError> {
    State::for_current_user().map_err(|error| CliError::Usage(error.to_string()))
}

/// This user's controller.
async fn found() -> Result<ControlClient, CliError> {
    ControlClient::connect(&state()?).await.map_err(unfound)
}

/// Checks that this user's controller is running and answers.
pub(crate) fn check_controller() -> Result<(), CliError> {
    runtime()?.block_on(async { found().await.map(drop) })
}

fn ssh_error(error: SshError) -> CliError {
    match error {
        SshError::InvalidHost(_) | SshError::NotInstalled => CliError::Usage(error.to_string()),
        SshError::Folder(_) | SshError::Failed(_) => CliError::Failed(error.to_string()),
    }
}

pub(crate) fn runtime() -> Result<Runtime, CliError> {
    let threads = processors().clamp(1, 4);
    crate::runtime::on(threads)
}

/// This machine's name, restricted to the characters of a name in a fleet.
fn here() -> String {
    let name = netburn_record::Host::here().name;
    let first = name.split('.').next().unwrap_or_default();
    let plain: String = first
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(MAX_NAME)
        .collect();
    match plain.trim_matches('-') {
        "" => "netburn".to_owned(),
        name => name.to_owned(),
    }
}
