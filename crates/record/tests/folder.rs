//! A run folder from its making to its reading, on good days and bad ones.

mod util;

use netburn_record::{Ending, Error, EventKind, Recorder, Row, Run, Sink, Summary};
use netburn_units::Duration;
use netburn_workload::{Outcome, Verdict};
use proptest::prelude::*;
use std::path::Path;
use util::{any_row, good_rows, header, ms, operation, plan};

fn record(path: &Path, rows: &[Row], ending: &Ending) -> Run {
    let mut recorder = Recorder::create(path, header(plan())).unwrap();
    for row in rows {
        recorder.put(row).unwrap();
    }
    recorder.finish(ending).unwrap()
}

fn rows_of(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    run.rows(&mut |row| rows.push(row)).unwrap();
    rows
}

/// Rows in the order in which a folder hands them out.
fn by_kind(rows: &[Row]) -> Vec<Row> {
    let mut sorted = rows.to_vec();
    sorted.sort_by_key(|row| match row {
        Row::Operation(_) => 0,
        Row::Interval(_) => 1,
        Row::Connection(_) => 2,
        Row::Link(_) => 3,
        Row::Event(_) => 4,
    });
    sorted
}

#[test]
fn a_good_run_passes_and_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs").join("first");
    let run = record(&path, &good_rows(), &Ending::Complete);
    let summary = run.summary().clone();
    assert_eq!(summary.verdict, Verdict::Pass, "{summary:#?}");
    assert!(summary.gate.ok && summary.reasons.is_empty());
    let browsing = &summary.stations[0].workloads[0];
    assert_eq!((browsing.operations, browsing.misses), (400, 0));
    assert_eq!(browsing.latency_ms.p99, Some(200.0));
    assert_eq!(summary.stations[0].idle_latency_ms, Some(2.0));
    // 50 kB and 312.5 kB each 100 ms: 4 and 25 Mbit/s.
    assert_eq!(summary.stations[0].throughput_mbps, 4.0);
    assert_eq!(summary.stations[1].throughput_mbps, 25.0);
    assert_eq!(summary.totals.throughput_mbps, 29.0);
    let again = Run::open(&path).unwrap();
    assert_eq!(*again.summary(), summary);
    assert_eq!(again.summarise().unwrap(), summary);
    assert_eq!(again.header(), run.header());
    assert_eq!(*again.ending(), Ending::Complete);
    assert_eq!(rows_of(&again), by_kind(&good_rows()));
    assert!(!path.join("spool").exists());
}
