//! Comparisons of runs as text, as JSON and as pages.
//!
//! - [`text`], [`json`], [`html`]: each has one function for a comparison, a ranking and a matrix.
//! - [`overlays`], [`latency_over_time`]: charts with the curves of several variants.

mod format;
pub mod html;
pub mod json;
mod overlay;
mod tables;
pub mod text;

pub use format::{metric_name, metric_value};
pub use overlay::{Variant, latency_over_time, overlays};

#[cfg(test)]
mod tests;
