//! Windows: the command interpreter and its descendants.

use std::process::Stdio;
use tokio::process::Command;

/// The command interpreter with this command. `raw_arg`, because it does not parse its line as other programs do.
pub(super) fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.raw_arg("/D /S /C").raw_arg(format!("\"{command}\""));
    shell
}

/// Kills a process and its descendants. It fails if the first has ended.
pub(super) fn kill_all(first: u32) {
    let mut kill = std::process::Command::new("taskkill");
    kill.args(["/T", "/F", "/PID", &first.to_string()]);
    kill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = kill.status();
}
