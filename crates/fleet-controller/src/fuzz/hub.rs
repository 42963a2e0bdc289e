//! Bytes as events of a [`Hub`].

use crate::hub::control::{AcquireRun, ControlRequest, InviteMember, Open, ReleaseRun};
use crate::hub::machine::{MAX_PENDING_CONNECTIONS, MEMBERS_INTERVAL};
use crate::hub::{ConnectionKind, Hub, Output, PeerInfo, Setup};
use crate::late::Part;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::Malformed;
use netburn_protocol::messages::standing::{FromMember, Kind, LateResultsEnd, MemberInfo, Register, ToMember};
use netburn_protocol::token::Token;
use netburn_record::Role;
use netburn_run_control::controller::ConnectionId;
use netburn_units::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Checks the invariants of a hub. Messages are sent only to open connections, and each is closed once. No
/// peer is welcomed without the token. No member is invited to a run that is not proxied. Names of members
/// are unique. A handled timeout makes progress.
///
/// # Panics
/// If an invariant is violated.
pub fn check(bytes: &[u8]) {
    let mut checked = Checked {
        hub: Hub::new(Setup {
            fleet: "f".to_owned(),
            version: "v".to_owned(),
            token: Token::known("token"),
            secret: Token::known("secret"),
            urls: Vec::new(),
            loopback_only: false,
            observed: Default::default(),
        }),
        now: Stamp(0),
        open: BTreeMap::new(),
        proxied: BTreeSet::new(),
        here: BTreeSet::new(),
        next: 0,
    };
    for operation in bytes.chunks(3) {
        let [what, a, b] = [
            operation[0],
            operation.get(1).copied().unwrap_or(0),
            operation.get(2).copied().unwrap_or(0),
        ];
        let knows = checked.handle(what % 12, a, b);
        checked.drain(knows || what % 12 > 3);
        checked.check_state();
    }
}

/// A hub, and what its outputs say about it.
struct Checked {
    hub: Hub,
    now: Stamp,
    /// Open connections; true if they are registered.
    open: BTreeMap<ConnectionId, bool>,
    proxied: BTreeSet<String>,
    here: BTreeSet<String>,
    next: u64,
}

impl Checked {
    /// Executes an operation. Returns whether it is a registration with the token.
    fn handle(&mut self, what: u8, a: u8, b: u8) -> bool {
        let now = self.now;
        // Usually an existing connection.
        let id = ConnectionId(u64::from(a) % (self.next + 1));
        match what {
            0 | 1 => self.connect(b),
            2 | 3 => {
                self.hub.handle_member(now, id, Ok(FromMember::Register(register(b))));
                return b & 1 == 0;
            }
            4 => {
                let message = if b & 1 == 0 {
                    FromMember::Heartbeat
                } else {
                    FromMember::Bye
                };
                self.hub.handle_member(now, id, Ok(message));
            }
            5 => {
                let noise = Malformed::Unknown("noise".to_owned());
                self.hub.handle_member(now, id, Err(noise));
            }
            6 => {
                let end = LateResultsEnd {
                    run: "r".to_owned(),
                    ..LateResultsEnd::default()
                };
                self.hub.handle_member(now, id, Ok(FromMember::LateResultsEnd(end)));
            }
            7 => {
                let open = Open {
                    protocol: netburn_protocol::messages::VERSION,
                    secret: if b & 1 == 0 { "secret" } else { "token" }.to_owned(),
                };
                self.hub.handle_operator(now, id, Ok(ControlRequest::Open(open)));
            }
            8 => self.hub.handle_operator(now, id, Ok(request(b))),
            9 => {
                self.open.remove(&id);
                self.hub.handle_closed(now, id);
            }
            10 => self.hub.handle_token(now, Token::known("token"), Vec::new()),
            _ => self.wait(Duration::from_millis(u64::from(a) * 100)),
        }
        false
    }

    fn connect(&mut self, b: u8) {
        let id = ConnectionId(self.next);
        self.next += 1;
        self.open.insert(id, false);
        let kind = if b & 1 == 0 {
            ConnectionKind::Member
        } else {
            ConnectionKind::Operator
        };
        let peer_info = PeerInfo {
            private: b & 2 == 0,
            address: (b & 4 != 0).then(|| IpAddr::from([192, 0, 2, b >> 4])),
        };
        self.hub.handle_connected(self.now, id, kind, peer_info);
    }

    fn wait(&mut self, span: Duration) {
        self.now = self.now.after(span);
        while let Some((at, _)) = self.hub.poll_timeout().filter(|(at, _)| *at <= self.now) {
            self.hub.handle_timeout(at);
            let yielded = self.drain(true);
            let moved = self.hub.poll_timeout().is_none_or(|(next, _)| next > at);
            assert!(yielded || moved, "a timeout at {at:?} that does nothing");
        }
    }

    /// Drains all outputs. Returns whether there were any.
    fn drain(&mut self, may_welcome: bool) -> bool {
        let mut any = false;
        while let Some(output) = self.hub.poll_output() {
            any = true;
            match output {
                Output::Send(id, message) => {
                    if let ToMember::Welcome(_) = message {
                        assert!(may_welcome, "welcomed without the token");
                        self.open.insert(id, true);
                    }
                    if let ToMember::Invite(invite) = &message {
                        assert!(
                            self.proxied.contains(&invite.run),
                            "invited to a run that is not proxied"
                        );
                    }
                    assert!(self.open.contains_key(&id), "{message:?} to a closed connection");
                }
                Output::Proxy(run, _) => drop(self.proxied.insert(run)),
                Output::RunOver(run, _) => assert!(self.proxied.remove(&run), "over twice"),
                Output::Tell(id, message) => {
                    assert!(self.open.contains_key(&id), "{message:?} to a closed connection");
                }
                Output::Register(operator, registration) => {
                    self.hub.handle_registered(operator, registration.run);
                }
                Output::Joined(name) => assert!(self.here.insert(name), "joined twice"),
                Output::Gone(name) => assert!(self.here.remove(&name), "gone and not here"),
                Output::Close(id) => assert!(self.open.remove(&id).is_some(), "closed twice"),
                _ => {}
            }
        }
        any
    }

    fn check_state(&self) {
        let members = self.hub.members();
        let names: BTreeSet<String> = members.iter().map(|member| member.name.clone()).collect();
        assert_eq!(
            (names.len(), &names),
            (members.len(), &self.here),
            "the members are those that joined and are not gone"
        );
        assert_eq!(self.hub.poll_timeout(), self.hub.poll_timeout());
        assert!(self.open.values().filter(|known| !**known).count() <= MAX_PENDING_CONNECTIONS);
        assert!(self.hub.runs().count() <= 4 && MEMBERS_INTERVAL > Duration::ZERO);
    }
}

/// Registration of a member. The lowest bit decides about its token.
fn register(b: u8) -> Register {
    Register {
        protocol: if b & 2 == 0 {
            netburn_protocol::messages::VERSION
        } else {
            0
        },
        name: format!("m{}", b >> 5),
        token: if b & 1 == 0 { "token" } else { "other" }.to_owned(),
        version: String::new(),
        about: MemberInfo {
            kind: if b & 4 == 0 { Kind::Process } else { Kind::Browser },
            ..MemberInfo::this_process(Role::Agent, None, BTreeMap::new())
        },
        pending: Vec::new(),
    }
}

/// Request of an operator.
fn request(b: u8) -> ControlRequest {
    let run = format!("r{}", b % 4);
    let part = Part {
        name: "s".to_owned(),
        member: format!("m{}", b >> 5),
        stations: vec![0],
        ..Part::default()
    };
    match b & 12 {
        0 => ControlRequest::Acquire(AcquireRun {
            run,
            port: u16::from(b),
            folder: "/x".into(),
            members: vec![part.member.clone()],
            parts: vec![part],
            until: 0,
        }),
        4 => ControlRequest::Invite(InviteMember {
            run,
            member: part.member,
            name: part.name,
            token: "t".to_owned(),
        }),
        8 => ControlRequest::Release(ReleaseRun {
            run,
            missing: Vec::new(),
        }),
        _ => ControlRequest::Revoke,
    }
}
