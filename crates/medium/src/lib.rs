//! The air and the transmit queues.
//!
//! - [`config`]: the settings of radios, links and queues that a scenario can state.
//! - [`phy`]: data rates and PPDU durations.
//! - [`error`]: from signal-to-noise ratio to loss.
//! - [`signal`]: from power and distance to signal over noise.
//! - [`edca`]: who may send next.
//! - [`aggregation`]: A-MPDU, A-MSDU, BlockAck.
//! - [`queue`]: transmit queues.
//! - [`rate`]: which rate the next PPDU is sent at.
//! - [`rating`]: what the figure on a box means.
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
#[doc(hidden)]
pub mod fuzz;
pub mod packet;
pub mod phy;
pub mod queue;
pub mod rate;
pub mod rating;
pub mod signal;
