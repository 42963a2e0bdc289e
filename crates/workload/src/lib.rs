//! What a use of the network asks for and when, its goals, and how one operation and a whole run are judged.
//!
//! Pure: no clock, no socket, no thread. [`Workload`] is a state machine that a shell drives: real HTTP in `traffic`,
//! modelled TCP in `simulate`. [`judge()`] turns what was measured into a verdict.
//!
//! - [`deadlines`]: when each of many machines wants to be woken.
//! - [`config`]: the six uses, every number with its unit and default.
//! - [`machine`]: when requests fall due, what may be outstanding, what counts as an operation.
//! - [`player`]: the buffer of a video player: bytes in, stalls out.
//! - [`operation`]: what came of one thing that a person waited for.
//! - [`mod@judge`]: goals, met shares, verdicts.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod config;
pub mod deadlines;
#[doc(hidden)]
pub mod fuzz;
pub mod judge;
pub mod machine;
pub mod operation;
pub mod player;

pub use config::{Config, ConfigError, Connections, Goal, Kind, PlayerConfig, Priority, UnknownName};
pub use deadlines::Deadlines;
pub use judge::{GoalResult, Tally, Verdict, judge, windows, worst};
pub use machine::{Action, BACKOFF, Connection, Direction, Request, RequestId, Wake, Workload};
pub use operation::{Failure, FarTimes, Operation, Outcome, Stall};
