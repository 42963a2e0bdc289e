//! Unix: the POSIX shell in a process group.

use std::process::Stdio;
use tokio::process::Command;

/// A shell with this command, in a process group of its own.
pub(super) fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).process_group(0);
    shell
}

/// Kills the processes of a group, which has the number of its first process. It fails if all have ended.
pub(super) fn kill_all(first: u32) {
    // The `kill` of a shell, because the standard library has none for groups.
    let mut kill = std::process::Command::new("sh");
    kill.args(["-c", &format!("kill -KILL -{first}")]);
    kill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = kill.status();
}
