//! `netburn fleet`.

mod check;
mod deploy;
mod join;

pub(crate) use check::CheckArgs;
pub(crate) use deploy::DeployArgs;
pub(crate) use join::{JoinArgs, Label, LimitsArgs};

use super::Format;
use super::observed::Observed;
use super::serve::Listen;
use clap::{Args, Subcommand};
use netburn_protocol::messages::is_name;
use std::path::PathBuf;

/// Manage real devices that are the stations of a run
///
/// `netburn fleet serve` on one machine prints an address and a QR code. Laptops and boards join with `netburn fleet
/// join` and that address; phones scan the code. Then `netburn run SCENARIO --on fleet` runs on all of them at the same
/// time.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    Serve(FleetServeArgs),
    Join(Box<JoinArgs>),
    List(FleetListArgs),
    Revoke(RevokeArgs),
    Deploy(DeployArgs),
    Check(CheckArgs),
}

/// Start a controller and print how to join its fleet
///
/// The controller listens on one port. Agents connect with TLS and accept only the certificate whose fingerprint is in
/// the join address. Phones and other browsers open the station page over plain HTTP. The first start creates the token
/// and the certificate; later starts use them again. The controller runs until it is interrupted.
///
/// The page of the runs shows their reports. Its page "Test my network" measures the devices that have joined, like
/// `netburn measure`.
#[derive(Debug, Args)]
pub(crate) struct FleetServeArgs {
    /// Address to listen on; port 0 selects a free port [default: all addresses, port 4484]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub(crate) listen: Vec<Listen>,
    /// Name or address of this machine in the join address [default: the most likely of its addresses]
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Name of the fleet [default: this machine's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Certificate chain (PEM) to serve the station page over TLS too. Plain HTTP redirects to TLS; --host sets the
    /// name in the join address
    #[arg(long, value_name = "FILE", requires_all = ["key", "host"])]
    pub(crate) cert: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Folder of the runs that /runs shows to browsers with the dashboard key
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Don't announce the fleet on the local network (mDNS)
    #[arg(long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) observed: Observed,
}

/// List the members of the fleet of this user's controller
#[derive(Debug, Args)]
pub(crate) struct FleetListArgs {
    /// Format of the list
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// Replace the fleet's token and the dashboard key
///
/// All devices are disconnected and must join again with the new token.
#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {}

/// Parses the name of a device in a fleet.
pub(super) fn name(text: &str) -> Result<String, String> {
    if is_name(text) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "invalid name: found `{text}`, expected 1 to 64 letters, digits and `-`"
        ))
    }
}
