//! Errors of runs.

use crate::open_lab::LabError;
use netburn_fleet_controller::fleet_run::WaitError;
use netburn_scenario::ScenarioError;
use netburn_simulate::SimulateError;
use std::path::{Path, PathBuf};

/// Reason why an environment can't run a plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// The plan lacks keys that the environment needs.
    #[error("{}", .0.render(false))]
    Scenario(#[from] ScenarioError),
    /// The simulator rejects the plan.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
}

/// Error of a run. A run whose agents fail is recorded, and is no error:
/// [`RunStatus::Failed`](netburn_record::RunStatus::Failed).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The environment can't run the plan. Nothing was measured.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// There is no lab. Nothing was measured.
    #[error("no lab: {0}")]
    Lab(#[from] LabError),
    /// There are no members of a fleet. Nothing was measured.
    #[error(transparent)]
    Members(#[from] WaitError),
    /// The machine lacks something else that the run needs. Nothing was measured.
    #[error("{0}")]
    NotMeasured(String),
    /// The folder of the record can't be created. Nothing was measured.
    #[error("the record can't be written: {0}")]
    Create(#[source] netburn_record::Error),
    /// Rows or results can't be stored. The run was ended.
    #[error("the record can't be written: {reason}")]
    Storage {
        /// Folder of the record with the rows so far; `None` if the run had none.
        folder: Option<PathBuf>,
        /// Cause.
        reason: String,
    },
    /// The run was stopped before its first row.
    #[error("interrupted")]
    Interrupted,
    /// The run was [aborted](crate::Cancel::abort).
    #[error("aborted")]
    Aborted {
        /// Folder of the record with the rows so far; `None` if the run had none.
        folder: Option<PathBuf>,
    },
}

impl RunError {
    /// The error for rows that can't be stored.
    #[must_use]
    pub fn storage(cause: &dyn std::fmt::Display) -> RunError {
        RunError::Storage {
            folder: None,
            reason: cause.to_string(),
        }
    }

    /// The same error of a run that is recorded to `path`.
    #[must_use]
    pub(crate) fn in_folder(self, path: &Path) -> RunError {
        match self {
            RunError::Storage { folder: None, reason } => RunError::Storage {
                folder: Some(path.to_owned()),
                reason,
            },
            RunError::Aborted { folder: None } => RunError::Aborted {
                folder: Some(path.to_owned()),
            },
            other => other,
        }
    }
}
