//! EDCA: channel access (802.11-2020 clause 10.23.2).
//!
//! - [`parameters`] – values of the four access categories
//! - [`contention`] – the next end of a backoff
//! - [`group`] – counts down for the stations of a hearing group
//! - [`window`] – the contention window

pub mod contender;
pub mod contention;
mod group;
pub mod parameters;
pub mod window;

pub use contender::Contender;
pub use contention::Contention;
pub use parameters::{AccessCategory, EdcaParameters, Timing};
pub use window::Window;
