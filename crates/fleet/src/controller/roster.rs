//! Who takes part, and who is let in.

use super::coordinator::Setup;
use super::protocol_state::{ConnectionId, ProtocolState, Rejection, Stage};
use super::rate::MessageRate;
use crate::clock::{Comparison, Estimate, Stamp};
use crate::protocol::{Hello, ServerAddress};
use netburn_record::allowance::Allowance;
use netburn_record::{Health, Role};
use netburn_units::Duration;
use ring::digest;
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::BTreeMap;
use std::io;

/// How long a participant must have been silent for another connection to take its place: while it runs, it says
/// something every 250 ms.
pub const GIVE_WAY: Duration = Duration::from_secs(1);

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
    /// Token of this participant alone: no participant can take another's place.
    pub token: Token,
    /// The stations it drives, by their numbers in the plan.
    pub stations: Vec<u16>,
    /// Whether what its stations do needs datagrams: then it is left behind where they don't reach the server.
    pub datagrams: bool,
    /// Which device that is.
    pub device: Device,
}

/// The device that takes part under a name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Device {
    /// One of the same name, or that has none.
    #[default]
    Same,
    /// The member of this name.
    Member(String),
    /// None: it is known that nobody comes, and why.
    Missing(String),
}

/// One who takes part.
#[derive(Debug)]
pub(super) struct AgentSession {
    pub(super) expected: Expected,
    pub(super) state: State,
    pub(super) protocol: ProtocolState,
    /// Whether it measures against another server than the run's.
    pub(super) own_server: bool,
    /// What the reader of its figures should know.
    pub(super) notes: Vec<String>,
    pub(super) health: Option<Health>,
    pub(super) before: Option<Estimate>,
    pub(super) after: Option<Estimate>,
    /// When it was last heard.
    pub(super) heard: Stamp,
    /// Exchanges still to be made.
    pub(super) pings_left: u32,
    /// How many messages it may send.
    pub(super) rate: MessageRate,
    /// What its rows may come to.
    pub(super) allowance: Allowance,
    /// Row messages acknowledged.
    pub(super) acknowledged: u64,
    /// Where it answers, for a server.
    pub(super) address: Option<ServerAddress>,
}

/// Where somebody who takes part is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// It has not joined.
    Expected,
    /// It is here.
    Connected(ConnectionId),
    /// It was here, lost its connection at that time, and may come back.
    Disconnected(Stamp, String),
    /// It did its part and left.
    Left,
    /// It is lost, for this reason.
    Lost(String),
}

impl AgentSession {
    pub(super) fn connection(&self) -> Option<ConnectionId> {
        match self.state {
            State::Connected(id) => Some(id),
            _ => None,
        }
    }

    /// How far the conversation with it is, if it takes part.
    pub(super) fn stage(&self) -> Option<Stage> {
        matches!(self.state, State::Connected(_) | State::Disconnected(..)).then(|| self.protocol.stage())
    }

    /// Its name, and in brackets that of the device where it is another.
    pub(super) fn label(&self) -> String {
        match &self.expected.device {
            Device::Member(member) if *member != self.expected.name => format!("{} ({member})", self.expected.name),
            _ => self.expected.name.clone(),
        }
    }

    /// What it is called in a sentence.
    pub(super) fn description(&self) -> String {
        match (self.expected.role, self.member()) {
            (Role::Agent, _) => format!("agent {}", self.label()),
            (Role::Server, Some(member)) => format!("the server ({member})"),
            (Role::Server, None) => "the server".to_owned(),
        }
    }

    /// The device that it is, where that has a name of its own.
    pub(super) fn member(&self) -> Option<&str> {
        match &self.expected.device {
            Device::Member(member) => Some(member),
            Device::Same | Device::Missing(_) => None,
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
    pub(super) sessions: Vec<AgentSession>,
    /// Who is called so: an agent and a server may both be.
    names: BTreeMap<String, Vec<usize>>,
}

impl Roster {
    pub(super) fn new(now: Stamp, setup: &Setup) -> Roster {
        let expected = setup.expected.clone();
        let mut names = BTreeMap::<String, Vec<usize>>::new();
        for (index, expected) in expected.iter().enumerate() {
            names.entry(expected.name.clone()).or_default().push(index);
        }
        let sessions = expected.into_iter().map(|expected| AgentSession {
            state: match &expected.device {
                Device::Missing(why) => State::Lost(why.clone()),
                Device::Same | Device::Member(_) => State::Expected,
            },
            allowance: match expected.role {
                Role::Agent => Allowance::of_agent(&setup.plan, &expected.stations),
                Role::Server => Allowance::of_server(&setup.plan),
            },
            rate: MessageRate::new(now),
            expected,
            protocol: ProtocolState::default(),
            own_server: false,
            notes: Vec::new(),
            health: None,
            before: None,
            after: None,
            heard: now,
            pings_left: 0,
            acknowledged: 0,
            address: None,
        });
        Roster {
            sessions: sessions.collect(),
            names,
        }
    }

    /// Whom `hello` is from, and in which capacity, if it may join.
    pub(super) fn admit(
        &self,
        now: Stamp,
        hello: &Hello,
        joining: bool,
        allow_reconnect: bool,
    ) -> Result<(usize, Admission), Rejection> {
        let admits = |session: &AgentSession| session.expected.token.admits(&hello.token);
        let Some(index) = self.named(hello) else {
            // A stranger learns nothing about who is here.
            return Err(match self.sessions.iter().any(admits) {
                true => Rejection::Unexpected(hello.name.clone()),
                false => Rejection::Token,
            });
        };
        let session = &self.sessions[index];
        if !admits(session) {
            return Err(Rejection::Token);
        }
        let again = allow_reconnect && hello.reconnect;
        let stage = session.protocol.stage();
        let admission = match &session.state {
            // It knows sooner than we do that its connection is gone.
            State::Connected(old) if again && session.heard.after(GIVE_WAY) <= now => Admission::Reconnect {
                since: session.heard,
                why: "its connection was gone".to_owned(),
                replaces: Some(*old),
            },
            State::Connected(_) => return Err(Rejection::Duplicate(hello.name.clone())),
            // Before the start nothing is lost with a process that was started anew.
            State::Disconnected(since, why) if again || stage < Stage::Started => Admission::Reconnect {
                since: *since,
                why: why.clone(),
                replaces: None,
            },
            // It can't know that all of it arrived.
            State::Left if again && stage == Stage::Done => Admission::Finished,
            State::Expected if joining => Admission::First,
            State::Expected | State::Disconnected(..) | State::Left | State::Lost(_) => {
                return Err(Rejection::Late(hello.name.clone()));
            }
        };
        Ok((index, admission))
    }

    /// Who says hello as if for the first time, though it had begun: its process was started anew, with nothing of what it
    /// had measured.
    pub(super) fn restarted(&self, hello: &Hello) -> Option<usize> {
        let index = self.named(hello)?;
        let session = &self.sessions[index];
        let away = matches!(session.state, State::Disconnected(..));
        (away && !hello.reconnect && session.expected.token.admits(&hello.token)).then_some(index)
    }

    /// Who is expected under this name, in this role.
    fn named(&self, hello: &Hello) -> Option<usize> {
        let mut named = self.names.get(&hello.name).into_iter().flatten();
        named
            .find(|index| self.sessions[**index].expected.role == hello.role)
            .copied()
    }

    /// How many may still come, or come back.
    pub(super) fn absent(&self) -> usize {
        let absent = |p: &&AgentSession| matches!(p.state, State::Expected | State::Disconnected(..));
        self.sessions.iter().filter(absent).count()
    }
}

/// How somebody is let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Admission {
    /// For the first time.
    First,
    /// It was here before.
    Reconnect {
        /// Until when.
        since: Stamp,
        /// What became of its connection.
        why: String,
        /// The connection that gives way.
        replaces: Option<ConnectionId>,
    },
    /// It had done its part, and wants to be sure that this is known.
    Finished,
}
