//! Access points that are observed during a run.

use clap::Args;
use netburn_access_point::Target;
use std::path::PathBuf;

/// Access points that are observed during a run on a fleet.
#[derive(Debug, Clone, Args)]
pub(crate) struct Observed {
    /// Access point or router to observe during the run, over SSH without a password, or `local` if netburn runs on it; several
    /// are possible
    #[arg(
        long = "access-point",
        value_name = "[NAME=]ssh://USER@HOST|local",
        help_heading = "On the fleet"
    )]
    pub(crate) access_points: Vec<Target>,
    /// Configuration file for the SSH client to access points [default: that of the user]
    #[arg(long, value_name = "FILE", requires = "access_points", help_heading = "On the fleet")]
    pub(crate) ssh_config: Option<PathBuf>,
}
