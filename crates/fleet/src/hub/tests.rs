//! What a controller lets in, whom it sends where, and what it forgets, by virtual time.

use super::machine::{DOUBTFUL, HELLO, MAX_STRANGERS, MAX_STRANGERS_FROM_ONE, NEWS, SILENCE};
use super::owner::{FromOwner, Hold, Open, Release, SummonMember, ToOwner};
use super::{Denial, Hub, Line, Output, Setup, Wake, Way};
use crate::clock::Stamp;
use crate::controller::{ConnectionId, Token};
use crate::late::Part;
use crate::protocol::standing::{About, Enrol, FromMember, Kind, Late, LateEnd, ToMember, Waiting};
use crate::protocol::{Batch, Message, VERSION};
use netburn_record::Role;
use netburn_units::Duration;
use std::net::IpAddr;

const TOKEN: &str = "AAECAwQFBgcICQoLDA0ODw";
const SECRET: &str = "the owner's";
const NEAR: Way = Way {
    private: true,
    address: None,
};

/// A hub and a clock.
struct House {
    hub: Hub,
    now: Stamp,
    next: u64,
}

impl House {
    fn new() -> House {
        House {
            hub: Hub::new(Setup {
                fleet: "home".to_owned(),
                version: "netburn test".to_owned(),
                token: Token::known(TOKEN),
                secret: Token::known(SECRET),
                urls: vec!["http://192.0.2.1:4484/".to_owned()],
                near_only: false,
            }),
            now: Stamp(0),
            next: 0,
        }
    }

    fn connect(&mut self, line: Line, way: Way) -> ConnectionId {
        let id = ConnectionId(self.next);
        self.next += 1;
        self.hub.handle_connected(self.now, id, line, way);
        id
    }

    fn enrol(&mut self, name: &str, change: impl FnOnce(&mut Enrol, &mut Way)) -> (ConnectionId, Vec<Output>) {
        let (mut enrol, mut way) = (enrol(name), NEAR);
        change(&mut enrol, &mut way);
        let id = self.connect(Line::Member, way);
        self.hub.handle_member(self.now, id, Ok(FromMember::Enrol(enrol)));
        (id, self.outputs())
    }

    fn member(&mut self, name: &str) -> ConnectionId {
        let (id, outputs) = self.enrol(name, |_, _| {});
        assert!(
            matches!(outputs[0], Output::Send(_, ToMember::Welcome(_))),
            "{outputs:?}"
        );
        id
    }

    fn owner(&mut self) -> ConnectionId {
        let id = self.connect(Line::Owner, NEAR);
        let open = Open {
            protocol: VERSION,
            secret: SECRET.to_owned(),
        };
        self.hub.handle_owner(self.now, id, Ok(FromOwner::Open(open)));
        let outputs = self.outputs();
        assert!(
            matches!(outputs[0], Output::Tell(_, ToOwner::Welcome(_))),
            "{outputs:?}"
        );
        id
    }

    fn hold(&mut self, owner: ConnectionId, run: &str) -> Vec<Output> {
        let part = Part {
            name: "tv".to_owned(),
            member: "box".to_owned(),
            stations: vec![0],
            ..Part::default()
        };
        let hold = Hold {
            run: run.to_owned(),
            port: 4000,
            folder: "/tmp/run".into(),
            parts: vec![part],
            members: vec!["box".to_owned()],
            until: 1_800_000_000,
        };
        self.hub.handle_owner(self.now, owner, Ok(FromOwner::Hold(hold)));
        self.outputs()
    }

    fn summon(&mut self, owner: ConnectionId, run: &str, member: &str) -> Vec<Output> {
        let summon = SummonMember {
            run: run.to_owned(),
            member: member.to_owned(),
            name: "tv".to_owned(),
            token: "t".to_owned(),
        };
        self.hub.handle_owner(self.now, owner, Ok(FromOwner::Summon(summon)));
        self.outputs()
    }

    fn outputs(&mut self) -> Vec<Output> {
        std::iter::from_fn(|| self.hub.poll_output()).collect()
    }

    /// Lets time pass, waking as the hub wants.
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

fn enrol(name: &str) -> Enrol {
    Enrol {
        protocol: VERSION,
        name: name.to_owned(),
        token: TOKEN.to_owned(),
        version: "netburn test".to_owned(),
        about: About::this_process(Role::Agent, None, Default::default()),
        waiting: Vec::new(),
    }
}

fn far(ip: [u8; 4]) -> Way {
    Way {
        private: false,
        address: Some(IpAddr::from(ip)),
    }
}

fn denial(outputs: &[Output]) -> Option<&Denial> {
    outputs.iter().find_map(|output| match output {
        Output::Refused(_, _, denial) => Some(denial),
        _ => None,
    })
}

fn closes(outputs: &[Output], id: ConnectionId) -> bool {
    outputs.contains(&Output::Close(id))
}

#[test]
fn whoever_has_the_token_is_in_and_nobody_else() {
    let mut house = House::new();
    house.member("box");
    for (change, wanted) in [
        (
            Box::new(|e: &mut Enrol, _: &mut Way| e.token = "wrong".to_owned())
                as Box<dyn FnOnce(&mut Enrol, &mut Way)>,
            Denial::Token,
        ),
        (
            Box::new(|e, _| e.protocol = VERSION + 1),
            Denial::Version { theirs: VERSION + 1 },
        ),
        (Box::new(|e, _| e.name = "two words".to_owned()), Denial::Name),
        (
            Box::new(|e, _| e.name = "box".to_owned()),
            Denial::Duplicate("box".to_owned()),
        ),
        (Box::new(|_, way| *way = far([192, 0, 2, 7])), Denial::InTheClear),
        (
            Box::new(|e, _| {
                e.about.labels.insert("bad key".to_owned(), "x".to_owned());
            }),
            Denial::About,
        ),
    ] {
        let (id, outputs) = house.enrol("new", change);
        assert_eq!(denial(&outputs), Some(&wanted));
        assert!(matches!(outputs[0], Output::Send(_, ToMember::Refused(_))) && closes(&outputs, id));
        assert_eq!(house.names(), ["box"]);
    }
    // A wrong token learns nothing of names.
    let (_, outputs) = house.enrol("box", |e, _| e.token = "wrong".to_owned());
    assert_eq!(denial(&outputs), Some(&Denial::Token));
}

#[test]
fn a_browser_may_come_in_the_clear() {
    let mut house = House::new();
    let (_, outputs) = house.enrol("phone", |e, way| {
        e.about.kind = Kind::Browser;
        *way = far([192, 0, 2, 7]);
    });
    assert_eq!(denial(&outputs), None);
    assert_eq!(house.names(), ["phone"]);
}

#[test]
fn a_silent_one_gives_way_and_a_live_one_does_not() {
    let mut house = House::new();
    let first = house.member("box");
    house.pass(DOUBTFUL - Duration::from_nanos(1));
    assert!(denial(&house.enrol("box", |_, _| {}).1).is_some());
    house.pass(Duration::from_nanos(1));
    let (_, outputs) = house.enrol("box", |_, _| {});
    assert!(closes(&outputs, first) && denial(&outputs).is_none());
    assert_eq!(house.names(), ["box"]);
}

#[test]
fn who_says_nothing_is_gone_in_the_end_and_who_does_stays() {
    let mut house = House::new();
    let (quiet, loud) = (house.member("quiet"), house.member("loud"));
    assert_eq!(house.hub.poll_timeout(), Some((Stamp(0).after(NEWS), Wake::News)));
    for _ in 0..5 {
        house.pass(Duration::from_secs(5));
        house.hub.handle_member(house.now, loud, Ok(FromMember::Alive));
    }
    let outputs = house.pass(SILENCE - Duration::from_secs(25));
    assert!(closes(&outputs, quiet) && !closes(&outputs, loud));
    assert_eq!(house.names(), ["loud"]);
}

#[test]
fn who_begins_with_another_word_is_told_which() {
    let end = |run: &str| LateEnd {
        run: run.to_owned(),
        ..LateEnd::default()
    };
    let words = [
        (FromMember::Alive, "`alive` has no place here"),
        (FromMember::Late(Late::default()), "`late` has no place here"),
        (FromMember::LateEnd(end("r")), "`late-end` has no place here"),
        (FromMember::Bye, "`bye` has no place here"),
    ];
    for (word, said) in words {
        // The name is the one in the message.
        assert!(word.to_text().starts_with(&format!(r#"{{"type":"{}""#, word.name())));
        let mut house = House::new();
        let id = house.connect(Line::Member, NEAR);
        house.hub.handle_member(house.now, id, Ok(word));
        assert_eq!(denial(&house.outputs()).unwrap().to_string(), said);
    }
    let mut house = House::new();
    let id = house.connect(Line::Owner, NEAR);
    house.hub.handle_owner(house.now, id, Ok(FromOwner::Revoke));
    assert_eq!(
        denial(&house.outputs()).unwrap().to_string(),
        "`revoke` has no place here"
    );
}

#[test]
fn strangers_are_few_and_short_lived() {
    let mut house = House::new();
    let first = house.connect(Line::Member, NEAR);
    for _ in 1..MAX_STRANGERS {
        house.connect(Line::Member, NEAR);
    }
    assert!(house.outputs().is_empty());
    house.connect(Line::Owner, NEAR);
    assert!(closes(&house.outputs(), first), "the oldest goes");
    let outputs = house.pass(HELLO);
    assert_eq!(
        outputs.iter().filter(|o| matches!(o, Output::Close(_))).count(),
        MAX_STRANGERS
    );
    assert_eq!(house.hub.poll_timeout(), None);
}

#[test]
fn a_flood_from_one_address_pushes_out_its_own_alone() {
    let mut house = House::new();
    let other = house.connect(Line::Member, far([192, 0, 2, 1]));
    let flood: Vec<_> = (0..=MAX_STRANGERS_FROM_ONE)
        .map(|_| house.connect(Line::Member, far([192, 0, 2, 66])))
        .collect();
    let outputs = house.outputs();
    assert!(closes(&outputs, flood[0]) && !closes(&outputs, other));
    // A host may use any address of its IPv6 /64.
    let flood: Vec<_> = (0..=MAX_STRANGERS_FROM_ONE as u128)
        .map(|host| {
            let address = IpAddr::from((0x2001_0db8_u128 << 96 | host).to_be_bytes());
            house.connect(
                Line::Member,
                Way {
                    private: false,
                    address: Some(address),
                },
            )
        })
        .collect();
    let outputs = house.outputs();
    assert!(closes(&outputs, flood[0]) && !closes(&outputs, other));
    house.hub.handle_member(
        house.now,
        other,
        Ok(FromMember::Enrol(Enrol {
            about: About {
                kind: Kind::Browser,
                ..enrol("x").about
            },
            ..enrol("phone")
        })),
    );
    assert_eq!(house.names(), ["phone"]);
}

#[test]
fn a_summons_reaches_its_member_now_and_when_it_comes_back() {
    let mut house = House::new();
    let (member, owner) = (house.member("box"), house.owner());
    let held = house.hold(owner, "r1");
    let [passed, Output::Register(_), Output::Tell(_, ToOwner::Held(_))] = &held[..] else {
        panic!("{held:?}")
    };
    assert_eq!(
        *passed,
        Output::PassOn("r1".to_owned(), 4000),
        "the way is open before anybody is sent there"
    );
    assert_eq!(house.hub.runs().collect::<Vec<_>>(), [("r1", 4000)]);
    let summoned = |outputs: &[Output], id| {
        outputs
            .iter()
            .any(|o| matches!(o, Output::Send(to, ToMember::Summon(s)) if *to == id && s.run == "r1" && s.name == "tv"))
    };
    assert!(summoned(&house.summon(owner, "r1", "box"), member));
    assert_eq!(house.hub.members()[0].run.as_deref(), Some("r1"));
    house.hub.handle_closed(house.now, member);
    house.outputs();
    let (again, outputs) = house.enrol("box", |_, _| {});
    assert!(summoned(&outputs, again), "it is told once more");
    // One who isn't here is told when it comes.
    assert_eq!(
        denial(&house.summon(owner, "r1", "tablet")),
        Some(&Denial::Absent("tablet".to_owned()))
    );
    let (late, outputs) = house.enrol("tablet", |_, _| {});
    assert!(summoned(&outputs, late));
    assert_eq!(
        denial(&house.summon(owner, "r2", "box")),
        Some(&Denial::Run("r2".to_owned()))
    );
}

#[test]
fn a_member_is_in_one_run_at_a_time() {
    let mut house = House::new();
    let (_, first, second) = (house.member("box"), house.owner(), house.owner());
    house.hold(first, "r1");
    let present = &house.hub.members()[0];
    assert_eq!(
        (present.run.as_deref(), present.until),
        (Some("r1"), Some(1_800_000_000))
    );
    // Even before it is summoned.
    let busy = Denial::Busy {
        member: "box".to_owned(),
        run: "r1".to_owned(),
    };
    assert_eq!(denial(&house.hold(second, "r2")), Some(&busy));
    assert!(house.outputs().is_empty() && house.hub.runs().count() == 1);
    house.pass(NEWS);
    house.hub.handle_closed(house.now, first);
    house.outputs();
    let told = house.pass(NEWS);
    let free =
        |o: &Output| matches!(o, Output::Tell(to, ToOwner::Members(m)) if *to == second && m.members[0].run.is_none());
    assert!(
        told.iter().any(free),
        "who waits for it hears that it is free: {told:?}"
    );
    assert_eq!(denial(&house.hold(second, "r2")), None);
    // Whoever holds a run may hold it again, over another connection.
    let again = house.owner();
    assert_eq!(denial(&house.hold(again, "r2")), None);
}

#[test]
fn a_run_of_many_who_are_not_here_keeps_its_holder() {
    let mut house = House::new();
    let owner = house.owner();
    house.hold(owner, "r1");
    for absent in 0..100 {
        let outputs = house.summon(owner, "r1", &format!("m{absent}"));
        assert!(!closes(&outputs, owner), "{absent} are not here yet");
    }
}

#[test]
fn a_run_is_over_with_its_holder_or_its_word() {
    let mut house = House::new();
    let (_, owner) = (house.member("box"), house.owner());
    house.hold(owner, "r1");
    house.hub.handle_closed(house.now, owner);
    let missing = vec![("box".to_owned(), "tv".to_owned())];
    assert_eq!(
        house.outputs(),
        [Output::RunOver("r1".to_owned(), missing)],
        "all may be missing"
    );
    let owner = house.owner();
    house.hold(owner, "r2");
    let release = Release {
        run: "r2".to_owned(),
        missing: Vec::new(),
    };
    house
        .hub
        .handle_owner(house.now, owner, Ok(FromOwner::Release(release.clone())));
    assert_eq!(house.outputs(), [Output::RunOver("r2".to_owned(), Vec::new())]);
    house
        .hub
        .handle_owner(house.now, owner, Ok(FromOwner::Release(release)));
    assert!(denial(&house.outputs()).is_some(), "it is over already");
    assert_eq!(house.hub.runs().count(), 0);
}

#[test]
fn what_a_member_kept_is_asked_for_unless_the_run_is_held() {
    let mut house = House::new();
    let owner = house.owner();
    house.hold(owner, "r1");
    let waiting = |run: &str| Waiting {
        run: run.to_owned(),
        name: "tv".to_owned(),
        messages: 3,
    };
    let (id, outputs) = house.enrol("box", |e, _| e.waiting = vec![waiting("r0"), waiting("r1")]);
    let offered: Vec<_> = outputs.iter().filter(|o| matches!(o, Output::Waiting(..))).collect();
    assert_eq!(offered, [&Output::Waiting("box".to_owned(), waiting("r0"))]);
    let late = Late {
        run: "r0".to_owned(),
        proof: String::new(),
        sequence: 1,
        batch: Batch::default(),
    };
    house
        .hub
        .handle_member(house.now, id, Ok(FromMember::Late(late.clone())));
    assert_eq!(house.outputs(), [Output::Late("box".to_owned(), late)]);
}

#[test]
fn revoking_throws_everybody_out_for_good() {
    let mut house = House::new();
    let (member, owner) = (house.member("box"), house.owner());
    house.hub.handle_owner(house.now, owner, Ok(FromOwner::Revoke));
    assert_eq!(house.outputs(), [Output::NewToken(owner)]);
    house
        .hub
        .handle_token(house.now, Token::known("another"), vec!["u".to_owned()]);
    let outputs = house.outputs();
    assert!(closes(&outputs, member));
    assert!(
        outputs
            .iter()
            .any(|o| matches!(o, Output::Tell(to, ToOwner::Revoked(w)) if *to == owner && w.token == "another"))
    );
    assert!(house.names().is_empty());
    assert_eq!(denial(&house.enrol("box", |_, _| {}).1), Some(&Denial::Token));
    assert_eq!(
        denial(&house.enrol("box", |e, _| e.token = "another".to_owned()).1),
        None
    );
}

#[test]
fn who_revokes_in_vain_hears_why_and_everybody_stays() {
    let mut house = House::new();
    let (_, owner) = (house.member("box"), house.owner());
    house.hub.handle_owner(house.now, owner, Ok(FromOwner::Revoke));
    house.outputs();
    house.hub.handle_no_token(owner, "the disk is full".to_owned());
    let refused = crate::protocol::Refused {
        reason: "the disk is full".to_owned(),
    };
    assert_eq!(house.outputs(), [Output::Tell(owner, ToOwner::Refused(refused))]);
    assert_eq!(house.names(), ["box"]);
}

#[test]
fn owners_hear_of_changes_once_in_a_while() {
    let mut house = House::new();
    let owner = house.owner();
    for n in 0..100 {
        house.member(&format!("m{n}"));
    }
    let told = |outputs: &[Output]| {
        let lists = outputs.iter().filter_map(|o| match o {
            Output::Tell(to, ToOwner::Members(m)) if *to == owner => Some(m.members.len()),
            _ => None,
        });
        lists.collect::<Vec<_>>()
    };
    assert_eq!(told(&house.pass(NEWS)), [100]);
    assert!(told(&house.pass(Duration::from_secs(1))).is_empty());
}

#[test]
fn an_owner_without_the_secret_is_none() {
    let mut house = House::new();
    let id = house.connect(Line::Owner, NEAR);
    house.hub.handle_owner(house.now, id, Ok(FromOwner::Revoke));
    assert!(closes(&house.outputs(), id));
    let id = house.connect(Line::Owner, NEAR);
    let open = Open {
        protocol: VERSION,
        secret: TOKEN.to_owned(),
    };
    house.hub.handle_owner(house.now, id, Ok(FromOwner::Open(open)));
    assert!(closes(&house.outputs(), id));
}
