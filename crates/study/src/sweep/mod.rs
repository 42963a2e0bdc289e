//! Runs of a scenario for every combination of values of some keys.
//!
//! 1. [`Vary::parse`] reads `KEY=A,B,C` and `KEY=1..10`; [`Grid`] is their product over a scenario.
//! 2. [`check()`] resolves every cell before the first run and reports all invalid cells. [`estimate_cost`] estimates the
//!    duration.
//! 3. [`Folder`] stores one small file for each finished run. [`run()`] simulates the missing runs of a [`Selection`] on all
//!    processors: those of a [`Shard`], and further runs of a cell until a metric has a [`Precision`].
//! 4. [`Rows`] are the results of the runs: as a [`table()`], as [`csv()`] and [`parquet()`], and one metric as a chart
//!    ([`chart::text()`], [`chart::svg()`]). [`Cells`] are their medians with intervals, and [`Effects`] describe the effects of
//!    the keys in words. [`write_results`] writes them to the folder. Of one key, [`judgements()`] compares every value with the first.

mod cells;
pub mod chart;
mod check;
mod columns;
mod csv;
mod effects;
mod estimate;
mod folder;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod grid;
mod identity;
mod json;
mod judged;
mod parquet;
mod precision;
mod results;
mod rows;
mod run;
mod selection;
mod shard;
mod table;
mod vary;

pub use cells::{Cell, Cells, Estimate, column_names};
pub use check::{Checked, InvalidCellPolicy, InvalidCells, check};
pub use columns::{Column, MetricValue};
pub use csv::csv;
pub use effects::Effects;
pub use estimate::{CostEstimate, estimate_cost, format_approximate};
pub use folder::{Access, Folder, FolderError};
pub use grid::{Grid, GridError, MAX_RUNS};
pub use identity::SCHEMA;
pub use json::json;
pub use judged::{JudgeError, Judgements, check_judgeable, judgements};
pub use netburn_record::metrics::Unit;
pub use parquet::parquet;
pub use precision::{ParsePrecisionError, Precision, Target};
pub use results::write_results;
pub use rows::{IMPOSSIBLE, Row, Rows, metric};
pub use run::{Progress, SweepError, run};
pub use selection::{Due, Selection};
pub use shard::{MAX_SHARDS, ParseShardError, Shard};
pub use table::table;
pub use vary::{MAX_VALUES, ParseVaryError, Vary};
