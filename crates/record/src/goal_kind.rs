//! Kinds of goals.

use netburn_workload::Goal;
use serde::{Deserialize, Serialize};

/// Kind of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalKind {
    /// Operations end within a time.
    Latency,
    /// Windows of time have a minimum rate.
    Rate,
    /// The player never stalls.
    NoStall,
    /// Windows of a call have a minimum rating.
    Quality,
    /// Windows of a stream have a maximum loss.
    Loss,
    /// A stream has no gap.
    NoGap,
    /// Frames are complete in time.
    Frames,
    /// A video call has no freeze.
    NoFreeze,
    /// Windows of probes have a minimum number of round trips per minute.
    Rpm,
}

impl From<&Goal> for GoalKind {
    fn from(goal: &Goal) -> Self {
        match goal {
            Goal::Latency { .. } => GoalKind::Latency,
            Goal::Rate { .. } => GoalKind::Rate,
            Goal::NoStall => GoalKind::NoStall,
            Goal::Quality { .. } => GoalKind::Quality,
            Goal::Loss { .. } => GoalKind::Loss,
            Goal::NoGap => GoalKind::NoGap,
            Goal::Frames => GoalKind::Frames,
            Goal::NoFreeze => GoalKind::NoFreeze,
            Goal::Rpm { .. } => GoalKind::Rpm,
        }
    }
}
