//! `netburn fit`.

use super::Format;
use clap::{Args, value_parser};
use std::path::PathBuf;

/// Maximum number of runs that are fitted together. Each needs as much time as one alone.
const MAX_RUNS: usize = 8;

/// Fit a model to one or more measured runs, and print it as a scenario
///
/// The run must be a measurement for a fit, which `netburn scenarios measure` prints as a scenario: probes, and phases with
/// downloads and uploads of single stations and of all. netburn searches for the models that behave like the run. It
/// simulates some hundred models, which takes a minute or more with six stations on two cores. The scenario has a comment
/// for each key: fitted, with a 90 % interval; measured; assumed; or not identified by this run. The intervals have been
/// checked with simulated networks only.
///
/// Several runs of one network are fitted together, so that one run can show what another one does not: further devices, or
/// other times. All of them must be of the same network, without a change in between: after a change use `netburn verify`.
///
/// The model of one run is also stored as fit.json in its folder. The page report.html then shows measured and modelled
/// latency and goodput of each device side by side, and whether to rely on the model.
///
/// If the model does not explain the run, the exit status is 3.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Folders of the runs
    #[arg(value_name = "RUN", required = true, num_args = 1..=MAX_RUNS)]
    pub(crate) runs: Vec<PathBuf>,
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
