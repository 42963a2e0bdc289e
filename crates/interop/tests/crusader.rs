//! Import of crusader's three formats. The files were written with the crates that crusader uses (`bincode` 1.3, `snap` 1.1,
//! `rmp-serde` 1.3) from the structures of its format, with the values below.
//!
//! The client begins at 0.5 s and pings every 20 ms. A ping whose number is divisible by 7 is lost up, and one with the rest 3
//! is lost down. The others take 2 ms plus (number mod 5) ms up, and 1.5 ms down. Downloads run from 1.5 to 3.5 s, uploads
//! from 4.5 to 6.5 s, both from 7.5 to 9.5 s. Each has two streams, with a point every 50 ms. The first stream of the download
//! has 62500 bytes more in each point, that of the upload 12500, and half of it in both directions. The second one has twice
//! as much.

use netburn_interop::import::{FileError, ImportError, Imported, read, record};
use netburn_record::Run;
use netburn_record::row::{BASELINE, OperationRow, Row};
use netburn_workload::Outcome;
use std::path::Path;

const VERSIONS: [&str; 3] = ["v0", "v1", "v2"];

fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crusader");
    std::fs::read(folder.join(format!("{name}.crr"))).unwrap()
}

fn imported(name: &str) -> Imported {
    read(&file(name), &format!("{name}.crr")).unwrap()
}

fn operations(imported: &Imported) -> impl Iterator<Item = &OperationRow> {
    imported.rows.iter().filter_map(|row| match row {
        Row::Operation(row) if row.operation.outcome != Outcome::Cut => Some(row),
        _ => None,
    })
}

/// Returns whether a ping is answered, and its way up in ms.
fn ping(number: u64) -> Option<u64> {
    (!matches!(number % 7, 0 | 3)).then_some(2 + number % 5)
}

fn run(name: &str) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().unwrap();
    let run = record(&folder.path().join("run"), &imported(name)).unwrap();
    (folder, run)
}

#[test]
fn each_part_of_the_test_is_a_workload_with_its_bytes() {
    for name in VERSIONS {
        let (_folder, run) = run(name);
        let station = &run.summary().stations[0];
        let workloads: Vec<_> = station
            .workloads
            .iter()
            .map(|workload| (workload.name.as_str(), workload.throughput_mbps))
            .collect();
        // 40 points of three times the first stream's bytes in 2 s.
        let mbps = |bytes: f64| 3.0 * 40.0 * bytes * 8.0 / 2e6;
        let expected = [
            ("probe", 0.0),
            ("download", mbps(62_500.0)),
            ("download-both", mbps(31_250.0)),
            ("upload", mbps(12_500.0)),
            ("upload-both", mbps(6250.0)),
        ];
        assert_eq!(workloads.len(), expected.len(), "{name}");
        for ((ours, rate), (theirs, expected)) in workloads.iter().zip(expected) {
            assert_eq!(*ours, theirs, "{name}");
            assert!((rate - expected).abs() < 1e-6, "{name} {ours}: {rate} and {expected}");
        }
    }
}

#[test]
fn bytes_are_in_the_time_of_their_part() {
    for name in VERSIONS {
        let imported = imported(name);
        // The first load begins at 1.5 s of the client, which is 0 s of the run.
        for (workload, from, to, bytes) in [
            (1, 0, 2000, 7_500_000),
            (2, 6000, 8000, 3_750_000),
            (3, 3000, 5000, 1_500_000),
            (4, 6000, 8000, 750_000),
        ] {
            let intervals = imported.rows.iter().filter_map(|row| match row {
                Row::Interval(row) if row.workload == workload => Some(row),
                _ => None,
            });
            let mut sum = 0;
            for interval in intervals {
                let at = interval.at.as_nanos() / 1_000_000;
                assert!((from..to).contains(&at), "{name} {workload}: {at} ms");
                sum += interval.bytes();
            }
            assert_eq!(sum, bytes, "{name} {workload}");
        }
    }
}

#[test]
fn pings_before_the_load_are_idle_latency() {
    for name in VERSIONS {
        let imported = imported(name);
        let mine = || operations(&imported).filter(|row| row.station == 0);
        for (workload, numbers) in [(BASELINE, 0..50), (0, 50..500)] {
            let mut found: Vec<_> = mine()
                .filter(|row| row.workload == workload)
                .map(|row| row.operation)
                .collect();
            found.sort_by_key(|operation| operation.due);
            let expected: Vec<_> = numbers
                .map(|number| (500 + 20 * number as i64 - 1500, ping(number)))
                .collect();
            assert_eq!(found.len(), expected.len(), "{name}");
            for (found, (due, up)) in found.iter().zip(expected) {
                assert_eq!(found.due.as_nanos(), due * 1_000_000, "{name}");
                let took = up.map(|up| up * 1_000_000 + 1_500_000);
                assert_eq!(found.latency().map(|took| took.as_nanos()), took, "{name} {due}");
                // Version 0 has no one-way delays.
                let far = up.filter(|_| name != "v0").map(|up| (due + up as i64) * 1_000_000);
                assert_eq!(found.far.map(|far| far.received), far, "{name} {due}");
            }
        }
    }
}

#[test]
fn the_summary_has_losses_and_delays() {
    for name in VERSIONS {
        let (_folder, run) = run(name);
        let probe = run.summary().stations[0].workloads[0].probe.unwrap();
        let lost = (50..500).filter(|number| ping(*number).is_none()).count() as f64 / 450.0;
        assert!((probe.lost_share.unwrap() - lost).abs() < 1e-9, "{name}");
        let delays = [probe.queued_up_ms, probe.queued_down_ms].map(|ms| ms.and_then(|ms| ms.p50));
        let expected = if name == "v0" {
            [None; 2]
        } else {
            [Some(2.0), Some(0.0)]
        };
        for (ours, expected) in delays.into_iter().zip(expected) {
            let close = match (ours, expected) {
                (Some(ours), Some(expected)) => f64::abs(ours - expected) < 0.01,
                (ours, expected) => ours == expected,
            };
            assert!(close, "{name}: {ours:?}, {expected:?}");
        }
    }
}

#[test]
fn the_header_has_what_is_left_out_and_the_peer_is_a_station() {
    let source = |name: &str| imported(name).header.source.unwrap();
    assert_eq!(
        (source("v2").version.as_str(), source("v0").version.as_str()),
        ("0.3.2", "")
    );
    assert_eq!(
        source("v1").test,
        "TCP download, upload, both directions with UDP round trips"
    );
    // 500 pings of the client and 400 of the peer.
    let count = |rest: u64| (0..500).chain(0..400).filter(|number| number % 7 == rest).count();
    assert_eq!(
        source("v2").left_out,
        [
            format!(
                "the direction of the losses: {} packets were lost on the way to the server, {} on the way back",
                count(0),
                count(3)
            ),
            "crusader's warning that the server was overloaded, and the result should be discarded".to_owned(),
        ]
    );
    let imported = imported("v2");
    let names: Vec<&str> = imported
        .header
        .plan
        .stations
        .iter()
        .map(|station| station.name.as_str())
        .collect();
    assert_eq!(names, ["client", "peer"]);
    assert_eq!(operations(&imported).filter(|row| row.station == 1).count(), 400);
    let plan = &imported.header.plan;
    assert_eq!((plan.baseline.as_millis(), plan.duration.as_millis()), (1000, 9000));
}

fn error(bytes: &[u8]) -> FileError {
    match read(bytes, "a.crr") {
        Err(ImportError::File {
            tool: "crusader",
            error,
        }) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn truncated_and_damaged_files_are_errors() {
    for name in VERSIONS {
        let whole = file(name);
        for length in (8..whole.len()).step_by(101) {
            error(&whole[..length]);
        }
    }
    // Each byte of a compressed chunk is protected by its checksum.
    for name in ["v1", "v2"] {
        for place in (30..file(name).len()).step_by(97) {
            let mut damaged = file(name);
            damaged[place] ^= 0x20;
            error(&damaged);
        }
    }
}

#[test]
fn invalid_values_are_named() {
    let whole = file("v0");
    let changed = |place: usize, bytes: &[u8]| {
        let mut changed = whole.clone();
        changed[place..place + bytes.len()].copy_from_slice(bytes);
        error(&changed)
    };
    let newer = changed(8, &3_u64.to_le_bytes());
    assert_eq!(
        newer,
        FileError::Version {
            found: "3".to_owned(),
            expected: "0, 1 or 2"
        }
    );
    // After the magic number, the version and the four numbers of the settings: the start and the duration of 12 bytes each,
    // the number of groups, two flags, the number of streams, that of points, and the points of 20 bytes each.
    let start = 16 + 4 * 8;
    assert!(matches!(changed(start, &u64::MAX.to_le_bytes()), FileError::Value { place, .. } if place == "start"));
    let groups = start + 24;
    assert!(matches!(
        changed(groups, &u64::MAX.to_le_bytes()),
        FileError::TooMany { .. }
    ));
    assert!(matches!(changed(groups + 8, &[2]), FileError::Format(_)));
    let points = groups + 8 + 2 + 8 + 8;
    let bytes = changed(points + 20 + 12, &u64::MAX.to_le_bytes());
    assert!(matches!(bytes, FileError::Value { place, .. } if place == "stream_groups[0].streams[0].data[1]"));
    let time = changed(points + 20, &0_u64.to_le_bytes());
    assert!(matches!(time, FileError::Value { place, .. } if place == "stream_groups[0].streams[0].data[1]"));
}
