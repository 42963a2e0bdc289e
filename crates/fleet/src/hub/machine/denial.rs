//! Why a controller lets somebody not in, or doesn't heed it.

use super::*;

/// Why somebody is not let in, or a message not heeded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
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
    InTheClear,
    /// It is no name.
    #[error("a name is 1 to {} letters, digits and `-`", protocol::MAX_NAME)]
    Name,
    /// What it says of itself is too much, or no text.
    #[error("what it says of itself is too much, or labels aren't names")]
    About,
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

impl Denial {
    /// Whether whoever runs the controller may want to do something about it.
    #[must_use]
    pub fn is_for_people(&self) -> bool {
        use Denial::{Duplicate, Full, InTheClear, Name, Token, TooMany, Version};
        matches!(
            self,
            Version { .. } | Token | InTheClear | Name | Duplicate(_) | Full | TooMany
        )
    }
}
