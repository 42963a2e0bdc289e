//! Places apart: namespaces of a test's own, in which commands of it run.

use crate::common::{Bench, Running, is_root, start};
use std::process::Command;

/// Namespaces, held until this is dropped.
pub(crate) struct Place {
    holder: Running,
    kinds: Vec<String>,
    dir: std::path::PathBuf,
}

impl Place {
    /// New namespaces of these kinds (`--net`, `--mount`, as of unshare(1)), in which `script` has been run as root in the bench's
    /// folder.
    pub(crate) fn new(bench: &Bench, kinds: &[&str], script: &str) -> Place {
        // Without the right to unshare, a user namespace gives it.
        let mut all = if is_root() { Vec::new() } else { vec!["--user"] };
        all.extend(kinds);
        let mut command = Command::new("unshare");
        if !is_root() {
            command.arg("--map-root-user");
        }
        command.args(&all);
        Place::held(bench, command, script, all)
    }

    /// The same within these, of which it shares what it has no own of.
    pub(crate) fn within(&self, bench: &Bench, kinds: &[&str], script: &str) -> Place {
        let mut command = self.entering();
        command.arg("unshare").args(kinds);
        let all = self.kinds.iter().map(String::as_str);
        let more = kinds
            .iter()
            .copied()
            .filter(|kind| !self.kinds.iter().any(|own| own == kind));
        Place::held(bench, command, script, all.chain(more).collect())
    }

    fn held(bench: &Bench, mut command: Command, script: &str, kinds: Vec<&str>) -> Place {
        let dir = bench.path(".");
        // It ends by itself if nobody lives to end it.
        let held = format!("set -e; cd \"$0\"; {script}\necho ready; exec sleep 300");
        command.args(["--", "sh", "-c", &held]).arg(&dir);
        let kinds = kinds.into_iter().map(str::to_owned).collect();
        let mut holder = start(bench.prepared(command));
        holder.wait_for("the place", |holder| holder.printed().contains("ready"));
        Place { holder, kinds, dir }
    }

    /// The process that holds them.
    pub(crate) fn id(&self) -> u32 {
        self.holder.id()
    }

    /// `netburn` in there.
    pub(crate) fn netburn(&self, bench: &Bench, args: &[&str]) -> Command {
        self.command(bench, env!("CARGO_BIN_EXE_netburn"), args)
    }

    /// Any command in there, in the bench's folder.
    pub(crate) fn command(&self, bench: &Bench, program: &str, args: &[&str]) -> Command {
        let mut command = self.entering();
        command.args(["sh", "-c", "cd \"$0\" && exec \"$@\""]).arg(&self.dir);
        command.arg(program).args(args);
        bench.prepared(command)
    }

    /// Has a script run in there.
    pub(crate) fn run(&self, bench: &Bench, script: &str) -> String {
        let ended = crate::common::finish(self.command(bench, "sh", &["-ec", script])).expect(0);
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
