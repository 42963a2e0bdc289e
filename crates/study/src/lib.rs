//! Many simulated runs with a question.
//!
//! - [`sweep`]: a scenario run for every combination of the values that some keys take.
//! - [`judge`](mod@netburn_stats::judge): whether a change made a figure better or worse, from runs without and with it.
//! - [`experiment`]: one scenario under several seeds and signals, and what comes of it.
//! - [`validate`]: published cases, run over the models and held against their tolerances.

pub mod experiment;
#[doc(hidden)]
pub mod fuzz;
pub mod sweep;
pub mod validate;

pub use netburn_stats::judge;
