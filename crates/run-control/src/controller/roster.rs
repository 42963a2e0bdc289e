//! Expected agents and servers, and their admission.

use super::protocol_state::{ConnectionId, ProtocolState, Stage};
use super::rate::MessageRate;
use super::setup::{Device, Expected, Setup};
use netburn_protocol::clock::{Comparison, Estimate, Stamp};
use netburn_protocol::messages::Rejection;
use netburn_protocol::messages::{Hello, ServerAddress};
use netburn_record::allowance::Allowance;
use netburn_record::{Health, Loss, LossCause, Role};
use netburn_units::Duration;
use std::collections::BTreeMap;

/// Minimum silence after which a reconnect replaces the old connection. A running agent sends a message
/// every 250 ms.
pub const MIN_REPLACE_SILENCE: Duration = Duration::from_secs(1);

/// An expected agent or server, with the state of its session.
#[derive(Debug)]
pub(super) struct AgentSession {
    pub(super) expected: Expected,
    pub(super) state: State,
    pub(super) protocol: ProtocolState,
    /// The agent measures against its own server, not against the server of the run.
    pub(super) own_server: bool,
    /// Notes for the reader of the results.
    pub(super) notes: Vec<String>,
    pub(super) health: Option<Health>,
    pub(super) before: Option<Estimate>,
    pub(super) after: Option<Estimate>,
    /// Time of the last message.
    pub(super) heard: Stamp,
    /// Number of pings that are still to be sent.
    pub(super) pings_left: u32,
    /// Limit on its message rate.
    pub(super) rate: MessageRate,
    /// Limit on its rows, from its part of the plan.
    pub(super) allowance: Allowance,
    /// Last sequence number of rows in the sync that began last.
    pub(super) syncing: u64,
    /// Last acknowledged sequence number of rows.
    pub(super) acknowledged: u64,
    /// Address, for a server.
    pub(super) address: Option<ServerAddress>,
}

/// Connection state of an agent or server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// It has not connected yet.
    Expected,
    /// It is connected.
    Connected(ConnectionId),
    /// It lost its connection at this time, for this reason, and may reconnect.
    Disconnected(Stamp, Loss),
    /// The part is over, and the agent left.
    Left,
    /// It is lost, for this reason.
    Lost(Loss),
}

impl AgentSession {
    pub(super) fn connection(&self) -> Option<ConnectionId> {
        match self.state {
            State::Connected(id) => Some(id),
            _ => None,
        }
    }

    /// Stage of its protocol state, if it takes part.
    pub(super) fn stage(&self) -> Option<Stage> {
        matches!(self.state, State::Connected(_) | State::Disconnected(..)).then(|| self.protocol.stage())
    }

    /// Name, and in parentheses the name of the device if it differs.
    pub(super) fn label(&self) -> String {
        match &self.expected.device {
            Device::Member(member) if *member != self.expected.name => format!("{} ({member})", self.expected.name),
            _ => self.expected.name.clone(),
        }
    }

    /// Role and name, for a sentence.
    pub(super) fn description(&self) -> String {
        match (self.expected.role, self.member()) {
            (Role::Agent, _) => format!("agent {}", self.label()),
            (Role::Server, Some(member)) => format!("the server ({member})"),
            (Role::Server, None) => "the server".to_owned(),
        }
    }

    /// Name of the member, if the device is one.
    pub(super) fn member(&self) -> Option<&str> {
        match &self.expected.device {
            Device::Member(member) => Some(member),
            Device::Same | Device::Missing(_) => None,
        }
    }

    /// Returns whether the results of this session can arrive after a loss with this cause: from an agent of a fleet that
    /// has only lost its connection.
    pub(super) fn delivers_later(&self, cause: LossCause) -> bool {
        let disconnected = matches!(
            cause,
            LossCause::Disconnected | LossCause::Silent | LossCause::ResultsLate
        );
        self.is_agent() && self.member().is_some() && disconnected && self.protocol.stage() >= Stage::Started
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

/// All expected agents and the server.
#[derive(Debug)]
pub(super) struct Roster {
    pub(super) sessions: Vec<AgentSession>,
    /// Indices by name. An agent and a server may have the same name.
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
                Device::Missing(why) => State::Lost(Loss::new(LossCause::NoDevice, why.clone())),
                Device::Same | Device::Member(_) => State::Expected,
            },
            allowance: match expected.role {
                Role::Agent => Allowance::for_agent(&setup.plan, &expected.stations),
                Role::Server => Allowance::for_server(&setup.plan),
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
            syncing: 0,
            acknowledged: 0,
            address: None,
        });
        Roster {
            sessions: sessions.collect(),
            names,
        }
    }

    /// Decides about a `hello`: returns the index of the session and the kind of admission.
    pub(super) fn admit(
        &self,
        now: Stamp,
        hello: &Hello,
        joining: bool,
        allow_reconnect: bool,
    ) -> Result<(usize, Admission), Rejection> {
        let admits = |session: &AgentSession| session.expected.token.admits(&hello.token);
        let Some(index) = self.named(hello) else {
            // An unauthenticated peer must not learn which names are connected.
            return Err(if self.sessions.iter().any(admits) {
                Rejection::Unexpected(hello.name.clone())
            } else {
                Rejection::Token
            });
        };
        let session = &self.sessions[index];
        if !admits(session) {
            return Err(Rejection::Token);
        }
        let again = allow_reconnect && hello.reconnect;
        let stage = session.protocol.stage();
        let admission = match &session.state {
            // The agent notices a lost connection earlier than the controller.
            State::Connected(old) if again && session.heard.after(MIN_REPLACE_SILENCE) <= now => Admission::Reconnect {
                since: session.heard,
                why: Loss::new(LossCause::Disconnected, "its connection was lost"),
                replaces: Some(*old),
            },
            State::Connected(_) => return Err(Rejection::Duplicate(hello.name.clone())),
            // Before the start a restarted process loses no rows.
            State::Disconnected(since, why) if again || stage < Stage::Started => Admission::Reconnect {
                since: *since,
                why: why.clone(),
                replaces: None,
            },
            // The agent can't know whether all its messages arrived.
            State::Left if again && stage == Stage::Done => Admission::Finished,
            State::Expected if joining => Admission::First,
            State::Expected | State::Disconnected(..) | State::Left | State::Lost(_) => {
                return Err(Rejection::Late(hello.name.clone()));
            }
        };
        Ok((index, admission))
    }

    /// Session whose process restarted without its rows: a first `hello` from an agent that had already
    /// started.
    pub(super) fn restarted(&self, hello: &Hello) -> Option<usize> {
        let index = self.named(hello)?;
        let session = &self.sessions[index];
        let away = matches!(session.state, State::Disconnected(..));
        (away && !hello.reconnect && session.expected.token.admits(&hello.token)).then_some(index)
    }

    /// Session that is expected under this name, in this role.
    fn named(&self, hello: &Hello) -> Option<usize> {
        let mut named = self.names.get(&hello.name).into_iter().flatten();
        named
            .find(|index| self.sessions[**index].expected.role == hello.role)
            .copied()
    }

    /// Number of agents and servers that may still connect or reconnect.
    pub(super) fn absent(&self) -> usize {
        let absent = |p: &&AgentSession| matches!(p.state, State::Expected | State::Disconnected(..));
        self.sessions.iter().filter(absent).count()
    }
}

/// Kind of admission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Admission {
    /// First connection.
    First,
    /// Reconnect after a lost connection.
    Reconnect {
        /// Time of the last message on the old connection.
        since: Stamp,
        /// Reason for the loss of the old connection.
        why: Loss,
        /// The old connection, if it is still open.
        replaces: Option<ConnectionId>,
    },
    /// Reconnect after the end of its part, to confirm that everything arrived.
    Finished,
}
