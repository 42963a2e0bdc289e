//! The client of a responsiveness test (draft-ietf-ippm-responsiveness-09), without its connections.
//!
//! A test adds connections with load until the goodput is stable. It then sends probes until the score is stable. The
//! score is in round trips per minute (RPM); `netburn_stats::rpm` has its formulas.
//!
//! - [`config`] – parameters, with the names and the defaults of the draft.
//! - [`machine`] – the state machine: stages, intervals and connections.
//! - [`schedule`] – due times of the probes, independent of their responses.
//! - [`probes`] – probes and their times. [`result`]: the result of a test. [`stage`]: stages and connections.

pub mod config;
pub mod machine;
pub mod probes;
pub mod result;
pub mod schedule;
pub mod stage;

pub use config::{Config, ConfigError};
pub use machine::{Action, Interval, Machine, Reason, Wake};
pub use probes::{ProbeFailure, ProbeId, ProbeKind, ProbeTimes};
pub use result::{Counts, End, Goodput, Scores, TestResult};
pub use stage::{ConnectionId, Stage};
