//! Reasons for which results are unreliable or a verdict is inconclusive, as typed data.
//!
//! Programs decide by the variant, or by its [`code`](QualityIssue::code) in documents. The sentence
//! for people is computed from the data. Documents contain both: an object with `code`, the fields of
//! the variant, and the sentence as `text`.

mod disturbance;
mod document;
mod quantity;
mod sentence;
mod texts;

pub use disturbance::{Disturbance, MAX_DELAY, MISSING_LOAD};
pub use quantity::{LimitExceeded, Quantity};
pub(crate) use texts::IssueText;

use crate::goal_kind::GoalKind;
use crate::loss::Loss;
use crate::rejected_rows::Rejected;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Reason for which results are unreliable, or for which a verdict is inconclusive.
///
/// `who` is the label of an agent or server in messages: `agent laptop`, `the server`. `limit` is the exceeded limit, in
/// the unit of the value before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "code", rename_all = "snake_case")]
pub enum QualityIssue {
    /// The controller lost an agent.
    AgentLost {
        /// Name of the agent, with the fleet's member if it has another name.
        name: String,
        /// Cause of the loss, in the fields `cause` and `detail`.
        #[serde(flatten)]
        loss: Loss,
    },
    /// The controller lost the run's server.
    ServerLost {
        /// The fleet's member that served; `None` outside fleets.
        member: Option<String>,
        /// Cause of the loss, in the fields `cause` and `detail`.
        #[serde(flatten)]
        loss: Loss,
    },
    /// An agent reports that results of its station are missing.
    ResultsMissing {
        /// Cause, as the agent reports it.
        cause: String,
    },
    /// Rows were rejected because they are implausible.
    RowsRejected {
        /// Their sender: `agent laptop`, `the server`.
        sender: String,
        /// Numbers of rejected rows by reason.
        reasons: Rejected,
    },
    /// A station reports more bytes than the server counted for it.
    BytesUnconfirmed {
        /// Name of the station.
        station: String,
        /// Direction: true if the station received them, false if it sent them.
        received: bool,
        /// Reported by the station, in MB (10⁶ bytes).
        reported_mb: f64,
        /// Counted by the server, in MB.
        counted_mb: f64,
    },
    /// Threads stood still for too long.
    Standstill {
        /// Agent, server or lab.
        who: String,
        /// Number of standstills; 1 if they were not counted.
        count: u64,
        /// Longest standstill in µs.
        longest_us: f64,
        /// Sum of all standstills in µs.
        total_us: f64,
        /// Limit of the longest in µs.
        limit: f64,
    },
    /// An agent skipped operations because it was too late.
    OperationsSkipped {
        /// Agent or server.
        who: String,
        /// Number of skipped operations.
        skipped: u64,
        /// Number of operations that were due.
        due: u64,
        /// Limit of the share.
        limit: f64,
    },
    /// A clock jumped during the run.
    ClockJumped {
        /// Name of the participant.
        name: String,
        /// Jump in ns; negative if the clock went back.
        jump_ns: i64,
    },
    /// The run ended before any agent sent a health report.
    NoHealthReports,
    /// Agents sent no health report.
    NoAgentReport {
        /// Names of their stations.
        stations: Vec<String>,
    },
    /// The server sent no health report.
    NoServerReport,
    /// An interface was taken down during the run.
    InterfaceDown {
        /// Station whose interface it was, or `server`; `None` for the loopback interface.
        station: Option<String>,
    },
    /// The lab stopped carrying packets.
    LabStopped {
        /// Cause.
        cause: String,
    },
    /// A signal stopped a program in the lab.
    ProgramStopped {
        /// Name of the program.
        program: String,
        /// Station where it ran, or `server`.
        station: String,
        /// Duration in µs.
        us: f64,
    },
    /// The run was interrupted.
    RunInterrupted {
        /// Time of the last row in ns of the run; 0 before the load.
        after_ns: u64,
        /// Planned duration in ns.
        planned_ns: u64,
    },
    /// The run failed.
    RunFailed {
        /// Cause.
        cause: String,
        /// Time of the last row in ns of the run; 0 before the load.
        after_ns: u64,
        /// Planned duration in ns.
        planned_ns: u64,
    },
    /// A goal has no samples.
    NoSamples {
        /// Name of the workload.
        workload: String,
        /// Index of the goal in the workload's goals.
        goal: usize,
        /// Kind of the goal.
        kind: GoalKind,
        /// Text of the goal: `page load ≤ 500 ms`.
        goal_text: String,
    },
    /// A workload has no operations, and its agent reported why.
    WorkloadExcluded {
        /// Name of the workload.
        workload: String,
        /// Cause, as the agent reports it.
        cause: String,
    },
    /// A run set has fewer runs than planned.
    RunsMissing {
        /// Number of runs.
        made: usize,
        /// Planned number.
        planned: usize,
    },
    /// A quantity exceeds its limit. In documents, the code is that of the quantity.
    #[serde(skip)]
    LimitExceeded(LimitExceeded),
    /// An issue of one run of a run set.
    OfRun {
        /// Number of the run, from 1.
        run: usize,
        /// The issue.
        issue: Box<QualityIssue>,
    },
    /// An issue that this version does not know, from a document of a newer version.
    #[serde(skip)]
    Unknown {
        /// Its code.
        code: String,
        /// Its sentence; the code if there is none.
        text: String,
        /// The whole document.
        document: Map<String, Value>,
    },
}

impl QualityIssue {
    /// Returns this issue as one of run number `run` of a run set.
    #[must_use]
    pub fn of_run(&self, run: usize) -> QualityIssue {
        QualityIssue::OfRun {
            run,
            issue: Box::new(self.clone()),
        }
    }

    /// Returns whether the processors of the machine were busy with other work.
    #[must_use]
    pub fn is_busy_machine(&self) -> bool {
        match self {
            QualityIssue::LimitExceeded(exceeded) => {
                matches!(exceeded.quantity, Quantity::MachineBusy | Quantity::LabMachineBusy)
            }
            QualityIssue::OfRun { issue, .. } => issue.is_busy_machine(),
            _ => false,
        }
    }
}
