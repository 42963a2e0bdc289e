//! Properties that hold for any input.

use crate::live::{HISTORY_SECONDS, Live};
use netburn_record::aggregate::LiveRun;
use netburn_record::{AirRow, Environment, EventKind, EventRow, Header, IntervalRow, OperationRow, Row};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{Duration, Instant};
use netburn_workload::{Config, Operation, Outcome};

/// Decodes rows of any kind, station and time from bytes. Checks that the snapshots of the live view stay within their bounds.
pub fn live(bytes: &[u8]) {
    let mut live = Live::new(&header());
    for (place, piece) in bytes.chunks(12).enumerate() {
        let mut long = [0; 12];
        long[..piece.len()].copy_from_slice(piece);
        live.put(&row(place as u64, long));
        if place % 16 == 0 {
            check(&live);
        }
    }
    check(&live);
}

fn check(live: &Live) {
    let snapshot = serde_json::to_value(live.snapshot()).expect("a snapshot can be serialized");
    for station in snapshot["stations"].as_array().expect("an array") {
        assert!(station["mbps"].as_f64().is_some_and(|rate| rate >= 0.0));
        for one in station["workloads"].as_array().expect("an array") {
            for history in ["history_mbps", "history_ms"] {
                assert!(one[history].as_array().expect("an array").len() as i64 <= HISTORY_SECONDS);
            }
        }
    }
    assert!(snapshot["events"].as_array().expect("an array").len() <= LiveRun::MAX_EVENTS);
}

fn header() -> Header {
    let station = |name: &str| Station {
        workloads: ["voip", "download"]
            .map(|kind| {
                StationWorkload::new(
                    kind,
                    if kind == "voip" {
                        Config::voip()
                    } else {
                        Config::download()
                    },
                )
            })
            .to_vec(),
        ..Station::new(name)
    };
    Header {
        environment: Environment::Local,
        ..Header::simulated(Plan {
            duration: Duration::from_secs(20),
            stations: vec![station("a"), station("b")],
            ..Plan::new("any")
        })
    }
}

/// Decodes a row: kind, station, workload, and a time with the granularity of the last byte.
fn row(sequence: u64, b: [u8; 12]) -> Row {
    let (station, workload) = (u16::from(b[1] % 4), u16::from(b[2] % 4));
    let raw = i64::from_le_bytes([b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10]]);
    let at = Instant::from_nanos(match b[11] % 4 {
        0 => raw,
        1 => raw % 60_000_000_000,
        2 => raw % 1_000 * 100_000_000,
        _ => raw % 4_000_000_000_000_000,
    });
    let amount = u64::from(b[3]) << (b[11] % 57);
    match b[0] % 4 {
        0 => Row::Interval(IntervalRow {
            station,
            workload,
            at,
            bytes_down: amount,
            bytes_up: raw.unsigned_abs(),
        }),
        1 => Row::Operation(OperationRow {
            station,
            workload: if b[2] == 255 {
                netburn_record::row::BASELINE
            } else {
                workload
            },
            operation: Operation {
                sequence,
                due: at,
                started: Some(at),
                connected: None,
                first_byte: None,
                finished: at.checked_add(Duration::from_nanos(amount)),
                bytes: amount,
                outcome: if b[2].is_multiple_of(2) {
                    Outcome::Finished
                } else {
                    Outcome::NotStarted
                },
                far: None,
                tcp_connected: None,
            },
        }),
        2 => Row::Air(AirRow {
            station,
            at,
            airtime_down: Duration::from_nanos(amount),
            airtime_up: Duration::from_nanos(raw.unsigned_abs()),
            ..AirRow::default()
        }),
        _ => Row::Event(EventRow {
            station: Some(station).filter(|_| b[2] < 128),
            workload: Some(workload),
            at,
            length: amount,
            kind: [EventKind::Stall, EventKind::Lost, EventKind::Warning, EventKind::Roam][usize::from(b[2] % 4)],
            detail: "<b>".repeat(usize::from(b[3])).into(),
        }),
    }
}
