//! Bytes as events of a [`Hub`].

use crate::hub::control::{AcquireRun, ControlRequest, InviteMember, Open, ReleaseRun};
use crate::hub::machine::{MAX_PENDING_CONNECTIONS, NEWS_INTERVAL};
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
    let mut hub = Hub::new(Setup {
        fleet: "f".to_owned(),
        version: "v".to_owned(),
        token: Token::known("token"),
        secret: Token::known("secret"),
        urls: Vec::new(),
        loopback_only: false,
    });
    let mut now = Stamp(0);
    let mut open: BTreeMap<ConnectionId, bool> = BTreeMap::new();
    let mut proxied = BTreeSet::new();
    let mut here = BTreeSet::new();
    let mut next = 0;
    for operation in bytes.chunks(3) {
        let [what, a, b] = [
            operation[0],
            operation.get(1).copied().unwrap_or(0),
            operation.get(2).copied().unwrap_or(0),
        ];
        // Usually an existing connection.
        let id = ConnectionId(u64::from(a) % (next + 1));
        let mut knows = false;
        match what % 12 {
            0 | 1 => {
                let id = ConnectionId(next);
                next += 1;
                open.insert(id, false);
                let kind = if b & 1 == 0 {
                    ConnectionKind::Member
                } else {
                    ConnectionKind::Operator
                };
                let peer_info = PeerInfo {
                    private: b & 2 == 0,
                    address: (b & 4 != 0).then(|| IpAddr::from([192, 0, 2, b >> 4])),
                };
                hub.handle_connected(now, id, kind, peer_info);
            }
            2 | 3 => {
                knows = b & 1 == 0;
                let register = Register {
                    protocol: if b & 2 == 0 {
                        netburn_protocol::messages::VERSION
                    } else {
                        0
                    },
                    name: format!("m{}", b >> 5),
                    token: if knows { "token" } else { "other" }.to_owned(),
                    version: String::new(),
                    about: MemberInfo {
                        kind: if b & 4 == 0 { Kind::Process } else { Kind::Browser },
                        ..MemberInfo::this_process(Role::Agent, None, BTreeMap::new())
                    },
                    pending: Vec::new(),
                };
                hub.handle_member(now, id, Ok(FromMember::Register(register)));
            }
            4 => hub.handle_member(
                now,
                id,
                Ok(if b & 1 == 0 {
                    FromMember::Heartbeat
                } else {
                    FromMember::Bye
                }),
            ),
            5 => hub.handle_member(now, id, Err(Malformed::Unknown("noise".to_owned()))),
            6 => {
                let end = LateResultsEnd {
                    run: "r".to_owned(),
                    error: None,
                    health: None,
                    stop_requested_at: None,
                    proof: String::new(),
                };
                hub.handle_member(now, id, Ok(FromMember::LateResultsEnd(end)));
            }
            7 => {
                let open = Open {
                    protocol: netburn_protocol::messages::VERSION,
                    secret: if b & 1 == 0 { "secret" } else { "token" }.to_owned(),
                };
                hub.handle_operator(now, id, Ok(ControlRequest::Open(open)));
            }
            8 => {
                let run = format!("r{}", b % 4);
                let part = Part {
                    name: "s".to_owned(),
                    member: format!("m{}", b >> 5),
                    stations: vec![0],
                    ..Part::default()
                };
                let message = match b & 12 {
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
                };
                hub.handle_operator(now, id, Ok(message));
            }
            9 => {
                open.remove(&id);
                hub.handle_closed(now, id);
            }
            10 => hub.handle_token(now, Token::known("token"), Vec::new()),
            _ => {
                now = now.after(Duration::from_millis(u64::from(a) * 100));
                while let Some((at, _)) = hub.poll_timeout().filter(|(at, _)| *at <= now) {
                    hub.handle_timeout(at);
                    let yielded = drain(&mut hub, &mut open, &mut proxied, &mut here, true);
                    let moved = hub.poll_timeout().is_none_or(|(next, _)| next > at);
                    assert!(yielded || moved, "a timeout at {at:?} that does nothing");
                }
            }
        }
        drain(&mut hub, &mut open, &mut proxied, &mut here, knows || what % 12 > 3);
        let names: BTreeSet<String> = hub.members().into_iter().map(|member| member.name).collect();
        assert_eq!(
            (names.len(), &names),
            (hub.members().len(), &here),
            "who came and went is who is here"
        );
        assert_eq!(hub.poll_timeout(), hub.poll_timeout());
        assert!(open.values().filter(|known| !**known).count() <= MAX_PENDING_CONNECTIONS);
        assert!(hub.runs().count() <= 4 && NEWS_INTERVAL > Duration::ZERO);
    }
}

/// Drains all outputs. Returns whether there were any.
fn drain(
    hub: &mut Hub,
    open: &mut BTreeMap<ConnectionId, bool>,
    proxied: &mut BTreeSet<String>,
    here: &mut BTreeSet<String>,
    may_welcome: bool,
) -> bool {
    let mut any = false;
    while let Some(output) = hub.poll_output() {
        any = true;
        match output {
            Output::Send(id, message) => {
                if let ToMember::Welcome(_) = message {
                    assert!(may_welcome, "welcomed without the token");
                    open.insert(id, true);
                }
                if let ToMember::Invite(invite) = &message {
                    assert!(proxied.contains(&invite.run), "a summons to a closed door");
                }
                assert!(open.contains_key(&id), "{message:?} to a closed connection");
            }
            Output::Proxy(run, _) => drop(proxied.insert(run)),
            Output::RunOver(run, _) => assert!(proxied.remove(&run), "over twice"),
            Output::Tell(id, message) => assert!(open.contains_key(&id), "{message:?} to a closed connection"),
            Output::Register(operator, registration) => hub.handle_registered(operator, registration.run),
            Output::Joined(name) => assert!(here.insert(name), "joined twice"),
            Output::Gone(name) => assert!(here.remove(&name), "gone and not here"),
            Output::Close(id) => assert!(open.remove(&id).is_some(), "closed twice"),
            _ => {}
        }
    }
    any
}
