//! Shared by the tests: a plan, rows for it, and arbitrary rows.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "each test file uses its part"
)]

use netburn_record::spool::{Disk, SpoolWriter};
use netburn_record::{
    AccessPointEvent, AirRow, Bssid, Clock, ConnectionRow, Detail, DscpArrivals, Environment, EventKind, EventRow,
    Header, Health, Host, IntervalRow, LinkChange, LinkEvent, LinkRow, Logged, Modulation, Observable, ObservedRow,
    OperationRow, Phy, QualityIssue, Role, Row, Side, Sink, UnixTime,
};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{Duration, Instant, Seed};
use netburn_workload::{Config, Direction, Failure, Operation, Outcome, RemoteTimestamps};
use proptest::prelude::*;
use std::io::{self, Write};

/// Two stations for a minute: a laptop that browses and talks, a television.
pub fn plan() -> Plan {
    Plan {
        duration: Duration::from_secs(60),
        stations: vec![
            station("laptop", &[("browsing", Config::browsing()), ("voip", Config::voip())]),
            station(
                "hall-tv",
                &[("4kstream", Config::stream_4k()), ("probe", Config::probe())],
            ),
        ],
        ..Plan::new("two-stations")
    }
}

pub fn station(name: &str, workloads: &[(&str, Config)]) -> Station {
    Station {
        workloads: workloads
            .iter()
            .map(|(name, config)| StationWorkload::new(*name, config.clone()))
            .collect(),
        ..Station::new(name)
    }
}

pub fn header(plan: Plan) -> Header {
    Header {
        seed: plan.seed,
        plan,
        environment: Environment::Local,
        host: Host::default(),
        version: "0.1.0".into(),
        started: Some(UnixTime(1_795_285_800_000_000_000)),
        source: None,
    }
}

pub fn seeded(header: Header, seed: u64) -> Header {
    Header {
        seed: Seed(seed),
        ..header
    }
}

pub fn ms(ms: i64) -> Instant {
    Instant::from_millis(ms)
}

/// An operation that was begun when it was due.
pub fn operation(station: u16, workload: u16, sequence: u64, due: Instant, outcome: Outcome, took: Duration) -> Row {
    let finished = (outcome == Outcome::Finished).then(|| due + took);
    Row::Operation(OperationRow {
        station,
        workload,
        operation: Operation {
            sequence,
            due,
            started: (outcome != Outcome::NotStarted).then_some(due),
            connected: None,
            first_byte: finished,
            finished,
            bytes: 1000,
            outcome,
            far: None,
            tcp_connected: None,
        },
    })
}

pub fn interval(station: u16, workload: u16, at: i64, bytes_down: u64) -> Row {
    Row::Interval(IntervalRow {
        station,
        workload,
        at: ms(at),
        bytes_down,
        bytes_up: 0,
    })
}

pub fn event(station: Option<u16>, workload: Option<u16>, at: i64, length: Duration, kind: EventKind) -> Row {
    Row::Event(EventRow {
        station,
        workload,
        at: ms(at),
        length: length.as_nanos(),
        kind,
        detail: "".into(),
    })
}

/// Sentences of issues.
pub fn sentences(issues: &[QualityIssue]) -> Vec<String> {
    issues.iter().map(ToString::to_string).collect()
}

/// A health report without quality issues.
pub fn health(name: &str, role: Role, stations: &[&str]) -> Row {
    let health = Health {
        stations: stations.iter().map(|name| (*name).to_owned()).collect(),
        lateness_us_p50: 10.0,
        lateness_us_p99: 40.0,
        lateness_us_max: 200.0,
        lateness_count: 1000,
        cpu: Some(0.1),
        machine_busy: Some(0.2),
        service_us_p99: 100.0,
        operations: 1000,
        ..Health::new(name, role)
    };
    Row::Event(EventRow {
        station: None,
        workload: None,
        at: ms(60_000),
        length: 0,
        kind: EventKind::Health,
        detail: health.into(),
    })
}

/// A run in which everything is well: every page in 200 ms, every voice frame in 20, 25 Mbit/s of film.
pub fn good_rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for n in 0..40 {
        let due = ms(-2000 + 50 * n as i64);
        rows.push(operation(
            0,
            netburn_record::row::BASELINE,
            n,
            due,
            Outcome::Finished,
            Duration::from_millis(2),
        ));
    }
    for n in 0..400 {
        let due = ms(100 + 140 * n as i64);
        rows.push(operation(0, 0, n, due, Outcome::Finished, Duration::from_millis(200)));
        rows.push(operation(0, 1, n, due, Outcome::Finished, Duration::from_millis(20)));
        rows.push(operation(1, 0, n, due, Outcome::Finished, Duration::from_millis(80)));
        rows.push(operation(1, 1, n, due, Outcome::Finished, Duration::from_millis(3)));
    }
    for tenth in 0..600 {
        rows.push(interval(0, 0, tenth * 100, 50_000));
        rows.push(interval(1, 0, tenth * 100, 312_500));
    }
    rows.push(health("agent-1", Role::Agent, &["laptop"]));
    rows.push(health("agent-2", Role::Agent, &["hall-tv"]));
    rows.push(health("server", Role::Server, &[]));
    rows
}

/// Any row that the types allow.
pub fn any_row() -> impl Strategy<Value = Row> {
    prop_oneof![13 => any_row_but_air(), 2 => any_air(), 2 => any_observed()]
}

/// Any row of the modelled channel.
pub fn any_air() -> impl Strategy<Value = Row> {
    (number(), at(), any::<[u64; 8]>(), any::<Option<u64>>()).prop_map(|(station, at, counts, others)| {
        let [down, up, transmissions, mpdus, retries, backlog, drops, marks] = counts;
        Row::Air(AirRow {
            station,
            at,
            airtime_down: Duration::from_nanos(down),
            airtime_up: Duration::from_nanos(up),
            transmissions,
            mpdus,
            retries,
            backlog,
            drops,
            marks,
            others: others.map(Duration::from_nanos),
        })
    })
}

/// Any value of an observed access point.
fn any_observed() -> impl Strategy<Value = Row> {
    let subject = (
        prop::option::of(".{0,12}"),
        any::<Option<u16>>(),
        any::<Option<[u8; 6]>>(),
    );
    let quantity = prop::sample::select(Observable::ALL.to_vec());
    ("[a-z]{1,8}", at(), any::<u64>(), subject, quantity, any::<i64>()).prop_map(
        |(access_point, at, span, (part, station, address), quantity, value)| {
            Row::Observed(ObservedRow {
                access_point: access_point.into(),
                at,
                span: Duration::from_nanos(span),
                part,
                station: station.map(|station| station % 3),
                address: address.map(Bssid),
                quantity,
                value,
            })
        },
    )
}

/// Any other row.
pub fn any_row_but_air() -> impl Strategy<Value = Row> {
    let operation = (
        (number(), number(), any::<u64>(), at()),
        [
            prop::option::of(at()),
            prop::option::of(at()),
            prop::option::of(at()),
            prop::option::of(at()),
            prop::option::of(at()),
        ],
        any::<u64>(),
        outcome(),
        prop::option::of((any::<i64>(), any::<i64>())),
    )
        .prop_map(|((station, workload, sequence, due), times, bytes, outcome, far)| {
            let [started, connected, first_byte, finished, tcp_connected] = times;
            Row::Operation(OperationRow {
                station,
                workload,
                operation: Operation {
                    sequence,
                    due,
                    started,
                    connected,
                    first_byte,
                    finished,
                    bytes,
                    outcome,
                    far: far.map(|(received, sent)| RemoteTimestamps { received, sent }),
                    tcp_connected,
                },
            })
        });
    let interval = (number(), number(), at(), any::<u64>(), any::<u64>()).prop_map(
        |(station, workload, at, bytes_down, bytes_up)| {
            Row::Interval(IntervalRow {
                station,
                workload,
                at,
                bytes_down,
                bytes_up,
            })
        },
    );
    let connection = (
        number(),
        number(),
        any::<bool>(),
        any::<u16>(),
        at(),
        any::<[u32; 4]>(),
        any::<[u64; 3]>(),
    )
        .prop_map(|(station, workload, server, port, at, small, large)| {
            Row::Connection(ConnectionRow {
                station,
                workload,
                side: if server { Side::Server } else { Side::Station },
                port,
                at,
                rtt_us: small[0],
                rtt_var_us: small[1],
                cwnd: small[2],
                retransmits: small[3],
                delivery_rate_bps: large[0],
                bytes_acked: large[1],
                bytes_received: large[2],
            })
        });
    let modulation = || {
        (
            any::<Option<u8>>(),
            any::<Option<u8>>(),
            any::<Option<u32>>(),
            0..6_usize,
        )
            .prop_map(|(mcs, nss, width_mhz, phy)| Modulation {
                phy: Phy::ALL.get(phy).copied(),
                mcs,
                nss,
                width_mhz,
                guard_ns: width_mhz.map(|width| width / 2),
            })
    };
    let link = (
        (number(), at(), any::<Option<i32>>(), any::<[Option<u64>; 8]>()),
        (
            prop::option::of(".{0,20}"),
            any::<Option<[u8; 6]>>(),
            any::<[Option<u32>; 5]>(),
        ),
        (modulation(), modulation(), any::<bool>()),
    )
        .prop_map(
            |((station, at, signal, counts), (ssid, bssid, numbers), (rx, tx, real))| {
                let modelled = LinkRow {
                    station,
                    at,
                    signal,
                    rx_rate_bps: counts[0],
                    tx_rate_bps: counts[1],
                    ..LinkRow::default()
                };
                if !real {
                    return Row::Link(modelled);
                }
                Row::Link(LinkRow {
                    ssid,
                    bssid: bssid.map(Bssid),
                    frequency_mhz: numbers[0],
                    width_mhz: numbers[1],
                    signal_average: signal.map(|signal| signal / 2),
                    noise: signal.map(|signal| signal / 3),
                    rx,
                    tx,
                    rx_bytes: counts[2],
                    tx_bytes: counts[3],
                    tx_packets: counts[4],
                    tx_retries: counts[5],
                    tx_failed: counts[6],
                    inactive_ms: counts[7],
                    busy_ppm: numbers[2],
                    receiving_ppm: numbers[3],
                    sending_ppm: numbers[4],
                    ..modelled
                })
            },
        );
    let event = (
        prop::option::of(number()),
        prop::option::of(number()),
        at(),
        any::<u64>(),
        detail(),
    )
        .prop_map(|(station, workload, at, length, (kind, detail))| {
            Row::Event(EventRow {
                station,
                workload,
                at,
                length,
                kind,
                detail,
            })
        });
    prop_oneof![6 => operation, 3 => interval, 1 => connection, 1 => link, 2 => event]
}

fn number() -> impl Strategy<Value = u16> {
    prop_oneof![4 => 0_u16..3, 1 => any::<u16>()]
}

fn at() -> impl Strategy<Value = Instant> {
    prop_oneof![3 => -5_000_000_000_i64..70_000_000_000, 1 => any::<i64>()].prop_map(Instant::from_nanos)
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop::sample::select(vec![
        Outcome::Finished,
        Outcome::Failed(Failure::Dial),
        Outcome::Failed(Failure::Connection),
        Outcome::Failed(Failure::Answer),
        Outcome::Failed(Failure::Stopped),
        Outcome::TimedOut,
        Outcome::NotStarted,
        Outcome::Unfinished,
        Outcome::Cut,
    ])
}

/// A kind of event with a detail of it.
fn detail() -> impl Strategy<Value = (EventKind, Detail)> {
    let issue = ".{0,40}".prop_map(|cause| Detail::Issue(QualityIssue::LabStopped { cause }));
    let clock = (".{0,9}", any::<i64>()).prop_map(|(name, offset_ns)| {
        Detail::from(Clock {
            name,
            stations: Vec::new(),
            offset_ns,
            error_ns: 1,
            round_trip_ns: 2,
            exchanges: 3,
            drift_ppm: Some(0.1),
            drift_error_ppm: None,
            compared_ns: 0,
            jump_ns: None,
        })
    });
    let dscp = (
        any::<bool>(),
        0_u8..64,
        prop::collection::btree_map(0_u8..64, 1_u64.., 1..5),
    );
    let dscp = dscp.prop_map(|(up, sent, arrived)| {
        let direction = if up { Direction::Up } else { Direction::Down };
        Detail::from(DscpArrivals::new(direction, sent, arrived).unwrap())
    });
    let name = || prop::option::of(".{0,20}");
    let moved = (name(), name(), ".{0,40}").prop_map(|(from, to, text)| {
        let change = LinkChange::Roamed { from, to };
        Detail::from(LinkEvent { change, text })
    });
    let scanned = (any::<Option<u64>>(), ".{0,40}").prop_map(|(away, text)| {
        let change = LinkChange::Scanned { away };
        Detail::from(LinkEvent { change, text })
    });
    let access_point = ("[a-z]{1,8}", ".{0,20}", 0..5).prop_map(|(name, text, kind)| {
        Detail::from(match kind {
            0 => AccessPointEvent::Described {
                name,
                facts: [("model".to_owned(), text)].into(),
            },
            1 => AccessPointEvent::Joined {
                name,
                interface: text,
                address: "02:00:00:00:01:00".to_owned(),
            },
            2 => AccessPointEvent::Lost { name, reason: text },
            3 => AccessPointEvent::Logged {
                name,
                interface: None,
                address: Some("02:00:00:00:01:00".to_owned()),
                what: Logged::Roamed { from: text },
            },
            _ => AccessPointEvent::Restarted { name },
        })
    });
    prop_oneof![
        4 => (event_kind(), ".{0,40}".prop_map(Detail::from)),
        1 => (Just(EventKind::Roam), moved),
        1 => (Just(EventKind::Scan), scanned),
        1 => (Just(EventKind::QualityIssue), issue),
        1 => (Just(EventKind::Clock), clock),
        1 => (Just(EventKind::Dscp), dscp),
        1 => (Just(EventKind::AccessPoint), access_point),
    ]
}

fn event_kind() -> impl Strategy<Value = EventKind> {
    prop::sample::select(vec![
        EventKind::Stall,
        EventKind::Lost,
        EventKind::Change,
        EventKind::Roam,
        EventKind::Warning,
        EventKind::Health,
        EventKind::Clock,
        EventKind::Startup,
        EventKind::QualityIssue,
        EventKind::Rate,
        EventKind::Incomplete,
        EventKind::ServerLost,
        EventKind::UnusedServerLost,
        EventKind::Rejected,
        EventKind::Scan,
        EventKind::Steering,
        EventKind::Path,
        EventKind::Dscp,
    ])
}

/// A disk in memory.
#[derive(Default)]
pub struct Memory(Vec<u8>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Disk for Memory {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes of a spool with these rows.
pub fn spool(rows: &[Row]) -> Vec<u8> {
    let mut writer = SpoolWriter::create(Memory::default(), "{}").unwrap();
    for row in rows {
        writer.put(row).unwrap();
    }
    writer.sync().unwrap();
    writer.into_disk().0
}
