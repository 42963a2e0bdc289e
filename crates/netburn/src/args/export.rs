//! `netburn export` and `netburn import`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Export a run to a format of another tool
///
/// A run set (--repeat) is one export. Each line or row contains the number of its run.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Folder of the run
    pub(crate) run: PathBuf,
    /// Format to export to
    #[arg(long, alias = "format", value_enum, value_name = "FORMAT")]
    pub(crate) to: ExportFormat,
    /// Output path; `-` is standard output. A folder for parquet and pcapng; a folder or a file name ending in .gz for
    /// flent [default: standard output; RUN-parquet for parquet, RUN-pcapng for pcapng, the current folder for flent]
    #[arg(long, short, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// flent: name of the flent test to export as [default: rtt_fair_var_down, or rtt_fair_var if a station uploads]
    #[arg(long, value_enum, value_name = "TEST")]
    pub(crate) test: Option<FlentTest>,
}

/// flent tests as which a run can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum FlentTest {
    /// Download throughput and ping of each station
    RttFairVarDown,
    /// The same, with upload throughput
    RttFairVar,
    /// Download throughput of each station as one of N streams, all pings as one series, page loads as HTTP latency
    TcpNdown,
    /// The same with upload throughput
    TcpNup,
    /// Downloads, uploads and probes by their marks, as of the scenario rrul
    Rrul,
    /// Downloads, uploads and probes by their order, as of the scenarios rrul-be and rrul-house
    RrulBe,
    /// One-way delay, jitter and loss of the packets up of the first call (kind voice)
    Voip,
}

/// Import data files of other tools as runs
///
/// netburn reads data files of flent (.flent.gz or uncompressed), results of iperf3 (--json), irtt (-o), crusader (.crr) and networkQuality
/// (-c), tables of goresponsiveness, the output of ping, and dumps of iw and `tc -s -j qdisc`. Each file becomes a run with the environment
/// `imported`. report, compare and export read it like any other run.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Data files
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Folder of the new run, for a single file [default: runs/TIME-TITLE]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// CSV: one line for each station and workload
    Csv,
    /// The record as one document: summary, scenario, all rows
    Json,
    /// JUnit XML: goals as test cases, for CI
    Junit,
    /// Metrics for Prometheus and Grafana
    Openmetrics,
    /// Tables of the record, all runs combined, and the lines of csv
    Parquet,
    /// Packets of each endpoint and of the radio. A run of `simulate` only, which is simulated again
    Pcapng,
    /// Time series as data files for flent's plots
    Flent,
}
