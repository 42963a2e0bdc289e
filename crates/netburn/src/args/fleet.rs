//! `fleet`.

mod check;
mod deploy;
mod join;

pub(crate) use check::CheckArgs;
pub(crate) use deploy::DeployArgs;
pub(crate) use join::{JoinArgs, Label, LimitsArgs};

use super::Format;
use super::serve::Listen;
use clap::{Args, Subcommand};
use netburn_fleet::protocol::is_name;
use std::path::PathBuf;

/// Several real devices as the stations of one run: laptops, boards and phones.
///
/// `netburn fleet serve` on one machine prints an address and a QR code. Laptops and boards join with `netburn fleet join` and that
/// address, phones by scanning it. Then `netburn run SCENARIO --on fleet` runs on all of them at once.
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

/// Be the fleet's controller: print how to join, and say who is here.
///
/// It listens at one port: agents come over TLS, pinned to the certificate whose fingerprint is in the address to join; phones and
/// other browsers open the station page over plain HTTP. Token and certificate are made at the first start and kept. It serves
/// until it is interrupted.
#[derive(Debug, Args)]
pub(crate) struct FleetServeArgs {
    /// Where to listen; port 0 takes a free one [default: every address, port 4484]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub(crate) listen: Vec<Listen>,
    /// The name or address of this machine to be printed in the address to join [default: the likeliest of its own]
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// What the fleet is called [default: this machine's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Serve the station page over TLS too, with this certificate chain (PEM), and send plain HTTP there; its names go into the
    /// address to join with --host
    #[arg(long, value_name = "FILE", requires_all = ["key", "host"])]
    pub(crate) cert: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Where the runs are that are shown at /runs to whoever has their key
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Don't announce the fleet on the local network (mDNS)
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Say who is in the fleet of this user's controller.
#[derive(Debug, Args)]
pub(crate) struct FleetListArgs {
    /// How the list is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// Make a new token for the fleet and a new key to its page of runs: everybody is thrown out, and nobody comes in with the old ones.
#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {}

/// A name in a fleet.
fn name(text: &str) -> Result<String, String> {
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => Err("a name is 1 to 64 letters, digits and `-`".to_owned()),
    }
}
