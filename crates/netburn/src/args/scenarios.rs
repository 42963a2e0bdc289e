//! `netburn scenarios`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

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
    /// Print a scenario that measures a network for `netburn fit`
    ///
    /// It has probes and short phases: idle, each station alone down and up, pairs, and all stations. A run of it on a fleet
    /// needs no access point in the scenario: `netburn scenarios measure laptop tv > measure.toml`, then
    /// `netburn run measure.toml --on fleet`. Standard error shows the time that it takes and its data.
    Measure {
        /// Names of the stations
        #[arg(required_unless_present = "house", conflicts_with = "house")]
        stations: Vec<String>,
        /// Scenario file, or name of a built-in scenario, whose network and stations are used with this measurement
        #[arg(long, value_name = "SCENARIO")]
        house: Option<PathBuf>,
    },
}
