//! What a run leaves behind: rows, a spool that survives whatever is killed, the run folder, and its summary.
//!
//! - [`row`]: the six kinds of row, and the one [`Sink`] they all go through, live view and disk alike.
//! - [`recorded_workload`]: a workload's machine, whose ends, stalls and bytes become rows, on every environment alike.
//! - [`header`]: what is known before the first row. [`utc`]: wall-clock time.
//! - [`spool`]: rows of a run under way on disk, in frames that survive a kill at any byte.
//! - [`recorder`]: a run folder while the run is under way. [`run`]: the folder after, as Parquet columns.
//! - [`allowance`]: how much one participant may add to a run.
//! - [`amend`]: results that come home when the run is over.
//! - [`regular`]: how files of run folders are opened.
//! - [`run_set`]: one scenario run several times. [`runs`]: the run folders that there are.
//! - [`health`], [`self_check`](mod@self_check): what every participant says of its own measuring, and whether that can be believed.
//! - [`lab_health`]: what the lab says of its own work. [`standstill`]: times in which a thread did not run although it should have.
//! - [`export`]: a run as others' tools read it: CSV, JSON, Parquet, flent, JUnit, OpenMetrics.
//! - [`import`]: other programs' files as runs.
//! - [`summary`]: what a run comes to, as its contract names it.

pub mod allowance;
pub mod amend;
mod bins;
mod checksum;
mod columns;
mod document;
pub mod error;
pub mod export;
mod finish;
#[doc(hidden)]
pub mod fuzz;
pub mod header;
pub mod health;
pub mod import;
pub mod lab_health;
pub mod recorded_workload;
pub mod recorder;
pub mod regular;
pub mod row;
pub mod run;
pub mod run_set;
pub mod runs;
pub mod self_check;
pub mod spool;
pub mod standstill;
pub mod summary;
pub mod utc;

pub use amend::{Amended, LateResults, merge_late_results};
pub use error::Error;
pub use header::{Environment, Header, Host, RunStatus, Source};
pub use health::{Clock, Health, Lateness, Moved, Role, SelfCheck};
pub use lab_health::{LabHealth, Stopped};
pub use recorded_workload::RecordedWorkload;
pub use recorder::{Recorder, make_folder};
pub use row::{AirRow, ConnectionRow, EventKind, EventRow, IntervalRow, OperationRow, Row, Side, Sink};
pub use row::{Bssid, LinkRow, Modulation, ParseBssidError, Phy};
pub use run::Run;
pub use run_set::{RunSet, pool};
pub use standstill::Standstills;
pub use summary::Summary;
pub use utc::UnixTime;
