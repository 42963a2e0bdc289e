//! Simulated TCP endpoints.
//!
//! So far: [`config`], the settings that a scenario can state.

pub mod config;
