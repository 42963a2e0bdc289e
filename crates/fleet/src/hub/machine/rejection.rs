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
        "protocol {theirs} is spoken there, {} here; use the same netburn on both sides",
        protocol::VERSION
    )]
    Version {
        /// Version of the peer.
        theirs: u32,
    },
    /// The token is wrong.
    #[error("the token is not this fleet's; `netburn fleet serve` shows the one that is")]
    Token,
    /// An agent connected without TLS.
    #[error("an agent comes over TLS: join with the whole address that `netburn fleet serve` prints")]
    NotEncrypted,
    /// The name is invalid.
    #[error("a name is 1 to {} letters, digits and `-`", protocol::MAX_NAME)]
    Name,
    /// The description is too long, or a label is invalid.
    #[error("what it says of itself is too much, or labels aren't names")]
    InvalidMemberInfo,
    /// A member of this name is connected.
    #[error("`{0}` is here already; choose another name")]
    Duplicate(String),
    /// The fleet has the maximum number of members.
    #[error("the fleet has {MAX_MEMBERS} members, which is the most")]
    Full,
    /// The message is not allowed now.
    #[error("`{0}` has no place here")]
    OutOfOrder(&'static str),
    /// The run is unknown, or another operator holds it.
    #[error("the run `{0}` is not held here")]
    Run(String),
    /// A member is in another run.
    #[error("{member} is in the run `{run}`")]
    Busy {
        /// The member.
        member: String,
        /// Its run.
        run: String,
    },
    /// The member is not connected.
    #[error("`{0}` is not here")]
    Absent(String),
    /// Too many operators or runs.
    #[error("too many owners or runs at once")]
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
