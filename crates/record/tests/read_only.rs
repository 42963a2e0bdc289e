//! Reading a run folder writes nothing, whatever state it is in.

#![cfg(unix)]

mod util;

use netburn_record::run_list::{State, inspect, list, read_listing};
use netburn_record::{
    LateResults, Recorder, Row, Run, RunSet, RunStatus, Sink, UnixTime, make_folder, merge_late_results, recover,
};
use netburn_scenario::Plan;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use util::{good_rows, header, plan, seeded};

/// Environment variable with the folder for the process that may not write.
const FOLDER: &str = "NETBURN_READ_ONLY";

/// Runs in every state that a record can be in.
const STATES: [&str; 6] = [
    "finished",
    "set",
    "spool-left",
    "merged",
    "unfinished",
    "unfinished-set",
];

fn recorder(path: &Path, plan: Plan, seed: u64) -> Recorder {
    let mut recorder = Recorder::create(path, seeded(header(plan), seed)).unwrap();
    for row in good_rows() {
        recorder.put(&row).unwrap();
    }
    recorder.sync().unwrap();
    recorder
}

fn record(path: &Path) -> Run {
    recorder(path, plan(), 1).finish(&RunStatus::Complete).unwrap()
}

fn set(path: &Path) -> RunSet {
    let mut set = RunSet::create(path).unwrap();
    for seed in [1, 2] {
        let run = recorder(&set.next_path(), Plan { repeat: 3, ..plan() }, seed);
        set.add(run.finish(&RunStatus::Complete).unwrap());
    }
    set
}

/// Makes `folder` with a run in every state.
fn make(folder: &Path) {
    make_folder(folder).unwrap();
    let at = |name: &str| folder.join(name);
    record(&at("finished"));
    set(&at("set")).finish().unwrap();
    record(&at("spool-left"));
    std::fs::write(at("spool-left/spool"), "anything").unwrap();
    drop(recorder(&at("unfinished"), plan(), 1));
    let unfinished = set(&at("unfinished-set"));
    drop(recorder(&unfinished.next_path(), Plan { repeat: 3, ..plan() }, 3));
    // A merge that was killed after its second rename.
    record(&at("merged"));
    record(&at("new"));
    let late = LateResults {
        name: "laptop",
        stations: &[0],
        came: UnixTime(1_795_285_800_000_000_000),
        health: None,
        error: None,
        held: None,
    };
    merge_late_results(&at("new"), &late, &mut || Ok(None)).unwrap();
    std::fs::create_dir(at("merged/amended")).unwrap();
    for file in ["connections", "link", "events"].map(|table| format!("{table}.parquet")) {
        std::fs::rename(at("new").join(&file), at("merged/amended").join(&file)).unwrap();
    }
    for file in ["operations", "intervals", "airtime"].map(|table| format!("{table}.parquet")) {
        std::fs::rename(at("new").join(&file), at("merged").join(&file)).unwrap();
    }
    std::fs::rename(at("new/run.json"), at("merged/amended/run.json")).unwrap();
    std::fs::remove_dir(at("new")).unwrap();
}

type Snapshot = BTreeMap<PathBuf, (SystemTime, Option<Vec<u8>>)>;

/// All files and folders below `folder`, with their bytes and times of modification.
fn snapshot(folder: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    let mut left = vec![folder.to_owned()];
    while let Some(path) = left.pop() {
        let there = std::fs::metadata(&path).unwrap();
        let bytes = there.is_file().then(|| std::fs::read(&path).unwrap());
        if there.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.insert(path, (there.modified().unwrap(), bytes));
    }
    found
}

fn rows_of(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    run.rows(&mut |row| rows.push(row)).unwrap();
    rows
}

/// Everything that reads runs in `folder`.
fn read_all(folder: &Path) {
    assert_eq!(list(folder).unwrap().len(), STATES.len());
    for name in STATES {
        let path = folder.join(name);
        let unfinished = name.starts_with("unfinished");
        let state = inspect(&path).unwrap().state;
        assert_eq!(state == State::Unfinished, unfinished, "{name}: {state:?}");
        assert_eq!(read_listing(&path.join("run.json")).is_ok(), !unfinished);
        let run = Run::open(&path).unwrap();
        assert_eq!(run.is_finished(), !unfinished, "{name}");
        assert_eq!(run.summarise().unwrap(), *run.summary(), "{name}");
        assert!(rows_of(&run).len() >= good_rows().len(), "{name}");
        let (run, damage) = Run::open_partly(&path).unwrap();
        assert!(damage.is_empty(), "{name}: {damage:?}");
        assert!(run.rows_partly(&mut |_| ()).is_empty(), "{name}");
        for repeat in run.run_folders() {
            let _ = rows_of(&Run::open(&repeat).unwrap());
        }
    }
}

#[test]
fn reading_changes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("runs");
    make(&folder);
    let before = snapshot(&folder);
    read_all(&folder);
    assert!(snapshot(&folder) == before);
}

#[test]
fn a_recovered_record_is_read_like_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("runs");
    make(&folder);
    for name in STATES {
        let path = folder.join(name);
        let before = Run::open(&path).unwrap();
        let rows = rows_of(&before);
        assert_eq!(recover(&path).unwrap(), !before.is_finished(), "{name}");
        let after = Run::open(&path).unwrap();
        assert!(after.is_finished(), "{name}");
        assert_eq!(after.summary(), before.summary(), "{name}");
        assert_eq!(
            (after.status(), after.health(), after.clocks(), after.run_folders()),
            (before.status(), before.health(), before.clocks(), before.run_folders()),
            "{name}"
        );
        assert_eq!(rows_of(&after), rows, "{name}");
        assert!(!path.join("spool").exists() && !path.join("amended").exists(), "{name}");
    }
}

/// Does nothing in an ordinary run of the tests; otherwise the process that may not write.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let folder = Path::new(&folder);
    assert!(std::fs::write(folder.join("finished/file"), "").is_err());
    assert!(std::fs::write(folder.join("unfinished/spool"), "").is_err());
    read_all(folder);
    assert!(recover(&folder.join("unfinished")).is_err());
    assert!(!recover(&folder.join("finished")).unwrap());
    read_all(folder);
}

/// Another user, who may read the folders but not write to them.
#[test]
fn a_reader_needs_no_permission_to_write() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("runs");
    make(&folder);
    let before = snapshot(&folder);
    let permit = |folders: u32, files: u32| {
        for (path, (_, bytes)) in &before {
            let mode = if bytes.is_some() { files } else { folders };
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
    };
    permit(0o555, 0o444);
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "child"]).env(FOLDER, &folder).current_dir("/");
    if std::fs::metadata(&folder).unwrap().uid() == 0 {
        // Permissions do not apply to root: run as another user.
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        child.uid(65_534).gid(65_534);
    }
    let ended = child.output();
    permit(0o755, 0o644);
    match ended {
        Ok(ended) => assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout)),
        // The other user may not execute the test.
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
    }
    assert!(snapshot(&folder) == before);
}
