//! The air and the transmit queues.
//!
//! - [`config`]: settings of radios, links and queues in a scenario.
//! - [`phy`]: data rates and PPDU durations.
//! - [`error`]: frame success probability from SNR.
//! - [`signal`]: SNR from power and distance.
//! - [`edca`]: channel access.
//! - [`aggregation`]: A-MPDU, A-MSDU, BlockAck.
//! - [`queue`]: transmit queues.
//! - [`rate`]: rate control.
//! - [`rating`]: interpretation of speed ratings.
//! - [`air`]: all of it as one machine.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod aggregation;
pub mod air;
pub mod config;
pub mod edca;
pub mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod packet;
pub mod phy;
pub mod queue;
pub mod rate;
pub mod rating;
pub mod signal;
