//! What is no file in the place of one: said at once, by every command that reads runs.

use crate::common::{Bench, finish};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

/// Puts something else in the place of a file.
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
fn no_command_waits_for_what_is_no_file() {
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
        // A run under way, or several of them, has no `run.json`.
        if !["spool", "repeats"].contains(&file) {
            for entry in std::fs::read_dir(bench.path("runs/good")).unwrap() {
                let from = entry.unwrap().path();
                std::fs::copy(&from, folder.join(from.file_name().unwrap())).unwrap();
            }
        }
        replace(&folder.join(file), kind);
        let said = format!("{run}/{file}: found {kind}, expected a regular file");
        // Of a record whose columns can't be read there is the summary.
        let partly = file.ends_with(".parquet");
        let commands: [(&[&str], i32); 4] = [
            (&["report", &run], if partly { 0 } else { 2 }),
            (&["compare", &run, "--against", "runs/good"], if partly { 0 } else { 2 }),
            (&["export", &run, "--to", "csv"], 2),
            (&["explain", &run], 2),
        ];
        for (command, status) in commands {
            let ended = finish(bench.netburn(command)).expect(status);
            assert!(ended.stderr.contains(&said), "{command:?}, `{said}`:\n{}", ended.stderr);
        }
        let listed = finish(bench.netburn(["runs"])).expect(0);
        assert!(partly || listed.out().contains(&said), "`{said}`:\n{}", listed.out());
    }
}
