//! `netburn measure`.

use super::fleet::name;
use super::observed::Observed;
use super::run::seed;
use super::serve::Listen;
use clap::{Args, value_parser};
use netburn_units::Duration;
use std::path::PathBuf;

/// Measure your network with your devices, and model it
///
/// The devices join as for `netburn run --on fleet`: phones scan the code that is printed, and other devices use `netburn
/// fleet join` or a browser. If no `netburn fleet serve` runs, this command is the controller until it ends. This computer
/// is the server, so it should be wired to the router.
///
/// The measurement has phases of 4 s: idle, each device alone, pairs, and all devices, down and up. Before it begins, netburn
/// prints how long it takes and how much it transfers at most. Above 2 GB it asks for confirmation. Then netburn simulates some
/// hundred models, and writes the one that behaves like your network to network.toml in the folder of the record. Standard
/// output shows what was found.
///
/// If a device leaves, or if the model does not explain the measurement, the exit status is 3.
#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
    /// Names of the devices, which the measurement waits for [default: those that have joined when you press Enter]
    #[arg(value_name = "STATION", value_parser = name)]
    pub(crate) stations: Vec<String>,
    /// Begin without Enter when this number of devices has joined
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..=12), conflicts_with = "stations")]
    pub(crate) devices: Option<u8>,
    /// Time to wait for STATION and for --devices
    #[arg(long, value_name = "TIME", default_value = "10min")]
    pub(crate) wait: Duration,
    /// Don't ask for confirmation of more than 2 GB
    #[arg(long)]
    pub(crate) yes: bool,
    /// Folder for the record and the model, or DIR-2 if it exists [default: runs/TIME-measure]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Member that is the server, such as one on the internet; it must have joined with `--serve` [default: this machine]
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) observed: Observed,
    /// Address to listen on, if no controller runs; port 0 selects a free port [default: all addresses, port 4484]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub(crate) listen: Vec<Listen>,
    /// Don't announce the fleet on the local network (mDNS)
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Random seed of the fit
    #[arg(long, value_name = "N", default_value = "1", value_parser = seed)]
    pub(crate) seed: u64,
    /// Number of processors of the fit [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}
