//! Namespaces of a test, in which its commands run.

use crate::support::{Bench, Running, is_root, start};
use std::process::Command;

/// Namespaces, which exist until this is dropped.
pub(crate) struct Namespaces {
    holder: Running,
    kinds: Vec<String>,
    dir: std::path::PathBuf,
}

impl Namespaces {
    /// Creates namespaces of these kinds (`--net`, `--mount`, as for unshare(1)), and runs `script` there as root in
    /// the bench's folder.
    pub(crate) fn new(bench: &Bench, kinds: &[&str], script: &str) -> Namespaces {
        // Without the right to unshare, a user namespace gives it.
        let mut all = if is_root() { Vec::new() } else { vec!["--user"] };
        all.extend(kinds);
        let mut command = Command::new("unshare");
        if !is_root() {
            command.arg("--map-root-user");
        }
        command.args(&all);
        Namespaces::start(bench, command, script, all)
    }

    /// Creates namespaces within these. Kinds that are not given are shared.
    pub(crate) fn within(&self, bench: &Bench, kinds: &[&str], script: &str) -> Namespaces {
        let mut command = self.entering();
        command.arg("unshare").args(kinds);
        let all = self.kinds.iter().map(String::as_str);
        let more = kinds
            .iter()
            .copied()
            .filter(|kind| !self.kinds.iter().any(|own| own == kind));
        Namespaces::start(bench, command, script, all.chain(more).collect())
    }

    fn start(bench: &Bench, mut command: Command, script: &str, kinds: Vec<&str>) -> Namespaces {
        let dir = bench.path(".");
        // The process ends by itself if the test was killed.
        let shell = format!("set -e; cd \"$0\"; {script}\necho ready; exec sleep 300");
        command.args(["--", "sh", "-c", &shell]).arg(&dir);
        let kinds = kinds.into_iter().map(str::to_owned).collect();
        let mut holder = start(bench.prepared(command));
        holder.wait_for("the namespaces", |holder| holder.stdout_so_far().contains("ready"));
        Namespaces { holder, kinds, dir }
    }

    /// The process that keeps them open.
    pub(crate) fn id(&self) -> u32 {
        self.holder.id()
    }

    /// `netburn` in these namespaces.
    pub(crate) fn netburn(&self, bench: &Bench, args: &[&str]) -> Command {
        self.command(bench, env!("CARGO_BIN_EXE_netburn"), args)
    }

    /// Any command in these namespaces, in the bench's folder.
    pub(crate) fn command(&self, bench: &Bench, program: &str, args: &[&str]) -> Command {
        let mut command = self.entering();
        command.args(["sh", "-c", "cd \"$0\" && exec \"$@\""]).arg(&self.dir);
        command.arg(program).args(args);
        bench.prepared(command)
    }

    /// Runs a script in these namespaces.
    pub(crate) fn run(&self, bench: &Bench, script: &str) -> String {
        let ended = crate::support::finish(self.command(bench, "sh", &["-ec", script])).expect(0);
        ended.out()
    }

    fn entering(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.id().to_string()]).args(&self.kinds);
        if self.kinds.iter().any(|kind| kind == "--user") {
            command.arg("--preserve-credentials");
        }
        command.arg("--");
        command
    }
}
