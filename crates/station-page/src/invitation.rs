//! Invitations to runs, which a controller sends.

use netburn_protocol::messages::standing::Invite;
use netburn_protocol::messages::{MAX_NAME, MAX_RUN_NAME, is_name, is_run};
use serde::{Deserialize, Serialize};

/// Maximum length of a token, in bytes.
pub(crate) const MAX_TOKEN: usize = 128;

/// A run that this station was invited to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Invite")]
pub(crate) struct Invitation {
    pub(crate) run: String,
    /// Name of the station in the run.
    pub(crate) name: String,
    /// Token for the run.
    pub(crate) token: String,
}

/// Reason why an invitation is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvitationError {
    #[error("the name of the run is not 1 to {MAX_RUN_NAME} letters, digits, `-`, `_` and `.`")]
    Run,
    #[error("the name of the station is not 1 to {MAX_NAME} letters, digits and `-`")]
    Name,
    #[error("the token has not 1 to {MAX_TOKEN} bytes")]
    Token,
}

impl TryFrom<Invite> for Invitation {
    type Error = InvitationError;

    fn try_from(Invite { run, name, token }: Invite) -> Result<Invitation, InvitationError> {
        if !is_run(&run) {
            Err(InvitationError::Run)
        } else if !is_name(&name) {
            Err(InvitationError::Name)
        } else if !(1..=MAX_TOKEN).contains(&token.len()) {
            Err(InvitationError::Token)
        } else {
            Ok(Invitation { run, name, token })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_invitation_is_checked_again() {
        let read = |run: &str| {
            let text = format!(r#"{{"run": "{run}", "name": "tv", "token": "secret"}}"#);
            serde_json::from_str::<Invitation>(&text)
        };
        let valid = read("r-1").unwrap();
        assert_eq!(read("r-1").unwrap(), valid);
        assert_eq!(
            read("../x").unwrap_err().to_string(),
            "the name of the run is not 1 to 128 letters, digits, `-`, `_` and `.`"
        );
    }
}
