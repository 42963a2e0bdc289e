//! Bytes as events of a run: messages of agents and unauthenticated peers, and time.

use crate::controller::{ConnectionId, Expected, Output, RunCoordinator};
use crate::controller::{Setup, Timeouts};
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::{
    self, Batch, Bye, Done, HealthMessage, Hello, Malformed, Pong, Progress, Reach, Ready, Rows, ServerAddress,
    ToAgent, ToController,
};
use netburn_protocol::token::Token;
use netburn_record::{EventKind, EventRow, Health, IntervalRow, Role, Row};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::Config;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of connections.
const CONNECTIONS: u64 = 6;

/// Checks the invariants of a coordinator:
///
/// - No message is sent to a closed connection, and none is closed twice.
/// - No row precedes the start or comes from an agent that is not running.
/// - No message of rows is stored twice or out of order, and no row has impossible values.
/// - Only the controller records events of the whole run.
/// - Timeouts make progress, and the run ends in bounded time.
///
/// # Panics
/// If an invariant is violated.
pub fn check(bytes: &[u8]) {
    // An input of odd length is a run with reconnects.
    let patient = bytes.len() % 2 == 1;
    let mut world = World::new(patient);
    let mut bytes = bytes.iter().copied();
    while let Some(operation) = bytes.next() {
        let mut next = || bytes.next().unwrap_or(0);
        world.act(operation, next(), &mut next);
        world.drain();
        let timeout = world.coordinator.poll_timeout();
        assert_eq!(timeout, world.coordinator.poll_timeout(), "stable without input");
    }
    let began = world.now;
    let mut steps = 0;
    while let Some((at, wake)) = world.coordinator.poll_timeout() {
        world.now = world.now.max(at);
        let before = world.outputs;
        world.coordinator.handle_timeout(world.now);
        world.drain();
        let moved = world.coordinator.poll_timeout().is_none_or(|(later, _)| later > at);
        assert!(
            moved || world.outputs > before,
            "{wake:?} at {at:?} is handled or moves on"
        );
        steps += 1;
        assert!(steps < 1000, "it comes to an end");
    }
    // 10 s to join, 10 s to prepare, 3 s for clocks, 0.3 + 1 + 2 + 1 s to run, 10 s to collect, 3 s to
    // finish. With reconnects, 10 s more to prepare and 10 s more to collect.
    let limit = began.after(Duration::from_secs(if patient { 61 } else { 41 }));
    assert!(world.now <= limit, "it ends in its time");
    let _ = world.coordinator.finish();
}

struct World {
    coordinator: RunCoordinator,
    now: Stamp,
    open: BTreeSet<ConnectionId>,
    closed: BTreeSet<ConnectionId>,
    /// Connections by their number in the input.
    numbered: BTreeMap<u64, ConnectionId>,
    pings: BTreeMap<ConnectionId, u64>,
    started: BTreeSet<ConnectionId>,
    next: u64,
    outputs: usize,
    start: bool,
    /// Last stored sequence number of each agent, by its one station.
    kept: BTreeMap<u16, u64>,
}

impl World {
    fn new(patient: bool) -> World {
        let expected = |name: &str, role: Role, stations: Vec<u16>| Expected {
            name: name.to_owned(),
            role,
            token: Token::known("t"),
            stations,
            datagrams: false,
            device: Default::default(),
        };
        let setup = Setup {
            plan: Plan {
                duration: Duration::from_secs(2),
                baseline: Duration::from_secs(1),
                drain: Duration::from_secs(1),
                stations: ["a", "b"].map(talking).to_vec(),
                ..Plan::new("two")
            },
            document: serde_json::Value::Null,
            rate: BitRate::from_mbps(1),
            expected: vec![
                expected("s", Role::Server, vec![]),
                expected("a", Role::Agent, vec![0]),
                expected("b", Role::Agent, vec![1]),
            ],
            timeouts: if patient {
                Timeouts::for_fleet(Timeouts::LOCAL.join)
            } else {
                Timeouts::LOCAL
            },
        };
        World {
            coordinator: RunCoordinator::new(Stamp(0), setup),
            now: Stamp(0),
            open: BTreeSet::new(),
            closed: BTreeSet::new(),
            numbered: BTreeMap::new(),
            pings: BTreeMap::new(),
            started: BTreeSet::new(),
            next: 0,
            outputs: 0,
            start: false,
            kept: BTreeMap::new(),
        }
    }

    fn act(&mut self, operation: u8, argument: u8, next: &mut dyn FnMut() -> u8) {
        let number = u64::from(argument) % CONNECTIONS;
        let known = self.numbered.get(&number).copied();
        match (operation % 16, known) {
            (0, _) | (1, None) => {
                let id = ConnectionId(self.next);
                self.next += 1;
                self.numbered.insert(number, id);
                self.open.insert(id);
                self.coordinator.handle_connected(self.now, id);
            }
            (1..=10, Some(id)) => {
                let message = self.message(id, operation % 16, next);
                self.coordinator.handle_message(self.now, id, message);
            }
            (11, Some(id)) => {
                self.open.remove(&id);
                self.closed.insert(id);
                self.numbered.remove(&number);
                self.coordinator.handle_closed(self.now, id, "gone");
            }
            (12, _) => {
                let span = Duration::from_millis(u64::from(argument).pow(2) / 8);
                self.now = self.now.after(span);
                self.coordinator.handle_timeout(self.now);
            }
            (13, _) => self
                .coordinator
                .handle_exit(self.now, usize::from(argument) % 3, "ended"),
            (14, _) => match argument % 16 {
                0 => self.coordinator.handle_stop(self.now),
                1 => self.coordinator.handle_storage_error(self.now),
                _ => self.coordinator.handle_sync_started(),
            },
            _ => {
                self.coordinator.handle_sync_started();
                self.coordinator.handle_synced();
            }
        }
    }

    /// Message of connection `id`.
    fn message(&self, id: ConnectionId, kind: u8, next: &mut dyn FnMut() -> u8) -> Result<ToController, Malformed> {
        let detail = next();
        Ok(match kind {
            1 | 2 => {
                let (role, name) = [
                    (Role::Server, "s"),
                    (Role::Agent, "a"),
                    (Role::Agent, "b"),
                    (Role::Agent, "s"),
                ][usize::from(detail) % 4];
                ToController::Hello(Hello {
                    protocol: messages::VERSION + u32::from(detail >= 250),
                    role,
                    name: name.to_owned(),
                    token: if detail >= 240 { "x" } else { "t" }.to_owned(),
                    version: String::new(),
                    reconnect: detail % 8 >= 4,
                })
            }
            3 => {
                let received = i64::from(detail) * 1_000_000 - 100_000_000;
                let id = self.pings.get(&id).copied().unwrap_or(0) + u64::from(detail >= 250);
                ToController::Pong(Pong {
                    id,
                    received,
                    sent: received + if detail == 200 { 1 << 40 } else { 0 },
                })
            }
            4 => {
                let server = detail.is_multiple_of(2).then(|| ServerAddress {
                    alternatives: vec![[127, 0, 0, 1].into(); usize::from(detail / 16)],
                    more_ports: vec![1; usize::from(detail / 16)],
                    ..ServerAddress::new(([127, 0, 0, 1], 1).into(), 1)
                });
                let reach = (detail >= 224).then(|| Reach {
                    tcp: (detail % 4 == 1).then(|| "refused".to_owned()),
                    datagrams: (detail % 8 >= 4).then(|| "silence".to_owned()),
                });
                let notes = (detail >= 192).then(|| "a note".to_owned());
                ToController::Ready(Ready {
                    server,
                    reach,
                    own_server: detail % 16 == 3,
                    notes: notes.into_iter().collect(),
                })
            }
            5 | 6 => {
                let mut batch = Batch::default();
                let sequence = u64::from(detail / 8);
                if detail >= 192 {
                    forged(next(), &mut batch);
                }
                batch.push(&Row::Interval(IntervalRow {
                    station: u16::from(detail % 3),
                    workload: 0,
                    at: Instant::ZERO,
                    bytes_down: sequence,
                    bytes_up: 0,
                }));
                ToController::Rows(Rows { sequence, batch })
            }
            7 => ToController::Progress(Progress { at: 0, pending: 0 }),
            8 => ToController::Health(HealthMessage {
                health: health(f64::from(detail)),
            }),
            9 => ToController::Done(Done {
                error: (detail >= 200).then(|| "broken".to_owned()),
            }),
            _ if detail < 128 => return Err(Malformed::Unknown("rubbish".to_owned())),
            _ => ToController::Bye(Bye::default()),
        })
    }

    fn drain(&mut self) {
        while let Some(output) = self.coordinator.poll_output() {
            self.outputs += 1;
            match output {
                Output::Send(id, message) => {
                    assert!(!self.closed.contains(&id), "{message:?} to {id:?}, which is closed");
                    match message {
                        ToAgent::Ping(ping) => drop(self.pings.insert(id, ping.id)),
                        ToAgent::Start(_) => {
                            self.start = true;
                            assert!(self.started.insert(id), "{id:?} is started twice");
                        }
                        _ => {}
                    }
                }
                Output::Close(id) => {
                    assert!(self.closed.insert(id), "{id:?} is closed twice");
                    self.open.remove(&id);
                }
                Output::Row(row) => self.check_row(&row),
                Output::Phase(..) | Output::Warn(_) | Output::Rejected(..) => {}
            }
        }
    }

    fn check_row(&mut self, row: &Row) {
        assert!(self.start, "{row:?} before the start is known");
        match row {
            Row::Event(event) => {
                assert_ne!(event.kind, EventKind::Stall, "unreported");
                let own = [
                    EventKind::Health,
                    EventKind::Clock,
                    EventKind::ServerLost,
                    EventKind::Rejected,
                ];
                let text = event.detail.text();
                let note = event.kind == EventKind::Warning
                    && (text == "a note" || text.starts_with("datagrams do not reach the server"));
                let controller = own.contains(&event.kind) || note;
                assert!(event.station.is_some() || controller, "{row:?} comes from an agent");
            }
            Row::Interval(interval) => {
                // 100 ms at 1 Tbit/s; 4 s of run, and a minute before and after.
                assert!(interval.bytes_up <= 12_500_000_000, "{row:?}");
                assert!(interval.at.as_nanos().abs() <= 63_000_000_000, "{row:?}");
                let before = self.kept.insert(interval.station, interval.bytes_down).unwrap_or(0);
                assert!(
                    interval.bytes_down > before,
                    "{row:?} after {before}: each message once, in order"
                );
            }
            _ => {}
        }
    }
}

/// Rows that no correct agent sends.
fn forged(what: u8, batch: &mut Batch) {
    let interval = |at, bytes_up| {
        Row::Interval(IntervalRow {
            station: u16::from(what % 2),
            workload: u16::from(what % 8 == 7),
            at: Instant::from_nanos(at),
            bytes_down: 0,
            bytes_up,
        })
    };
    let row = match what / 32 {
        0 => interval(0, u64::MAX),
        1 => interval(i64::MAX, 1),
        2 => interval(i64::MIN, 1),
        3 => interval(7, 1),
        4 => interval(0, 12_500_000_001),
        kind => Row::Event(EventRow {
            station: (kind < 7).then_some(u16::from(what % 2)),
            workload: None,
            at: Instant::from_nanos(i64::MIN),
            length: u64::MAX,
            kind: [EventKind::Incomplete, EventKind::Warning, EventKind::Roam][usize::from(what % 3)],
            detail: "the server was lost".into(),
        }),
    };
    batch.push(&row);
}

/// A station with the voip workload.
fn talking(name: &str) -> Station {
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

fn health(value: f64) -> Health {
    Health {
        lateness_us_p50: value,
        lateness_us_p99: value,
        lateness_us_max: value,
        cpu: Some(value),
        machine_busy: Some(value),
        service_us_p99: value,
        ..Health::new("", Role::Agent)
    }
}
