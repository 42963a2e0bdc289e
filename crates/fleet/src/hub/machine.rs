//! The controller between runs, as a state machine.

mod connections;
mod denial;
mod owners;

pub use denial::Denial;

use super::owner::{FromOwner, Present, ToOwner};
use crate::clock::Stamp;
use crate::controller::{ConnectionId, Token};
use crate::late::Registration;
use crate::protocol::standing::{
    About, Enrol, Enrolled, Forget, FromMember, Kind, Late, LateEnd, MAX_WAITING, Summon, ToMember, Waiting,
};
use crate::protocol::{self, Bye, MAX_TEXT, Malformed, Refused};
use crate::spool;
use netburn_traffic::limiter::Client;
use netburn_units::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

/// The most members.
pub const MAX_MEMBERS: usize = 4096;
/// How long a connection has to say who it is.
pub const HELLO: Duration = Duration::from_secs(5);
/// The most connections that have not said who they are; beyond it the oldest of them has to go.
pub const MAX_STRANGERS: usize = 1024;
/// The most of them from one address or IPv6 /64, this machine apart.
pub const MAX_STRANGERS_FROM_ONE: usize = 64;
/// A member that was silent for so long gives way to another of its name; it says something every 5 s.
pub const DOUBTFUL: Duration = Duration::from_secs(15);
/// A member that was silent for so long is gone.
pub const SILENCE: Duration = Duration::from_secs(30);
/// The most messages of a connection that are refused before it ends.
pub const MAX_REFUSALS: u32 = 16;
/// The most owners at once.
pub const MAX_OWNERS: usize = 64;
/// The most runs at once.
pub const MAX_RUNS: usize = 64;
/// Owners are told of changes among the members so often at most.
pub const NEWS: Duration = Duration::from_millis(100);

/// What a controller begins with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// What the fleet is called.
    pub fleet: String,
    /// The program and its version, for people.
    pub version: String,
    /// What lets members in.
    pub token: Token,
    /// What lets owners in.
    pub secret: Token,
    /// Where to join, the best first.
    pub urls: Vec<String>,
    /// Whether it listens on this machine alone.
    pub near_only: bool,
}

/// Which conversation a connection was opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Line {
    /// A member's.
    Member,
    /// An owner's.
    Owner,
}

/// The way a connection came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Whether nobody else reads along: TLS, loopback, a Unix socket.
    pub private: bool,
    /// From where; `None`: over a Unix socket.
    pub address: Option<IpAddr>,
}

/// What the shell is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this to a member.
    Send(ConnectionId, ToMember),
    /// Send this to an owner.
    Tell(ConnectionId, ToOwner),
    /// Close it, once all that was to be sent is sent.
    Close(ConnectionId),
    /// Log that something was refused: whose it was, from where it came (`None`: over a Unix socket), and why.
    Refused(String, Option<IpAddr>, Denial),
    /// Make a new token, keep it, and hand it to [`Hub::handle_token`]; where that can't be, tell this owner by
    /// [`Hub::handle_no_token`].
    NewToken(ConnectionId),
    /// Pass participants of this run on to this port on loopback. Comes before anybody is summoned to it: whoever is
    /// summoned may be at the door before the next output is looked at.
    PassOn(String, u16),
    /// A run is held: who takes part, and where its results go.
    Register(Registration),
    /// A member has results of a run that nobody holds.
    Waiting(String, Waiting),
    /// Nobody holds this run any more. Results are missing of these parts: member, and name in the run.
    RunOver(String, Vec<(String, String)>),
    /// A member's late results of a run.
    Late(String, Late),
    /// There are no more of them.
    LateEnd(String, LateEnd),
    /// A member has joined.
    Joined(String),
    /// A member is gone.
    Gone(String),
}

/// Why a controller wants to be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// A connection has not said who it is.
    Stranger,
    /// A member has been silent too long.
    Silence,
    /// Owners are to be told who is here.
    News,
}

/// A fleet's controller.
///
/// **Call order:** after every `handle_*` and command, drain [`poll_output`](Self::poll_output), then sleep until
/// [`poll_timeout`](Self::poll_timeout) or the next input.
///
/// Times are stamps of the controller's clock.
#[derive(Debug)]
pub struct Hub {
    setup: Setup,
    connections: BTreeMap<ConnectionId, Connection>,
    strangers: BTreeSet<ConnectionId>,
    members: BTreeMap<String, ConnectionId>,
    runs: BTreeMap<String, Held>,
    /// When each connection's time is up.
    deadlines: BTreeSet<(Stamp, ConnectionId)>,
    /// When owners are told who is here.
    news: Option<Stamp>,
    outputs: VecDeque<Output>,
}

#[derive(Debug)]
struct Connection {
    who: Who,
    way: Way,
    deadline: Option<Stamp>,
    refusals: u32,
}

#[derive(Debug)]
enum Who {
    Stranger(Line),
    Member(Box<Member>),
    Owner,
}

#[derive(Debug)]
struct Member {
    name: String,
    about: About,
    version: String,
    waiting: Vec<Waiting>,
    heard: Stamp,
}

/// A run that somebody holds.
#[derive(Debug)]
struct Held {
    owner: ConnectionId,
    port: u16,
    /// Its parts: name there, and member.
    parts: Vec<(String, String)>,
    /// All who are in it.
    members: BTreeSet<String>,
    /// When it is expected to be over, in seconds of Unix time.
    until: u64,
    /// The summons by member.
    summons: BTreeMap<String, Summon>,
}

impl Hub {
    /// A controller without members.
    #[must_use]
    pub fn new(setup: Setup) -> Hub {
        Hub {
            setup,
            connections: BTreeMap::new(),
            strangers: BTreeSet::new(),
            members: BTreeMap::new(),
            runs: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            news: None,
            outputs: VecDeque::new(),
        }
    }

    /// The runs that are held, and the port on loopback that each is passed on to.
    pub fn runs(&self) -> impl Iterator<Item = (&str, u16)> {
        self.runs.iter().map(|(run, held)| (run.as_str(), held.port))
    }

    /// Whether it is known who is at this connection.
    #[must_use]
    pub fn is_known(&self, id: ConnectionId) -> bool {
        let connection = self.connections.get(&id);
        connection.is_some_and(|c| !matches!(c.who, Who::Stranger(_)))
    }

    /// Who is here, by name.
    #[must_use]
    pub fn members(&self) -> Vec<Present> {
        self.members.keys().filter_map(|name| self.member(name)).collect()
    }

    /// The member of this name, if it is here.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Present> {
        let connection = &self.connections[self.members.get(name)?];
        let Who::Member(member) = &connection.who else {
            return None;
        };
        let held = self.run_of(&member.name);
        Some(Present {
            name: member.name.clone(),
            about: member.about.clone(),
            version: member.version.clone(),
            address: connection.way.address,
            run: held.map(|(run, _)| run.to_owned()),
            until: held.map(|(_, held)| held.until),
            waiting: member.waiting.iter().map(|w| w.run.clone()).collect(),
        })
    }

    /// Whether a member is here.
    #[must_use]
    pub fn is_here(&self, member: &str) -> bool {
        self.members.contains_key(member)
    }

    /// Somebody opened a connection for a conversation.
    pub fn handle_connected(&mut self, now: Stamp, id: ConnectionId, line: Line, way: Way) {
        let connection = Connection {
            who: Who::Stranger(line),
            way,
            deadline: None,
            refusals: 0,
        };
        self.connections.insert(id, connection);
        self.set_deadline(id, Some(now.after(HELLO)));
        self.strangers.insert(id);
        // Numbers only go up: the first is the oldest.
        let client = |way: Way| way.address.map(Client::at);
        let there = |id: &&ConnectionId| client(self.connections[id].way) == client(way);
        let one_too_many = match client(way).filter(|client| !client.is_loopback()) {
            Some(_) if self.strangers.iter().filter(there).count() > MAX_STRANGERS_FROM_ONE => {
                self.strangers.iter().find(there)
            }
            _ if self.strangers.len() > MAX_STRANGERS => self.strangers.first(),
            _ => None,
        };
        if let Some(oldest) = one_too_many.copied() {
            self.dismiss(now, oldest, "too many connections that don't say who they are");
        }
    }

    /// A message came over a member's connection, or something that is none.
    pub fn handle_member(&mut self, now: Stamp, id: ConnectionId, message: Result<FromMember, Malformed>) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        match (&mut connection.who, message) {
            (Who::Stranger(Line::Member), Ok(FromMember::Enrol(enrol))) => match self.admit(now, id, &enrol) {
                Ok(()) => self.enrol(now, id, enrol),
                Err(denial) => self.deny(now, id, enrol.name, denial),
            },
            (Who::Member(member), message) => {
                member.heard = now;
                let name = member.name.clone();
                self.set_deadline(id, Some(now.after(SILENCE)));
                match message {
                    Ok(FromMember::Alive) => {}
                    Ok(FromMember::Late(late)) => self.outputs.push_back(Output::Late(name, late)),
                    Ok(FromMember::LateEnd(end)) => self.outputs.push_back(Output::LateEnd(name, end)),
                    Ok(FromMember::Bye) => self.dismiss(now, id, "goodbye"),
                    Ok(FromMember::Enrol(_)) => self.deny(now, id, name, Denial::OutOfOrder("enrol")),
                    Err(malformed) => self.deny(now, id, name, malformed.into()),
                }
            }
            (_, Ok(message)) => self.deny(now, id, "a stranger".to_owned(), Denial::OutOfOrder(message.name())),
            (_, Err(malformed)) => self.deny(now, id, "a stranger".to_owned(), malformed.into()),
        }
    }

    /// A connection is gone.
    pub fn handle_closed(&mut self, now: Stamp, id: ConnectionId) {
        self.drop_connection(now, id);
    }

    /// There is a new token: everybody is thrown out. `urls`: where to join from now on.
    pub fn handle_token(&mut self, now: Stamp, token: Token, urls: Vec<String>) {
        self.setup.token = token;
        self.setup.urls = urls;
        for id in self.members.values().copied().collect::<Vec<_>>() {
            self.dismiss(now, id, "the fleet's token was revoked; join with the new one");
        }
        let welcome = self.welcome();
        for id in self.owners() {
            self.outputs
                .push_back(Output::Tell(id, ToOwner::Revoked(welcome.clone())));
        }
    }

    /// There can't be a new token, for this reason: the one that there is stays, and who asked hears of it.
    pub fn handle_no_token(&mut self, owner: ConnectionId, reason: String) {
        if self.connections.contains_key(&owner) {
            let refused = ToOwner::Refused(Refused { reason });
            self.outputs.push_back(Output::Tell(owner, refused));
        }
    }

    /// Says goodbye to everybody.
    pub fn end(&mut self) {
        for id in self.connections.keys().copied().collect::<Vec<_>>() {
            self.dismiss(Stamp(0), id, "the controller ends");
        }
    }

    /// Time has come to `now`.
    pub fn handle_timeout(&mut self, now: Stamp) {
        while let Some(&(at, id)) = self.deadlines.first()
            && at <= now
        {
            let reason = match self.connections[&id].who {
                Who::Stranger(_) => "it did not say who it is",
                _ => "nothing was heard of it",
            };
            self.dismiss(now, id, reason);
        }
        if self.news.is_some_and(|at| at <= now) {
            self.news = None;
            for id in self.owners() {
                self.tell_members(id);
            }
        }
    }

    /// Says something to a member about its late results, if it is here.
    pub fn say(&mut self, member: &str, message: ToMember) {
        let Some(&id) = self.members.get(member) else { return };
        if let (ToMember::Forget(Forget { run }), Who::Member(member)) = (
            &message,
            &mut self.connections.get_mut(&id).expect("a member is here").who,
        ) {
            member.waiting.retain(|waiting| waiting.run != *run);
        }
        self.outputs.push_back(Output::Send(id, message));
    }

    /// The next thing for the shell to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), and why.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Stamp, Wake)> {
        let connection = self.deadlines.first().map(|(at, id)| match self.connections[id].who {
            Who::Stranger(_) => (*at, Wake::Stranger),
            _ => (*at, Wake::Silence),
        });
        let news = self.news.map(|at| (at, Wake::News));
        connection.into_iter().chain(news).min()
    }
}
