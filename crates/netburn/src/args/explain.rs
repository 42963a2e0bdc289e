//! `netburn explain`.

use super::Format;
use clap::{Args, value_parser};
use std::path::PathBuf;

/// Say what a run's figures suggest, and simulate what would help.
///
/// Causes come from the record alone, each with the figure that says so. For each, the simulator runs the changes that it can (another
/// queue, another radio, a cap, newer small queues …) and the run's scenario as it is, under the same seeds, and says what each change
/// would bring. Nothing is measured anew, and nothing is written.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The run's folder
    pub(crate) run: PathBuf,
    /// How often everything is simulated, each time under another seed. More changes take more runs to judge; fewer than 3 tell nothing,
    /// and 0 simulates nothing
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = value_parser!(u16).range(0..=1000))]
    pub(crate) runs: u16,
    /// How long each simulation runs [default: as long as the run was to]
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<String>,
    /// Processors to use [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// How it is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}
