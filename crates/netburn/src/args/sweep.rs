//! `netburn sweep`.

use super::Changes;
use clap::{Args, ValueEnum, value_parser};
use std::path::PathBuf;

/// Simulate a scenario for every combination of the values that some of its keys take.
///
/// One row a run: a table and a chart on standard output; all figures as rows.csv and rows.parquet, and chart.svg, in a folder. Ctrl-C
/// stops it and keeps every run that is finished; the same command with --out of its folder goes on from there, after a crash too.
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// A key of the scenario and its values: `ap.home.queue=fifo,airtime`; `seed=1..10` is 1 to 10, both included; `1..10..3` every
    /// third; `"station.a.signal=-80 dBm..-60 dBm..5"` with its unit; `'station.*.tsq=2015,2018'` for every station. Several times for all combinations, the first key slowest
    #[arg(long, value_name = "KEY=VALUES", required = true)]
    pub(crate) vary: Vec<String>,
    /// Keep the sweep in this folder; if it is the folder of this sweep, go on where it stopped [default: sweeps/TIME-SCENARIO]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The column that the chart shows [default: worst_p95_ms, or throughput_mbps where most runs are too short for it]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) metric: Option<String>,
    /// Judge every value against the first, as `netburn compare --matrix` does in the sweep's folder. Takes one --vary, and tells
    /// nothing with fewer than three runs of each (--repeat 8 makes eight). Kept as judged.csv
    #[arg(long)]
    pub(crate) judge: bool,
    /// Run the combinations that can be run where some can't, instead of none. The others become rows of verdict `impossible`
    #[arg(long)]
    pub(crate) skip_impossible: bool,
    /// Processors to use [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// How the rows are written to standard output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: SweepFormat,
    /// Begin more than 10,000 runs
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// How the rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum SweepFormat {
    /// A table and a chart, for people
    #[default]
    Text,
    /// For scripts
    Json,
    /// For spreadsheets: what rows.csv holds
    Csv,
}
