//! `netburn fleet deploy`.

use super::{Label, name};
use clap::Args;
use std::path::PathBuf;

/// Copy netburn to other machines over SSH and join the fleet
///
/// netburn detects the platform of each machine, copies a binary that runs there, and starts `netburn fleet join` in
/// the background. It uses this binary if that runs there. Each machine needs one connection of the system's `ssh`. An
/// agent from an earlier deployment is stopped first.
///
/// Files on the other machine: ~/.local/bin/netburn, ~/.config/netburn/join.env (readable by the user only) and
/// ~/.local/state/netburn.
#[derive(Debug, Args)]
pub(crate) struct DeployArgs {
    /// Machines, as in the command line of `ssh`
    #[arg(required = true, value_name = "USER@HOST")]
    pub(crate) hosts: Vec<String>,
    /// Join address [default: the first address that `netburn fleet serve` of this user printed]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Name in the fleet, for a single machine [default: the machine's own name]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) name: Option<String>,
    /// Label of all the machines, such as room=kitchen; repeatable
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<Label>,
    /// Network interface for the traffic of the runs, such as wlan0
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,
    /// Binary for machines on which this one does not run, built for their processor
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<PathBuf>,
    /// Start the agent with the device (`netburn fleet join --install`)
    #[arg(long)]
    pub(crate) service: bool,
    /// Configuration file for `ssh` [default: its own]
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_config: Option<PathBuf>,
}
