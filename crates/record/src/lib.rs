//! Records of runs: rows, a crash-safe spool, the run folder, and its summary.
//!
//! - [`row`] – the six kinds of row, and the [`Sink`] trait that receives them.
//! - [`recorded_workload`] – turns operations, stalls and bytes of a workload into rows, in every
//!   environment.
//! - [`header`] – information that exists before the first row. [`utc`]: wall-clock time.
//! - [`spool`] – rows of an active run on disk, in frames that survive a crash at any byte.
//! - [`recorder`] – folder of an active run. [`run`]: reads a folder, finished or not.
//!   [`memory`]: a run without a folder.
//!   [`recover`](mod@recover): completes the record of an interrupted run on disk.
//! - [`aggregate`] – which operations count, and sums over windows of time.
//! - [`allowance`] – limits on the rows that one agent or server may add. [`rejected_rows`]: numbers of rows
//!   beyond them, by reason.
//! - [`amend`] – late results, merged into a finished run.
//! - [`anonymise`](mod@anonymise) – copies of records without names and addresses.
//! - [`files`] – the files of a record. [`regular`] – opening files of run folders.
//! - [`run_set`] – several runs of one plan. [`run_list`]: list of run folders.
//! - [`dscp_arrivals`] – DSCP with which packets arrived.
//! - [`health`], [`self_check`](mod@self_check): health reports of agents and servers, and the
//!   check of their limits. [`quality_issue`]: reasons for which results are unreliable.
//!   [`Loss`]: why an agent or server was lost.
//! - [`lab_health`] – health report of the lab. [`standstill`]: times in which a thread did not run
//!   although it should have.
//! - [`table_values`] – the tables of a run for writers of other formats.
//! - [`summary`] – results of a run. `kinds`: results that only some kinds of workloads have. [`metrics`]: the catalogue
//!   of all numbers.

pub mod aggregate;
pub mod allowance;
pub mod amend;
pub mod anonymise;
mod bins;
mod checksum;
mod columns;
mod document;
pub mod dscp_arrivals;
pub mod error;
pub mod files;
mod finish;
mod folder;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod goal_kind;
pub mod header;
pub mod health;
mod kinds;
pub mod lab_health;
mod latency_ms;
mod loss;
pub mod memory;
mod memory_rows;
pub mod metrics;
pub mod quality_issue;
mod quantity;
pub mod recorded_workload;
pub mod recorder;
pub mod recover;
pub mod rejected_rows;
pub mod row;
pub mod run;
pub mod run_list;
pub mod run_set;
pub mod self_check;
pub mod spool;
pub mod standstill;
pub mod summary;
pub mod table_values;
mod tables;
pub mod utc;
mod varint;
pub mod verdict;

pub use amend::{Amended, LateResults, merge_late_results};
pub use anonymise::anonymise;
pub use columns::tables::RunTable;
pub use columns::{Column, Values, WireType};
pub use document::sync_folder;
pub use dscp_arrivals::{DscpArrivals, DscpChange, DscpTreatment};
pub use error::Error;
pub use files::{is_record_file, record_files};
pub use goal_kind::GoalKind;
pub use header::{Environment, Header, Host, Method, RunStatus, Source, WorkloadMethod};
pub use health::{Clock, Health, Lateness, Moved, Role, SelfCheck};
pub use lab_health::{LabHealth, Stopped};
pub use loss::{Loss, LossCause};
pub use memory::MemoryRecorder;
pub use netburn_scenario::regular;
pub use quality_issue::{Disturbance, LimitExceeded, MAX_DELAY, MISSING_LOAD, QualityIssue, Quantity};
pub use recorded_workload::RecordedWorkload;
pub use recorder::{Recorder, make_folder};
pub use recover::recover;
pub use row::{AccessPointEvent, LeaveCause, Logged, MoveReason, Observable, ObservedRow, Steerer};
pub use row::{AirRow, ConnectionRow, Detail, EventKind, EventRow, IntervalRow, OperationRow, Row, Side, Sink};
pub use row::{Bssid, LinkChange, LinkEvent, LinkRow, Modulation, ParseBssidError, Phy};
pub use run::Run;
pub use run_set::{RunSet, pool};
pub use standstill::Standstills;
pub use summary::Summary;
pub use utc::UnixTime;
