//! Agents that send too many rows, or impossible values.

use super::*;
use netburn_record::rejected_rows::Rejection;
use netburn_record::{EventRow, Moved, OperationRow};
use netburn_workload::{Operation, Outcome};

fn batch_of(sequence: u64, rows: impl IntoIterator<Item = Row>) -> ToController {
    let mut batch = Batch::default();
    rows.into_iter().for_each(|row| batch.push(&row));
    ToController::Rows(Rows { sequence, batch })
}

fn call(sequence: u64) -> Row {
    Row::Operation(OperationRow {
        station: 0,
        workload: 0,
        operation: Operation {
            sequence,
            due: Instant::ZERO,
            started: Some(Instant::ZERO),
            connected: None,
            first_byte: None,
            finished: Some(Instant::ZERO),
            bytes: 1,
            outcome: Outcome::Finished,
            far: None,
            tcp_connected: None,
        },
    })
}

fn remark(length: usize) -> Row {
    Row::Event(EventRow {
        station: Some(0),
        workload: Some(0),
        at: Instant::ZERO,
        length: 0,
        kind: EventKind::Warning,
        detail: "E".repeat(length).into(),
    })
}

fn interval(at: i64, bytes_down: u64) -> Row {
    Row::Interval(IntervalRow {
        station: 0,
        workload: 0,
        at: Instant::from_nanos(at),
        bytes_down,
        bytes_up: 0,
    })
}

/// Number of recorded rows of the laptop, and bytes of text in them.
fn recorded(rig: &Rig) -> (usize, usize) {
    let own = rig.rows.iter().filter(|row| row.station() == Some(0));
    let text = own.clone().filter_map(|row| match row {
        Row::Event(event) if event.kind != EventKind::Rejected => Some(event.detail.text().len()),
        _ => None,
    });
    (own.clone().count(), text.sum())
}

#[test]
fn a_flood_of_events_is_bounded_and_reported_once() {
    let mut rig = Rig::started();
    rig.say(TV, rows(1, 1));
    // The maximum rate, with slightly fewer rows than close the connection: 9,600 events of 4 KiB are 39
    // MB.
    for sequence in 1..=600 {
        rig.say(LAPTOP, batch_of(sequence, (0..16).map(|_| remark(4090))));
        rig.sync();
        rig.drain();
    }
    assert_eq!(rig.rejected, []);
    // 64 KiB, and 3 KiB a second for the call, the idle latency probe and the station, over 10 s of
    // possible clock difference.
    let (events, text) = recorded(&rig);
    assert!(
        text <= (64 << 10) + 12 * 3 * 1024 && events <= 25,
        "{events} events, {text} bytes"
    );
    // The flood is acknowledged: without an acknowledgement the agent would send it again.
    assert!(rig.told(LAPTOP, |m| matches!(m, ToAgent::Ack(ack) if ack.sequence == 600)));
    rig.pass(27 * SECOND);
    rig.report();
    let told = rig.events(EventKind::Rejected);
    let rejected = 9600 - events;
    assert_eq!(
        told,
        [(
            Some(0),
            format!("{rejected} rows of agent laptop were rejected: {rejected} above the limit for event text")
        )]
    );
    let outcome = rig.finish().unwrap();
    assert_eq!((outcome.lost.len(), outcome.health.len()), (0, 3));
}

#[test]
fn a_flood_of_operations_closes_only_its_own_connection() {
    let mut rig = Rig::started();
    let mut sent = 0;
    while rig.closed.is_empty() {
        sent += 1;
        assert!(sent < 100);
        rig.say(LAPTOP, batch_of(sent, (0..1990).map(call)));
    }
    assert_eq!(rig.closed, [LAPTOP]);
    // Two per 131 ms over 2 s and 10 s of possible clock difference, and 100: 284 of 20,000.
    let calls = rig.rows.iter().filter(|row| matches!(row, Row::Operation(_))).count();
    assert!(calls <= 100 + 2 * 92, "{calls}");
    let lost = rig.events(EventKind::Lost);
    assert_eq!(
        lost,
        [(
            Some(0),
            "agent laptop was lost: more than 10000 of its rows were rejected".to_owned()
        )]
    );
    rig.say(TV, rows(1, 1));
    rig.pass(27 * SECOND);
    rig.report();
    assert_eq!(rig.events(EventKind::Rejected).len(), 1);
    let outcome = rig.finish().unwrap();
    assert_eq!((outcome.lost.len(), outcome.health.len()), (1, 2));
}

#[test]
fn a_flood_of_messages_ends_the_connection() {
    let mut rig = Rig::started();
    let sign = ToController::Progress(Progress { at: 0, pending: 0 });
    let sent = (0..10_000).take_while(|_| {
        rig.say(LAPTOP, sign.clone());
        rig.closed.is_empty()
    });
    assert!(sent.count() < 5_100);
    assert_eq!(
        rig.events(EventKind::Lost)[0].1,
        "agent laptop was lost: it sends too many messages"
    );
    assert_eq!(rig.closed, [LAPTOP]);
}

#[test]
fn an_impossible_value_is_rejected_and_the_rest_is_recorded() {
    let mut rig = Rig::started();
    let impossible = [
        interval(0, u64::MAX),
        interval(i64::MAX / 100_000_000 * 100_000_000, 1),
        interval(i64::MIN / 100_000_000 * 100_000_000, 1),
        interval(0, 1000),
    ];
    rig.say(LAPTOP, batch_of(1, impossible));
    let kept: Vec<&Row> = rig.rows.iter().filter(|row| matches!(row, Row::Interval(_))).collect();
    assert_eq!(kept, [&interval(0, 1000)]);
    rig.pass(27 * SECOND);
    rig.report();
    let reasons = [Rejection::Time, Rejection::Bytes].map(Rejection::name);
    assert_eq!(
        rig.events(EventKind::Rejected),
        [(
            Some(0),
            format!(
                "3 rows of agent laptop were rejected: 2 {}, 1 {}",
                reasons[0], reasons[1]
            )
        )]
    );
}

#[test]
fn rejected_rows_of_the_server_affect_the_whole_run() {
    let mut rig = Rig::started();
    let look = |at| {
        Row::Connection(netburn_record::ConnectionRow {
            station: u16::MAX,
            workload: u16::MAX,
            side: netburn_record::Side::Server,
            port: 1,
            at: Instant::from_nanos(at),
            ..netburn_record::ConnectionRow::default()
        })
    };
    rig.say(SERVER, batch_of(1, [look(0), look(i64::MAX)]));
    rig.pass(27 * SECOND);
    rig.report();
    let told = rig.events(EventKind::Rejected);
    assert_eq!(told[0].0, None);
    assert!(told[0].1.starts_with("1 row of the server was rejected: "), "{told:?}");
}

/// Only the server's own count is recorded, and only for the stations that measure against it.
#[test]
fn served_bytes_are_reported_by_the_server_for_its_own_stations() {
    let mut rig = Rig::with_another_server();
    rig.pass(29 * SECOND);
    let moved = Moved {
        bytes_down: 7,
        bytes_up: 5,
    };
    let counted = || {
        let ToController::Health(HealthMessage { mut health }) = health("x") else {
            unreachable!()
        };
        health.served = ["laptop", "tv", "fridge"].map(|name| (name.to_owned(), moved)).into();
        ToController::Health(HealthMessage { health })
    };
    for id in [LAPTOP, TV, SERVER] {
        rig.say(id, counted());
        rig.say(id, done());
    }
    rig.pass(SECOND);
    let outcome = rig.finish().unwrap();
    let served: Vec<_> = outcome
        .health
        .iter()
        .map(|health| (health.role, health.served.clone()))
        .collect();
    assert_eq!(
        served,
        [
            (Role::Server, [("laptop".to_owned(), moved)].into()),
            (Role::Agent, Default::default()),
            (Role::Agent, Default::default()),
        ]
    );
}

/// The controller notes that nothing can confirm a station's report, independent of the agent's own notes.
#[test]
fn a_station_with_another_server_is_noted() {
    let mut rig = Rig::with_another_server();
    rig.pass(3 * SECOND);
    let noted = rig.events(EventKind::Warning);
    assert_eq!(noted.len(), 1);
    assert!(
        noted[0].0 == Some(1) && noted[0].1.contains("can't confirm"),
        "{noted:?}"
    );
}

/// A token admits an agent only under its own name.
#[test]
fn an_agent_cannot_join_under_another_name() {
    let mut setup = Rig::setup(Timeouts::LOCAL);
    for expected in &mut setup.expected {
        expected.token = Token::known(&format!("of {}", expected.name));
    }
    let mut rig = Rig::from_setup(setup);
    let said = |name: &str, role, token: &str| {
        let ToController::Hello(hello) = hello(role, name) else {
            unreachable!()
        };
        ToController::Hello(Hello {
            token: token.to_owned(),
            ..hello
        })
    };
    for (name, role, token) in [
        ("tv", Role::Agent, "of laptop"),
        ("server", Role::Server, "of laptop"),
        ("fridge", Role::Agent, "of no station"),
    ] {
        rig.connect(UNAUTHENTICATED);
        rig.say(UNAUTHENTICATED, said(name, role, token));
        assert_eq!(rig.rejected.pop(), Some(super::Rejection::Token), "{name}");
    }
    rig.connect(UNAUTHENTICATED);
    rig.say(UNAUTHENTICATED, said("fridge", Role::Agent, "of laptop"));
    assert_eq!(
        rig.rejected.pop(),
        Some(super::Rejection::Unexpected("fridge".to_owned()))
    );
    rig.connect(LAPTOP);
    rig.say(LAPTOP, said("laptop", Role::Agent, "of laptop"));
    assert_eq!(rig.rejected, []);
    assert!(rig.told(LAPTOP, |m| matches!(m, ToAgent::Welcome(_))));
}
