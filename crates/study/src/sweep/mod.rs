//! Runs of a scenario for every combination of values of some keys.
//!
//! 1. [`Vary::parse`] reads `KEY=A,B,C` and `KEY=1..10`; [`Grid`] is their product over a scenario.
//! 2. [`check()`] resolves every cell before the first run and reports all invalid cells. [`estimate_cost`] estimates the
//!    duration.
//! 3. [`Folder`] stores one small file for each finished run. [`run()`] simulates the missing runs on all processors.
//! 4. [`Rows`] are the results of the files: as a [`table()`], as [`csv()`] and [`parquet()`], and one metric as a chart
//!    ([`chart::text()`], [`chart::svg()`]). Of one key, [`judgements()`] compares every value with the first.

pub mod chart;
mod check;
mod columns;
mod csv;
mod estimate;
mod folder;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod grid;
mod json;
mod judged;
mod parquet;
mod rows;
mod run;
mod table;
mod vary;

pub use check::{Checked, InvalidCellPolicy, InvalidCells, check};
pub use columns::{Column, Measure, MetricValue};
pub use csv::csv;
pub use estimate::{CostEstimate, estimate_cost, format_approximate};
pub use folder::{Folder, FolderError, SCHEMA};
pub use grid::{Grid, GridError, MAX_RUNS};
pub use json::json;
pub use judged::{JudgeError, Judgements, check_judgeable, judgements};
pub use parquet::parquet;
pub use rows::{IMPOSSIBLE, Row, Rows, metric};
pub use run::{Progress, SweepError, run};
pub use table::table;
pub use vary::{MAX_VALUES, ParseVaryError, Vary};
