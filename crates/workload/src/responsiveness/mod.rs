//! The client of a responsiveness test (draft-ietf-ippm-responsiveness-09), without its connections.
//!
//! A test adds connections with load until the goodput is stable. It then sends probes until the score is stable. The
//! score is in round trips per minute (RPM); `netburn_stats::rpm` has its formulas.
//!
//! The state machine is that of a workload of kind `responsiveness`, [`Workload`](crate::Workload), which sends the probes and
//! transfers the load. A workload of a scenario has a fixed number of connections with load. In a test, [`stages`] decides
//! when connections are added and how often probes are sent.
//!
//! - [`config`] – parameters, with the names and the defaults of the draft.
//! - [`stages`] – the decisions of a test: stages, intervals and connections. [`stage`]: names of both.
//! - [`schedule`] – the time between the probes of a test, independent of their responses.
//! - [`Part`] – parts of a workload: probes and load. [`probe`]: a probe and its times. [`score`]: the scores of probes.
//! - [`probes`]: all probes of a test. [`result`]: the result of a test.
//! - [`unsent`] – the limit of unsent data on connections with load.

pub mod config;
mod part;
pub mod probe;
mod probes;
pub mod result;
pub mod schedule;
pub mod score;
pub mod stage;
pub mod stages;
pub mod unsent;

pub use config::{Config, ConfigError};
pub use part::Part;
pub use probe::{LATE, ProbeKind, ProbeTimes, start_delay};
pub use result::{Counts, End, Goodput, Scores, TestResult};
pub use score::{ScoredProbe, Scoring, WorkloadScore, rpm_windows};
pub use stage::{ConnectionId, Stage};
pub(crate) use stages::{Command, LoadEnd};
pub use stages::{Interval, Stages};
pub use unsent::{LOAD_FRAME, UNSENT_UPDATE, unsent_limit};
