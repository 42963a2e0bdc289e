//! Decisions of `netburn watch`, which probes one network for days. No clock, no socket, no file: `now` is an argument.
//!
//! - [`hour`] – when a record begins and ends, and the name of its folder.
//! - [`keep`] – which hours are deleted, so that the disk use has a bound.
//! - [`rule`] – the text of an alert rule. [`alert`]: when an alert starts and ends. [`retry`]: repetitions of its action.
//! - [`live`] – counters and recent delays of the probes, for the metrics.
//! - [`week`] – the cells of the map of a week.

pub mod alert;
pub mod hour;
pub mod keep;
pub mod live;
pub mod part;
pub mod retry;
pub mod rule;
pub mod week;

pub use part::{Part, Sample};
