//! `netburn sweep`.

use super::Changes;
use clap::{Args, ValueEnum, value_parser};
use netburn_study::sweep::{Precision, Shard};
use std::path::PathBuf;

/// Simulate all combinations of values of some scenario keys
///
/// Standard output shows a table with the medians of each combination, a chart, and the effects of the keys. A folder
/// gets all metrics of all runs as rows.csv and rows.parquet, with --repeat also the medians with their intervals as
/// cells.csv. chart.svg is the chart, effects.txt has the effects, and surface.svg is a map over two keys with numbers.
/// Ctrl-C stops the sweep and keeps the finished runs. To continue, also after a crash,
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
    /// Part of the runs for this machine: shard K of N. All shards can use one folder: the shard that finishes last writes
    /// the results. If each shard has a folder of its own, --merge joins them
    #[arg(long, value_name = "K/N", requires = "out")]
    pub(crate) shard: Option<Shard>,
    /// Folder of the same sweep whose finished runs are added; repeatable
    #[arg(long, value_name = "DIR")]
    pub(crate) merge: Vec<PathBuf>,
    /// Maximum half width of the 95 % confidence interval of --metric's median: a share (5%) or a number in the metric's
    /// unit. Each combination has 6 to --repeat runs
    #[arg(long, value_name = "WIDTH", requires = "metric")]
    pub(crate) precision: Option<Precision>,
    /// Column of the chart and of the effects [default: worst_p95_ms, or throughput_mbps if most runs are too short for it]
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
