//! Statistics of a set of measurements, limited to what the number of measurements supports.
//!
//! One set of samples:
//!
//! - [`Distribution`] – count, extremes and percentiles of integer samples. Some samples may have no
//!   upper bound.
//! - [`percentile`](mod@percentile): nearest-rank percentiles, and the number of samples that each
//!   needs.
//! - [`fairness`] – Jain's index.
//! - [`binomial`] – exact tail of the number of successes.
//! - [`bootstrap`] – confidence intervals over repeated runs, from a seed.
//! - [`median_interval`](mod@median_interval) – exact confidence interval of a median.
//! - [`rpm`] – responsiveness under load, from the times of probes.
//!
//! Runs of all combinations of some factors:
//!
//! - [`factorial`] – parts of the variation: each factor, each pair, chance.
//!
//! Two sets of runs, before and after a change:
//!
//! - [`contrast`](mod@contrast): joint judgement of many metrics. It uses all of the following.
//! - [`metric_change`] – the possible judgements, and tolerances.
//! - [`ranks`] – rank test for independent sets, and Holm's correction for multiple tests.
//! - [`pairs`] – signed-rank test for pairs of runs that differ in one setting only.
//! - [`shift`](mod@shift): size of the difference, with an interval.
//! - [`effect`] – effect size with a verbal scale.
//!
//! Pure: no clock, no platform float functions. The same input yields the same result on every
//! platform.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod binomial;
pub mod bootstrap;
pub mod contrast;
pub mod distribution;
pub mod effect;
pub mod factorial;
pub mod fairness;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod median_interval;
pub mod metric_change;
pub mod pairs;
pub mod percentile;
pub mod ranks;
pub mod rpm;
pub mod shift;

pub use bootstrap::{Interval, interval};
pub use contrast::{Contrast, contrast};
pub use distribution::Distribution;
pub use effect::{Effect, Size};
pub use fairness::jain;
pub use median_interval::{MedianInterval, median_interval};
pub use pairs::{SignedRank, signed_rank};
pub use percentile::{P50, P75, P90, P95, P99, Percentile, STANDARD};
pub use ranks::{RankTest, holm, mann_whitney};
pub use shift::{Shift, paired_shift, shift};
