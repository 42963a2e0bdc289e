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
//! - [`config`] – settings.
//! - [`kinds`] – the kinds of workloads: for each its settings, its built-in workload with every number, its due times, and
//!   its limits. `common` has settings of several kinds, and `schedule` due times of several kinds.
//! - [`player`] – the buffer of a video player: bytes in, stalls out.
//! - [`operation`] – the result of one operation.
//! - [`responsiveness`] – the client of a responsiveness test (RPM). Its driver is in `traffic`.
//! - [`verdict`] – goals, shares met, verdicts.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

mod common;
pub mod config;
pub mod deadlines;
pub mod direction;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod kinds;
pub mod machine;
pub mod operation;
pub mod player;
pub mod responsiveness;
mod schedule;
pub mod verdict;

pub use config::{
    Adaptation, Config, ConfigError, Connections, Goal, KindSettings, LoadConnections, Marking, PacketStream,
    PlayerConfig, Priority, ProbeTarget, Streams, UnknownName,
};
pub use deadlines::Deadlines;
pub use direction::Direction;
pub use kinds::{Kind, Pattern};
pub use machine::{Action, Connection, Request, RequestId, Wake, Workload};
pub use operation::{Failure, Operation, Outcome, RemoteTimestamps, Stall};
pub use responsiveness::rpm_windows;
pub use schedule::BACKOFF;
pub use verdict::{GoalResult, Tally, Verdict, judge, loss_windows, quality_windows, windows, worst};
