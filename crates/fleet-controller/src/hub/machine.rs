//! The controller between runs, as a state machine.

mod connections;
mod operators;

use super::control::{ControlReply, ControlRequest, MemberStatus, ObservedAccessPoints, RunAcquired};
use crate::late::Registration;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::standing::{
    Discard, FromMember, Invite, Kind, LateResults, LateResultsEnd, MAX_PENDING_RUNS, MemberInfo, PendingResults,
    Register, Registered, ToMember,
};
use netburn_protocol::messages::{self, Bye, MAX_TEXT, Malformed, RejectReason, Rejected, Rejection};
use netburn_protocol::token::Token;
use netburn_run_control::controller::ConnectionId;
use netburn_traffic::limiter::Client;
use netburn_units::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

/// Maximum number of members.
pub const MAX_MEMBERS: usize = 4096;
/// Time limit for the first message of a connection.
pub const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of unauthenticated connections. The oldest is closed first.
pub const MAX_PENDING_CONNECTIONS: usize = 1024;
/// Maximum number of them from one address or IPv6 /64, except from this machine.
pub const MAX_PENDING_PER_CLIENT: usize = 64;
/// Silence after which another connection may register the same name. A member sends a heartbeat every 5 s.
pub const STALE_AFTER: Duration = Duration::from_secs(15);
/// Silence after which a member is disconnected.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of rejected messages of a connection before it closes.
pub const MAX_REJECTIONS: u32 = 16;
/// Maximum number of operators.
pub const MAX_OPERATORS: usize = 64;
/// Maximum number of held runs.
pub const MAX_RUNS: usize = 64;
/// Minimum interval of reporting changes of the members to operators.
pub const MEMBERS_INTERVAL: Duration = Duration::from_millis(100);

/// Settings of the controller.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Name of the fleet.
    pub fleet: String,
    /// Program and version.
    pub version: String,
    /// Token of the fleet, for members.
    pub token: Token,
    /// Secret, for operators.
    pub secret: Token,
    /// Join addresses, best first.
    pub urls: Vec<String>,
    /// True if it listens on this machine only.
    pub loopback_only: bool,
    /// Access points that runs observe.
    pub observed: ObservedAccessPoints,
}

/// Kind of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionKind {
    /// Of a member.
    Member,
    /// Of an operator.
    Operator,
}

/// Origin of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerInfo {
    /// True if the connection can't be intercepted: TLS, loopback or a Unix socket.
    pub private: bool,
    /// Source address; `None`: over a Unix socket.
    pub address: Option<IpAddr>,
}

/// Output of the state machine.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this message to a member.
    Send(ConnectionId, ToMember),
    /// Send this reply to an operator.
    Tell(ConnectionId, ControlReply),
    /// Close this connection after all queued messages are sent.
    Close(ConnectionId),
    /// Log a rejected message: its sender, the source address (`None`: over a Unix socket) and the reason.
    Rejected(String, Option<IpAddr>, Rejection),
    /// Create and store a new token and call [`Hub::handle_token`]. On failure call
    /// [`Hub::handle_no_token`] with this operator.
    NewToken(ConnectionId),
    /// Proxy connections to this run to this loopback port. Precedes the invitations to the run, because an
    /// invited member may connect at once.
    Proxy(String, u16),
    /// An operator acquired a run. Store its agents and the folder for late results, and then call
    /// [`Hub::handle_registered`], or [`Hub::handle_not_registered`] on failure.
    Register(ConnectionId, Registration),
    /// A member has results of a run that no operator holds.
    PendingResults(String, PendingResults),
    /// A run was released. Results are missing of these parts: member, and name in the run.
    RunOver(String, Vec<(String, String)>),
    /// Late rows of a member.
    LateResults(String, LateResults),
    /// End of the late rows of a member.
    LateResultsEnd(String, LateResultsEnd),
    /// A member registered.
    Joined(String),
    /// A member disconnected.
    Gone(String),
}

/// Reason of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// A connection has not authenticated in time.
    Unauthenticated,
    /// A member was silent for too long.
    Silence,
    /// Operators are to receive the list of members.
    Members,
}

/// State machine of a fleet's controller.
///
/// **Call order:** after every `handle_*` and command, drain [`poll_output`](Self::poll_output), then sleep
/// until [`poll_timeout`](Self::poll_timeout) or the next input.
///
/// Times are stamps of the controller's clock.
#[derive(Debug)]
pub struct Hub {
    setup: Setup,
    connections: BTreeMap<ConnectionId, Connection>,
    pending: BTreeSet<ConnectionId>,
    members: BTreeMap<String, ConnectionId>,
    runs: BTreeMap<String, HeldRun>,
    /// Deadline of each connection.
    deadlines: BTreeSet<(Stamp, ConnectionId)>,
    /// Time of the next list of members for operators.
    members_due: Option<Stamp>,
    outputs: VecDeque<Output>,
}

#[derive(Debug)]
struct Connection {
    peer: Peer,
    peer_info: PeerInfo,
    deadline: Option<Stamp>,
    rejections: u32,
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

/// A run that an operator holds.
#[derive(Debug)]
struct HeldRun {
    operator: ConnectionId,
    port: u16,
    /// Parts: name in the run, and member.
    parts: Vec<(String, String)>,
    /// All members of the run.
    members: BTreeSet<String>,
    /// Expected end, in seconds of Unix time.
    until: u64,
    /// Invitations by member.
    invites: BTreeMap<String, Invite>,
}

impl Hub {
    /// Creates a controller without members.
    #[must_use]
    pub fn new(setup: Setup) -> Hub {
        Hub {
            setup,
            connections: BTreeMap::new(),
            pending: BTreeSet::new(),
            members: BTreeMap::new(),
            runs: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            members_due: None,
            outputs: VecDeque::new(),
        }
    }

    /// Held runs, each with the loopback port to which it is proxied.
    pub fn runs(&self) -> impl Iterator<Item = (&str, u16)> {
        self.runs.iter().map(|(run, acquired)| (run.as_str(), acquired.port))
    }

    /// Returns whether the peer of a connection has authenticated.
    #[must_use]
    pub fn is_known(&self, id: ConnectionId) -> bool {
        let connection = self.connections.get(&id);
        connection.is_some_and(|c| !matches!(c.peer, Peer::Unauthenticated(_)))
    }

    /// Connected members, ordered by name.
    #[must_use]
    pub fn members(&self) -> Vec<MemberStatus> {
        self.members.keys().filter_map(|name| self.member(name)).collect()
    }

    /// The member of this name, if it is connected.
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

    /// Returns whether a member is connected.
    #[must_use]
    pub fn is_here(&self, member: &str) -> bool {
        self.members.contains_key(member)
    }

    /// A connection was opened.
    pub fn handle_connected(&mut self, now: Stamp, id: ConnectionId, kind: ConnectionKind, peer_info: PeerInfo) {
        let connection = Connection {
            peer: Peer::Unauthenticated(kind),
            peer_info,
            deadline: None,
            rejections: 0,
        };
        self.connections.insert(id, connection);
        self.set_deadline(id, Some(now.after(HELLO_TIMEOUT)));
        self.pending.insert(id);
        // Numbers increase, so the first is the oldest.
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

    /// A member's connection received a message, or a text that can't be parsed.
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
                self.set_deadline(id, Some(now.after(SILENCE_TIMEOUT)));
                match message {
                    Ok(FromMember::Heartbeat) => {}
                    Ok(FromMember::LateResults(late)) => self.outputs.push_back(Output::LateResults(name, late)),
                    Ok(FromMember::LateResultsEnd(end)) => self.outputs.push_back(Output::LateResultsEnd(name, end)),
                    Ok(FromMember::Bye) => self.disconnect(now, id, RejectReason::Other, "the member left"),
                    Ok(FromMember::Register(_)) => self.reject(now, id, name, out_of_order("register")),
                    Err(malformed) => self.reject(now, id, name, malformed.into()),
                }
            }
            (_, Ok(message)) => self.reject(
                now,
                id,
                "an unauthenticated peer".to_owned(),
                out_of_order(message.name()),
            ),
            (_, Err(malformed)) => self.reject(now, id, "an unauthenticated peer".to_owned(), malformed.into()),
        }
    }

    /// A connection closed.
    pub fn handle_closed(&mut self, now: Stamp, id: ConnectionId) {
        self.drop_connection(now, id);
    }

    /// Replaces the token and disconnects all members. `urls`: the new join addresses.
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

    /// Reports to the operator that the token could not be replaced. The old token stays valid.
    pub fn handle_no_token(&mut self, operator: ConnectionId, reason: String) {
        if self.connections.contains_key(&operator) {
            let rejected = ControlReply::Rejected(Rejected {
                code: RejectReason::Other,
                reason,
            });
            self.outputs.push_back(Output::Tell(operator, rejected));
        }
    }

    /// Reports to the operator that it has acquired the run. The registration is stored.
    pub fn handle_registered(&mut self, operator: ConnectionId, run: String) {
        if self.connections.contains_key(&operator) {
            let acquired = ControlReply::Acquired(RunAcquired { run });
            self.outputs.push_back(Output::Tell(operator, acquired));
        }
    }

    /// Reports to the operator that the registration of the run can't be stored, and releases the run.
    pub fn handle_not_registered(&mut self, now: Stamp, operator: ConnectionId, run: &str, reason: &str) {
        // Another operator may have acquired the run in the meantime.
        if self.is_acquired_by(run, operator) {
            self.release(now, run, None);
        }
        if self.connections.contains_key(&operator) {
            let rejected = ControlReply::Rejected(Rejected {
                code: RejectReason::StorageFailed,
                reason: format!("the registration of the run `{run}` can't be stored: {reason}"),
            });
            self.outputs.push_back(Output::Tell(operator, rejected));
        }
    }

    /// Disconnects all peers.
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

    /// The time advanced to `now`.
    pub fn handle_timeout(&mut self, now: Stamp) {
        while let Some(&(at, id)) = self.deadlines.first()
            && at <= now
        {
            let reason = match self.connections[&id].peer {
                Peer::Unauthenticated(_) => "no authentication in time",
                _ => "no message in time",
            };
            self.disconnect(now, id, RejectReason::Timeout, reason);
        }
        if self.members_due.is_some_and(|at| at <= now) {
            self.members_due = None;
            for id in self.operators() {
                self.tell_members(id);
            }
        }
    }

    /// Sends a message about late results to a member, if it is connected.
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

    /// Next output.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Time and reason of the next [`handle_timeout`](Self::handle_timeout).
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Stamp, Wake)> {
        let connection = self.deadlines.first().map(|(at, id)| match self.connections[id].peer {
            Peer::Unauthenticated(_) => (*at, Wake::Unauthenticated),
            _ => (*at, Wake::Silence),
        });
        let members = self.members_due.map(|at| (at, Wake::Members));
        connection.into_iter().chain(members).min()
    }
}

fn out_of_order(message: &'static str) -> Rejection {
    Rejection::OutOfOrder { message, stage: "" }
}

/// Returns whether a rejection is reported to the person who runs the controller.
pub(super) fn is_for_operator(rejection: &Rejection) -> bool {
    use Rejection::{FleetToken, Full, MemberName, Name, NotEncrypted, TooMany, Version};
    matches!(
        rejection,
        Version { .. } | FleetToken | NotEncrypted | Name | MemberName(_) | Full { .. } | TooMany
    )
}
