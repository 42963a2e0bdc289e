//! `fleet deploy`.

use super::Label;
use clap::Args;

/// Copy netburn to other machines over SSH and have them join the fleet.
#[derive(Debug, Args)]
pub(crate) struct DeployArgs {
    /// The machines, as `ssh` is told of them
    #[arg(required = true, value_name = "USER@HOST")]
    pub(crate) hosts: Vec<String>,
    /// A label for all of them, such as room=kitchen; may be given several times
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<Label>,
}
