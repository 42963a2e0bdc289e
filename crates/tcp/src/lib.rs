//! Simulated TCP endpoints.
//!
//! So far: [`config`], the settings that a scenario can state.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod config;
