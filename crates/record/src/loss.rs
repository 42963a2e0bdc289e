//! Loss of an agent or server during a run.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Reason for which the controller lost an agent or server: a code for programs, and a text for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Code.
    pub cause: LossCause,
    /// Human-readable reason. It may be a text of the agent.
    pub detail: String,
}

/// Code of a [`Loss`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossCause {
    /// The fleet has no device for it.
    NoDevice,
    /// It did not join in time.
    NotJoined,
    /// Its `ready` does not fit its role.
    InvalidReady,
    /// It does not reach the server over a transport that its part needs.
    ServerUnreachable,
    /// It was not ready in time.
    NotReady,
    /// Its clock could not be compared.
    ClockUnknown,
    /// It rejected its part, or could not complete it.
    PartFailed,
    /// It left before the end of its part.
    Left,
    /// The connection closed, and it did not reconnect.
    Disconnected,
    /// It sent no message for too long.
    Silent,
    /// Its process ended.
    ProcessEnded,
    /// It was restarted without its rows.
    Restarted,
    /// It sends too many messages.
    TooManyMessages,
    /// Too many of its messages were rejected.
    MessagesRejected,
    /// Too many of its rows were rejected.
    RowsRejected,
    /// Its results did not arrive in time.
    ResultsLate,
    /// It did not report the end of its part in time.
    EndNotReported,
}

impl Loss {
    /// Creates a loss.
    #[must_use]
    pub fn new(cause: LossCause, detail: impl Into<String>) -> Loss {
        Loss {
            cause,
            detail: detail.into(),
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_loss_is_written_with_the_code_of_its_cause() {
        let codes = [
            (LossCause::NoDevice, "no_device"),
            (LossCause::NotJoined, "not_joined"),
            (LossCause::InvalidReady, "invalid_ready"),
            (LossCause::ServerUnreachable, "server_unreachable"),
            (LossCause::NotReady, "not_ready"),
            (LossCause::ClockUnknown, "clock_unknown"),
            (LossCause::PartFailed, "part_failed"),
            (LossCause::Left, "left"),
            (LossCause::Disconnected, "disconnected"),
            (LossCause::Silent, "silent"),
            (LossCause::ProcessEnded, "process_ended"),
            (LossCause::Restarted, "restarted"),
            (LossCause::TooManyMessages, "too_many_messages"),
            (LossCause::MessagesRejected, "messages_rejected"),
            (LossCause::RowsRejected, "rows_rejected"),
            (LossCause::ResultsLate, "results_late"),
            (LossCause::EndNotReported, "end_not_reported"),
        ];
        for (cause, code) in codes {
            let loss = Loss::new(cause, "why");
            let document = json!({ "cause": code, "detail": "why" });
            assert_eq!(serde_json::to_value(&loss).unwrap(), document);
            assert_eq!(serde_json::from_value::<Loss>(document).unwrap(), loss);
        }
    }
}
