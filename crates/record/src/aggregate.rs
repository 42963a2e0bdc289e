//! Aggregation of rows, for the summary of a run, its view, its explanation and the live views.
//!
//! - [`Counting`] – which operations count, for which station and workload, and which of them missed their goal.
//!   [`EvaluatedTime`]: which part of an interval counts. [`BulkLoads`]: when stations download or upload in bulk.
//! - [`ByteSum`] and [`AirSum`]: sums of rows.
//! - [`Buckets`] – the whole run, divided into equal parts. [`Bucketed`]: a value for each part. [`Recent`]: values of the
//!   last n seconds.
//! - `Counts` – operations by outcome.
//! - [`LiveRun`] – state of an active run.

mod bulk_load;
mod counting;
mod evaluated;
mod live;
mod outcomes;
mod sums;
mod windows;

pub use bulk_load::{BulkLoads, LoadDirection};
pub use counting::{Counted, Counting};
pub use evaluated::EvaluatedTime;
pub use live::{LiveEvent, LiveRun, LiveSecond, LiveStation, LiveWorkload};
pub(crate) use outcomes::Counts;
pub use sums::{AirSum, ByteSum};
pub use windows::{Bucketed, Buckets, Recent};
