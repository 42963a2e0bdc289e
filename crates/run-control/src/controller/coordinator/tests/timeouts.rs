//! Runs with devices on a network: agents that disconnect, reconnect, or can't reach the server.

use super::*;
use crate::controller::{Device, Expected};
use netburn_protocol::messages::Reach;

const LAPTOP_AGAIN: ConnectionId = ConnectionId(12);
const TV_AGAIN: ConnectionId = ConnectionId(13);

fn again(role: Role, name: &str) -> ToController {
    let ToController::Hello(hello) = hello(role, name) else {
        unreachable!()
    };
    ToController::Hello(Hello {
        reconnect: true,
        ..hello
    })
}

impl Rig {
    fn patient() -> Rig {
        Rig::with(Timeouts::for_fleet(Duration::from_secs(30)))
    }

    /// All agents have joined and received the start time.
    fn patient_and_started() -> Rig {
        let mut rig = Rig::patient();
        rig.start();
        rig
    }

    /// An agent reconnects; its clock stays the same.
    fn come_back(&mut self, id: ConnectionId, role: Role, name: &str) {
        self.connect(id);
        self.say(id, again(role, name));
        self.here.push(id);
        self.alive.push(id);
    }

    fn last_sequence(&self, id: ConnectionId) -> Option<u64> {
        self.sent.iter().rev().find_map(|(to, message)| match message {
            ToAgent::Welcome(welcome) if *to == id => Some(welcome.last_sequence),
            _ => None,
        })
    }

    fn intervals(&self) -> Vec<u64> {
        let rows = self.rows.iter().filter_map(|row| match row {
            Row::Interval(row) => Some(row.bytes_down),
            _ => None,
        });
        rows.collect()
    }
}

#[test]
fn a_reconnected_agent_continues() {
    let mut rig = Rig::patient_and_started();
    for sequence in 1..=3 {
        rig.say(LAPTOP, rows(sequence, 0));
    }
    rig.pass(3 * SECOND);
    rig.vanish(LAPTOP);
    assert_eq!(rig.events(EventKind::Lost), []);
    rig.pass(4 * SECOND);
    rig.come_back(LAPTOP_AGAIN, Role::Agent, "laptop");
    assert_eq!(rig.last_sequence(LAPTOP_AGAIN), Some(3));
    // The agent can't know what arrived.
    rig.say(LAPTOP_AGAIN, rows(3, 0));
    rig.say(LAPTOP_AGAIN, rows(4, 0));
    assert_eq!(rig.rejected, []);
    assert_eq!(rig.intervals(), [1, 2, 3, 4]);
    rig.sync();
    rig.drain();
    assert!(rig.told(LAPTOP_AGAIN, |m| matches!(m, ToAgent::Ack(ack) if ack.sequence == 4)));
    let warned = rig.events(EventKind::Warning);
    assert_eq!(
        warned,
        [(
            Some(0),
            "laptop was disconnected for 4 s: the connection was closed".to_owned()
        )]
    );
    let away = rig.rows.iter().find_map(|row| match row {
        Row::Event(event) if event.kind == EventKind::Warning => Some((event.at, event.length)),
        _ => None,
    });
    let (at, length) = away.unwrap();
    let zero = rig.coordinator.start.unwrap().0;
    assert_eq!(at.as_nanos() + length as i64, rig.now.0 - zero);
    assert_eq!(length, 4 * SECOND as u64);
    rig.pass(22 * SECOND);
    rig.report();
    let outcome = rig.finish().unwrap();
    assert_eq!((outcome.lost.len(), outcome.health.len()), (0, 3));
}

#[test]
fn a_disconnected_agent_is_lost_after_the_time_for_results() {
    let mut rig = Rig::patient_and_started();
    rig.pass(5 * SECOND);
    rig.vanish(TV);
    let left = rig.now;
    // 300 ms and 2 s to the start, 20 s of load, 5 s of drain, of which 6 s have passed.
    rig.pass(22 * SECOND);
    rig.say(LAPTOP, health("x"));
    rig.say(LAPTOP, done());
    rig.pass(19 * SECOND);
    assert!(!rig.coordinator.is_over());
    assert_eq!(rig.events(EventKind::Lost), []);
    rig.pass(2 * SECOND);
    rig.report();
    let lost = "agent tv was lost: the connection was closed, and it did not reconnect";
    assert_eq!(rig.events(EventKind::Lost), [(Some(1), lost.to_owned())]);
    let at = rig.rows.iter().find_map(|row| match row {
        Row::Event(event) if event.kind == EventKind::Lost => Some(event.at),
        _ => None,
    });
    assert_eq!(at.unwrap().as_nanos(), left.0 - rig.coordinator.start.unwrap().0);
    assert_eq!(rig.finish().unwrap().lost.len(), 1);
}

#[test]
fn the_loss_of_a_member_names_the_way_to_its_results() {
    let mut rig = Rig::patient_and_started();
    let sessions = &mut rig.coordinator.roster.sessions;
    let tv = sessions
        .iter_mut()
        .find(|session| session.expected.name == "tv")
        .unwrap();
    tv.expected.device = Device::Member("tv".to_owned());
    rig.pass(5 * SECOND);
    rig.vanish(TV);
    rig.pass(22 * SECOND);
    rig.say(LAPTOP, health("x"));
    rig.say(LAPTOP, done());
    rig.pass(21 * SECOND);
    rig.report();
    let [(_, lost)] = &rig.events(EventKind::Lost)[..] else {
        panic!("one loss")
    };
    assert!(
        lost.ends_with("it delivers its results, and `netburn report` then includes them"),
        "{lost}"
    );
}

#[test]
fn a_newer_connection_takes_the_place_of_a_silent_one_only() {
    let mut rig = Rig::patient_and_started();
    rig.say(TV, ToController::Progress(Progress { at: 0, pending: 0 }));
    rig.connect(TV_AGAIN);
    rig.say(TV_AGAIN, again(Role::Agent, "tv"));
    assert_eq!(rig.rejected.pop(), Some(Rejection::Duplicate("tv".to_owned())));
    rig.alive.retain(|id| *id != TV);
    rig.pass(SECOND);
    // Without an earlier connection it is never admitted.
    rig.connect(UNAUTHENTICATED);
    rig.say(UNAUTHENTICATED, hello(Role::Agent, "tv"));
    assert_eq!(rig.rejected.pop(), Some(Rejection::Duplicate("tv".to_owned())));
    rig.come_back(TV_AGAIN, Role::Agent, "tv");
    assert_eq!(rig.last_sequence(TV_AGAIN), Some(0));
    assert_eq!(rig.closed.last(), Some(&TV));
    rig.say(TV_AGAIN, rows(1, 1));
    assert_eq!(rig.intervals(), [1]);
    // Messages of the old connection are ignored.
    rig.say(TV, rows(2, 1));
    assert_eq!(rig.intervals(), [1]);
    // On one machine a process has one connection.
    let mut local = Rig::started();
    local.alive.retain(|id| *id != TV);
    local.pass(2 * SECOND);
    local.connect(TV_AGAIN);
    local.say(TV_AGAIN, again(Role::Agent, "tv"));
    assert_eq!(local.rejected.pop(), Some(Rejection::Duplicate("tv".to_owned())));
}

#[test]
fn silence_ends_a_connection_and_not_its_part() {
    let mut rig = Rig::patient_and_started();
    rig.alive.retain(|id| *id != TV);
    rig.pass(6 * SECOND);
    assert_eq!(rig.closed, [TV]);
    assert_eq!(rig.events(EventKind::Lost), []);
    rig.come_back(TV_AGAIN, Role::Agent, "tv");
    rig.pass(21 * SECOND);
    rig.report();
    assert_eq!(rig.finish().unwrap().lost.len(), 0);
}

#[test]
fn a_reconnect_before_the_start_repeats_the_start_time() {
    let mut rig = Rig::patient_and_started();
    // The baseline is running: 2 s remain.
    rig.vanish(LAPTOP);
    rig.come_back(LAPTOP_AGAIN, Role::Agent, "laptop");
    let start = |rig: &Rig, id| {
        rig.sent.iter().find_map(|(to, message)| match message {
            ToAgent::Start(start) if *to == id => Some(start.at),
            _ => None,
        })
    };
    assert!(start(&rig, LAPTOP).is_some());
    assert_eq!(start(&rig, LAPTOP), start(&rig, LAPTOP_AGAIN));
    // A restarted process has no rows to continue with.
    rig.vanish(TV);
    rig.connect(TV_AGAIN);
    rig.say(TV_AGAIN, hello(Role::Agent, "tv"));
    assert_eq!(rig.rejected.pop(), Some(Rejection::Late("tv".to_owned())));
}

#[test]
fn a_disconnect_during_preparation_restarts_the_session() {
    let mut rig = Rig::patient();
    rig.join(SERVER, Role::Server, "server");
    rig.join(LAPTOP, Role::Agent, "laptop");
    rig.vanish(LAPTOP);
    rig.pass(20 * SECOND);
    assert!(!rig.coordinator.is_over(), "30 s to join");
    rig.join(TV, Role::Agent, "tv");
    // A reconnect, or a restarted process.
    rig.come_back(LAPTOP_AGAIN, Role::Agent, "laptop");
    rig.say(
        SERVER,
        ToController::Ready(Ready {
            server: Some(address()),
            ..Ready::default()
        }),
    );
    assert!(rig.told(LAPTOP_AGAIN, |m| matches!(m, ToAgent::Assign(_))));
    rig.say(TV, ToController::Ready(Ready::default()));
    rig.vanish(TV);
    rig.join(TV_AGAIN, Role::Agent, "tv");
    assert!(rig.told(TV_AGAIN, |m| matches!(m, ToAgent::Assign(_))));
    rig.say(TV_AGAIN, ToController::Ready(Ready::default()));
    rig.pass(SECOND);
    assert!(rig.coordinator.start.is_none());
    rig.say(LAPTOP_AGAIN, ToController::Ready(Ready::default()));
    rig.pass(SECOND);
    assert!(rig.coordinator.start.is_some());
    rig.pass(27 * SECOND);
    rig.report();
    assert_eq!(rig.finish().unwrap().lost.len(), 0);
}

#[test]
fn a_finished_agent_may_reconnect_to_confirm() {
    let mut rig = Rig::patient_and_started();
    rig.pass(10 * SECOND);
    rig.say(LAPTOP, rows(1, 0));
    rig.sync();
    rig.drain();
    rig.say(LAPTOP, health("x"));
    rig.say(LAPTOP, done());
    rig.vanish(LAPTOP);
    rig.come_back(LAPTOP_AGAIN, Role::Agent, "laptop");
    assert_eq!(rig.last_sequence(LAPTOP_AGAIN), Some(1));
    // The last acknowledgement is repeated, because it may have been lost with the connection.
    let acked = |m: &ToAgent| matches!(m, ToAgent::Ack(ack) if ack.sequence == 1);
    assert!(rig.told(LAPTOP_AGAIN, acked));
    rig.say(LAPTOP_AGAIN, health("x"));
    rig.say(LAPTOP_AGAIN, done());
    assert_eq!(rig.rejected, []);
    assert_eq!(rig.events(EventKind::Health).len(), 1);
    rig.pass(17 * SECOND);
    rig.report();
    assert!(rig.told(LAPTOP_AGAIN, |m| matches!(m, ToAgent::Bye(_))));
    assert_eq!(rig.finish().unwrap().lost.len(), 0);
}

#[test]
fn a_killed_process_delivers_its_rows() {
    let mut rig = Rig::patient_and_started();
    rig.say(TV, rows(1, 1));
    rig.pass(10 * SECOND);
    rig.vanish(TV);
    rig.pass(5 * SECOND);
    rig.come_back(TV_AGAIN, Role::Agent, "tv");
    rig.say(TV_AGAIN, rows(2, 1));
    let error = Some("it ended before its part was done, and was started again".to_owned());
    rig.say(TV_AGAIN, ToController::Done(Done { error }));
    assert_eq!(rig.intervals(), [1, 2]);
    assert_eq!(rig.events(EventKind::Lost).len(), 1);
    rig.pass(12 * SECOND);
    rig.report();
    assert_eq!(rig.finish().unwrap().lost.len(), 1);
}

#[test]
fn a_reconnected_agent_receives_the_stop() {
    let mut rig = Rig::patient_and_started();
    rig.pass(5 * SECOND);
    rig.vanish(TV);
    rig.coordinator.handle_stop(rig.now);
    rig.drain();
    rig.come_back(TV_AGAIN, Role::Agent, "tv");
    assert!(rig.told(TV_AGAIN, |m| matches!(m, ToAgent::Stop(_))));
    rig.report();
    rig.pass(3 * SECOND);
    let outcome = rig.finish().unwrap();
    assert_eq!((outcome.interrupted, outcome.lost.len()), (true, 0));
}

#[test]
fn a_server_may_be_away_too() {
    let mut rig = Rig::patient_and_started();
    rig.pass(20 * SECOND);
    rig.vanish(SERVER);
    rig.pass(6 * SECOND);
    for id in [LAPTOP, TV] {
        rig.say(id, health("x"));
        rig.say(id, done());
    }
    let back = ConnectionId(11);
    rig.come_back(back, Role::Server, "server");
    assert!(rig.told(back, |m| matches!(m, ToAgent::Stop(_))));
    rig.say(back, health("x"));
    rig.say(back, done());
    rig.pass(10 * SECOND);
    let outcome = rig.finish().unwrap();
    assert_eq!((outcome.lost.len(), outcome.health.len()), (0, 3));
}

#[test]
fn an_agent_that_cannot_reach_the_server_is_lost_with_the_reason() {
    let reach = |tcp: Option<&str>, datagrams: Option<&str>| Reach {
        tcp: tcp.map(str::to_owned),
        datagrams: datagrams.map(str::to_owned),
    };
    for (needed, reach, says) in [
        (true, reach(None, None), None),
        (false, reach(None, Some("silence")), None),
        (
            true,
            reach(None, Some("silence")),
            Some("over TCP but not over UDP (silence)"),
        ),
        (
            true,
            reach(Some("refused"), None),
            Some("over UDP but not over TCP (refused)"),
        ),
        (
            false,
            reach(Some("refused"), None),
            Some("does not reach the server over TCP (refused)"),
        ),
        (
            true,
            reach(Some("refused"), Some("silence")),
            Some("neither over TCP (refused) nor over UDP (silence)"),
        ),
    ] {
        let mut rig = Rig::patient();
        rig.coordinator.roster.sessions[2].expected.datagrams = needed;
        rig.join(SERVER, Role::Server, "server");
        rig.join(LAPTOP, Role::Agent, "laptop");
        rig.join(TV, Role::Agent, "tv");
        rig.make_ready_but_for(TV);
        rig.say(
            TV,
            ToController::Ready(Ready {
                reach: Some(reach.clone()),
                notes: vec!["a clock of 1 ms".to_owned()],
                ..Ready::default()
            }),
        );
        rig.pass(SECOND);
        assert!(rig.coordinator.start.is_some());
        let lost = rig.events(EventKind::Lost);
        assert_eq!(lost.len(), usize::from(says.is_some()), "{reach:?}");
        let warned = rig.events(EventKind::Warning);
        match says {
            Some(says) => {
                assert!(lost[0].1.contains(says), "{lost:?}");
                assert_eq!(
                    lost[0].1.contains("firewall"),
                    needed && (reach.tcp.is_none() || reach.datagrams.is_none())
                );
                assert_eq!(warned, []);
            }
            None => {
                assert_eq!(warned[0], (Some(1), "a clock of 1 ms".to_owned()));
                assert_eq!(warned.len(), 1 + usize::from(reach.datagrams.is_some()));
            }
        }
    }
}

/// 100 agents: pings to at most 4 at a time while they answer, and all clocks are synchronised.
#[test]
fn clocks_are_compared_a_few_at_a_time() {
    let count = 100;
    let mut setup = Rig::setup(Timeouts::for_fleet(Duration::from_secs(30)));
    setup.expected.truncate(1);
    setup.expected.extend((0..count).map(|number| Expected {
        name: format!("a{number}"),
        role: Role::Agent,
        token: Token::known("secret"),
        stations: vec![number],
        datagrams: false,
        device: Default::default(),
    }));
    let mut coordinator = RunCoordinator::new(Stamp(0), setup);
    let mut now = Stamp(0);
    let (mut waiting, mut most, mut pings) = (std::collections::VecDeque::new(), 0, 0u32);
    let mut started = 0;
    for number in 0..=u64::from(count) {
        let id = ConnectionId(number);
        coordinator.handle_connected(now, id);
        let (role, name) = match number {
            0 => (Role::Server, "server".to_owned()),
            _ => (Role::Agent, format!("a{}", number - 1)),
        };
        coordinator.handle_message(now, id, Ok(hello(role, &name)));
    }
    while started <= count && now.0 < 20 * SECOND {
        while let Some(output) = coordinator.poll_output() {
            let Output::Send(id, message) = output else { continue };
            match message {
                ToAgent::Ping(ping) => {
                    pings += 1;
                    waiting.push_back((now.offset(1_000_000), id, ping.id));
                    most = most.max(waiting.len());
                }
                ToAgent::Start(_) => started += 1,
                ToAgent::Assign(_) => {
                    coordinator.handle_message(now, id, Ok(ToController::Ready(Ready::default())));
                }
                ToAgent::Serve(_) => {
                    let server = Some(address());
                    let ready = Ready {
                        server,
                        ..Ready::default()
                    };
                    coordinator.handle_message(now, id, Ok(ToController::Ready(ready)));
                }
                _ => {}
            }
        }
        if started > count {
            break;
        }
        // Every exchange takes 1 ms.
        let wake = coordinator.poll_timeout().map(|(at, _)| at);
        let answer = waiting.front().map(|(at, ..)| *at);
        match (answer, wake) {
            (Some(at), wake) if wake.is_none_or(|wake| at <= wake) => {
                now = now.max(at);
                let (_, id, ping) = waiting.pop_front().unwrap();
                let pong = Pong {
                    id: ping,
                    received: now.0,
                    sent: now.0,
                };
                coordinator.handle_message(now, id, Ok(ToController::Pong(pong)));
            }
            (_, Some(at)) => {
                now = now.max(at);
                coordinator.handle_timeout(now);
            }
            (_, None) => break,
        }
    }
    assert_eq!(started, u32::from(count) as u16 + 1);
    assert_eq!(pings, (u32::from(count) + 1) * EXCHANGES);
    // An unfinished agent does not delay the next after its turn: 60 exchanges of 1.5 ms are 0.09 s, a turn
    // is 0.11 s.
    assert!(most <= 4, "{most} at a time");
    // 26 turns of 0.09 s.
    assert!(now.0 < 3 * SECOND, "{now:?}");
}

/// A run of members that needs all agents. They have joined and received the start time.
fn needing_all() -> Rig {
    let mut setup = Rig::setup(Timeouts::for_fleet(Duration::from_secs(30)).requiring_all());
    for expected in setup.expected.iter_mut().skip(1) {
        expected.device = Device::Member(expected.name.clone());
    }
    let mut rig = Rig::from_setup(setup);
    rig.start();
    rig
}

#[test]
fn a_run_that_needs_all_agents_ends_three_seconds_after_one_disconnects() {
    let mut rig = needing_all();
    rig.pass(5 * SECOND);
    rig.vanish(TV);
    rig.pass(29 * SECOND / 10);
    assert!(!rig.told(LAPTOP, |m| matches!(m, ToAgent::Stop(_))));
    rig.pass(2 * SECOND / 10);
    let left = "tv left: the connection was closed, and it did not reconnect";
    let told = |m: &ToAgent| matches!(m, ToAgent::Stop(stop) if stop.reason == left);
    assert!(rig.told(LAPTOP, told), "{:?}", rig.sent.last());
    rig.report();
    let [(Some(1), lost)] = &rig.events(EventKind::Lost)[..] else {
        panic!("one loss")
    };
    assert!(
        lost.starts_with("agent tv was lost: the connection was closed, and it did not reconnect"),
        "{lost}"
    );
    let outcome = rig.finish().unwrap();
    assert_eq!(outcome.left.as_deref(), Some(left));
    assert!(!outcome.interrupted);
}

#[test]
fn a_silent_agent_ends_such_a_run_too_and_the_others_have_two_seconds_for_results() {
    let mut rig = needing_all();
    rig.alive.retain(|id| *id != TV);
    // 5 s of silence and 3 s to reconnect, counted from the last heartbeat, which was 0.25 s ago at most.
    rig.pass(77 * SECOND / 10);
    assert!(!rig.coordinator.is_collecting());
    rig.pass(4 * SECOND / 10);
    assert!(rig.coordinator.is_collecting());
    // Neither the laptop nor the server reports anything: 2 s for each.
    rig.pass(4 * SECOND);
    let outcome = rig.finish().unwrap();
    assert_eq!(
        outcome.left.as_deref(),
        Some("tv left: no message for 5 s, and it did not reconnect")
    );
}

#[test]
fn a_short_absence_does_not_end_such_a_run() {
    let mut rig = needing_all();
    rig.pass(5 * SECOND);
    rig.vanish(TV);
    rig.pass(2 * SECOND);
    rig.come_back(TV_AGAIN, Role::Agent, "tv");
    rig.pass(2 * SECOND);
    // The time counts from the second loss.
    rig.vanish(TV_AGAIN);
    rig.pass(2 * SECOND);
    rig.come_back(ConnectionId(23), Role::Agent, "tv");
    rig.pass(17 * SECOND);
    rig.report();
    assert_eq!(rig.finish().unwrap().left, None);
}

#[test]
fn after_the_load_of_such_a_run_there_is_more_time_for_results() {
    let mut rig = needing_all();
    // 300 ms and 2 s to the start and 20 s of load, of which 1 s has passed.
    rig.pass(22 * SECOND);
    rig.vanish(TV);
    rig.pass(15 * SECOND);
    assert!(!rig.coordinator.is_over());
    rig.come_back(TV_AGAIN, Role::Agent, "tv");
    rig.report();
    let outcome = rig.finish().unwrap();
    assert!(outcome.left.is_none() && outcome.lost.is_empty(), "{outcome:?}");
}

#[test]
fn such_a_run_without_any_agent_names_the_first() {
    let mut rig = needing_all();
    rig.pass(5 * SECOND);
    for id in [LAPTOP, TV] {
        let index = rig
            .coordinator
            .roster
            .sessions
            .iter()
            .position(|p| p.connection() == Some(id));
        rig.coordinator.handle_exit(rig.now, index.unwrap(), "killed");
        rig.drain();
    }
    rig.report();
    let left = rig.finish().unwrap().left;
    assert_eq!(left.as_deref(), Some("laptop left: its process ended: killed"));
}

#[test]
fn a_single_agent_that_is_lost_ends_such_a_run_early() {
    let mut setup = Rig::setup(Timeouts::for_fleet(Duration::from_secs(30)).requiring_all());
    setup.expected.pop();
    let mut rig = Rig::from_setup(setup);
    rig.join(SERVER, Role::Server, "server");
    rig.join(LAPTOP, Role::Agent, "laptop");
    rig.make_ready_but_for(TV);
    rig.pass(5 * SECOND);
    rig.vanish(LAPTOP);
    rig.pass(4 * SECOND);
    rig.report();
    let left = rig.finish().unwrap().left;
    assert_eq!(
        left.as_deref(),
        Some("laptop left: the connection was closed, and it did not reconnect")
    );
}

#[test]
fn such_a_run_does_not_begin_without_an_agent() {
    let mut rig = Rig::with(Timeouts::for_fleet(Duration::from_secs(30)).requiring_all());
    rig.join(SERVER, Role::Server, "server");
    rig.join(LAPTOP, Role::Agent, "laptop");
    rig.pass(31 * SECOND);
    assert!(rig.coordinator.start.is_none());
    let error = rig.finish().unwrap_err();
    assert_eq!(error.to_string(), "tv left: it did not join in time");
}

#[test]
fn such_a_run_ends_without_its_server() {
    let mut rig = needing_all();
    rig.pass(5 * SECOND);
    rig.vanish(SERVER);
    rig.pass(4 * SECOND);
    rig.report();
    rig.pass(2 * SECOND);
    let left = rig.finish().unwrap().left;
    assert_eq!(
        left.as_deref(),
        Some("the server left: the connection was closed, and it did not reconnect")
    );
}
