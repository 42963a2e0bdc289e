//! Who takes part, and who is let in.

use super::rate::MessageRate;
use super::round::Setup;
use super::session::{ConnectionId, Refusal, Session, Stage};
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
pub(super) struct Participant {
    pub(super) expected: Expected,
    pub(super) state: State,
    pub(super) session: Session,
    /// Whether it measures against another server than the run's.
    pub(super) elsewhere: bool,
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
    Awaited,
    /// It is here.
    Here(ConnectionId),
    /// It was here, lost its connection at that time, and may come back.
    Away(Stamp, String),
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

    /// How far the conversation with it is, if it takes part.
    pub(super) fn stage(&self) -> Option<Stage> {
        matches!(self.state, State::Here(_) | State::Away(..)).then(|| self.session.stage())
    }

    /// Its name, and in brackets that of the device where it is another.
    pub(super) fn called(&self) -> String {
        match &self.expected.device {
            Device::Member(member) if *member != self.expected.name => format!("{} ({member})", self.expected.name),
            _ => self.expected.name.clone(),
        }
    }

    /// What it is called in a sentence.
    pub(super) fn titled(&self) -> String {
        match (self.expected.role, self.member()) {
            (Role::Agent, _) => format!("agent {}", self.called()),
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
    pub(super) participants: Vec<Participant>,
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
        let participants = expected.into_iter().map(|expected| Participant {
            state: match &expected.device {
                Device::Missing(why) => State::Lost(why.clone()),
                Device::Same | Device::Member(_) => State::Awaited,
            },
            allowance: match expected.role {
                Role::Agent => Allowance::for_agent(&setup.plan, &expected.stations),
                Role::Server => Allowance::for_server(&setup.plan),
            },
            rate: MessageRate::new(now),
            expected,
            session: Session::default(),
            elsewhere: false,
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
            participants: participants.collect(),
            names,
        }
    }

    /// Whom `hello` is from, and in which capacity, if it may join.
    pub(super) fn admit(
        &self,
        now: Stamp,
        hello: &Hello,
        joining: bool,
        returns: bool,
    ) -> Result<(usize, Admission), Refusal> {
        let admits = |participant: &Participant| participant.expected.token.admits(&hello.token);
        let Some(index) = self.named(hello) else {
            // A stranger learns nothing about who is here.
            return Err(match self.participants.iter().any(admits) {
                true => Refusal::Unexpected(hello.name.clone()),
                false => Refusal::Token,
            });
        };
        let participant = &self.participants[index];
        if !admits(participant) {
            return Err(Refusal::Token);
        }
        let again = returns && hello.again;
        let stage = participant.session.stage();
        let admission = match &participant.state {
            // It knows sooner than we do that its connection is gone.
            State::Here(old) if again && participant.heard.after(GIVE_WAY) <= now => Admission::Again {
                since: participant.heard,
                why: "its connection was gone".to_owned(),
                instead: Some(*old),
            },
            State::Here(_) => return Err(Refusal::Duplicate(hello.name.clone())),
            // Before the start nothing is lost with a process that was started anew.
            State::Away(since, why) if again || stage < Stage::Started => Admission::Again {
                since: *since,
                why: why.clone(),
                instead: None,
            },
            // It can't know that all of it arrived.
            State::Gone if again && stage == Stage::Done => Admission::Last,
            State::Awaited if joining => Admission::First,
            State::Awaited | State::Away(..) | State::Gone | State::Lost(_) => {
                return Err(Refusal::Late(hello.name.clone()));
            }
        };
        Ok((index, admission))
    }

    /// Who says hello as if for the first time, though it had begun: its process was started anew, with nothing of what it
    /// had measured.
    pub(super) fn anew(&self, hello: &Hello) -> Option<usize> {
        let index = self.named(hello)?;
        let participant = &self.participants[index];
        let away = matches!(participant.state, State::Away(..));
        (away && !hello.again && participant.expected.token.admits(&hello.token)).then_some(index)
    }

    /// Who is expected under this name, in this role.
    fn named(&self, hello: &Hello) -> Option<usize> {
        let mut named = self.names.get(&hello.name).into_iter().flatten();
        named
            .find(|index| self.participants[**index].expected.role == hello.role)
            .copied()
    }

    /// How many may still come, or come back.
    pub(super) fn absent(&self) -> usize {
        let absent = |p: &&Participant| matches!(p.state, State::Awaited | State::Away(..));
        self.participants.iter().filter(absent).count()
    }
}

/// How somebody is let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Admission {
    /// For the first time.
    First,
    /// It was here before.
    Again {
        /// Until when.
        since: Stamp,
        /// What became of its connection.
        why: String,
        /// The connection that gives way.
        instead: Option<ConnectionId>,
    },
    /// It had done its part, and wants to be sure that this is known.
    Last,
}
