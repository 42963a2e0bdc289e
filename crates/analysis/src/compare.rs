//! Comparison of runs: metrics that a change made better or worse.
//!
//! - [`Side`] – the runs of one side. Statistics use one value per run.
//! - [`Comparison`] – two sides, metric by metric. [`judge_together`] judges several as one set.
//! - [`Ranking`] – more than two sides. [`Matrix`]: many scenarios, each under several variants.

mod comparable;
mod matrix;
mod methods;
mod metric;
mod pairing;
mod pairwise;
mod ranking;
mod scenario_diff;
mod side;

pub use comparable::{Incomparable, NotCompared};
pub use matrix::{Cell, Matrix, Row};
pub use methods::{Methods, Origin};
pub use metric::{Key, metrics};
pub use pairing::Pairing;
pub use pairwise::{Comparison, MetricComparison, Options, Undecided, VerdictChange, judge_together};
pub use ranking::{Ranked, Ranking, Standing};
pub use scenario_diff::{ChangedKey, changed_keys};
pub use side::{Side, name};
