//! Secrets that admit agents, servers and operators.

use ring::digest;
use ring::rand::{SecureRandom, SystemRandom};
use std::io;

/// Secret that admits an agent or a server.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Creates a token of 256 random bits.
    ///
    /// # Errors
    /// If the system returns no random numbers.
    pub fn random() -> io::Result<Token> {
        let mut bytes = [0; 32];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| io::Error::other("the system returned no random numbers"))?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Creates a token from a known text.
    #[must_use]
    pub fn known(text: &str) -> Token {
        Token(text.to_owned())
    }

    /// Returns the text, which only the agent may receive.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns whether `text` equals the token. Compares digests, so that the time does not depend on the
    /// token.
    #[must_use]
    pub fn admits(&self, text: &str) -> bool {
        let of = |text: &str| digest::digest(&digest::SHA256, text.as_bytes());
        of(&self.0).as_ref() == of(text).as_ref()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}
