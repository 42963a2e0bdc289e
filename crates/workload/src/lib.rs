//! Workloads: their schedule, their goals, and the judgement of operations and runs.
//!
//! Pure: no clock, no socket, no thread. [`Workload`] is a state machine with two drivers: real
//! HTTP in `traffic`, modelled TCP in `simulate`. [`judge()`] computes a verdict from the samples.
//!
//! Modules, from the top:
//!
//! - [`machine`] – the state machine. It computes due times, limits outstanding requests, and defines
//!   what an operation is.
//! - [`deadlines`] – the next timeout of many machines, for a driver.
//! - [`direction`] – up or down, and the numbers of packets.
//! - [`config`] – settings. It has the built-in workloads, every number with its unit and default.
//! - [`gcc`] – congestion control of a real-time sender.
//! - [`player`] – the buffer of a video player: bytes in, stalls out.
//! - [`operation`] – the result of one operation.
//! - [`responsiveness`] – the client of a responsiveness test (RPM). Its driver is in `traffic`.
//! - [`video`] – one end of a video call.
//! - [`verdict`] – goals, shares met, verdicts.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod config;
pub mod deadlines;
pub mod direction;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod gcc;
pub mod machine;
pub mod operation;
pub mod player;
pub mod responsiveness;
pub mod verdict;
pub mod video;

pub use config::{
    Adaptation, Config, ConfigError, Connections, Goal, Kind, LoadConnections, Marking, PacketStream, PlayerConfig,
    Priority, ProbeTarget, Streams, UnknownName,
};
pub use deadlines::Deadlines;
pub use direction::Direction;
pub use machine::{Action, BACKOFF, Connection, Request, RequestId, Wake, Workload};
pub use operation::{Failure, Operation, Outcome, RemoteTimestamps, Stall};
pub use responsiveness::rpm_windows;
pub use verdict::{GoalResult, Tally, Verdict, judge, loss_windows, quality_windows, windows, worst};
