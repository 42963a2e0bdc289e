//! A measured run and a model of its network.
//!
//! 1. [`on_model()`] gives the stations of the model the workloads of the run.
//! 2. [`agreement()`] simulates that plan and compares each measured value with the simulated ones.
//! 3. [`text()`] and [`json()`] format the comparison.
//!
//! The [remedies](crate::whatif) of such a run are changes of the model. They are worth as much as the model agrees.

mod agreement;
mod network;
mod text;

pub use agreement::{Agreement, Compared, agreement};
pub use network::{NotThisNetwork, on_model};
pub use text::{json, text};

#[cfg(test)]
mod tests;
