//! `netburn fit`.

use super::Format;
use clap::{Args, value_parser};
use std::path::PathBuf;

/// Fit a model to a measured run, and print it as a scenario
///
/// The run must be a measurement for a fit, which `netburn scenarios measure` prints as a scenario: probes, and phases with
/// downloads and uploads of single stations and of all. netburn searches for the models that behave like the run. It
/// simulates some hundred models, which takes a minute or more with six stations on two cores. The scenario has a comment
/// for each key: fitted, with a 90 % interval; measured; assumed; or not identified by this run. The intervals have been
/// checked with simulated networks only.
///
/// The model is also stored as fit.json in the folder of the run. The page report.html then shows measured and modelled
/// latency and goodput of each device side by side, and whether to rely on the model.
///
/// If the model does not explain the run, the exit status is 3.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Folder of the run
    pub(crate) run: PathBuf,
    /// File for the scenario [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Random seed of the fit. The same seed gives the same result
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Number of processors [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Format on standard output. `json` has all estimates, the measured and modelled values,
    /// and the scenario as text
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}
