//! Aggregation of rows, for the summary, the views of a finished run and the live views.
//!
//! - [`Counting`]: which operations count, for which station and workload, and which of them missed their goal.
//! - [`Buckets`]: the whole run, divided into equal parts. [`Recent`]: sums of the last n seconds.
//! - [`LiveCounts`]: counts of an active run.

mod counting;
mod live;
mod windows;

pub use counting::{Counted, Counting};
pub use live::{LiveCounts, LiveStation, LiveWorkload};
pub use windows::{Buckets, Recent};
