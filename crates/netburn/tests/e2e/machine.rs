//! A machine of the test's own that starts with systemd, several times.

use crate::common::{Bench, finish, is_root};
use std::process::Command;

/// How the script ends where such a machine is not permitted.
const CANNOT: i32 = 77;

/// Starts a machine once for each of these scripts, and runs it there as root in the folder `/opt/bench`, which is the
/// bench's. What they said; `None` where this system has no systemd, or doesn't permit a machine.
pub(crate) fn starts(bench: &Bench, scripts: &[&str]) -> Option<Vec<String>> {
    if !is_root() {
        return None;
    }
    for (number, script) in (1..).zip(scripts) {
        bench.write(&format!("start-{number}"), script);
    }
    let mut command = Command::new("unshare");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/machine/starts.sh");
    command.args(["--mount", "--fork", "--kill-child", "bash", script]);
    command.arg(bench.path(""));
    let ended = finish(bench.prepared(command));
    if ended.code() == CANNOT {
        eprintln!("{}", ended.stderr);
        return None;
    }
    let ended = ended.expect(0);
    let said = (1..=scripts.len()).map(|number| std::fs::read_to_string(bench.path(&format!("said-{number}"))));
    Some(
        said.collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("{error}: {}", ended.stderr)),
    )
}
