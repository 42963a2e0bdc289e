//! Why a controller lets somebody not in, or doesn't heed it.

use super::*;

/// Why somebody is not let in, or a message not heeded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// It could not be read.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// It speaks another version.
    #[error(
        "protocol {theirs} is spoken there, {} here; use the same netburn on both sides",
        protocol::VERSION
    )]
    Version {
        /// Its version.
        theirs: u32,
    },
    /// The token is not the fleet's.
    #[error("the token is not this fleet's; `netburn fleet serve` shows the one that is")]
    Token,
    /// An agent came in the clear.
    #[error("an agent comes over TLS: join with the whole address that `netburn fleet serve` prints")]
    NotEncrypted,
    /// It is no name.
    #[error("a name is 1 to {} letters, digits and `-`", protocol::MAX_NAME)]
    Name,
    /// What it says of itself is too much, or no text.
    #[error("what it says of itself is too much, or labels aren't names")]
    InvalidMemberInfo,
    /// Somebody of that name is here.
    #[error("`{0}` is here already; choose another name")]
    Duplicate(String),
    /// There is no room.
    #[error("the fleet has {MAX_MEMBERS} members, which is the most")]
    Full,
    /// A message that has no place here.
    #[error("`{0}` has no place here")]
    OutOfOrder(&'static str),
    /// There is no such run, or it is another's.
    #[error("the run `{0}` is not held here")]
    Run(String),
    /// A member is in another run.
    #[error("{member} is in the run `{run}`")]
    Busy {
        /// The member.
        member: String,
        /// The run that it is in.
        run: String,
    },
    /// There is no such member.
    #[error("`{0}` is not here")]
    Absent(String),
    /// Too many at once.
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

    /// Whether whoever runs the controller may want to do something about it.
    #[must_use]
    pub fn is_for_operator(&self) -> bool {
        use Rejection::{Duplicate, Full, Name, NotEncrypted, Token, TooMany, Version};
        matches!(
            self,
            Version { .. } | Token | NotEncrypted | Name | Duplicate(_) | Full | TooMany
        )
    }
}
