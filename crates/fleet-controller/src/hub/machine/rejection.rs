//! Reasons for rejecting a connection or a message.

use super::*;

/// Reason for rejecting a connection or a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The message can't be parsed.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// The protocol versions differ.
    #[error(
        "protocol version mismatch: remote {theirs}, local {}; use the same netburn version on all devices",
        messages::VERSION
    )]
    Version {
        /// Version of the peer.
        theirs: u32,
    },
    /// The token is wrong.
    #[error("wrong token; `netburn fleet serve` prints the fleet's token")]
    Token,
    /// An agent connected without TLS.
    #[error("agents must use TLS: join with the complete address that `netburn fleet serve` prints")]
    NotEncrypted,
    /// The name is invalid.
    #[error("invalid name: expected 1 to {} letters, digits and `-`", messages::MAX_NAME)]
    Name,
    /// The description is too long, or a label is invalid.
    #[error("the agent's description is too long or a label is invalid")]
    InvalidMemberInfo,
    /// A member of this name is connected.
    #[error("`{0}` is already connected; choose another name")]
    Duplicate(String),
    /// The fleet has the maximum number of members.
    #[error("the fleet has the maximum of {MAX_MEMBERS} members")]
    Full,
    /// The message is not allowed now.
    #[error("unexpected message `{0}`")]
    OutOfOrder(&'static str),
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
            Rejection::Token => RejectReason::InvalidToken,
            Rejection::NotEncrypted => RejectReason::NotEncrypted,
            Rejection::Name => RejectReason::InvalidName,
            Rejection::InvalidMemberInfo => RejectReason::InvalidDescription,
            Rejection::Duplicate(_) => RejectReason::NameTaken,
            Rejection::Full | Rejection::TooMany => RejectReason::LimitReached,
            Rejection::OutOfOrder(_) => RejectReason::OutOfOrder,
            Rejection::Run(_) => RejectReason::UnknownRun,
            Rejection::Busy { .. } => RejectReason::MemberBusy,
            Rejection::Absent(_) => RejectReason::UnknownMember,
        }
    }

    /// Returns whether the rejection is reported to the person who runs the controller.
    #[must_use]
    pub fn is_for_operator(&self) -> bool {
        use Rejection::{Duplicate, Full, Name, NotEncrypted, Token, TooMany, Version};
        matches!(
            self,
            Version { .. } | Token | NotEncrypted | Name | Duplicate(_) | Full | TooMany
        )
    }
}
