//! `fleet deploy`.

use super::{Label, name};
use clap::Args;
use std::path::PathBuf;

/// Copy netburn to other machines over SSH and have them join the fleet.
///
/// Each machine is asked what it is, gets a binary that runs there (this one, where it does), and starts `netburn fleet join` in the
/// background. All of it goes over one connection of the system's `ssh` for each machine. An agent that was started so before ends
/// first. What there is on the other machine: ~/.local/bin/netburn, ~/.config/netburn/join.env (which only the user can read) and
/// ~/.local/state/netburn.
#[derive(Debug, Args)]
pub(crate) struct DeployArgs {
    /// The machines, as `ssh` is told of them
    #[arg(required = true, value_name = "USER@HOST")]
    pub(crate) hosts: Vec<String>,
    /// Where they join [default: the first address of this user's controller, which `netburn fleet serve` printed]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// What it is called in the fleet, for a single machine [default: its own name]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) name: Option<String>,
    /// A label for all of them, such as room=kitchen; may be given several times
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<Label>,
    /// The interface that their traffic is bound to, such as wlan0
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,
    /// The binary for machines that this one doesn't run on, as docs/RELEASE.md builds it
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<PathBuf>,
    /// Have it start with the device (`netburn fleet join --install`)
    #[arg(long)]
    pub(crate) service: bool,
    /// Have `ssh` read this configuration instead of its own
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_config: Option<PathBuf>,
}
