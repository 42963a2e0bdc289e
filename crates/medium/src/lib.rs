//! The air and the transmit queues: a model of 802.11 as one state machine.
//!
//! Modules, from the top:
//!
//! - [`air`] – the state machine. It connects all other modules.
//! - [`queue`] – transmit queues of stations and access points, as in Linux.
//! - [`edca`] – channel access with four priorities.
//! - [`aggregation`] – A-MPDU, A-MSDU, BlockAck.
//! - [`rate`] – rate control, which chooses the MCS of each frame.
//! - [`phy`] – data rates and PPDU durations.
//! - [`error`] – frame success probability from the SNR.
//! - [`signal`] – SNR from power and distance. [`geometry`]: positions and walls. [`timed_path`]: positions
//!   over time. [`coverage`]: the strongest signal on a grid. [`fading`]: fast fading of stations
//!   that move.
//! - [`packet`] – packets of the air, and the nodes that send and receive them.
//! - [`config`] – settings of radios, links and queues in a scenario.
//!
//! [`rating`] is independent of the others. It interprets speed ratings such as `AC1750`.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod aggregation;
pub mod air;
pub mod config;
pub mod coverage;
pub mod edca;
pub mod error;
pub mod fading;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod geometry;
pub mod packet;
pub mod phy;
pub mod queue;
pub mod rate;
pub mod rating;
pub mod signal;
pub mod timed_path;
