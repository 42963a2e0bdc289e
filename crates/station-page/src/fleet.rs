//! The connection to the fleet's controller that stays open between runs. It makes this device a member of the fleet.

use crate::host::Host;
use crate::socket::Socket;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::standing::{FromMember, Invite, Kind, MemberInfo, PendingResults, Register, ToMember};
use netburn_protocol::messages::{MAX_TEXT, Message, RejectReason, VERSION, shorten};
use netburn_record::Role;
use netburn_units::Duration;
use std::collections::BTreeMap;

/// The program in messages. The page is embedded in the controller and has its version.
pub(crate) const PROGRAM: &str = "netburn station page";
/// Interval of the heartbeat.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);

/// A membership.
pub(crate) struct Fleet {
    pub(crate) name: String,
    pub(crate) token: String,
    pub(crate) state: Membership,
    /// Reason of the last rejection or disconnection.
    pub(crate) reason: Option<String>,
    /// True after the first `welcome`. A later `rejected` may be temporary.
    was_member: bool,
    socket: Socket,
    heartbeat: Stamp,
}

/// State of a membership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Membership {
    Joining,
    Member,
    Reconnecting,
}

/// Request of the controller.
pub(crate) enum Request {
    Join(Invite),
    /// The late results of a run.
    Results(String),
    /// Late rows of a run up to this sequence number are stored.
    Acknowledge(String, u64),
    /// All results of a run are stored.
    Discard(String),
    /// The device is rejected permanently.
    Leave {
        reason: String,
        invalid_token: bool,
    },
}

impl Fleet {
    pub(crate) fn join(host: &mut Host, name: String, token: String) -> Fleet {
        Fleet {
            name,
            token,
            state: Membership::Joining,
            reason: None,
            was_member: false,
            socket: Socket::open(host, "/join".to_owned()),
            heartbeat: host.now.after(HEARTBEAT_INTERVAL),
        }
    }

    pub(crate) fn is(&self, socket: u64) -> bool {
        self.socket.is(socket)
    }

    pub(crate) fn handle_opened(&mut self, host: &mut Host, pending: Vec<PendingResults>) {
        self.socket.handle_opened();
        let about = MemberInfo {
            role: Role::Agent,
            kind: Kind::Browser,
            system: shorten(host.system.clone(), MAX_TEXT),
            interface: None,
            labels: BTreeMap::new(),
        };
        let register = Register {
            protocol: VERSION,
            name: self.name.clone(),
            token: self.token.clone(),
            version: PROGRAM.to_owned(),
            about,
            pending,
        };
        self.send(host, &FromMember::Register(register));
    }

    pub(crate) fn send(&self, host: &mut Host, message: &FromMember) {
        self.socket.send(host, message);
    }

    pub(crate) fn send_text(&self, host: &mut Host, text: String) {
        self.socket.send_text(host, text);
    }

    /// Handles a message. Those that are no message of the protocol have no effect.
    pub(crate) fn handle_text(&mut self, text: &str) -> Option<Request> {
        match ToMember::from_text(text).ok()? {
            ToMember::Welcome(_) => {
                self.state = Membership::Member;
                self.was_member = true;
                self.socket.handle_accepted();
                self.reason = None;
                None
            }
            ToMember::Rejected(rejected) if self.state != Membership::Member => {
                let reasons = [RejectReason::InvalidToken, RejectReason::TokenRevoked];
                let invalid_token = reasons.contains(&rejected.code);
                let reason = shorten(rejected.reason, MAX_TEXT);
                self.reason = Some(reason.clone());
                // The controller may still hold the previous connection of this device; it closes that one after a timeout.
                (!self.was_member || invalid_token).then_some(Request::Leave { reason, invalid_token })
            }
            ToMember::Rejected(_) => None,
            ToMember::Invite(invite) => Some(Request::Join(invite)),
            ToMember::RequestResults(request) => Some(Request::Results(request.run)),
            ToMember::Ack(ack) => Some(Request::Acknowledge(ack.run, ack.sequence)),
            ToMember::Discard(discard) => Some(Request::Discard(discard.run)),
            ToMember::Bye(bye) => {
                self.reason = bye.reason.map(|reason| shorten(reason, MAX_TEXT));
                None
            }
        }
    }

    pub(crate) fn handle_lost(&mut self, host: &mut Host) {
        self.state = Membership::Reconnecting;
        self.socket.handle_lost(host);
    }

    /// Connects again, and so announces again which results are pending here.
    pub(crate) fn reconnect(&mut self, host: &mut Host) {
        self.socket.reconnect(host);
    }

    /// Leaves the fleet.
    pub(crate) fn leave(&mut self, host: &mut Host) {
        self.send(host, &FromMember::Bye);
        self.socket.close(host);
    }

    /// Closes the connection without a message.
    pub(crate) fn close(&mut self, host: &mut Host) {
        self.socket.close(host);
    }

    pub(crate) fn handle_timeout(&mut self, host: &mut Host) {
        self.socket.handle_timeout(host);
        if self.heartbeat <= host.now {
            self.heartbeat = host.now.after(HEARTBEAT_INTERVAL);
            if self.state == Membership::Member {
                self.send(host, &FromMember::Heartbeat);
            }
        }
    }

    pub(crate) fn poll_timeout(&self) -> Stamp {
        self.socket
            .poll_timeout()
            .map_or(self.heartbeat, |at| at.min(self.heartbeat))
    }
}
