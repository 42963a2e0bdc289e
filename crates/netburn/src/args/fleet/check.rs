//! `fleet check`.

use clap::Args;

/// Time each phase of a login over SSH, and say what makes it slow.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The machines, as `ssh` is told of them
    #[arg(required = true, value_name = "USER@HOST")]
    pub(crate) hosts: Vec<String>,
}
