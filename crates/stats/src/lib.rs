//! Statistics of a set of measurements, limited to what the number of measurements supports.
//!
//! - [`percentile`](mod@percentile): nearest-rank percentiles and the number of samples each needs.
//! - [`Distribution`]: count, extremes and percentiles of integer samples, some of which may have
//!   no upper bound.
//! - [`fairness`]: Jain's index.
//! - [`bootstrap`]: intervals over repeated runs, from a seed.
//! - [`ranks`]: rank test for two sets of runs, and Holm's correction for multiple tests.
//! - [`pairs`]: signed-rank test for pairs of runs that differ in one setting only.
//! - [`shift`](mod@shift): shift between two sets of runs, with an interval.
//! - [`contrast`](mod@contrast): joint judgement of many metrics of two sets of runs. [`judge`]:
//!   the possible judgements.
//! - [`effect`]: effect size with a verbal scale.
//!
//! Pure: no clock, no platform float functions. The same input yields the same result on every
//! platform.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod bootstrap;
pub mod contrast;
pub mod distribution;
pub mod effect;
pub mod fairness;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod judge;
pub mod pairs;
pub mod percentile;
pub mod ranks;
pub mod shift;

pub use bootstrap::{Interval, interval};
pub use contrast::{Contrast, contrast};
pub use distribution::Distribution;
pub use effect::{Effect, Size};
pub use fairness::jain;
pub use pairs::{SignedRank, signed_rank};
pub use percentile::{P50, P75, P90, P95, P99, Percentile, STANDARD};
pub use ranks::{RankTest, holm, mann_whitney};
pub use shift::{Shift, paired_shift, shift};
