//! Rejections of messages and connections: their texts for people, and their codes for programs.

use super::{MAX_NAME, Malformed, RejectReason, VERSION, WrongRow};

/// Reason why the controller of a run or of a fleet rejects a message or a connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The message can't be parsed.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// The protocol versions differ.
    #[error("protocol version mismatch: remote {theirs}, local {VERSION}; use the same netburn version on all devices")]
    Version {
        /// Version of the peer.
        theirs: u32,
    },
    /// The name is invalid.
    #[error("invalid name: expected 1 to {MAX_NAME} letters, digits and `-`")]
    Name,
    /// The message is not allowed at this stage.
    #[error("unexpected message `{message}`{}{stage}", if stage.is_empty() { "" } else { " " })]
    OutOfOrder {
        /// Type of the message.
        message: &'static str,
        /// Stage of the session, such as "during the run"; empty for sessions without stages.
        stage: &'static str,
    },

    /// The token is not the one of the run.
    #[error("wrong token")]
    Token,
    /// No agent of this name and role is expected.
    #[error("unknown name `{0}` for this role")]
    Unexpected(String),
    /// An agent of this name is already connected.
    #[error("`{0}` is already connected")]
    Duplicate(String),
    /// The run has started.
    #[error("the run has started: `{0}` joined too late")]
    Late(String),
    /// A pong without a ping.
    #[error("pong without a ping")]
    NoPing,
    /// A pong with contradictory times.
    #[error("pong with contradictory times")]
    BadTimes,
    /// Rows are missing.
    #[error("missing rows: found sequence {got}, expected {expected}")]
    Gap {
        /// Received sequence number.
        got: u64,
        /// Expected sequence number.
        expected: u64,
    },
    /// Rows that the sender can't report.
    #[error("{0}")]
    Row(#[from] WrongRow),
    /// A server's `ready` without an address, or an agent's with one.
    #[error("invalid `ready`: expected an address from a server, and none from an agent")]
    Address,

    /// The token is not the one of the fleet.
    #[error("wrong token; `netburn fleet serve` prints the fleet's token")]
    FleetToken,
    /// An agent connected without TLS.
    #[error("agents must use TLS: join with the complete address that `netburn fleet serve` prints")]
    NotEncrypted,
    /// The description is too long, or a label is invalid.
    #[error("the agent's description is too long or a label is invalid")]
    InvalidMemberInfo,
    /// A member of this name is connected.
    #[error("`{0}` is already connected; choose another name")]
    MemberName(String),
    /// The fleet has the maximum number of members.
    #[error("the fleet has the maximum of {maximum} members")]
    Full {
        /// Maximum number of members.
        maximum: usize,
    },
    /// The run is unknown, or another operator holds it.
    #[error("unknown run `{0}`")]
    Run(String),
    /// A member is in another run.
    #[error("{member} is in the run `{run}`")]
    Busy {
        /// The member.
        member: String,
        /// Run.
        run: String,
    },
    /// The member is not connected.
    #[error("no device named `{0}` in this fleet")]
    Absent(String),
    /// Too many operators or runs.
    #[error("too many operators or runs")]
    TooMany,
}

impl Rejection {
    /// Code of the rejection on the wire.
    #[must_use]
    pub fn code(&self) -> RejectReason {
        match self {
            Rejection::Malformed(_) => RejectReason::InvalidMessage,
            Rejection::Version { .. } => RejectReason::VersionMismatch,
            Rejection::Name => RejectReason::InvalidName,
            Rejection::Token | Rejection::FleetToken => RejectReason::InvalidToken,
            Rejection::Unexpected(_) => RejectReason::UnknownName,
            Rejection::Duplicate(_) | Rejection::MemberName(_) => RejectReason::NameTaken,
            Rejection::Late(_) => RejectReason::RunStarted,
            Rejection::OutOfOrder { .. } | Rejection::NoPing | Rejection::BadTimes | Rejection::Address => {
                RejectReason::OutOfOrder
            }
            Rejection::Gap { .. } | Rejection::Row(_) => RejectReason::InvalidRows,
            Rejection::NotEncrypted => RejectReason::NotEncrypted,
            Rejection::InvalidMemberInfo => RejectReason::InvalidDescription,
            Rejection::Full { .. } | Rejection::TooMany => RejectReason::LimitReached,
            Rejection::Run(_) => RejectReason::UnknownRun,
            Rejection::Busy { .. } => RejectReason::MemberBusy,
            Rejection::Absent(_) => RejectReason::UnknownMember,
        }
    }
}
