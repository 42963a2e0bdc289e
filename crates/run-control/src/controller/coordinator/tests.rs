//! Runs in virtual time, with agents that are scripted by the test.

mod jumps;
mod rejected;
mod timeouts;

use super::*;
use crate::controller::{Expected, Timeouts};
use netburn_protocol::messages::{
    Batch, Done, HealthMessage, Hello, Message, Ping, Pong, Progress, Ready, Rows, ServerAddress,
};
use netburn_protocol::token::Token;
use netburn_record::{Clock, Detail, EventKind, Health, IntervalRow, LossCause, Role};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::BitRate;
use netburn_workload::Config;

const SECOND: i64 = 1_000_000_000;
/// Offset of each agent's clock from the controller's, multiplied by the number of its connection.
const AHEAD: i64 = 7_000_000_000_000;

/// A coordinator and its outputs.
struct Rig {
    coordinator: RunCoordinator,
    now: Stamp,
    /// Connections that answer pings.
    here: Vec<ConnectionId>,
    /// Clock jumps: time on the controller's clock, connection, and offset in ns.
    jumps: Vec<(Stamp, ConnectionId, i64)>,
    /// Connections that send heartbeats.
    alive: Vec<ConnectionId>,
    sent: Vec<(ConnectionId, ToAgent)>,
    closed: Vec<ConnectionId>,
    rows: Vec<Row>,
    phases: Vec<Phase>,
    rejected: Vec<Rejection>,
}

const SERVER: ConnectionId = ConnectionId(1);
const LAPTOP: ConnectionId = ConnectionId(2);
const TV: ConnectionId = ConnectionId(3);
const UNAUTHENTICATED: ConnectionId = ConnectionId(9);

fn hello(role: Role, name: &str) -> ToController {
    ToController::Hello(Hello {
        protocol: messages::VERSION,
        role,
        name: name.to_owned(),
        token: "secret".to_owned(),
        version: "test".to_owned(),
        reconnect: false,
    })
}

/// A station with the voip workload.
fn calling(name: &str) -> Station {
    Station {
        workloads: vec![StationWorkload {
            name: "voip".to_owned(),
            cc: None,
            server: None,
            config: Config::voip(),
        }],
        ..Station::new(name)
    }
}

fn address() -> ServerAddress {
    ServerAddress::new("127.0.0.1:4000".parse().unwrap(), 4000)
}

fn rows(sequence: u64, station: u16) -> ToController {
    let mut batch = Batch::default();
    batch.push(&Row::Interval(IntervalRow {
        station,
        workload: 0,
        at: Instant::ZERO,
        bytes_down: sequence,
        bytes_up: 0,
    }));
    ToController::Rows(Rows { sequence, batch })
}

fn health(name: &str) -> ToController {
    let health = Health {
        stations: vec!["everything".to_owned()],
        ..Health::new(name, Role::Agent)
    };
    ToController::Health(HealthMessage { health })
}

fn done() -> ToController {
    ToController::Done(Done::default())
}

impl Rig {
    fn new() -> Rig {
        Rig::with(Timeouts::LOCAL)
    }

    fn setup(timeouts: Timeouts) -> Setup {
        let expected = |name: &str, role: Role, stations: Vec<u16>| Expected {
            name: name.to_owned(),
            role,
            token: Token::known("secret"),
            stations,
            datagrams: false,
            device: Default::default(),
        };
        Setup {
            plan: Plan {
                duration: Duration::from_secs(20),
                baseline: Duration::from_secs(2),
                drain: Duration::from_secs(5),
                stations: ["laptop", "tv"].map(calling).to_vec(),
                ..Plan::new("two")
            },
            document: serde_json::json!({}),
            rate: BitRate::from_mbps(1000),
            expected: vec![
                expected("server", Role::Server, vec![]),
                expected("laptop", Role::Agent, vec![0]),
                expected("tv", Role::Agent, vec![1]),
            ],
            timeouts,
        }
    }

    fn with(timeouts: Timeouts) -> Rig {
        Rig::from_setup(Rig::setup(timeouts))
    }

    fn from_setup(setup: Setup) -> Rig {
        let now = Stamp(1000);
        let mut rig = Rig {
            coordinator: RunCoordinator::new(now, setup),
            now,
            here: vec![],
            jumps: vec![],
            alive: vec![],
            sent: vec![],
            closed: vec![],
            rows: vec![],
            phases: vec![],
            rejected: vec![],
        };
        rig.drain();
        rig
    }

    /// All agents have joined and received the start time.
    fn started() -> Rig {
        let mut rig = Rig::new();
        rig.start();
        rig
    }

    /// All agents join and receive the start time.
    fn start(&mut self) {
        self.join(SERVER, Role::Server, "server");
        self.join(LAPTOP, Role::Agent, "laptop");
        self.join(TV, Role::Agent, "tv");
        self.make_ready();
        self.pass(SECOND);
        assert!(self.coordinator.start.is_some());
    }

    /// A rig whose TV measures against a server of its own; all are ready.
    fn with_another_server() -> Rig {
        let mut rig = Rig::new();
        rig.join(SERVER, Role::Server, "server");
        rig.join(LAPTOP, Role::Agent, "laptop");
        rig.join(TV, Role::Agent, "tv");
        for id in [SERVER, LAPTOP, TV] {
            let ready = Ready {
                server: (id == SERVER).then(address),
                own_server: id == TV,
                ..Ready::default()
            };
            rig.say(id, ToController::Ready(ready));
        }
        rig
    }

    fn make_ready(&mut self) {
        self.make_ready_but_for(UNAUTHENTICATED);
    }

    fn make_ready_but_for(&mut self, other: ConnectionId) {
        self.say(
            SERVER,
            ToController::Ready(Ready {
                server: Some(address()),
                ..Ready::default()
            }),
        );
        for id in [LAPTOP, TV].into_iter().filter(|id| *id != other) {
            self.say(id, ToController::Ready(Ready::default()));
        }
    }

    fn join(&mut self, id: ConnectionId, role: Role, name: &str) {
        self.connect(id);
        self.say(id, hello(role, name));
        self.here.push(id);
        self.alive.push(id);
    }

    fn connect(&mut self, id: ConnectionId) {
        self.coordinator.handle_connected(self.now, id);
        self.drain();
    }

    fn say(&mut self, id: ConnectionId, message: ToController) {
        self.coordinator.handle_message(self.now, id, Ok(message));
        self.drain();
    }

    /// Closes a connection without a message.
    fn vanish(&mut self, id: ConnectionId) {
        self.gone(id);
        self.coordinator
            .handle_closed(self.now, id, "the connection was closed");
        self.drain();
    }

    fn gone(&mut self, id: ConnectionId) {
        self.here.retain(|other| *other != id);
        self.alive.retain(|other| *other != id);
    }

    fn drain(&mut self) {
        while let Some(output) = self.coordinator.poll_output() {
            match output {
                Output::Send(id, ToAgent::Ping(Ping { id: ping })) if self.here.contains(&id) => {
                    // 100 µs forward, 300 µs back.
                    let arrived = self.theirs(id, self.now.offset(100_000));
                    let pong = Pong {
                        id: ping,
                        received: arrived,
                        sent: arrived + 50_000,
                    };
                    self.now = self.now.offset(450_000);
                    self.coordinator
                        .handle_message(self.now, id, Ok(ToController::Pong(pong)));
                }
                Output::Send(id, message) => self.sent.push((id, message)),
                Output::Close(id) => {
                    self.gone(id);
                    self.closed.push(id);
                }
                Output::Row(row) => self.rows.push(row),
                Output::Phase(phase, _) => self.phases.push(phase),
                Output::Rejected(_, rejection) => self.rejected.push(rejection),
                Output::Warn(_) => {}
            }
        }
    }

    /// Reading of an agent's clock.
    fn theirs(&self, id: ConnectionId, now: Stamp) -> i64 {
        let set = self.jumps.iter().filter(|(at, whose, _)| *at <= now && *whose == id);
        now.0 + AHEAD * i64::try_from(id.0 % 10).unwrap() + set.map(|(_, _, by)| by).sum::<i64>()
    }

    /// Advances the time, with heartbeats from the connections that send them.
    fn pass(&mut self, nanos: i64) {
        let until = self.now.offset(nanos);
        let mut next_sign = self.now;
        while self.now < until && !self.coordinator.is_over() {
            if self.now >= next_sign {
                next_sign = self.now.offset(SECOND / 4);
                for id in self.alive.clone() {
                    if self.stage(id) == Some(Stage::Started) {
                        self.say(id, ToController::Progress(Progress { at: 0, pending: 0 }));
                    }
                }
            }
            let wake = self.coordinator.poll_timeout().map_or(until, |(at, _)| at);
            let wake = wake.min(until).min(next_sign);
            if wake > self.now {
                self.now = wake;
            }
            self.coordinator.handle_timeout(self.now);
            self.drain();
        }
    }

    fn stage(&self, id: ConnectionId) -> Option<Stage> {
        match self.coordinator.connections.get(&id)? {
            Connection::Session(index) => self.coordinator.roster.sessions[*index].stage(),
            Connection::Unauthenticated(..) => None,
        }
    }

    /// The agents and then the server report and finish.
    fn report(&mut self) {
        for id in self.here.clone() {
            if id != SERVER {
                self.say(id, health("x"));
                self.say(id, done());
            }
        }
        if self.told(SERVER, |m| matches!(m, ToAgent::Stop(_))) && self.here.contains(&SERVER) {
            self.say(SERVER, health("x"));
            self.say(SERVER, done());
        }
        self.pass(SECOND);
    }

    fn told(&self, id: ConnectionId, what: impl Fn(&ToAgent) -> bool) -> bool {
        self.sent.iter().any(|(to, message)| *to == id && what(message))
    }

    fn events(&self, kind: EventKind) -> Vec<(Option<u16>, String)> {
        let details = self.details(kind).into_iter();
        details
            .map(|(station, detail)| (station, detail.text().into_owned()))
            .collect()
    }

    fn details(&self, kind: EventKind) -> Vec<(Option<u16>, &Detail)> {
        let events = self.rows.iter().filter_map(|row| match row {
            Row::Event(event) if event.kind == kind => Some((event.station, &event.detail)),
            _ => None,
        });
        events.collect()
    }

    /// Syncs all rows so far.
    fn sync(&mut self) {
        self.coordinator.handle_sync_started();
        self.coordinator.handle_synced();
    }

    fn finish(self) -> Result<Outcome, ControllerError> {
        assert!(self.coordinator.is_over());
        assert_eq!(self.coordinator.poll_timeout(), None);
        self.coordinator.finish()
    }
}

#[test]
fn a_run_from_hello_to_bye() {
    let mut rig = Rig::started();
    // Each receives the same instant on its own clock. 100 µs forward and 300 µs back result in an error of
    // 100 µs.
    let start = rig.coordinator.start.unwrap();
    for id in [SERVER, LAPTOP, TV] {
        let at = rig.sent.iter().find_map(|(to, message)| match message {
            ToAgent::Start(start) if *to == id => Some(start.at),
            _ => None,
        });
        let truth = start.0 + AHEAD * i64::try_from(id.0).unwrap();
        assert_eq!(truth - at.unwrap(), 100_000);
    }
    rig.say(LAPTOP, rows(1, 0));
    rig.say(LAPTOP, rows(2, 0));
    rig.sync();
    rig.drain();
    assert!(rig.told(LAPTOP, |m| matches!(m, ToAgent::Ack(ack) if ack.sequence == 2)));
    rig.pass(45 * SECOND);
    assert_eq!(
        rig.phases[..6],
        [
            Phase::Joining,
            Phase::Clocks,
            Phase::Baseline,
            Phase::Running,
            Phase::Draining,
            Phase::Collecting
        ]
    );
    assert_eq!(rig.events(EventKind::Lost).len(), 2, "no agent reported in time");
    assert_eq!(rig.events(EventKind::ServerLost).len(), 1);

    let mut rig = Rig::started();
    rig.pass(27 * SECOND);
    rig.report();
    for id in [SERVER, LAPTOP, TV] {
        assert!(rig.told(id, |m| matches!(m, ToAgent::Bye(_))));
    }
    assert_eq!(rig.events(EventKind::Lost), []);
    // The values of a self-report are recorded, but with the name and stations of the plan.
    let reports = rig.details(EventKind::Health);
    assert_eq!(reports.len(), 3);
    let Detail::Health(laptop) = reports[0].1 else {
        panic!("{reports:?}")
    };
    assert_eq!(
        (&*laptop.name, &*laptop.stations),
        ("laptop", &["laptop".to_owned()][..])
    );
    // The last record contains both estimates.
    let clocks = rig.details(EventKind::Clock);
    assert_eq!(clocks.len(), 6);
    let Detail::Clock(clock) = clocks[4].1 else {
        panic!("{clocks:?}")
    };
    assert_eq!((&*clock.name, clock.exchanges), ("laptop", 120));
    assert!((clock.offset_ns - 2 * AHEAD).unsigned_abs() <= clock.error_ns);
    assert_eq!(clock.round_trip_ns, 400_000);
    let outcome = rig.finish().unwrap();
    assert_eq!(
        (outcome.interrupted, outcome.lost.len(), outcome.health.len()),
        (false, 0, 3)
    );
}

#[test]
fn invalid_first_messages_are_rejected() {
    let mut rig = Rig::new();
    let with = |change: &dyn Fn(&mut Hello)| {
        let ToController::Hello(mut hello) = hello(Role::Agent, "laptop") else {
            unreachable!()
        };
        change(&mut hello);
        ToController::Hello(hello)
    };
    let cases: Vec<(ToController, Rejection)> = vec![
        (with(&|h| h.token = "guess".to_owned()), Rejection::Token),
        (with(&|h| h.protocol = 2), Rejection::Version { theirs: 2 }),
        (
            with(&|h| h.name = "phone".to_owned()),
            Rejection::Unexpected("phone".to_owned()),
        ),
        (
            with(&|h| h.role = Role::Server),
            Rejection::Unexpected("laptop".to_owned()),
        ),
        (with(&|h| h.name = "a b".to_owned()), Rejection::Name),
        (
            done(),
            Rejection::OutOfOrder {
                message: "done",
                stage: "before `hello`",
            },
        ),
    ];
    for (message, rejection) in cases {
        rig.connect(UNAUTHENTICATED);
        rig.say(UNAUTHENTICATED, message);
        assert_eq!(rig.rejected.pop(), Some(rejection.clone()));
        let reason = rejection.to_string();
        assert!(rig.told(
            UNAUTHENTICATED,
            |m| matches!(m, ToAgent::Rejected(r) if r.reason == reason)
        ));
        assert_eq!(rig.closed.pop(), Some(UNAUTHENTICATED));
    }
    rig.connect(UNAUTHENTICATED);
    rig.coordinator
        .handle_message(rig.now, UNAUTHENTICATED, Err(Malformed::Unknown("x".to_owned())));
    rig.drain();
    assert_eq!(rig.closed.pop(), Some(UNAUTHENTICATED));
    // With two connections of one name, the first stays.
    rig.join(LAPTOP, Role::Agent, "laptop");
    rig.connect(UNAUTHENTICATED);
    rig.say(UNAUTHENTICATED, hello(Role::Agent, "laptop"));
    assert_eq!(rig.rejected.pop(), Some(Rejection::Duplicate("laptop".to_owned())));
    assert!(rig.here.contains(&LAPTOP));
}

#[test]
fn a_silent_connection_does_not_stay() {
    let mut rig = Rig::new();
    rig.connect(UNAUTHENTICATED);
    rig.pass(5 * SECOND - 1);
    assert_eq!(rig.closed, []);
    rig.pass(1);
    assert_eq!(rig.closed, [UNAUTHENTICATED]);
}

#[test]
fn the_oldest_of_too_many_unauthenticated_connections_is_closed() {
    let mut rig = Rig::new();
    // All three expected agents may be among them.
    for n in 0..MAX_PENDING_CONNECTIONS as u64 + 3 {
        rig.connect(ConnectionId(100 + n));
    }
    assert_eq!(rig.closed, []);
    rig.connect(ConnectionId(200));
    assert_eq!(rig.closed, [ConnectionId(100)]);
}

#[test]
fn out_of_order_messages_change_nothing_until_there_are_too_many() {
    let mut rig = Rig::started();
    rig.say(LAPTOP, hello(Role::Agent, "laptop"));
    rig.say(LAPTOP, ToController::Ready(Ready::default()));
    rig.say(LAPTOP, rows(3, 0));
    assert_eq!(rig.rejected.last(), Some(&Rejection::Gap { got: 3, expected: 1 }));
    rig.say(LAPTOP, rows(1, 1));
    assert_eq!(
        rig.rejected.last(),
        Some(&Rejection::Row(messages::WrongRow::ForeignStation(1)))
    );
    rig.say(
        LAPTOP,
        ToController::Pong(Pong {
            id: 1,
            received: 0,
            sent: 0,
        }),
    );
    assert_eq!(rig.rejected.last(), Some(&Rejection::NoPing));
    rig.say(LAPTOP, rows(2, 0));
    assert_eq!(rig.rejected.len(), 5);
    while rig.rejected.len() < 16 {
        assert_eq!(rig.closed, []);
        rig.coordinator
            .handle_message(rig.now, LAPTOP, Err(Malformed::Unknown("x".to_owned())));
        rig.drain();
    }
    assert_eq!(rig.closed, [LAPTOP]);
    assert_eq!(rig.events(EventKind::Lost).len(), 1);
    // The run of the other agent continues.
    rig.pass(27 * SECOND);
    rig.report();
    let outcome = rig.finish().unwrap();
    assert_eq!(outcome.lost.len(), 1);
    assert_eq!(outcome.health.len(), 2);
}

/// An agent's report on the whole run would count for every other station.
#[test]
fn an_agent_reports_nothing_of_the_whole_run() {
    for id in [LAPTOP, SERVER] {
        let mut rig = Rig::started();
        let before = rig.rows.len();
        let text =
            r#"{"type":"rows","sequence":1,"batch":{"events":[[null,null,1000000000,0,"incomplete","it rains"]]}}"#;
        rig.say(id, ToController::from_text(text).unwrap());
        assert_eq!(rig.rejected, [Rejection::Row(messages::WrongRow::NoStation)]);
        assert_eq!(rig.rows.len(), before);
        // Other messages are accepted as before.
        rig.say(TV, rows(1, 1));
        assert_eq!(rig.rows.len(), before + 1);
    }
}

#[test]
fn a_lost_agent_does_not_delay_the_others() {
    let mut rig = Rig::started();
    rig.pass(10 * SECOND);
    rig.vanish(TV);
    let lost = rig.events(EventKind::Lost);
    assert_eq!(
        lost,
        [(Some(1), "agent tv was lost: the connection was closed".to_owned())]
    );
    rig.connect(UNAUTHENTICATED);
    rig.say(UNAUTHENTICATED, hello(Role::Agent, "tv"));
    assert_eq!(rig.rejected.pop(), Some(Rejection::Late("tv".to_owned())));
    rig.pass(17 * SECOND);
    rig.report();
    let outcome = rig.finish().unwrap();
    assert_eq!(
        (outcome.lost[0].0.as_str(), outcome.lost[0].1.cause),
        ("tv", LossCause::Disconnected)
    );
    assert_eq!(outcome.health.len(), 2);
}

#[test]
fn a_process_that_died_is_lost_at_once() {
    let mut rig = Rig::started();
    rig.coordinator.handle_exit(rig.now, 2, "killed by signal 9");
    rig.drain();
    assert_eq!(
        rig.events(EventKind::Lost),
        [(
            Some(1),
            "agent tv was lost: its process ended: killed by signal 9".to_owned()
        )]
    );
}

#[test]
fn an_agent_silent_for_five_seconds_is_lost() {
    let mut rig = Rig::started();
    rig.alive.retain(|id| *id != TV);
    rig.pass(4 * SECOND);
    assert_eq!(rig.events(EventKind::Lost), []);
    rig.pass(2 * SECOND);
    assert_eq!(rig.events(EventKind::Lost).len(), 1);
    assert_eq!(rig.closed, [TV]);
}

#[test]
fn a_lost_server_is_recorded_and_the_run_continues() {
    let mut rig = Rig::started();
    rig.pass(3 * SECOND);
    rig.vanish(SERVER);
    let lost = rig.events(EventKind::ServerLost);
    assert_eq!(
        lost,
        [(None, "the server was lost: the connection was closed".to_owned())]
    );
    assert_eq!(rig.events(EventKind::Lost), []);
    rig.pass(24 * SECOND);
    assert!(!rig.coordinator.is_over());
    rig.report();
    assert_eq!(rig.finish().unwrap().health.len(), 2);
}

#[test]
fn a_lost_server_affects_only_stations_that_measure_against_it() {
    let lost_to = |own_server: &[ConnectionId]| {
        let mut rig = Rig::new();
        rig.join(SERVER, Role::Server, "server");
        rig.join(LAPTOP, Role::Agent, "laptop");
        rig.join(TV, Role::Agent, "tv");
        for id in [SERVER, LAPTOP, TV] {
            let ready = Ready {
                server: (id == SERVER).then(address),
                own_server: own_server.contains(&id),
                ..Ready::default()
            };
            rig.say(id, ToController::Ready(ready));
        }
        rig.pass(3 * SECOND);
        rig.vanish(SERVER);
        let stations =
            |kind| -> Vec<Option<u16>> { rig.events(kind).into_iter().map(|(station, _)| station).collect() };
        (stations(EventKind::ServerLost), stations(EventKind::UnusedServerLost))
    };
    assert_eq!(lost_to(&[]), (vec![None], vec![]));
    assert_eq!(lost_to(&[TV]), (vec![Some(0)], vec![]));
    assert_eq!(lost_to(&[TV, LAPTOP]), (vec![], vec![None]));
}

#[test]
fn a_missing_agent_is_recorded_and_the_run_starts_without_it() {
    let mut rig = Rig::new();
    rig.join(SERVER, Role::Server, "server");
    rig.join(LAPTOP, Role::Agent, "laptop");
    rig.pass(10 * SECOND);
    rig.make_ready();
    rig.pass(SECOND);
    assert_eq!(
        rig.events(EventKind::Lost),
        [(Some(1), "agent tv was lost: it did not join in time".to_owned())]
    );
    rig.pass(27 * SECOND);
    rig.report();
    assert_eq!(rig.finish().unwrap().lost.len(), 1);
}

#[test]
fn without_server_or_agents_there_is_no_result() {
    let mut rig = Rig::new();
    rig.join(LAPTOP, Role::Agent, "laptop");
    rig.join(TV, Role::Agent, "tv");
    rig.pass(11 * SECOND);
    let error = rig.finish().unwrap_err().to_string();
    assert_eq!(error, "no server to measure against: server: it did not join in time");

    let mut rig = Rig::new();
    rig.join(SERVER, Role::Server, "server");
    for index in [1, 2] {
        rig.coordinator.handle_exit(rig.now, index, "exit status 1");
    }
    rig.drain();
    assert_eq!(
        rig.finish().unwrap_err().to_string(),
        "no agent is ready: laptop: its process ended: exit status 1; tv: its process ended: exit status 1"
    );
}

#[test]
fn an_agent_that_is_not_ready_in_time_is_lost() {
    let mut rig = Rig::new();
    rig.join(SERVER, Role::Server, "server");
    rig.join(LAPTOP, Role::Agent, "laptop");
    rig.join(TV, Role::Agent, "tv");
    rig.say(
        SERVER,
        ToController::Ready(Ready {
            server: Some(address()),
            ..Ready::default()
        }),
    );
    rig.say(LAPTOP, ToController::Ready(Ready::default()));
    rig.pass(12 * SECOND);
    assert_eq!(rig.closed, [TV]);
    assert!(rig.coordinator.start.is_some());

    let mut rig = Rig::new();
    rig.join(SERVER, Role::Server, "server");
    rig.join(LAPTOP, Role::Agent, "laptop");
    rig.join(TV, Role::Agent, "tv");
    rig.pass(11 * SECOND);
    let error = rig.finish().unwrap_err().to_string();
    assert_eq!(error, "no server to measure against: server: it was not ready in time");
}

#[test]
fn a_stop_collects_results_for_two_seconds() {
    let mut rig = Rig::started();
    rig.pass(5 * SECOND);
    rig.coordinator.handle_stop(rig.now);
    rig.drain();
    assert!(rig.told(LAPTOP, |m| matches!(m, ToAgent::Stop(_))));
    rig.say(LAPTOP, rows(1, 0));
    rig.say(LAPTOP, health("x"));
    rig.say(LAPTOP, done());
    rig.pass(5 * SECOND);
    let lost = rig.events(EventKind::Lost);
    assert_eq!(lost[0].1, "agent tv was lost: its results did not arrive in time");
    assert!(rig.rows.iter().any(|row| matches!(row, Row::Interval(_))));
    assert!(rig.finish().unwrap().interrupted);

    let mut early = Rig::new();
    early.join(SERVER, Role::Server, "server");
    early.coordinator.handle_stop(early.now);
    early.drain();
    assert!(early.told(SERVER, |m| matches!(m, ToAgent::Bye(_))));
    assert!(early.finish().unwrap().interrupted);
}

#[test]
fn a_storage_error_ends_the_run_without_further_rows() {
    let mut rig = Rig::started();
    rig.pass(5 * SECOND);
    let before = rig.rows.len();
    rig.coordinator.handle_storage_error(rig.now);
    rig.drain();
    rig.say(LAPTOP, rows(1, 0));
    rig.pass(10 * SECOND);
    assert_eq!(rig.rows.len(), before);
    assert!(!rig.finish().unwrap().interrupted);
}

#[test]
fn rows_after_a_storage_error_are_not_acknowledged() {
    let mut rig = Rig::with(Timeouts::for_fleet(Duration::from_secs(30)));
    rig.join(SERVER, Role::Server, "server");
    rig.join(LAPTOP, Role::Agent, "laptop");
    rig.join(TV, Role::Agent, "tv");
    rig.make_ready();
    rig.pass(5 * SECOND);
    rig.say(LAPTOP, rows(1, 0));
    rig.sync();
    rig.coordinator.handle_storage_error(rig.now);
    rig.say(LAPTOP, rows(2, 0));
    rig.sync();
    rig.pass(10 * SECOND);
    let acks = rig.sent.iter().filter_map(|(_, message)| match message {
        ToAgent::Ack(ack) => Some(ack.sequence),
        _ => None,
    });
    assert_eq!(acks.collect::<Vec<_>>(), [1]);
    rig.finish().unwrap();
}

#[test]
fn rows_during_a_sync_are_acknowledged_after_the_next() {
    let mut rig = Rig::started();
    let last = |rig: &Rig| {
        let mut acks = rig.sent.iter().filter_map(|(_, message)| match message {
            ToAgent::Ack(ack) => Some(ack.sequence),
            _ => None,
        });
        acks.next_back()
    };
    rig.say(LAPTOP, rows(1, 0));
    rig.coordinator.handle_sync_started();
    rig.say(LAPTOP, rows(2, 0));
    assert_eq!(last(&rig), None);
    rig.coordinator.handle_synced();
    rig.drain();
    assert_eq!(last(&rig), Some(1));
    rig.sync();
    rig.drain();
    assert_eq!(last(&rig), Some(2));
}

#[test]
fn repeated_rows_are_stored_once() {
    let mut rig = Rig::started();
    rig.say(LAPTOP, rows(1, 0));
    rig.say(LAPTOP, rows(1, 0));
    assert_eq!(rig.rejected, []);
    let intervals = rig.rows.iter().filter(|row| matches!(row, Row::Interval(_)));
    assert_eq!(intervals.count(), 1);
}
