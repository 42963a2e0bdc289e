//! What a set of measurements comes to, and how much of it the number of measurements supports.
//!
//! - [`percentile`](mod@percentile): nearest-rank percentiles and the number of samples each needs.
//! - [`Distribution`]: count, extremes and percentiles of integer samples, some of which may have no upper bound.
//! - [`fairness`]: Jain's index.
//! - [`bootstrap`]: intervals over repeated runs, from a seed.
//! - [`ranks`]: whether one set of runs lies higher than another, and Holm's correction for many such questions.
//! - [`pairs`]: whether a change moved a value, from pairs of runs that have all else in common.
//! - [`shift`](mod@shift): by how much one set of runs lies higher than another, with an interval.
//! - [`contrast`](mod@contrast): many figures of two sets of runs, judged together. [`judge`]: the words for what they come to.
//! - [`effect`]: how far two sets lie apart, in words.
//!
//! Pure: no clock, no platform float function; one input gives one answer on every platform.

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
#[doc(hidden)]
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
