//! Workloads: their schedule, their goals, and the judgement of operations and runs.
//!
//! Pure: no clock, no socket, no thread. [`Workload`] is a state machine with two drivers: real
//! HTTP in `traffic`, modelled TCP in `simulate`. [`judge()`] computes a verdict from the samples.
//!
//! - [`deadlines`]: timeouts of many machines.
//! - [`config`]: the six built-in workloads, every number with its unit and default.
//! - [`machine`]: due times, the limit of outstanding requests, and the definition of an operation.
//! - [`player`]: the buffer of a video player: bytes in, stalls out.
//! - [`operation`]: the result of one operation.
//! - [`mod@judge`]: goals, shares met, verdicts.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod config;
pub mod deadlines;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod judge;
pub mod machine;
pub mod operation;
pub mod player;

pub use config::{Config, ConfigError, Connections, Goal, Kind, PlayerConfig, Priority, UnknownName};
pub use deadlines::Deadlines;
pub use judge::{GoalResult, Tally, Verdict, judge, windows, worst};
pub use machine::{Action, BACKOFF, Connection, Direction, Request, RequestId, Wake, Workload};
pub use operation::{Failure, Operation, Outcome, RemoteTimestamps, Stall};
