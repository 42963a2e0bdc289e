//! Who takes part, and who is let in.

use super::session::{ConnectionId, Refusal};
use crate::clock::{Comparison, Estimate, Stamp};
use crate::protocol::{Hello, ServerAddress};
use netburn_record::{Health, Role};
use ring::digest;
use ring::rand::{SecureRandom, SystemRandom};
use std::io;

/// What a participant must know to be let in.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new one of 256 random bits.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub fn random() -> io::Result<Token> {
        let mut bytes = [0; 32];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| io::Error::other("the system gives no random numbers"))?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// One that is known already.
    #[must_use]
    pub fn known(text: &str) -> Token {
        Token(text.to_owned())
    }

    /// It, to be handed to participants only.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether `text` is it. Compares digests, so that the time it takes says nothing about the token.
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

/// Somebody who is to take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The name it will join under.
    pub name: String,
    /// What it does.
    pub role: Role,
    /// The stations it drives, by their numbers in the plan.
    pub stations: Vec<u16>,
    /// Whether what its stations do needs datagrams: then it is left behind where they don't reach the server.
    pub datagrams: bool,
}

/// One who takes part.
#[derive(Debug)]
pub(super) struct Participant {
    pub(super) expected: Expected,
    pub(super) state: State,
    pub(super) health: Option<Health>,
    pub(super) before: Option<Estimate>,
    pub(super) after: Option<Estimate>,
    /// When it was last heard.
    pub(super) heard: Stamp,
    /// Exchanges still to be made, and when the next is due.
    pub(super) pings_left: u32,
    pub(super) ping_due: Option<Stamp>,
    /// Row messages acknowledged.
    pub(super) acknowledged: u64,
    /// Where it answers, for a server.
    pub(super) address: Option<ServerAddress>,
}

/// Where somebody who takes part is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// It has not joined.
    Awaited,
    /// It is here.
    Here(ConnectionId),
    /// It did its part and left.
    Gone,
    /// It is lost, for this reason.
    Lost(String),
}

impl Participant {
    pub(super) fn connection(&self) -> Option<ConnectionId> {
        match self.state {
            State::Here(id) => Some(id),
            _ => None,
        }
    }

    pub(super) fn is_agent(&self) -> bool {
        self.expected.role == Role::Agent
    }

    pub(super) fn comparison(&self) -> Option<Comparison> {
        Some(Comparison {
            before: self.before?,
            after: self.after,
        })
    }
}

/// All who take part.
#[derive(Debug)]
pub(super) struct Roster {
    token: Token,
    pub(super) participants: Vec<Participant>,
}

impl Roster {
    pub(super) fn new(now: Stamp, token: Token, expected: Vec<Expected>) -> Roster {
        let participants = expected.into_iter().map(|expected| Participant {
            expected,
            state: State::Awaited,
            health: None,
            before: None,
            after: None,
            heard: now,
            pings_left: 0,
            ping_due: None,
            acknowledged: 0,
            address: None,
        });
        Roster {
            token,
            participants: participants.collect(),
        }
    }

    /// Whom `hello` is from, if it may join.
    pub(super) fn admit(&self, hello: &Hello, joining: bool) -> Result<usize, Refusal> {
        // First, so that a stranger learns nothing about who is here.
        if !self.token.admits(&hello.token) {
            return Err(Refusal::Token);
        }
        let wanted = |p: &Participant| p.expected.name == hello.name && p.expected.role == hello.role;
        let index = self
            .participants
            .iter()
            .position(wanted)
            .ok_or_else(|| Refusal::Unexpected(hello.name.clone()))?;
        match self.participants[index].state {
            State::Here(_) => Err(Refusal::Duplicate(hello.name.clone())),
            State::Awaited if joining => Ok(index),
            _ => Err(Refusal::Late(hello.name.clone())),
        }
    }
}
