//! `netburn sweep`.

use super::Changes;
use clap::{Args, ValueEnum, value_parser};
use std::path::PathBuf;

/// Simulate all combinations of values of some scenario keys
///
/// Standard output shows a table, with one row per run, and a chart. A folder gets all metrics as rows.csv and
/// rows.parquet, and chart.svg. Ctrl-C stops the sweep and keeps the finished runs. To continue, also after a crash,
/// repeat the command with --out and the sweep's folder.
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Key of the scenario and its values: `ap.home.queue=fifo,airtime`. `seed=1..10` is 1 to 10, both included;
    /// `1..10..3` is every third. With a unit: `"station.a.signal=-80 dBm..-60 dBm..5"`. For every station:
    /// `'station.*.tsq=2015,2018'`. Repeatable, for all combinations; the first key varies slowest
    #[arg(long, value_name = "KEY=VALUES", required = true)]
    pub(crate) vary: Vec<String>,
    /// Folder of the sweep; the folder of the same sweep continues it [default: sweeps/TIME-SCENARIO]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Column of the chart [default: worst_p95_ms, or throughput_mbps if most runs are too short for it]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) metric: Option<String>,
    /// Compare every value with the first, as `netburn compare --matrix` does in the sweep's folder, and save the
    /// result as judged.csv. Needs exactly one --vary, and three or more runs of each value (--repeat 8 makes eight)
    #[arg(long)]
    pub(crate) judge: bool,
    /// Skip impossible combinations instead of failing. They become rows of verdict `impossible`
    #[arg(long)]
    pub(crate) skip_impossible: bool,
    /// Number of processors [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Format on standard output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: SweepFormat,
    /// Allow more than 10,000 runs
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Format of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum SweepFormat {
    /// Human-readable table and chart
    #[default]
    Text,
    /// For scripts
    Json,
    /// For spreadsheets: the content of rows.csv
    Csv,
}
