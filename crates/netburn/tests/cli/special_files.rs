//! FIFOs, devices and directories instead of files: every command that reads runs reports an error at once.

use crate::support::{Bench, finish};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

/// Replaces a file by something else.
fn replace(path: &Path, kind: &str) {
    let _ = std::fs::remove_file(path);
    match kind {
        "a FIFO" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        "a socket" => drop(UnixListener::bind(path).unwrap()),
        "a device" => symlink("/dev/zero", path).unwrap(),
        "a folder" => std::fs::create_dir(path).unwrap(),
        other => unreachable!("{other}"),
    }
}

#[test]
fn commands_do_not_block_on_special_files() {
    let bench = Bench::new();
    let short = ["--set", "duration=4 s", "--set", "warmup=0 s"];
    bench.simulate("four-uses", "runs/good", &short);
    let cases = [
        ("a FIFO", "run.json"),
        ("a socket", "run.json"),
        ("a device", "run.json"),
        ("a folder", "run.json"),
        ("a FIFO", "spool"),
        ("a FIFO", "repeats"),
        ("a FIFO", "operations.parquet"),
    ];
    for (number, (kind, file)) in cases.into_iter().enumerate() {
        let run = format!("runs/odd-{number}");
        let folder = bench.path(&run);
        std::fs::create_dir(&folder).unwrap();
        // A run in progress and a run set have no `run.json`.
        if !["spool", "repeats"].contains(&file) {
            for entry in std::fs::read_dir(bench.path("runs/good")).unwrap() {
                let from = entry.unwrap().path();
                std::fs::copy(&from, folder.join(from.file_name().unwrap())).unwrap();
            }
        }
        replace(&folder.join(file), kind);
        let printed = format!("{run}/{file}: found {kind}, expected a regular file");
        // If the tables of a record can't be read, the summary is shown.
        let partly = file.ends_with(".parquet");
        let commands: [(&[&str], i32); 4] = [
            (&["report", &run], if partly { 0 } else { 2 }),
            (&["compare", &run, "--against", "runs/good"], if partly { 0 } else { 2 }),
            (&["export", &run, "--to", "csv"], 2),
            (&["explain", &run], 2),
        ];
        for (command, status) in commands {
            let ended = finish(bench.netburn(command)).expect(status);
            assert!(
                ended.stderr.contains(&printed),
                "{command:?}, `{printed}`:\n{}",
                ended.stderr
            );
        }
        let listed = finish(bench.netburn(["runs"])).expect(0);
        assert!(
            partly || listed.out().contains(&printed),
            "`{printed}`:\n{}",
            listed.out()
        );
    }
}
