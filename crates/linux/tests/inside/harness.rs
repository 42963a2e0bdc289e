//! Runs each case in its own process, and prints results in the format of the standard harness.

use netburn_linux::namespace::{self, Isolation};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A test case: a name, and a function that panics on failure. Its argument is the kind of isolation.
type Case = (&'static str, fn(Isolation));

/// Variable with the case that the process runs.
const VARIABLE: &str = "NETBURN_LINUX_INSIDE";

/// A user id that is unused on common systems.
const USER: u32 = 54_711;

pub(crate) fn main(cases: &[Case]) {
    if let Ok(name) = std::env::var(VARIABLE) {
        let case = cases.iter().find(|case| case.0 == name).expect("a case of ours");
        (case.1)(namespace::isolate().expect("this machine permits it"));
        return;
    }
    // `cargo test NAME` selects cases whose names contain it.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let reachable = Reachable::new();
    let root = namespace::ids().0 == 0;
    let (mut passed, mut failed) = (0, 0);
    for (name, _) in cases {
        if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        for user in [false, true] {
            // Users other than root have only one kind of isolation.
            if !user && !root {
                continue;
            }
            let mut command = Command::new(&reachable.program);
            command.env(VARIABLE, name).env("RUST_BACKTRACE", "0").current_dir("/");
            if user && root {
                command.uid(USER).gid(USER);
            }
            let ended = command.output().expect("it can be started");
            let how = if user { "user namespace" } else { "root" };
            let ok = ended.status.success();
            println!("test {name} ({how}) ... {}", if ok { "ok" } else { "FAILED" });
            if ok {
                passed += 1;
            } else {
                failed += 1;
                println!("{}\n{}", ended.status, String::from_utf8_lossy(&ended.stderr));
            }
        }
    }
    drop(reachable);
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out");
    std::process::exit(i32::from(failed != 0));
}

/// A copy of this program that every user can run.
struct Reachable {
    program: PathBuf,
    _folder: tempfile::TempDir,
}

impl Reachable {
    fn new() -> Reachable {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("inside");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        open_to_all(folder.path());
        Reachable {
            program,
            _folder: folder,
        }
    }
}

fn open_to_all(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}
