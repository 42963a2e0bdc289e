//! The air and the transmit queues.
//!
//! - [`config`]: the settings of radios, links and queues that a scenario can state.
//! - [`phy`]: data rates and PPDU durations.
//! - [`error`]: from signal-to-noise ratio to loss.
//! - [`edca`]: who may send next.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod config;
pub mod edca;
pub mod error;
pub mod phy;
