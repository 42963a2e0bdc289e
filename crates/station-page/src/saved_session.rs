//! State of a session that survives a reload of the page.

use crate::invitation::Invitation;
use crate::measurement::RunClock;
use netburn_protocol::messages::Assign;
use serde::{Deserialize, Serialize};

/// Stage of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    Joining,
    /// Ready for the start.
    Ready,
    Running,
    /// Waits for the acknowledgement of all rows.
    Delivering,
    /// Has reported that its part is over.
    Done,
    /// Has reported that it cannot do its part.
    Closing,
}

/// State of a session, without the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedSession {
    pub(crate) invitation: Invitation,
    pub(crate) stage: Stage,
    pub(crate) is_late: bool,
    pub(crate) assign: Option<Assign>,
    pub(crate) origins: Vec<String>,
    pub(crate) channel_error: Option<String>,
    pub(crate) run_clock: Option<RunClock>,
    pub(crate) stop_requested_at: Option<i64>,
    /// Time of the state on the page's clock.
    pub(crate) at: i64,
    pub(crate) sequence: u64,
    /// The self-report ([`netburn_record::Health`]) in JSON.
    pub(crate) report: Option<serde_json::Value>,
    pub(crate) reason: Option<String>,
    pub(crate) measured: Option<serde_json::Value>,
}

impl SavedSession {
    /// Entry of the store.
    pub(crate) fn entry(&self) -> (String, Option<String>) {
        let text = serde_json::to_string(self).expect("a state has text keys and finite numbers");
        (format!("run.{}", self.invitation.run), Some(text))
    }
}
