//! How a command ends: the one place where an exit status is decided.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It did what it was asked: 0.
    Ran,
    /// `--check`, and a goal failed: 1.
    GoalFailed,
    /// It could not be measured: 3.
    NotMeasured,
}

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The input is wrong: 2. What, where, and what would be right.
    Wrong(String),
    /// It could not be measured: 3. Why.
    NotMeasured(String),
    /// Nobody reads standard output any more, which is no fault: 0.
    Unread,
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> ExitCode {
        ExitCode::from(match ended {
            Ended::Ran => 0,
            Ended::GoalFailed => 1,
            Ended::NotMeasured => 3,
        })
    }
}

impl Stop {
    /// The status it ends with.
    pub(crate) const fn status(&self) -> u8 {
        match self {
            Stop::Unread => 0,
            Stop::Wrong(_) => 2,
            Stop::NotMeasured(_) => 3,
        }
    }
}
