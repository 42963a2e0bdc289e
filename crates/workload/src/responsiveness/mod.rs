//! The client of a responsiveness test (draft-ietf-ippm-responsiveness-09), without its connections.
//!
//! A test adds connections with load until the goodput is stable. It then sends probes until the score is stable. The
//! score is in round trips per minute (RPM); `netburn_stats::rpm` has its formulas.
//!
//! - [`config`] – parameters, with the names and the defaults of the draft.
//! - [`machine`] – the state machine: stages, intervals and connections.
//! - [`schedule`] – due times of the probes, independent of their responses.
//! - [`probe`] – a probe and its times. [`probes`]: all probes of a test. [`result`]: the result of a test.
//!   [`stage`]: stages and connections.
//! - [`unsent`] – the limit of unsent data on connections with load.
//! - [`score`] – scores. A workload of kind `responsiveness` has them too. It has a fixed number of connections with load,
//!   and no stages; its state machine is [`Workload`](crate::Workload).

pub mod config;
pub mod machine;
pub mod probe;
pub mod probes;
pub mod result;
pub mod schedule;
pub mod score;
pub mod stage;
pub mod unsent;

pub use config::{Config, ConfigError};
pub use machine::{Action, Interval, Machine, Reason, Wake};
pub use probe::{ProbeFailure, ProbeId, ProbeKind, ProbeTimes};
pub use result::{Counts, End, Goodput, Scores, TestResult};
pub use score::{ScoredProbe, Scoring, WorkloadScore, rpm_windows};
pub use stage::{ConnectionId, Stage};
pub use unsent::{LOAD_FRAME, UNSENT_UPDATE, unsent_limit};
