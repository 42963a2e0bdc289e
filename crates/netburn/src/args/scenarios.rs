//! `netburn scenarios`.

use clap::{Args, Subcommand};

/// List the built-in scenarios, or print one to start from
#[derive(Debug, Args)]
pub(crate) struct ScenariosArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ScenariosCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ScenariosCommand {
    /// Print the file of a built-in scenario
    ///
    /// Save the file, change it, and run it: `netburn scenarios show four-uses > home.toml`.
    Show {
        /// Name of the scenario
        name: String,
    },
}
