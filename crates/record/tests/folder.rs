//! Creating and reading run folders, with and without faults.

mod util;

use netburn_record::summary::Summariser;
use netburn_record::{
    AirRow, Environment, Error, EventKind, Header, Host, MemoryRecorder, Recorder, Row, Run, RunSet, RunStatus,
    RunTable, SelfCheck, Sink, Summary, recover,
};
use netburn_scenario::Plan;
use netburn_units::Duration;
use netburn_workload::{Outcome, Verdict};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use util::{any_row, good_rows, header, ms, operation, plan, sentences};

fn record(path: &Path, rows: &[Row], status: &RunStatus) -> Run {
    let mut recorder = Recorder::create(path, header(plan())).unwrap();
    for row in rows {
        recorder.put(row).unwrap();
    }
    recorder.finish(status).unwrap()
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
        Row::Air(_) => 2,
        Row::Connection(_) => 3,
        Row::Link(_) => 4,
        Row::Observed(_) => 5,
        Row::Event(_) => 6,
    });
    sorted
}

/// The first rows of a run, of which `take` is the last one that is read.
fn first_rows(run: &Run, take: usize) -> (Vec<Row>, ControlFlow<()>) {
    let mut rows = Vec::new();
    let read = run.rows_until(&mut |row| {
        rows.push(row);
        if rows.len() == take {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    (rows, read.unwrap())
}

#[test]
fn reading_stops_when_the_visitor_breaks() {
    let dir = tempfile::tempdir().unwrap();
    let rows = good_rows();
    let mut memory = MemoryRecorder::new(header(plan()));
    for row in &rows {
        memory.put(row).unwrap();
    }
    let path = dir.path().join("spooled");
    leave(&path, &rows, 0);
    let runs = [
        record(&dir.path().join("finished"), &rows, &RunStatus::Complete),
        memory.finish("memory", &RunStatus::Complete),
        Run::open(&path).unwrap(),
    ];
    for run in runs {
        let all = rows_of(&run);
        for count in [1, 3, all.len() - 1] {
            assert_eq!(first_rows(&run, count), (all[..count].to_vec(), ControlFlow::Break(())));
        }
        assert_eq!(first_rows(&run, all.len() + 1), (all, ControlFlow::Continue(())));
    }
}

#[test]
fn a_good_run_passes_and_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs").join("first");
    let run = record(&path, &good_rows(), &RunStatus::Complete);
    let summary = run.summary().clone();
    assert_eq!(summary.verdict, Verdict::Pass, "{summary:#?}");
    assert!(summary.self_check.ok && summary.reasons.is_empty());
    let browsing = &summary.stations[0].workloads[0];
    assert_eq!((browsing.operations, browsing.goal_misses), (400, 0));
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
    assert_eq!(*again.status(), RunStatus::Complete);
    assert_eq!(rows_of(&again), by_kind(&good_rows()));
    assert!(!path.join("spool").exists());
}

/// `run.json` is there, and the process that wrote it was killed before it deleted the spool.
#[test]
fn a_remaining_spool_of_a_finished_folder_is_deleted_unless_locked() {
    let dir = tempfile::tempdir().unwrap();
    let (path, spool) = (dir.path().join("run"), dir.path().join("run/spool"));
    let summary = record(&path, &good_rows(), &RunStatus::Complete).summary().clone();
    let held = std::fs::File::create(&spool).unwrap();
    held.lock().unwrap();
    assert!(!recover(&path).unwrap());
    assert_eq!(*Run::open(&path).unwrap().summary(), summary);
    assert!(spool.exists());
    drop(held);
    assert_eq!(*Run::open(&path).unwrap().summary(), summary);
    assert!(spool.exists(), "opening does not write");
    assert!(!recover(&path).unwrap());
    assert!(!spool.exists());
    assert_eq!(*Run::open(&path).unwrap().summary(), summary);
}

/// The folder of a killed controller: only a spool, perhaps truncated.
fn leave(path: &Path, rows: &[Row], cut: usize) {
    let mut recorder = Recorder::create(path, header(plan())).unwrap();
    for row in rows {
        recorder.put(row).unwrap();
    }
    recorder.sync().unwrap();
    drop(recorder);
    let spool = std::fs::File::options().write(true).open(path.join("spool")).unwrap();
    let length = spool.metadata().unwrap().len();
    spool.set_len(length - cut as u64).unwrap();
}

#[test]
fn the_folder_of_a_killed_controller_is_read_and_recovered() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let rows = good_rows();
    leave(&path, &rows, 0);
    let run = Run::open(&path).unwrap();
    assert!(!run.is_finished());
    assert_eq!(rows_of(&run), by_kind(&rows));
    let summary = run.summary();
    assert_eq!(summary.verdict, Verdict::Inconclusive);
    assert_eq!(
        sentences(&summary.reasons),
        ["netburn was killed before it could finish the record (after 1 min of 1 min)"]
    );
    assert_eq!(summary.stations[0].verdict, Verdict::Inconclusive);
    // The values are there all the same.
    assert_eq!(summary.stations[0].workloads[0].latency_ms.p99, Some(200.0));
    assert_eq!(summary.stations[0].workloads[0].verdict, Verdict::Pass);
    assert_eq!(run.summarise().unwrap(), *summary);
    assert!(!path.join("run.json").exists());
    assert!(recover(&path).unwrap());
    let recovered = Run::open(&path).unwrap();
    assert!(recovered.is_finished());
    assert_eq!(recovered.summary(), summary);
    assert_eq!(recovered.status(), run.status());
    assert_eq!(recovered.header(), run.header());
    assert!(!path.join("spool").exists());
    // The first one finds its rows in the tables now.
    assert_eq!(rows_of(&run), by_kind(&rows));
    assert!(!recover(&path).unwrap(), "nothing is left to do");
}

#[test]
fn a_truncated_spool_loses_its_last_row_and_reports_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let rows = [
        operation(0, 0, 0, ms(100), Outcome::Finished, Duration::from_millis(200)),
        operation(0, 0, 1, ms(3100), Outcome::Finished, Duration::from_millis(200)),
    ];
    leave(&path, &rows, 3);
    let run = Run::open(&path).unwrap();
    assert_eq!(rows_of(&run), rows[..1]);
    let reason = run.summary().reasons[0].to_string();
    assert!(
        reason.contains("bytes of its spool are incomplete (after 300 ms of 1 min)"),
        "{reason}"
    );
}

#[test]
fn an_active_folder_is_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = Recorder::create(&path, header(plan())).unwrap();
    assert!(matches!(Run::open(&path), Err(Error::Live(_))));
    assert!(matches!(recover(&path), Err(Error::Live(_))));
    recorder.put(&good_rows()[0]).unwrap();
    let run = recorder.finish(&RunStatus::Interrupted).unwrap();
    assert_eq!(run.count("operations"), 1);
    assert_eq!(
        sentences(&Run::open(&path).unwrap().summary().reasons),
        ["the run was interrupted before the load began"]
    );
}

#[test]
fn an_existing_folder_gets_a_numbered_sibling() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let first = Recorder::create(&path, header(plan())).unwrap();
    let second = Recorder::create(&path, header(plan())).unwrap();
    let third = Recorder::create(&path, header(plan())).unwrap();
    assert_eq!(first.path(), path);
    assert_eq!(second.path(), dir.path().join("run-2"));
    assert_eq!(third.path(), dir.path().join("run-3"));
}

#[test]
fn invalid_records_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let said = |path: &Path| Run::open(path).unwrap_err().to_string();
    assert!(said(dir.path()).contains("is not a run folder"), "{}", said(dir.path()));
    let nothing = said(&dir.path().join("nothing"));
    assert!(nothing.ends_with("is not a run folder: no such folder"), "{nothing}");

    let path = dir.path().join("run");
    drop(record(&path, &good_rows(), &RunStatus::Complete));
    let document = std::fs::read_to_string(path.join("run.json")).unwrap();
    let with = |text: &str| std::fs::write(path.join("run.json"), text).unwrap();

    with(&document.replace("netburn.run/1", "netburn.run/2"));
    assert!(matches!(Run::open(&path), Err(Error::Newer { found: 2, known: 1, .. })));
    with(&document.replace("netburn.run/1", "another"));
    assert!(said(&path).contains("unknown schema `another`"));
    with(&document[..document.len() / 2]);
    assert!(said(&path).contains("is damaged"));
    with("");
    assert!(said(&path).contains("is damaged"));
    std::fs::write(path.join("run.json"), [0xff, 0xfe]).unwrap();
    assert!(said(&path).contains("it is not UTF-8 text"));

    with(&document);
    let table = path.join("operations.parquet");
    let whole = std::fs::read(&table).unwrap();
    std::fs::write(&table, &whole[..whole.len() - 100]).unwrap();
    assert!(
        said(&path).contains("operations.parquet is damaged: found"),
        "{}",
        said(&path)
    );
    std::fs::remove_file(&table).unwrap();
    assert!(said(&path).contains("operations.parquet"));
}

/// Flips one bit in the middle of a file.
fn damage(file: &Path) {
    let mut bytes = std::fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn a_table_with_a_wrong_checksum_is_reported_and_skipped() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["operations", "intervals", "airtime", "connections", "link", "events"] {
        let path = dir.path().join(name);
        drop(record(&path, &modelled_rows(), &RunStatus::Complete));
        let table = path.join(format!("{name}.parquet"));
        damage(&table);
        let error = Run::open(&path).unwrap_err();
        assert!(
            matches!(&error, Error::Damaged { path, .. } if *path == table),
            "{error}"
        );
        assert!(error.to_string().contains("found CRC-32 "), "{error}");

        let (run, found) = Run::open_partly(&path).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].to_string(), error.to_string());
        let mut kept = Vec::new();
        let left_out = run.rows_partly(&mut |row| kept.push(row));
        assert_eq!(left_out.len(), 1, "{left_out:?}");
        assert_eq!(left_out[0].to_string(), error.to_string());
        let of_table = |row: &Row| match row {
            Row::Operation(_) => "operations",
            Row::Interval(_) => "intervals",
            Row::Air(_) => "airtime",
            Row::Connection(_) => "connections",
            Row::Link(_) => "link",
            Row::Observed(_) => "observed",
            Row::Event(_) => "events",
        };
        let others: Vec<Row> = by_kind(&modelled_rows());
        let others: Vec<Row> = others.into_iter().filter(|row| of_table(row) != name).collect();
        assert_eq!(kept, others, "{name}");
    }
}

#[test]
fn all_damaged_tables_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    drop(record(&path, &modelled_rows(), &RunStatus::Complete));
    damage(&path.join("link.parquet"));
    std::fs::remove_file(path.join("events.parquet")).unwrap();
    let (_, found) = Run::open_partly(&path).unwrap();
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].contains("events.parquet") && found[1].contains("link.parquet"),
        "{found:?}"
    );
}

/// run.json holds the CRC-32 that zlib computes for the same bytes.
#[test]
fn the_checksum_matches_zlib() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    drop(record(&path, &modelled_rows(), &RunStatus::Complete));
    let document: serde_json::Value = serde_json::from_slice(&std::fs::read(path.join("run.json")).unwrap()).unwrap();
    // Bit by bit, as the standard has it: reflected, from all ones, complemented.
    let crc = |bytes: &[u8]| {
        !bytes.iter().fold(u32::MAX, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| match crc & 1 {
                1 => crc >> 1 ^ 0xedb8_8320,
                _ => crc >> 1,
            })
        })
    };
    for (name, facts) in document["tables"].as_object().unwrap() {
        let bytes = std::fs::read(path.join(format!("{name}.parquet"))).unwrap();
        assert_eq!(facts["crc32"], format!("{:08x}", crc(&bytes)), "{name}");
    }
}

#[test]
fn a_record_from_before_checksums_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let run = record(&path, &good_rows(), &RunStatus::Complete);
    let file = path.join("run.json");
    let mut document: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    for facts in document["tables"].as_object_mut().unwrap().values_mut() {
        facts.as_object_mut().unwrap().remove("crc32").unwrap();
    }
    std::fs::write(&file, document.to_string()).unwrap();
    let again = Run::open(&path).unwrap();
    assert_eq!(rows_of(&again), rows_of(&run));
}

#[test]
fn an_invalid_or_newer_spool_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    leave(&path, &[], 0);
    let spool = path.join("spool");
    let whole = std::fs::read(&spool).unwrap();
    for length in 0..whole.len() {
        std::fs::write(&spool, &whole[..length]).unwrap();
        assert!(matches!(Run::open(&path), Err(Error::Damaged { .. })), "{length} bytes");
        assert!(matches!(recover(&path), Err(Error::Damaged { .. })), "{length} bytes");
    }
    let mut newer = whole;
    newer[8] = 9;
    std::fs::write(&spool, newer).unwrap();
    assert!(matches!(Run::open(&path), Err(Error::Newer { found: 9, known: 1, .. })));
    assert!(spool.exists(), "what can't be read is left alone");
}

/// A recorder that dies between the rename of `run.json` and the removal of the spool leaves both.
#[test]
fn a_spool_next_to_a_finished_record_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let run = record(&path, &good_rows(), &RunStatus::Complete);
    std::fs::write(path.join("spool"), b"anything").unwrap();
    assert_eq!(Run::open(&path).unwrap().summary(), run.summary());
}

/// A conversion that was killed leaves half-written columns: the next one starts over.
#[test]
fn half_written_columns_are_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    leave(&path, &good_rows(), 0);
    std::fs::write(path.join("operations.parquet"), b"PAR1 half").unwrap();
    std::fs::write(path.join("run.json.tmp"), b"{\"schema\":").unwrap();
    assert_eq!(rows_of(&Run::open(&path).unwrap()), by_kind(&good_rows()));
    assert!(recover(&path).unwrap());
    let run = Run::open(&path).unwrap();
    assert_eq!(rows_of(&run), by_kind(&good_rows()));
    assert!(!path.join("run.json.tmp").exists());
}

/// All files below `folder` by their paths within it, with the folder's own path left out of what they hold.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_dir() {
            files.extend(
                contents(&path)
                    .into_iter()
                    .map(|(inner, bytes)| (name.join(inner), bytes)),
            )
        } else {
            let mut bytes = std::fs::read(&path).unwrap();
            if name.extension().is_some_and(|extension| extension == "json") {
                let root = folder
                    .ancestors()
                    .find(|above| above.ends_with("one") || above.ends_with("other"));
                let text = String::from_utf8(bytes).unwrap();
                bytes = text.replace(root.unwrap().to_str().unwrap(), "").into_bytes();
            }
            files.insert(name, bytes);
        }
    }
    files
}

/// Rows of a simulated run: no health reports or clocks, but airtime.
fn modelled_rows() -> Vec<Row> {
    let mut rows: Vec<Row> = good_rows();
    rows.retain(|row| !matches!(row, Row::Event(_)));
    rows.extend((0..600).flat_map(|tenth: u64| {
        [0, 1].map(|station: u16| {
            Row::Air(AirRow {
                station,
                at: ms(100 * tenth as i64),
                airtime_down: Duration::from_micros(900 + 31 * (tenth % 7) + 2_000 * u64::from(station)),
                airtime_up: Duration::from_micros(170),
                transmissions: 12,
                mpdus: 50,
                ..AirRow::default()
            })
        })
    }));
    rows
}

/// The record of a simulated run does not depend on the machine or the time.
#[test]
fn one_scenario_and_seed_give_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let header = || Header {
        environment: Environment::Simulate,
        started: None,
        source: None,
        ..header(Plan { repeat: 3, ..plan() })
    };
    let record = |path: &Path| {
        let mut recorder = Recorder::create(path, header()).unwrap();
        for (row, number) in modelled_rows().iter().zip(0..) {
            recorder.put(row).unwrap();
            if path.ends_with("other") && number % 500 == 0 {
                // The time of a sync has no effect.
                recorder.sync().unwrap();
            }
        }
        recorder.finish(&RunStatus::Complete).unwrap()
    };
    let (one, other) = (dir.path().join("one"), dir.path().join("a").join("other"));
    assert_eq!(record(&one).summary().verdict, Verdict::Pass);
    drop(record(&other));
    let (first, second) = (contents(&one), contents(&other));
    assert_eq!(first.len(), 7, "{:?}", first.keys());
    assert!(first == second);
    let json = String::from_utf8(first[Path::new("run.json")].clone()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for absent in ["started", "started_utc"] {
        assert!(json[absent].is_null(), "{absent}: {}", json[absent]);
    }
    assert_eq!(json["host"], serde_json::to_value(Host::default()).unwrap());
    assert_eq!(
        json["summary"]["self_check"],
        serde_json::to_value(SelfCheck::default()).unwrap()
    );

    // And so do several.
    let repeats = |path: &Path| {
        let mut repeats = RunSet::create(path).unwrap();
        for number in 0..3 {
            let run = record(&repeats.path_of(number));
            repeats.add(run);
        }
        repeats.finish().unwrap()
    };
    let (one, other) = (dir.path().join("b").join("one"), dir.path().join("c").join("other"));
    let pooled = repeats(&one);
    assert!(pooled.summary().totals.airtime_jain.is_some() && pooled.summary().intervals.len() > 10);
    drop(repeats(&other));
    let (first, second) = (contents(&one), contents(&other));
    assert_eq!(first.len(), 22, "{:?}", first.keys());
    assert!(first == second);
}

fn same(one: &Summary, other: &Summary) -> Result<(), TestCaseError> {
    prop_assert_eq!(serde_json::to_value(one).unwrap(), serde_json::to_value(other).unwrap());
    prop_assert_eq!(one, other);
    Ok(())
}

/// Summary of a summariser for the rows of a run with that header and status, as in a folder's
/// document.
fn in_memory(run: &Run, rows: &[Row]) -> String {
    let mut summariser = Summariser::new(run.header().clone());
    for row in rows {
        summariser.put(row).unwrap();
    }
    let summary = summariser.finish(&run.path().to_string_lossy(), run.status());
    serde_json::to_string(&summary).unwrap()
}

fn on_disk(run: &Run) -> String {
    serde_json::to_string(run.summary()).unwrap()
}

#[test]
fn a_good_run_needs_no_folder() {
    let dir = tempfile::tempdir().unwrap();
    let run = record(&dir.path().join("run"), &good_rows(), &RunStatus::Complete);
    assert_eq!(in_memory(&run, &good_rows()), on_disk(&run));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Rows of any kind are read back unchanged, and the summary of the tables equals that of the
    /// rows.
    #[test]
    fn any_rows_read_back(rows in prop::collection::vec(any_row(), 0..80), status in 0..3) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run");
        let status = match status {
            0 => RunStatus::Complete,
            1 => RunStatus::Interrupted,
            _ => RunStatus::Failed("the server did not start".into()),
        };
        let run = record(&path, &rows, &status);
        let again = Run::open(&path).unwrap();
        prop_assert_eq!(rows_of(&again), by_kind(&rows));
        same(run.summary(), again.summary())?;
        same(run.summary(), &again.summarise().unwrap())?;
        prop_assert_eq!(in_memory(&run, &rows), on_disk(&run));
    }

    /// A run in memory equals the same run in a folder.
    #[test]
    fn any_rows_stay_in_memory(rows in prop::collection::vec(any_row(), 0..80), interrupted in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run");
        let status = if interrupted { RunStatus::Interrupted } else { RunStatus::Complete };
        let run = record(&path, &rows, &status);
        let mut recorder = MemoryRecorder::new(run.header().clone());
        for row in &rows {
            recorder.put(row).unwrap();
        }
        let kept = recorder.finish(&path.to_string_lossy(), &status);
        prop_assert_eq!(rows_of(&kept), by_kind(&rows));
        for table in RunTable::ALL {
            prop_assert_eq!(kept.count(table.name()), run.count(table.name()));
        }
        same(kept.summary(), run.summary())?;
        same(&kept.summarise().unwrap(), run.summary())?;
        prop_assert_eq!((kept.status(), kept.health()), (run.status(), run.health()));
    }

    /// A truncated spool gives a prefix of the rows, and both ways of computing its summary agree.
    #[test]
    fn a_cut_spool_is_a_shorter_run(rows in prop::collection::vec(any_row(), 1..40), cut in 0_usize..400) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run");
        leave(&path, &rows, 0);
        let empty = dir.path().join("empty");
        leave(&empty, &[], 0);
        let length = |path: &Path| std::fs::metadata(path.join("spool")).unwrap().len();
        let cut = (cut as u64).min(length(&path) - length(&empty));
        let spool = std::fs::File::options().write(true).open(path.join("spool")).unwrap();
        spool.set_len(length(&path) - cut).unwrap();
        drop(spool);
        let run = Run::open(&path).unwrap();
        let kept: u64 = RunTable::ALL.iter().map(|table| run.count(table.name())).sum();
        prop_assert_eq!(rows_of(&run), by_kind(&rows[..kept as usize]));
        prop_assert!(kept as usize == rows.len() || cut > 0);
        same(run.summary(), &run.summarise().unwrap())?;
        prop_assert!(recover(&path).unwrap());
        let recovered = Run::open(&path).unwrap();
        same(run.summary(), recovered.summary())?;
        prop_assert_eq!(rows_of(&recovered), rows_of(&run));
        for table in RunTable::ALL {
            prop_assert_eq!(recovered.count(table.name()), run.count(table.name()));
        }
    }
}

#[test]
fn a_long_event_text_is_truncated() {
    let dir = tempfile::tempdir().unwrap();
    let row = |text: String| {
        Row::Event(netburn_record::EventRow {
            station: Some(0),
            workload: None,
            at: ms(1),
            length: 0,
            kind: EventKind::Warning,
            detail: text.into(),
        })
    };
    let run = record(
        &dir.path().join("run"),
        &[row("é".repeat(1 << 20)), row("x".into())],
        &RunStatus::Complete,
    );
    let rows = rows_of(&run);
    let Row::Event(long) = &rows[0] else { unreachable!() };
    let length = long.detail.text().len();
    assert!(length > 1_000_000 && length < 1 << 20, "{length}");
    assert_eq!(rows[1], row("x".into()));
}
