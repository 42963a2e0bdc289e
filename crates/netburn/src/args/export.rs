//! `netburn export` and `netburn import`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Write a run for other tools.
///
/// A folder of several runs (--repeat) is one export: lines and rows say which run they are of.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The run's folder
    pub(crate) run: PathBuf,
    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: ExportFormat,
    /// Where to write it; `-` is standard output [default: standard output]
    #[arg(long, short, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
}

/// What a run can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// For spreadsheets: one line for each station and workload
    Csv,
    /// The whole record as one document: summary, scenario, every row
    Json,
    /// Goals as test cases, for CI
    Junit,
    /// Figures for Prometheus and Grafana
    Openmetrics,
}
