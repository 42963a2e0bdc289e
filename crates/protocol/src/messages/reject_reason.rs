//! Reasons for a rejection, for programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reason for a rejection.
///
/// Programs decide by this code and never by the text beside it. A code of a newer version reads as [`Other`](Self::Other).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RejectReason {
    /// The two sides use different protocol versions.
    VersionMismatch,
    /// The token is not the one of this fleet or run.
    InvalidToken,
    /// The fleet has a new token; the old one is no longer valid.
    TokenRevoked,
    /// An agent must connect over TLS.
    NotEncrypted,
    /// The name is not 1 to 64 letters, digits and `-`.
    InvalidName,
    /// Another connection uses this name.
    NameTaken,
    /// No agent of this name and role is expected.
    UnknownName,
    /// The description of the member is too long or contains an invalid label.
    InvalidDescription,
    /// A limit on connections, members or runs is reached.
    LimitReached,
    /// The run has started without this agent.
    RunStarted,
    /// The run is unknown, or another process holds it.
    UnknownRun,
    /// A member is in another run.
    MemberBusy,
    /// No member of this name is connected.
    UnknownMember,
    /// The message is not valid JSON, too long or unknown.
    InvalidMessage,
    /// The message is not allowed in the present state of the connection.
    OutOfOrder,
    /// Rows are missing, or contain values that this sender can't report.
    InvalidRows,
    /// Results can't be stored.
    StorageFailed,
    /// The connection was silent for too long.
    Timeout,
    /// The controller is shutting down.
    ShuttingDown,
    /// Any other reason, and every code that this version does not know.
    #[default]
    #[serde(other)]
    Other,
}
