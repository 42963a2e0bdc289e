//! One scenario with several seeds and signals, and metrics over its summaries.
//!
//! - [`Grid`] – the runs of a scenario with changed keys, several seeds, and shifts of all signals.
//! - [`Formula`] – an expression over a run's metrics, and its aggregation over the runs.

mod formula;
mod grid;
mod paths;

pub use formula::{Formula, FormulaError};
pub use grid::{Grid, GridError, Run, changed_scenario};
pub use netburn_record::metrics::Unit;
pub use paths::MetricPath;
