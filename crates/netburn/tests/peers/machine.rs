//! A container that boots systemd several times.

use crate::support::{Bench, finish, is_root};
use std::process::Command;

/// Exit status of the script if such a container is not permitted.
const CANNOT: i32 = 77;

/// Boots the container once for each script, and runs the script as root in `/opt/bench`, the bench's folder. Returns
/// their output, or as an error the reason why this system can't boot it.
pub(crate) fn starts(bench: &Bench, scripts: &[&str]) -> Result<Vec<String>, String> {
    if !is_root() {
        return Err("needs root to boot a container".to_owned());
    }
    for (number, script) in (1..).zip(scripts) {
        bench.write(&format!("start-{number}"), script);
    }
    let mut command = Command::new("unshare");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/machine/starts.sh");
    command.args(["--mount", "--fork", "--kill-child", "bash", script]);
    command.arg(bench.path(""));
    let ended = finish(bench.prepared(command));
    if ended.code() == CANNOT {
        return Err(ended.stderr.trim().replace('\n', "; "));
    }
    let ended = ended.expect(0);
    let printed = (1..=scripts.len()).map(|number| std::fs::read_to_string(bench.path(&format!("output-{number}"))));
    Ok(printed
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("{error}: {}", ended.stderr)))
}
