//! EDCA: who may send next (802.11-2020 clause 10.23.2).
//!
//! [`parameters`] holds the numbers of the four access categories; [`contention`] says whose backoff is done, [`group`] counts it down for
//! those that hear the same; [`window`] grows with failures.

pub mod contention;
mod group;
pub mod parameters;
pub mod window;

pub use contention::{Contender, Contention};
pub use parameters::{AccessCategory, EdcaParameters, Timing};
pub use window::Window;
