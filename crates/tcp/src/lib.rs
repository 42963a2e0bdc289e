//! Simulated TCP endpoints.
//!
//! - [`config`]: the settings that a scenario can state.
//! - [`congestion`]: how much may be in the network, and how fast it goes there.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod config;
pub mod congestion;
