//! The air and the transmit queues.
//!
//! So far: [`config`], the settings of radios, links and queues that a scenario can state.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod config;
