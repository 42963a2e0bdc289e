//! All messages are valid by the shipped schema, and the shipped schema is that of the code.

use super::*;
use netburn_record::row::BASELINE;
use netburn_record::{
    Bssid, ConnectionRow, Detail, DscpArrivals, EventKind, EventRow, IntervalRow, LinkRow, Modulation, Moved,
    OperationRow, Phy, Row, Side,
};
use netburn_units::Instant;
use netburn_workload::{Direction, Failure, Operation, Outcome, RemoteTimestamps};
use proptest::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn schema_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/protocol.schema.json")
}

/// With `NETBURN_REGENERATE=1` the file is written again.
#[test]
fn the_shipped_schema_is_current() {
    let mut current = serde_json::to_string_pretty(&schema()).unwrap();
    current.push('\n');
    if std::env::var_os("NETBURN_REGENERATE").is_some() {
        std::fs::write(schema_file(), &current).unwrap();
    }
    let found = std::fs::read_to_string(schema_file()).unwrap();
    assert!(
        found == current,
        "docs/reference/protocol.schema.json: write it again with NETBURN_REGENERATE=1"
    );
}

/// Checks messages of one direction against the schema.
fn fits(direction: &str, messages: impl IntoIterator<Item = Value>) {
    let mut schema = schema();
    let top = schema.as_object_mut().unwrap();
    top.remove("anyOf").unwrap();
    top.insert("$ref".to_owned(), format!("#/$defs/{direction}").into());
    let validator = jsonschema::validator_for(&schema).unwrap();
    for message in messages {
        if let Err(error) = validator.validate(&message) {
            panic!("{message}: {error}");
        }
    }
    assert!(!validator.is_valid(&serde_json::json!({ "type": "launch" })));
}

fn health() -> Health {
    Health {
        name: "laptop".into(),
        role: Role::Agent,
        stations: vec!["laptop".into()],
        lateness_us_p50: 1.5,
        lateness_us_p99: 2.0,
        lateness_us_max: 3.0,
        lateness_count: 4,
        standstill_us_max: Some(1_500.0),
        missed_sends: 5,
        cpu: Some(0.5),
        machine_busy: Some(0.25),
        service_us_p99: 0.0,
        rejected: 0,
        bytes_down: u64::MAX,
        bytes_up: 0,
        operations: 7,
        served: [(
            "laptop".to_owned(),
            Moved {
                bytes_down: 1,
                bytes_up: 2,
            },
        )]
        .into(),
    }
}

fn address() -> ServerAddress {
    ServerAddress {
        fingerprint: Some("ab".repeat(32)),
        alternatives: vec!["192.0.2.7".parse().unwrap(), "2001:db8::7".parse().unwrap()],
        more_ports: vec![4489, 4490],
        ..ServerAddress::new("[::1]:4480".parse().unwrap(), 4480)
    }
}

fn outcomes() -> Vec<Outcome> {
    let failures = [Failure::Dial, Failure::Connection, Failure::Answer, Failure::Stopped];
    let others = [
        Outcome::Finished,
        Outcome::TimedOut,
        Outcome::NotStarted,
        Outcome::Unfinished,
        Outcome::Cut,
    ];
    failures.into_iter().map(Outcome::Failed).chain(others).collect()
}

/// One row of every kind, with the longest numbers, and every outcome.
fn every_row() -> Vec<Row> {
    let longest = Some(Instant::from_nanos(i64::MIN));
    let operation = |outcome| Operation {
        sequence: u64::MAX,
        due: Instant::from_nanos(i64::MIN),
        started: longest,
        connected: longest,
        first_byte: longest,
        finished: longest,
        bytes: u64::MAX,
        outcome,
        far: Some(RemoteTimestamps {
            received: i64::MIN,
            sent: i64::MIN,
        }),
        tcp_connected: longest,
    };
    let mut rows: Vec<Row> = outcomes()
        .into_iter()
        .map(|outcome| {
            Row::Operation(OperationRow {
                station: 1,
                workload: BASELINE,
                operation: operation(outcome),
            })
        })
        .collect();
    rows.push(Row::Interval(IntervalRow {
        station: 1,
        workload: 0,
        at: Instant::from_millis(-100),
        bytes_down: u64::MAX,
        bytes_up: 0,
    }));
    for side in [Side::Station, Side::Server] {
        rows.push(Row::Connection(ConnectionRow {
            station: 1,
            workload: u16::MAX,
            side,
            port: u16::MAX,
            at: Instant::from_nanos(i64::MIN),
            rtt_us: u32::MAX,
            rtt_var_us: u32::MAX,
            cwnd: u32::MAX,
            retransmits: u32::MAX,
            delivery_rate_bps: u64::MAX,
            bytes_acked: u64::MAX,
            bytes_received: u64::MAX,
        }));
    }
    rows.push(Row::Link(LinkRow {
        station: 1,
        at: Instant::ZERO,
        signal: Some(-6250),
        rx_rate_bps: None,
        tx_rate_bps: Some(u64::MAX),
        ..LinkRow::default()
    }));
    let modulation = Modulation {
        phy: Some(Phy::Eht),
        mcs: Some(13),
        nss: Some(4),
        width_mhz: Some(u32::MAX),
        guard_ns: Some(3200),
    };
    rows.push(Row::Link(LinkRow {
        station: 1,
        at: Instant::from_nanos(i64::MIN),
        signal: Some(i32::MIN),
        rx_rate_bps: Some(u64::MAX),
        tx_rate_bps: Some(u64::MAX),
        ssid: Some("\u{1}".repeat(LinkRow::MAX_SSID)),
        bssid: Some(Bssid([0xff; 6])),
        frequency_mhz: Some(u32::MAX),
        width_mhz: Some(u32::MAX),
        signal_average: Some(i32::MIN),
        noise: Some(i32::MIN),
        rx: modulation,
        tx: modulation,
        rx_bytes: Some(u64::MAX),
        tx_bytes: Some(u64::MAX),
        tx_packets: Some(u64::MAX),
        tx_retries: Some(u64::MAX),
        tx_failed: Some(u64::MAX),
        inactive_ms: Some(u64::MAX),
        busy_ppm: Some(u32::MAX),
        receiving_ppm: Some(u32::MAX),
        sending_ppm: Some(u32::MAX),
    }));
    for kind in [
        EventKind::Stall,
        EventKind::Incomplete,
        EventKind::Change,
        EventKind::Roam,
        EventKind::Warning,
    ] {
        rows.push(Row::Event(EventRow {
            station: Some(1),
            workload: None,
            at: Instant::from_nanos(i64::MIN),
            length: u64::MAX,
            kind,
            detail: "it said \"no\"".into(),
        }));
    }
    rows
}

fn batch(rows: &[Row]) -> Batch {
    let mut batch = Batch::default();
    rows.iter().for_each(|row| batch.push(row));
    batch
}

#[test]
fn every_message_fits_the_schema() {
    let rows = Rows {
        sequence: 1,
        batch: batch(&every_row()),
    };
    let received = [
        ToController::Hello(Hello {
            protocol: VERSION,
            role: Role::Server,
            name: "server".into(),
            token: "t".into(),
            version: "v".into(),
            reconnect: false,
        }),
        ToController::Pong(Pong {
            id: u64::MAX,
            received: i64::MIN,
            sent: i64::MAX,
        }),
        ToController::Ready(Ready::default()),
        ToController::Ready(Ready {
            server: Some(address()),
            ..Ready::default()
        }),
        ToController::Rows(rows),
        ToController::Rows(Rows {
            sequence: 2,
            batch: Batch::default(),
        }),
        ToController::Progress(Progress {
            at: i64::MIN,
            pending: 1,
        }),
        ToController::Health(HealthMessage { health: health() }),
        ToController::Done(Done::default()),
        ToController::Done(Done {
            error: Some("e".into()),
        }),
        ToController::Bye(Bye::default()),
    ];
    fits(
        "ToController",
        received.iter().map(|m| serde_json::from_str(&m.to_text()).unwrap()),
    );
    for message in &received {
        assert_eq!(ToController::from_text(&message.to_text()).as_ref(), Ok(message));
    }
    let sent = [
        ToAgent::Welcome(Welcome {
            protocol: VERSION,
            version: "v".into(),
            last_sequence: 0,
        }),
        ToAgent::Rejected(Rejected {
            code: RejectReason::NameTaken,
            reason: "r".into(),
        }),
        ToAgent::Ping(Ping { id: 0 }),
        ToAgent::Assign(Assign {
            plan: serde_json::json!({ "name": "x" }),
            stations: vec![0, 65535],
            target: address(),
        }),
        ToAgent::Serve(Serve {
            plan: serde_json::json!({}),
            rate_bps: u64::MAX,
        }),
        ToAgent::Start(Start { at: i64::MIN }),
        ToAgent::Ack(Ack { sequence: 3 }),
        ToAgent::Stop(Stop { reason: "r".into() }),
        ToAgent::Bye(Bye {
            code: Some(RejectReason::TokenRevoked),
            reason: Some("r".into()),
        }),
    ];
    fits(
        "ToAgent",
        sent.iter().map(|m| serde_json::from_str(&m.to_text()).unwrap()),
    );
    for message in &sent {
        assert_eq!(ToAgent::from_text(&message.to_text()).as_ref(), Ok(message));
    }
}

/// The types of `record` and their hand-written schemas have the same fields.
#[test]
fn a_health_report_has_the_fields_of_its_schema() {
    let schema = schema();
    let mut known: Vec<&String> = schema["$defs"]["Health"]["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    let written = serde_json::to_value(health()).unwrap();
    let mut fields: Vec<&String> = written.as_object().unwrap().keys().collect();
    known.sort();
    fields.sort();
    assert_eq!(known, fields);
}

#[test]
fn rows_are_equal_after_the_wire() {
    let of_server = |row: &Row| matches!(row, Row::Connection(row) if row.side == Side::Server);
    let (servers, agents): (Vec<Row>, Vec<Row>) = every_row().into_iter().partition(of_server);
    for (rows, far) in [(agents, false), (servers, true)] {
        assert!(!rows.is_empty());
        assert_eq!(batch(&rows).into_rows(|station| station == 1, far), Ok(rows));
    }
}

/// Such an event would count for every station: neither an agent nor a server may send it, of any kind.
#[test]
fn an_event_without_a_station_is_rejected() {
    for kind in [
        "stall",
        "incomplete",
        "change",
        "roam",
        "warning",
        "startup",
        "rate",
        "dscp",
    ] {
        for workload in ["null", "0"] {
            let text =
                format!(r#"{{"events":[[null,{workload},1000000000,1000000000,"{kind}","the cable was pulled"]]}}"#);
            let read: Batch = serde_json::from_str(&text).unwrap();
            for far in [false, true] {
                let rows = read.clone().into_rows(|_| true, far);
                assert_eq!(rows, Err(WrongRow::NoStation), "{text}, far: {far}");
            }
        }
    }
}

/// A document with an impossible value is a text, which no summary reads.
#[test]
fn an_event_of_a_dscp_keeps_its_document() {
    let sent = |document: &str| {
        let document = serde_json::to_string(document).unwrap();
        let text = format!(r#"{{"events":[[1,0,1000000000,0,"dscp","",{document}]]}}"#);
        let read: Batch = serde_json::from_str(&text).unwrap();
        let rows = read.into_rows(|station| station == 1, false).unwrap();
        let mut batch = Batch::default();
        rows.iter().for_each(|row| batch.push(row));
        assert_eq!(batch.into_rows(|_| true, false).unwrap(), rows);
        match &rows[..] {
            [Row::Event(row)] => row.detail.clone(),
            other => panic!("{other:?}"),
        }
    };
    let arrivals = DscpArrivals::new(Direction::Up, 46, [(0, 7)]).unwrap();
    let known = sent(r#"{"direction":"up","sent":46,"arrived":{"0":7}}"#);
    assert_eq!(known, arrivals.into());
    let impossible = r#"{"direction":"up","sent":46,"arrived":{"64":7}}"#;
    assert_eq!(sent(impossible), Detail::Text(impossible.to_owned()));
}

/// The controller finds the station of a server's sample by the port alone: an agent could name any port.
#[test]
fn samples_of_the_other_side_are_rejected() {
    for (side, far) in [("server", false), ("station", true)] {
        for station in [1, u16::MAX] {
            let text = format!(r#"{{"connections":[[{station},0,"{side}",4000,0,1,1,1,1,1,1,1]]}}"#);
            let read: Batch = serde_json::from_str(&text).unwrap();
            let rows = read.into_rows(|station| station == 1, far);
            assert_eq!(rows, Err(WrongRow::ForeignSide), "{text}, far: {far}");
        }
    }
}

#[test]
fn a_full_batch_is_a_message() {
    let longest = every_row();
    let mut full = Batch::default();
    let mut events = 0;
    while full.len() < MAX_BATCH_ROWS {
        for row in &longest {
            let event = matches!(row, Row::Event(_));
            events += usize::from(event);
            if event && events < MAX_BATCH_EVENTS {
                let Row::Event(event) = row else { unreachable!() };
                full.push(&Row::Event(EventRow {
                    detail: "\u{1}".repeat(2 * MAX_TEXT).into(),
                    ..event.clone()
                }));
            } else if !event {
                full.push(row);
            }
        }
    }
    let message = ToController::Rows(Rows {
        sequence: u64::MAX,
        batch: full,
    });
    assert!(message.to_text().len() < MAX_TO_CONTROLLER);
}

#[test]
fn a_batch_reports_when_it_is_full_and_too_full() {
    let interval = |station| {
        Row::Interval(IntervalRow {
            station,
            workload: 0,
            at: Instant::ZERO,
            bytes_down: 1,
            bytes_up: 0,
        })
    };
    let mut full = batch(&vec![interval(0); MAX_BATCH_ROWS]);
    assert!(full.is_full());
    assert_eq!(full.clone().into_rows(|_| true, false).unwrap().len(), MAX_BATCH_ROWS);
    full.push(&interval(0));
    assert_eq!(full.into_rows(|_| true, false), Err(WrongRow::TooMany));
    let foreign = batch(&[interval(0), interval(7)]);
    assert_eq!(
        foreign.clone().into_rows(|s| s == 0, false),
        Err(WrongRow::ForeignStation(7))
    );
    assert_eq!(foreign.into_rows(|s| s == 0, true), Err(WrongRow::ForeignStation(7)));
}

#[test]
fn invalid_messages_are_errors() {
    let deep = format!(
        "{{\"type\":\"bye\",\"reason\":{}1{}}}",
        "[".repeat(200),
        "]".repeat(200)
    );
    for (text, says) in [
        ("", "EOF"),
        ("{}", "missing field `type`"),
        ("[1]", "invalid"),
        ("{\"type\":\"launch\"}", "unknown variant `launch`"),
        (
            "{\"type\":\"pong\",\"id\":-1,\"received\":0,\"sent\":0}",
            "invalid value",
        ),
        (deep.as_str(), "recursion limit"),
    ] {
        let error = ToController::from_text(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    let long = format!("{{\"type\":\"bye\",\"reason\":\"{}\"}}", "x".repeat(MAX_TO_CONTROLLER));
    let error = ToController::from_text(&long).unwrap_err();
    assert_eq!(
        error,
        Malformed::TooLong {
            length: long.len(),
            limit: 1_048_576
        }
    );
    // Fields of a later version are ignored.
    let later = "{\"type\":\"ping\",\"id\":3,\"colour\":\"red\"}";
    assert_eq!(ToAgent::from_text(later), Ok(ToAgent::Ping(Ping { id: 3 })));
}

#[test]
fn names_are_letters_digits_and_hyphens() {
    for name in ["a", "living-room", "TV2", &"x".repeat(64)] {
        assert!(is_name(name), "{name}");
    }
    for name in ["", "a b", "a/b", "é", "a\n", &"x".repeat(65)] {
        assert!(!is_name(name), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn operations_survive_the_wire(
        ids in any::<(u16, u16, u64)>(),
        times in any::<(i64, Option<i64>, Option<i64>, Option<i64>, Option<i64>)>(),
        bytes in any::<u64>(),
        outcome in prop::sample::select(outcomes()),
        far in any::<Option<(i64, i64)>>(),
        tcp_connected in any::<Option<i64>>(),
    ) {
        let (due, started, connected, first, finished) = times;
        let at = |nanos: Option<i64>| nanos.map(Instant::from_nanos);
        let row = Row::Operation(OperationRow {
            station: ids.0,
            workload: ids.1,
            operation: Operation {
                sequence: ids.2,
                due: Instant::from_nanos(due),
                started: at(started),
                connected: at(connected),
                first_byte: at(first),
                finished: at(finished),
                bytes,
                outcome,
                far: far.map(|(received, sent)| RemoteTimestamps { received, sent }),
                tcp_connected: at(tcp_connected),
            },
        });
        let message = ToController::Rows(Rows { sequence: 1, batch: batch(std::slice::from_ref(&row)) });
        prop_assert!(message.to_text().len() < 400);
        let Ok(ToController::Rows(back)) = ToController::from_text(&message.to_text()) else {
            return Err(TestCaseError::fail("no message"));
        };
        prop_assert_eq!(back.batch.into_rows(|_| true, false), Ok(vec![row]));
    }

    #[test]
    fn texts_are_cut_at_characters(text in ".{0,40}", limit in 0usize..60) {
        let cut = shorten(text.clone(), limit);
        prop_assert!(cut.len() <= limit && text.starts_with(&cut));
        prop_assert!(cut.len() + 4 > limit.min(text.len()));
    }
}

#[test]
fn every_message_between_runs_fits_the_schema() {
    use super::standing::{
        Discard, FromMember, Invite, Kind, LateAck, LateResults, LateResultsEnd, MemberInfo, PendingResults, Register,
        Registered, RequestResults, ToMember,
    };
    let run = || "2026-11-22T05-30-00Z-four-uses".to_owned();
    let received = [
        FromMember::Register(Register {
            protocol: VERSION,
            name: "kitchen".into(),
            token: "t".into(),
            version: "v".into(),
            about: MemberInfo {
                role: Role::Agent,
                kind: Kind::Browser,
                system: "s".into(),
                interface: Some("wlan0".into()),
                labels: [("room".to_owned(), "kitchen".to_owned())].into(),
            },
            pending: vec![PendingResults {
                run: run(),
                name: "kitchen".into(),
                messages: u64::MAX,
            }],
        }),
        FromMember::Heartbeat,
        FromMember::LateResults(LateResults {
            proof: "0f".repeat(32),
            run: run(),
            sequence: u64::MAX,
            batch: batch(&every_row()),
        }),
        FromMember::LateResultsEnd(LateResultsEnd {
            run: run(),
            error: Some("e".into()),
            health: Some(health()),
            stop_requested_at: None,
            proof: String::new(),
        }),
        FromMember::Bye,
    ];
    fits(
        "FromMember",
        received.iter().map(|m| serde_json::from_str(&m.to_text()).unwrap()),
    );
    for message in &received {
        assert_eq!(FromMember::from_text(&message.to_text()).as_ref(), Ok(message));
    }
    let sent = [
        ToMember::Welcome(Registered {
            protocol: VERSION,
            version: "v".into(),
            fleet: "f".into(),
        }),
        ToMember::Rejected(Rejected {
            code: RejectReason::NameTaken,
            reason: "r".into(),
        }),
        ToMember::Invite(Invite {
            run: run(),
            name: "tv".into(),
            token: "t".into(),
        }),
        ToMember::RequestResults(RequestResults { run: run() }),
        ToMember::Ack(LateAck {
            run: run(),
            sequence: 3,
        }),
        ToMember::Discard(Discard { run: run() }),
        ToMember::Bye(Bye::default()),
    ];
    fits(
        "ToMember",
        sent.iter().map(|m| serde_json::from_str(&m.to_text()).unwrap()),
    );
    for message in &sent {
        assert_eq!(ToMember::from_text(&message.to_text()).as_ref(), Ok(message));
    }
}

/// A newer controller may send a code that this version does not know, or none.
#[test]
fn unknown_reject_codes_are_accepted() {
    let code = |text: &str| match ToAgent::from_text(text) {
        Ok(ToAgent::Rejected(rejected)) => rejected.code,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        code(r#"{"type":"rejected","code":"name_taken","reason":"r"}"#),
        RejectReason::NameTaken
    );
    assert_eq!(
        code(r#"{"type":"rejected","code":"of_a_newer_version","reason":"r"}"#),
        RejectReason::Other
    );
    assert_eq!(code(r#"{"type":"rejected","reason":"r"}"#), RejectReason::Other);
    let bye = r#"{"type":"bye","code":"token_revoked","reason":"r"}"#;
    let bye = standing::ToMember::from_text(bye);
    assert!(matches!(bye, Ok(standing::ToMember::Bye(bye)) if bye.code == Some(RejectReason::TokenRevoked)));
}

#[test]
fn the_name_of_a_run_is_a_file_name() {
    for name in ["r", "2026-11-22T05-30-00Z-four-uses", "a.b_c", &"x".repeat(128)] {
        assert!(is_run(name), "{name}");
    }
    for name in [
        "",
        ".",
        "..",
        ".hidden",
        "a/b",
        "a\\b",
        "a b",
        "é",
        "a\0",
        &"x".repeat(129),
    ] {
        assert!(!is_run(name), "{name}");
    }
}
