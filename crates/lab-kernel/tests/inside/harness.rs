//! Runs each case in its own process, and prints results in the format of the standard harness.

use netburn_lab_kernel::namespace::{self, Isolation};
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
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    for (name, _) in cases {
        if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        for user in [false, true] {
            // Users other than root have only one kind of isolation.
            if !user && !root {
                continue;
            }
            let mut command = if user && root {
                reachable.command_of_user()
            } else {
                Command::new(&reachable.program)
            };
            command.env(VARIABLE, name).env("RUST_BACKTRACE", "0").current_dir("/");
            let ended = command.output().expect("it can be started");
            let how = if user { "user namespace" } else { "root" };
            let printed = String::from_utf8_lossy(&ended.stdout);
            let skipped = printed.lines().find_map(|line| line.strip_prefix("skipped: main: "));
            let count = match (ended.status.success(), skipped) {
                (true, None) => &mut passed,
                (true, Some(_)) => &mut ignored,
                (false, _) => &mut failed,
            };
            *count += 1;
            match (ended.status.success(), skipped) {
                (true, None) => println!("test {name} ({how}) ... ok"),
                (true, Some(reason)) => println!("test {name} ({how}) ... ignored, {reason}"),
                (false, _) => {
                    println!("test {name} ({how}) ... FAILED");
                    println!("{}\n{}", ended.status, String::from_utf8_lossy(&ended.stderr));
                }
            }
        }
    }
    drop(reachable);
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {result}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out"
    );
    std::process::exit(i32::from(failed != 0));
}

/// Mounts another /dev/net, with a TUN device that all users may open, for this command only.
const OPEN_TUN: &str = "mount -t tmpfs -o mode=755 none \"$0\" && mknod -m 666 \"$0/tun\" c 10 200 && \
                        mount --bind \"$0\" /dev/net && exec \"$@\"";

/// A copy of this program that every user can run.
struct Reachable {
    program: PathBuf,
    /// Mount point of [`OPEN_TUN`].
    devices: PathBuf,
    _folder: tempfile::TempDir,
}

impl Reachable {
    fn new() -> Reachable {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("inside");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        open_to_all(folder.path());
        let devices = folder.path().join("devices");
        std::fs::create_dir(&devices).unwrap();
        Reachable {
            program,
            devices,
            _folder: folder,
        }
    }

    /// The program as an ordinary user, started by root.
    fn command_of_user(&self) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--", "sh", "-c", OPEN_TUN]).arg(&self.devices);
        command.args(["setpriv", &format!("--reuid={USER}"), &format!("--regid={USER}")]);
        command.arg("--clear-groups").arg(&self.program);
        command
    }
}

fn open_to_all(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}
