//! The controller between runs, as a state machine.

mod connections;
mod operators;
mod rejection;

pub use rejection::Rejection;

use super::control::{ControlReply, ControlRequest, MemberStatus};
use crate::clock::Stamp;
use crate::controller::{ConnectionId, Token};
use crate::late::Registration;
use crate::protocol::standing::{
    Discard, FromMember, Invite, Kind, LateResults, LateResultsEnd, MAX_PENDING_RUNS, MemberInfo, PendingResults,
    Register, Registered, ToMember,
};
use crate::protocol::{self, Bye, MAX_TEXT, Malformed, Refused, RejectReason};
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
pub const MAX_PENDING_CONNECTIONS: usize = 1024;
/// The most of them from one address or IPv6 /64, this machine apart.
pub const MAX_PENDING_PER_CLIENT: usize = 64;
/// A member that was silent for so long gives way to another of its name; it says something every 5 s.
pub const STALE_AFTER: Duration = Duration::from_secs(15);
/// A member that was silent for so long is gone.
pub const SILENCE: Duration = Duration::from_secs(30);
/// The most messages of a connection that are refused before it ends.
pub const MAX_REFUSALS: u32 = 16;
/// The most owners at once.
pub const MAX_OPERATORS: usize = 64;
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
    pub loopback_only: bool,
}

/// Which conversation a connection was opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionKind {
    /// A member's.
    Member,
    /// An owner's.
    Operator,
}

/// The way a connection came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerInfo {
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
    Tell(ConnectionId, ControlReply),
    /// Close it, once all that was to be sent is sent.
    Close(ConnectionId),
    /// Log that something was refused: whose it was, from where it came (`None`: over a Unix socket), and why.
    Refused(String, Option<IpAddr>, Rejection),
    /// Make a new token, keep it, and hand it to [`Hub::handle_token`]; where that can't be, tell this owner by
    /// [`Hub::handle_no_token`].
    NewToken(ConnectionId),
    /// Pass participants of this run on to this port on loopback. Comes before anybody is summoned to it: whoever is
    /// summoned may be at the door before the next output is looked at.
    Proxy(String, u16),
    /// A run is held: who takes part, and where its results go.
    Register(Registration),
    /// A member has results of a run that nobody holds.
    PendingResults(String, PendingResults),
    /// Nobody holds this run any more. Results are missing of these parts: member, and name in the run.
    RunOver(String, Vec<(String, String)>),
    /// A member's late results of a run.
    LateResults(String, LateResults),
    /// There are no more of them.
    LateResultsEnd(String, LateResultsEnd),
    /// A member has joined.
    Joined(String),
    /// A member is gone.
    Gone(String),
}

/// Why a controller wants to be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// A connection has not said who it is.
    Unauthenticated,
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
    pending: BTreeSet<ConnectionId>,
    members: BTreeMap<String, ConnectionId>,
    runs: BTreeMap<String, HeldRun>,
    /// When each connection's time is up.
    deadlines: BTreeSet<(Stamp, ConnectionId)>,
    /// When owners are told who is here.
    news: Option<Stamp>,
    outputs: VecDeque<Output>,
}

#[derive(Debug)]
struct Connection {
    peer: Peer,
    peer_info: PeerInfo,
    deadline: Option<Stamp>,
    refusals: u32,
}

#[derive(Debug)]
enum Peer {
    Unauthenticated(ConnectionKind),
    Member(Box<Member>),
    Operator,
}

#[derive(Debug)]
struct Member {
    name: String,
    about: MemberInfo,
    version: String,
    pending_results: Vec<PendingResults>,
    heard: Stamp,
}

/// A run that somebody holds.
#[derive(Debug)]
struct HeldRun {
    operator: ConnectionId,
    port: u16,
    /// Its parts: name there, and member.
    parts: Vec<(String, String)>,
    /// All who are in it.
    members: BTreeSet<String>,
    /// When it is expected to be over, in seconds of Unix time.
    until: u64,
    /// The summons by member.
    invites: BTreeMap<String, Invite>,
}

impl Hub {
    /// A controller without members.
    #[must_use]
    pub fn new(setup: Setup) -> Hub {
        Hub {
            setup,
            connections: BTreeMap::new(),
            pending: BTreeSet::new(),
            members: BTreeMap::new(),
            runs: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            news: None,
            outputs: VecDeque::new(),
        }
    }

    /// The runs that are held, and the port on loopback that each is passed on to.
    pub fn runs(&self) -> impl Iterator<Item = (&str, u16)> {
        self.runs.iter().map(|(run, acquired)| (run.as_str(), acquired.port))
    }

    /// Whether it is known who is at this connection.
    #[must_use]
    pub fn is_known(&self, id: ConnectionId) -> bool {
        let connection = self.connections.get(&id);
        connection.is_some_and(|c| !matches!(c.peer, Peer::Unauthenticated(_)))
    }

    /// Who is here, by name.
    #[must_use]
    pub fn members(&self) -> Vec<MemberStatus> {
        self.members.keys().filter_map(|name| self.member(name)).collect()
    }

    /// The member of this name, if it is here.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<MemberStatus> {
        let connection = &self.connections[self.members.get(name)?];
        let Peer::Member(member) = &connection.peer else {
            return None;
        };
        let acquired = self.run_of(&member.name);
        Some(MemberStatus {
            name: member.name.clone(),
            about: member.about.clone(),
            version: member.version.clone(),
            address: connection.peer_info.address,
            run: acquired.map(|(run, _)| run.to_owned()),
            until: acquired.map(|(_, acquired)| acquired.until),
            pending_results: member.pending_results.iter().map(|w| w.run.clone()).collect(),
        })
    }

    /// Whether a member is here.
    #[must_use]
    pub fn is_here(&self, member: &str) -> bool {
        self.members.contains_key(member)
    }

    /// Somebody opened a connection for a conversation.
    pub fn handle_connected(&mut self, now: Stamp, id: ConnectionId, kind: ConnectionKind, peer_info: PeerInfo) {
        let connection = Connection {
            peer: Peer::Unauthenticated(kind),
            peer_info,
            deadline: None,
            refusals: 0,
        };
        self.connections.insert(id, connection);
        self.set_deadline(id, Some(now.after(HELLO)));
        self.pending.insert(id);
        // Numbers only go up: the first is the oldest.
        let client = |peer_info: PeerInfo| peer_info.address.map(Client::at);
        let there = |id: &&ConnectionId| client(self.connections[id].peer_info) == client(peer_info);
        let one_too_many = match client(peer_info).filter(|client| !client.is_loopback()) {
            Some(_) if self.pending.iter().filter(there).count() > MAX_PENDING_PER_CLIENT => {
                self.pending.iter().find(there)
            }
            _ if self.pending.len() > MAX_PENDING_CONNECTIONS => self.pending.first(),
            _ => None,
        };
        if let Some(oldest) = one_too_many.copied() {
            self.disconnect(
                now,
                oldest,
                RejectReason::LimitReached,
                "too many unauthenticated connections",
            );
        }
    }

    /// A message came over a member's connection, or something that is none.
    pub fn handle_member(&mut self, now: Stamp, id: ConnectionId, message: Result<FromMember, Malformed>) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        match (&mut connection.peer, message) {
            (Peer::Unauthenticated(ConnectionKind::Member), Ok(FromMember::Register(register))) => {
                match self.admit(now, id, &register) {
                    Ok(()) => self.register(now, id, register),
                    Err(rejection) => self.reject(now, id, register.name, rejection),
                }
            }
            (Peer::Member(member), message) => {
                member.heard = now;
                let name = member.name.clone();
                self.set_deadline(id, Some(now.after(SILENCE)));
                match message {
                    Ok(FromMember::Heartbeat) => {}
                    Ok(FromMember::LateResults(late)) => self.outputs.push_back(Output::LateResults(name, late)),
                    Ok(FromMember::LateResultsEnd(end)) => self.outputs.push_back(Output::LateResultsEnd(name, end)),
                    Ok(FromMember::Bye) => self.disconnect(now, id, RejectReason::Other, "the member left"),
                    Ok(FromMember::Register(_)) => self.reject(now, id, name, Rejection::OutOfOrder("register")),
                    Err(malformed) => self.reject(now, id, name, malformed.into()),
                }
            }
            (_, Ok(message)) => self.reject(now, id, "a stranger".to_owned(), Rejection::OutOfOrder(message.name())),
            (_, Err(malformed)) => self.reject(now, id, "a stranger".to_owned(), malformed.into()),
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
            self.disconnect(
                now,
                id,
                RejectReason::TokenRevoked,
                "the fleet's token was revoked; join with the new one",
            );
        }
        let welcome = self.welcome();
        for id in self.operators() {
            self.outputs
                .push_back(Output::Tell(id, ControlReply::Revoked(welcome.clone())));
        }
    }

    /// There can't be a new token, for this reason: the one that there is stays, and who asked hears of it.
    pub fn handle_no_token(&mut self, operator: ConnectionId, reason: String) {
        if self.connections.contains_key(&operator) {
            let refused = ControlReply::Refused(Refused {
                code: RejectReason::Other,
                reason,
            });
            self.outputs.push_back(Output::Tell(operator, refused));
        }
    }

    /// Says goodbye to everybody.
    pub fn end(&mut self) {
        for id in self.connections.keys().copied().collect::<Vec<_>>() {
            self.disconnect(
                Stamp(0),
                id,
                RejectReason::ShuttingDown,
                "the controller is shutting down",
            );
        }
    }

    /// Time has come to `now`.
    pub fn handle_timeout(&mut self, now: Stamp) {
        while let Some(&(at, id)) = self.deadlines.first()
            && at <= now
        {
            let reason = match self.connections[&id].peer {
                Peer::Unauthenticated(_) => "it did not say who it is",
                _ => "nothing was heard of it",
            };
            self.disconnect(now, id, RejectReason::Timeout, reason);
        }
        if self.news.is_some_and(|at| at <= now) {
            self.news = None;
            for id in self.operators() {
                self.tell_members(id);
            }
        }
    }

    /// Says something to a member about its late results, if it is here.
    pub fn send_to_member(&mut self, member: &str, message: ToMember) {
        let Some(&id) = self.members.get(member) else { return };
        if let (ToMember::Discard(Discard { run }), Peer::Member(member)) = (
            &message,
            &mut self.connections.get_mut(&id).expect("a member is here").peer,
        ) {
            member
                .pending_results
                .retain(|pending_results| pending_results.run != *run);
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
        let connection = self.deadlines.first().map(|(at, id)| match self.connections[id].peer {
            Peer::Unauthenticated(_) => (*at, Wake::Unauthenticated),
            _ => (*at, Wake::Silence),
        });
        let news = self.news.map(|at| (at, Wake::News));
        connection.into_iter().chain(news).min()
    }
}
