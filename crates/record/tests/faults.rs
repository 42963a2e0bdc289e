//! A killed controller and a full disk, with real processes and files.
//!
//! The test binary runs itself again as the affected process. A full disk is simulated with the
//! limit on file sizes (`ulimit -f`), which any user may set. It fails writes at the same place.

#![cfg(unix)]

mod util;

use netburn_record::{Error, Header, Recorder, Row, Run, RunStatus, Sink, recover};
use netburn_scenario::Plan;
use netburn_units::Duration;
use netburn_workload::{Config, Outcome, Verdict};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use util::{header, ms, operation, plan, station};

/// Set in the affected process: the folder of its record.
const FOLDER: &str = "NETBURN_FOLDER";

/// The folder if this is the affected process.
fn affected() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Starts the affected process, which runs the same test again. Its files are limited to `blocks` of 512 bytes (of 1024
/// where the shell counts so).
fn start(test: &str, folder: &Path, blocks: Option<u32>) -> Child {
    let program = std::env::current_exe().unwrap();
    let limit = blocks.map_or(String::new(), |blocks| format!("trap '' XFSZ; ulimit -f {blocks}; "));
    Command::new("sh")
        .args(["-c", &format!("{limit}exec \"$0\" --exact {test} --nocapture")])
        .arg(program)
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The lines that the process printed.
fn said(child: &mut Child) -> impl Iterator<Item = String> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines
        .map_while(Result::ok)
        .filter_map(|line| Some(line.split_once("SAID ")?.1.to_owned()))
}

fn numbered(number: u64) -> Row {
    operation(
        0,
        0,
        number,
        ms(number as i64),
        Outcome::Finished,
        Duration::from_millis(20),
    )
}

/// The rows of a record, which must be the first that were put.
fn rows_kept(run: &Run) -> u64 {
    let mut kept = 0;
    run.rows(&mut |row| {
        assert_eq!(row, numbered(kept));
        kept += 1;
    })
    .unwrap();
    kept
}

fn record_until_killed(path: &Path) {
    let mut recorder = Recorder::create(path, header(plan())).unwrap();
    for number in 0.. {
        recorder.put(&numbered(number)).unwrap();
        if number % 1000 == 999 {
            recorder.sync().unwrap();
            println!("\nSAID {}", number + 1);
        }
    }
}

#[test]
fn every_synced_row_survives_a_kill() {
    if let Some(path) = affected() {
        return record_until_killed(&path);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut child = start("every_synced_row_survives_a_kill", &path, None);
    let synced: u64 = said(&mut child).nth(5).unwrap().parse().unwrap();
    assert!(matches!(Run::open(&path), Err(Error::Live(_))));
    child.kill().unwrap();
    child.wait().unwrap();
    let run = Run::open(&path).unwrap();
    let kept = rows_kept(&run);
    assert!(kept >= synced, "{synced} rows were synced, {kept} recovered");
    let summary = run.summary();
    assert_eq!(summary.verdict, Verdict::Inconclusive);
    assert!(
        summary.reasons[0].to_string().starts_with("netburn was killed"),
        "{:?}",
        summary.reasons
    );
    assert_eq!(summary.stations[0].workloads[0].operations, kept.min(60_000));
}

fn record_until_full(path: &Path) {
    let mut recorder = Recorder::create(path, header(plan())).unwrap();
    let mut errors = 0;
    for number in 0..20_000 {
        errors += u32::from(recorder.put(&numbered(number)).is_err());
        if number % 1000 == 999 {
            errors += u32::from(recorder.sync().is_err());
        }
    }
    println!("\nSAID {errors}");
    let run = recorder.finish(&RunStatus::Complete).unwrap();
    println!("\nSAID {}", run.summary().reasons[0]);
}

#[test]
fn a_full_disk_is_reported_once_and_earlier_rows_remain() {
    if let Some(path) = affected() {
        return record_until_full(&path);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut child = start("a_full_disk_is_reported_once_and_earlier_rows_remain", &path, Some(256));
    let said: Vec<String> = said(&mut child).collect();
    assert!(child.wait().unwrap().success());
    assert_eq!(said[0], "1", "errors");
    assert!(said[1].starts_with("the record could not be written: "), "{}", said[1]);
    let run = Run::open(&path).unwrap();
    assert_eq!(run.summary().verdict, Verdict::Inconclusive);
    let kept = rows_kept(&run);
    assert!(kept > 1000 && kept < 20_000, "{kept}");
}

/// 150 stations: their summary exceeds the file size limit, their plan does not.
fn crowd() -> Header {
    let stations = (0..150).map(|n| station(&format!("s{n}"), &[("voip", Config::voip())]));
    header(Plan {
        stations: stations.collect(),
        ..plan()
    })
}

fn finish_on_a_full_disk(path: &Path) {
    let mut recorder = match Recorder::create(path, crowd()) {
        Ok(recorder) => recorder,
        Err(error) => return println!("\nSAID {error}"),
    };
    for number in 0..10 {
        recorder.put(&numbered(number)).unwrap();
    }
    println!("\nSAID {}", recorder.finish(&RunStatus::Complete).unwrap_err());
}

#[test]
fn a_disk_that_fills_up_at_the_end_leaves_the_spool_and_no_half_record() {
    if let Some(path) = affected() {
        return finish_on_a_full_disk(&path);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut child = start(
        "a_disk_that_fills_up_at_the_end_leaves_the_spool_and_no_half_record",
        &path,
        Some(256),
    );
    let said: Vec<String> = said(&mut child).collect();
    assert!(child.wait().unwrap().success());
    assert!(said[0].contains("run.json: "), "{}", said[0]);
    let left: Vec<_> = std::fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["spool"]);
    // There is space again.
    assert!(recover(&path).unwrap());
    let run = Run::open(&path).unwrap();
    assert_eq!(rows_kept(&run), 10);
    assert_eq!(run.header(), &crowd());
}

#[test]
fn a_folder_that_cannot_be_created_is_removed() {
    if let Some(path) = affected() {
        return finish_on_a_full_disk(&path);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut child = start("a_folder_that_cannot_be_created_is_removed", &path, Some(1));
    let said: Vec<String> = said(&mut child).collect();
    assert!(child.wait().unwrap().success());
    assert!(said.len() == 1 && said[0].contains("spool: "), "{said:?}");
    assert!(!path.exists());
}
