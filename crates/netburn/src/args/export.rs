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
    /// Where to write it; `-` is standard output. For parquet and pcapng a folder; for flent a folder, or a file that ends in .gz [default: standard
    /// output; for parquet RUN-parquet, for pcapng RUN-pcapng, for flent this directory]
    #[arg(long, short, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// With flent: the test to tell it as [default: rtt_fair_var_down, or rtt_fair_var where a station uploads]
    #[arg(long, value_enum, value_name = "TEST")]
    pub(crate) test: Option<FlentTest>,
}

/// flent's tests that a run can be told as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum FlentTest {
    /// What every station was sent, and its ping
    RttFairVarDown,
    /// The same, and what it sent
    RttFairVar,
    /// What every station was sent as one of N streams, all pings as one, page loads as HTTP latency
    TcpNdown,
}

/// Make runs of other programs' files.
///
/// Reads flent's data files (.flent.gz or unpacked). Each becomes a run folder, on the environment `imported`, that report, compare and export
/// read like any other.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The files
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The run's folder, for one file [default: runs/TIME-TITLE]
    #[arg(long, short, value_name = "DIR")]
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
    /// The record's tables with the runs put together, and the lines, for queries
    Parquet,
    /// Packets at each end and on the air, of a simulated run, which is simulated again
    Pcapng,
    /// Series over time as flent's data files, which its plots are drawn from
    Flent,
}
