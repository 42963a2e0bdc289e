//! The air and the transmit queues.
//!
//! So far: [`config`], the settings of radios, links and queues that a scenario can state.

pub mod config;
