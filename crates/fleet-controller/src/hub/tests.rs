//! Admission, invitations and timeouts of a hub, in virtual time.

use super::control::{AcquireRun, ControlReply, ControlRequest, InviteMember, Open, ReleaseRun, RunAcquired};
use super::machine::{
    HELLO_TIMEOUT, MAX_PENDING_CONNECTIONS, MAX_PENDING_PER_CLIENT, MEMBERS_INTERVAL, SILENCE_TIMEOUT, STALE_AFTER,
};
use super::{ConnectionKind, Hub, Output, PeerInfo, Setup, Wake};
use crate::late::Part;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::Rejection;
use netburn_protocol::messages::standing::{
    FromMember, Kind, LateResults, LateResultsEnd, MemberInfo, PendingResults, Register, ToMember,
};
use netburn_protocol::messages::{Batch, Message, RejectReason, Rejected, VERSION};
use netburn_protocol::token::Token;
use netburn_record::Role;
use netburn_run_control::controller::ConnectionId;
use netburn_units::Duration;
use std::net::IpAddr;

const TOKEN: &str = "AAECAwQFBgcICQoLDA0ODw";
const SECRET: &str = "the owner's";
const NEAR: PeerInfo = PeerInfo {
    private: true,
    address: None,
};

/// A hub and a clock.
struct Rig {
    hub: Hub,
    now: Stamp,
    next: u64,
}

impl Rig {
    fn new() -> Rig {
        Rig {
            hub: Hub::new(Setup {
                fleet: "home".to_owned(),
                version: "netburn test".to_owned(),
                token: Token::known(TOKEN),
                secret: Token::known(SECRET),
                urls: vec!["http://192.0.2.1:4484/".to_owned()],
                loopback_only: false,
                observed: Default::default(),
            }),
            now: Stamp(0),
            next: 0,
        }
    }

    fn connect(&mut self, kind: ConnectionKind, peer_info: PeerInfo) -> ConnectionId {
        let id = ConnectionId(self.next);
        self.next += 1;
        self.hub.handle_connected(self.now, id, kind, peer_info);
        id
    }

    fn register(
        &mut self,
        name: &str,
        change: impl FnOnce(&mut Register, &mut PeerInfo),
    ) -> (ConnectionId, Vec<Output>) {
        let (mut register, mut peer_info) = (register(name), NEAR);
        change(&mut register, &mut peer_info);
        let id = self.connect(ConnectionKind::Member, peer_info);
        self.hub.handle_member(self.now, id, Ok(FromMember::Register(register)));
        (id, self.outputs())
    }

    fn member(&mut self, name: &str) -> ConnectionId {
        let (id, outputs) = self.register(name, |_, _| {});
        assert!(
            matches!(outputs[0], Output::Send(_, ToMember::Welcome(_))),
            "{outputs:?}"
        );
        id
    }

    fn operator(&mut self) -> ConnectionId {
        let id = self.connect(ConnectionKind::Operator, NEAR);
        let open = Open {
            protocol: VERSION,
            secret: SECRET.to_owned(),
        };
        self.hub.handle_operator(self.now, id, Ok(ControlRequest::Open(open)));
        let outputs = self.outputs();
        assert!(
            matches!(outputs[0], Output::Tell(_, ControlReply::Welcome(_))),
            "{outputs:?}"
        );
        id
    }

    fn acquire(&mut self, operator: ConnectionId, run: &str) -> Vec<Output> {
        let part = Part {
            name: "tv".to_owned(),
            member: "box".to_owned(),
            stations: vec![0],
            ..Part::default()
        };
        let acquire = AcquireRun {
            run: run.to_owned(),
            port: 4000,
            folder: "/tmp/run".into(),
            parts: vec![part],
            members: vec!["box".to_owned()],
            until: 1_800_000_000,
        };
        self.hub
            .handle_operator(self.now, operator, Ok(ControlRequest::Acquire(acquire)));
        self.outputs()
    }

    fn invite(&mut self, operator: ConnectionId, run: &str, member: &str) -> Vec<Output> {
        let invite = InviteMember {
            run: run.to_owned(),
            member: member.to_owned(),
            name: "tv".to_owned(),
            token: "t".to_owned(),
        };
        self.hub
            .handle_operator(self.now, operator, Ok(ControlRequest::Invite(invite)));
        self.outputs()
    }

    fn outputs(&mut self) -> Vec<Output> {
        std::iter::from_fn(|| self.hub.poll_output()).collect()
    }

    /// Advances the time, with the timeouts of the hub.
    fn pass(&mut self, span: Duration) -> Vec<Output> {
        let end = self.now.after(span);
        let mut outputs = Vec::new();
        while let Some((at, _)) = self.hub.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = at.max(self.now);
            self.hub.handle_timeout(self.now);
            outputs.extend(self.outputs());
        }
        self.now = end;
        outputs
    }

    fn names(&self) -> Vec<String> {
        self.hub.members().into_iter().map(|member| member.name).collect()
    }
}

fn register(name: &str) -> Register {
    Register {
        protocol: VERSION,
        name: name.to_owned(),
        token: TOKEN.to_owned(),
        version: "netburn test".to_owned(),
        about: MemberInfo::this_process(Role::Agent, None, Default::default()),
        pending: Vec::new(),
    }
}

fn far(ip: [u8; 4]) -> PeerInfo {
    PeerInfo {
        private: false,
        address: Some(IpAddr::from(ip)),
    }
}

fn rejection(outputs: &[Output]) -> Option<&Rejection> {
    outputs.iter().find_map(|output| match output {
        Output::Rejected(_, _, rejection) => Some(rejection),
        _ => None,
    })
}

fn closes(outputs: &[Output], id: ConnectionId) -> bool {
    outputs.contains(&Output::Close(id))
}

#[test]
fn members_need_the_token() {
    let mut rig = Rig::new();
    rig.member("box");
    for (change, wanted) in [
        (
            Box::new(|e: &mut Register, _: &mut PeerInfo| e.token = "wrong".to_owned())
                as Box<dyn FnOnce(&mut Register, &mut PeerInfo)>,
            Rejection::FleetToken,
        ),
        (
            Box::new(|e, _| e.protocol = VERSION + 1),
            Rejection::Version { theirs: VERSION + 1 },
        ),
        (Box::new(|e, _| e.name = "two words".to_owned()), Rejection::Name),
        (
            Box::new(|e, _| e.name = "box".to_owned()),
            Rejection::MemberName("box".to_owned()),
        ),
        (
            Box::new(|_, peer_info| *peer_info = far([192, 0, 2, 7])),
            Rejection::NotEncrypted,
        ),
        (
            Box::new(|e, _| {
                e.about.labels.insert("bad key".to_owned(), "x".to_owned());
            }),
            Rejection::InvalidMemberInfo,
        ),
    ] {
        let (id, outputs) = rig.register("new", change);
        assert_eq!(rejection(&outputs), Some(&wanted));
        assert!(matches!(outputs[0], Output::Send(_, ToMember::Rejected(_))) && closes(&outputs, id));
        assert_eq!(rig.names(), ["box"]);
    }
    // A peer with a wrong token does not learn the names.
    let (_, outputs) = rig.register("box", |e, _| e.token = "wrong".to_owned());
    assert_eq!(rejection(&outputs), Some(&Rejection::FleetToken));
}

#[test]
fn a_browser_may_connect_without_tls() {
    let mut rig = Rig::new();
    let (_, outputs) = rig.register("phone", |e, peer_info| {
        e.about.kind = Kind::Browser;
        *peer_info = far([192, 0, 2, 7]);
    });
    assert_eq!(rejection(&outputs), None);
    assert_eq!(rig.names(), ["phone"]);
}

#[test]
fn a_silent_one_gives_way_and_a_live_one_does_not() {
    let mut rig = Rig::new();
    let first = rig.member("box");
    rig.pass(STALE_AFTER - Duration::from_nanos(1));
    assert!(rejection(&rig.register("box", |_, _| {}).1).is_some());
    rig.pass(Duration::from_nanos(1));
    let (_, outputs) = rig.register("box", |_, _| {});
    assert!(closes(&outputs, first) && rejection(&outputs).is_none());
    assert_eq!(rig.names(), ["box"]);
}

#[test]
fn a_silent_member_is_disconnected_and_another_stays() {
    let mut rig = Rig::new();
    let (quiet, loud) = (rig.member("quiet"), rig.member("loud"));
    assert_eq!(
        rig.hub.poll_timeout(),
        Some((Stamp(0).after(MEMBERS_INTERVAL), Wake::Members))
    );
    for _ in 0..5 {
        rig.pass(Duration::from_secs(5));
        rig.hub.handle_member(rig.now, loud, Ok(FromMember::Heartbeat));
    }
    let outputs = rig.pass(SILENCE_TIMEOUT - Duration::from_secs(25));
    assert!(closes(&outputs, quiet) && !closes(&outputs, loud));
    assert_eq!(rig.names(), ["loud"]);
}

#[test]
fn an_unexpected_first_message_is_named() {
    let end = |run: &str| LateResultsEnd {
        run: run.to_owned(),
        ..LateResultsEnd::default()
    };
    let messages = [
        (FromMember::Heartbeat, "unexpected message `heartbeat`"),
        (
            FromMember::LateResults(LateResults::default()),
            "unexpected message `late-results`",
        ),
        (
            FromMember::LateResultsEnd(end("r")),
            "unexpected message `late-results-end`",
        ),
        (FromMember::Bye, "unexpected message `bye`"),
    ];
    for (message, expected) in messages {
        // The name is the one in the message.
        assert!(
            message
                .to_text()
                .starts_with(&format!(r#"{{"type":"{}""#, message.name()))
        );
        let mut rig = Rig::new();
        let id = rig.connect(ConnectionKind::Member, NEAR);
        rig.hub.handle_member(rig.now, id, Ok(message));
        assert_eq!(rejection(&rig.outputs()).unwrap().to_string(), expected);
    }
    let mut rig = Rig::new();
    let id = rig.connect(ConnectionKind::Operator, NEAR);
    rig.hub.handle_operator(rig.now, id, Ok(ControlRequest::Revoke));
    assert_eq!(
        rejection(&rig.outputs()).unwrap().to_string(),
        "unexpected message `revoke`"
    );
}

#[test]
fn unauthenticated_connections_are_limited_in_number_and_time() {
    let mut rig = Rig::new();
    let first = rig.connect(ConnectionKind::Member, NEAR);
    for _ in 1..MAX_PENDING_CONNECTIONS {
        rig.connect(ConnectionKind::Member, NEAR);
    }
    assert!(rig.outputs().is_empty());
    rig.connect(ConnectionKind::Operator, NEAR);
    assert!(closes(&rig.outputs(), first), "the oldest goes");
    let outputs = rig.pass(HELLO_TIMEOUT);
    assert_eq!(
        outputs.iter().filter(|o| matches!(o, Output::Close(_))).count(),
        MAX_PENDING_CONNECTIONS
    );
    assert_eq!(rig.hub.poll_timeout(), None);
}

#[test]
fn a_flood_from_one_address_pushes_out_its_own_alone() {
    let mut rig = Rig::new();
    let other = rig.connect(ConnectionKind::Member, far([192, 0, 2, 1]));
    let flood: Vec<_> = (0..=MAX_PENDING_PER_CLIENT)
        .map(|_| rig.connect(ConnectionKind::Member, far([192, 0, 2, 66])))
        .collect();
    let outputs = rig.outputs();
    assert!(closes(&outputs, flood[0]) && !closes(&outputs, other));
    // A host may use any address of its IPv6 /64.
    let flood: Vec<_> = (0..=MAX_PENDING_PER_CLIENT as u128)
        .map(|host| {
            let address = IpAddr::from((0x2001_0db8_u128 << 96 | host).to_be_bytes());
            rig.connect(
                ConnectionKind::Member,
                PeerInfo {
                    private: false,
                    address: Some(address),
                },
            )
        })
        .collect();
    let outputs = rig.outputs();
    assert!(closes(&outputs, flood[0]) && !closes(&outputs, other));
    rig.hub.handle_member(
        rig.now,
        other,
        Ok(FromMember::Register(Register {
            about: MemberInfo {
                kind: Kind::Browser,
                ..register("x").about
            },
            ..register("phone")
        })),
    );
    assert_eq!(rig.names(), ["phone"]);
}

#[test]
fn an_invitation_reaches_its_member_now_and_after_a_reconnect() {
    let mut rig = Rig::new();
    let (member, operator) = (rig.member("box"), rig.operator());
    let acquired = rig.acquire(operator, "r1");
    let [proxied, Output::Register(holder, registration)] = &acquired[..] else {
        panic!("{acquired:?}")
    };
    assert_eq!(
        *proxied,
        Output::Proxy("r1".to_owned(), 4000),
        "the way is open before anybody is sent there"
    );
    assert_eq!(rig.hub.runs().collect::<Vec<_>>(), [("r1", 4000)]);
    assert_eq!((*holder, &*registration.run), (operator, "r1"));
    let invited = |outputs: &[Output], id| {
        outputs
            .iter()
            .any(|o| matches!(o, Output::Send(to, ToMember::Invite(s)) if *to == id && s.run == "r1" && s.name == "tv"))
    };
    assert!(invited(&rig.invite(operator, "r1", "box"), member));
    assert_eq!(rig.hub.members()[0].run.as_deref(), Some("r1"));
    rig.hub.handle_closed(rig.now, member);
    rig.outputs();
    let (reconnected, outputs) = rig.register("box", |_, _| {});
    assert!(invited(&outputs, reconnected), "the invitation is sent again");
    // A disconnected member is invited when it connects.
    assert_eq!(
        rejection(&rig.invite(operator, "r1", "tablet")),
        Some(&Rejection::Absent("tablet".to_owned()))
    );
    let (late, outputs) = rig.register("tablet", |_, _| {});
    assert!(invited(&outputs, late));
    assert_eq!(
        rejection(&rig.invite(operator, "r2", "box")),
        Some(&Rejection::Run("r2".to_owned()))
    );
}

#[test]
fn an_operator_gets_its_reply_when_the_registration_is_stored() {
    let mut rig = Rig::new();
    let (first, second) = (rig.operator(), rig.operator());
    let told = |outputs: &[Output]| outputs.iter().filter(|o| matches!(o, Output::Tell(..))).count();
    assert_eq!(told(&rig.acquire(first, "r1")), 0);
    // Lists of members are sent meanwhile.
    assert_eq!(told(&rig.pass(MEMBERS_INTERVAL)), 2);
    rig.hub.handle_registered(first, "r1".to_owned());
    let run = "r1".to_owned();
    assert_eq!(
        rig.outputs(),
        [Output::Tell(first, ControlReply::Acquired(RunAcquired { run }))]
    );
    // The operator disconnects before.
    rig.acquire(second, "r1");
    rig.hub.handle_closed(rig.now, second);
    rig.outputs();
    rig.hub.handle_registered(second, "r1".to_owned());
    assert_eq!(rig.outputs(), []);
}

#[test]
fn a_run_without_a_stored_registration_is_rejected_and_released() {
    let mut rig = Rig::new();
    let (first, second) = (rig.operator(), rig.operator());
    rig.acquire(first, "r1");
    rig.hub.handle_not_registered(rig.now, first, "r1", "no space");
    let released = Output::RunOver("r1".to_owned(), vec![("box".to_owned(), "tv".to_owned())]);
    let rejected = Rejected {
        code: RejectReason::StorageFailed,
        reason: "the registration of the run `r1` can't be stored: no space".to_owned(),
    };
    let rejected = Output::Tell(first, ControlReply::Rejected(rejected));
    assert_eq!(rig.outputs(), [released, rejected.clone()]);
    assert_eq!(rig.hub.runs().count(), 0);
    // A newer connection has acquired the run before the reply.
    rig.acquire(first, "r1");
    rig.acquire(second, "r1");
    rig.hub.handle_not_registered(rig.now, first, "r1", "no space");
    assert_eq!(rig.outputs(), [rejected]);
    assert_eq!(rig.hub.runs().count(), 1);
}

#[test]
fn a_member_is_in_one_run_at_a_time() {
    let mut rig = Rig::new();
    let (_, first, second) = (rig.member("box"), rig.operator(), rig.operator());
    rig.acquire(first, "r1");
    let present = &rig.hub.members()[0];
    assert_eq!(
        (present.run.as_deref(), present.until),
        (Some("r1"), Some(1_800_000_000))
    );
    // Even before the invitation.
    let busy = Rejection::Busy {
        member: "box".to_owned(),
        run: "r1".to_owned(),
    };
    assert_eq!(rejection(&rig.acquire(second, "r2")), Some(&busy));
    assert!(rig.outputs().is_empty() && rig.hub.runs().count() == 1);
    rig.pass(MEMBERS_INTERVAL);
    rig.hub.handle_closed(rig.now, first);
    rig.outputs();
    let lists = rig.pass(MEMBERS_INTERVAL);
    let free = |o: &Output| matches!(o, Output::Tell(to, ControlReply::Members(m)) if *to == second && m.members[0].run.is_none());
    assert!(
        lists.iter().any(free),
        "who waits for it hears that it is free: {lists:?}"
    );
    assert_eq!(rejection(&rig.acquire(second, "r2")), None);
    // The holder of a run may acquire it again, over another connection.
    let reconnected = rig.operator();
    assert_eq!(rejection(&rig.acquire(reconnected, "r2")), None);
}

#[test]
fn invitations_of_absent_members_do_not_close_the_operators_connection() {
    let mut rig = Rig::new();
    let operator = rig.operator();
    rig.acquire(operator, "r1");
    for absent in 0..100 {
        let outputs = rig.invite(operator, "r1", &format!("m{absent}"));
        assert!(!closes(&outputs, operator), "{absent} are not here yet");
    }
}

#[test]
fn a_run_is_over_with_its_holder_or_its_word() {
    let mut rig = Rig::new();
    let (_, operator) = (rig.member("box"), rig.operator());
    rig.acquire(operator, "r1");
    rig.hub.handle_closed(rig.now, operator);
    let missing = vec![("box".to_owned(), "tv".to_owned())];
    assert_eq!(
        rig.outputs(),
        [Output::RunOver("r1".to_owned(), missing)],
        "all may be missing"
    );
    let operator = rig.operator();
    rig.acquire(operator, "r2");
    let release = ReleaseRun {
        run: "r2".to_owned(),
        missing: Vec::new(),
    };
    rig.hub
        .handle_operator(rig.now, operator, Ok(ControlRequest::Release(release.clone())));
    assert_eq!(rig.outputs(), [Output::RunOver("r2".to_owned(), Vec::new())]);
    rig.hub
        .handle_operator(rig.now, operator, Ok(ControlRequest::Release(release)));
    assert!(rejection(&rig.outputs()).is_some(), "it is over already");
    assert_eq!(rig.hub.runs().count(), 0);
}

#[test]
fn results_of_released_runs_are_requested() {
    let mut rig = Rig::new();
    let operator = rig.operator();
    rig.acquire(operator, "r1");
    let pending_results = |run: &str| PendingResults {
        run: run.to_owned(),
        name: "tv".to_owned(),
        messages: 3,
    };
    let (id, outputs) = rig.register("box", |e, _| {
        e.pending = vec![pending_results("r0"), pending_results("r1")]
    });
    let offered: Vec<_> = outputs
        .iter()
        .filter(|o| matches!(o, Output::PendingResults(..)))
        .collect();
    assert_eq!(
        offered,
        [&Output::PendingResults("box".to_owned(), pending_results("r0"))]
    );
    let late = LateResults {
        run: "r0".to_owned(),
        proof: String::new(),
        sequence: 1,
        batch: Batch::default(),
    };
    rig.hub
        .handle_member(rig.now, id, Ok(FromMember::LateResults(late.clone())));
    assert_eq!(rig.outputs(), [Output::LateResults("box".to_owned(), late)]);
}

#[test]
fn revoking_disconnects_all_members_for_good() {
    let mut rig = Rig::new();
    let (member, operator) = (rig.member("box"), rig.operator());
    rig.hub.handle_operator(rig.now, operator, Ok(ControlRequest::Revoke));
    assert_eq!(rig.outputs(), [Output::NewToken(operator)]);
    rig.hub
        .handle_token(rig.now, Token::known("another"), vec!["u".to_owned()]);
    let outputs = rig.outputs();
    assert!(closes(&outputs, member));
    assert!(
        outputs.iter().any(
            |o| matches!(o, Output::Tell(to, ControlReply::Revoked(w)) if *to == operator && w.token == "another")
        )
    );
    assert!(rig.names().is_empty());
    assert_eq!(
        rejection(&rig.register("box", |_, _| {}).1),
        Some(&Rejection::FleetToken)
    );
    assert_eq!(
        rejection(&rig.register("box", |e, _| e.token = "another".to_owned()).1),
        None
    );
}

#[test]
fn a_failed_revocation_is_reported_and_disconnects_no_member() {
    let mut rig = Rig::new();
    let (_, operator) = (rig.member("box"), rig.operator());
    rig.hub.handle_operator(rig.now, operator, Ok(ControlRequest::Revoke));
    rig.outputs();
    rig.hub.handle_no_token(operator, "the disk is full".to_owned());
    let rejected = netburn_protocol::messages::Rejected {
        code: netburn_protocol::messages::RejectReason::Other,
        reason: "the disk is full".to_owned(),
    };
    assert_eq!(
        rig.outputs(),
        [Output::Tell(operator, ControlReply::Rejected(rejected))]
    );
    assert_eq!(rig.names(), ["box"]);
}

#[test]
fn operators_receive_changes_at_intervals() {
    let mut rig = Rig::new();
    let operator = rig.operator();
    for n in 0..100 {
        rig.member(&format!("m{n}"));
    }
    let lists = |outputs: &[Output]| {
        let lists = outputs.iter().filter_map(|o| match o {
            Output::Tell(to, ControlReply::Members(m)) if *to == operator => Some(m.members.len()),
            _ => None,
        });
        lists.collect::<Vec<_>>()
    };
    assert_eq!(lists(&rig.pass(MEMBERS_INTERVAL)), [100]);
    assert!(lists(&rig.pass(Duration::from_secs(1))).is_empty());
}

#[test]
fn an_operator_needs_the_secret() {
    let mut rig = Rig::new();
    let id = rig.connect(ConnectionKind::Operator, NEAR);
    rig.hub.handle_operator(rig.now, id, Ok(ControlRequest::Revoke));
    assert!(closes(&rig.outputs(), id));
    let id = rig.connect(ConnectionKind::Operator, NEAR);
    let open = Open {
        protocol: VERSION,
        secret: TOKEN.to_owned(),
    };
    rig.hub.handle_operator(rig.now, id, Ok(ControlRequest::Open(open)));
    assert!(closes(&rig.outputs(), id));
}
