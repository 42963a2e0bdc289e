//! Clocks of a device that a test sets or stops.

use super::fleet::Fleet;
use super::{Bench, Running, start};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;

/// The clocks of one device.
pub(crate) struct Clocks(PathBuf);

impl Clocks {
    pub(crate) fn new(bench: &Bench) -> Clocks {
        Clocks(bench.write("clocks", [0; 24]))
    }

    /// Sets the wall clock ahead by this many ns.
    pub(crate) fn set_wall(&self, by: i64) {
        self.set(0, by);
    }

    /// Simulates a sleep of this many ns that has just ended: the monotonic clock did not advance.
    pub(crate) fn slept(&self, nanos: i64) {
        self.set(1, -nanos);
    }

    fn set(&self, which: u64, nanos: i64) {
        let file = std::fs::File::options().write(true).open(&self.0).unwrap();
        file.write_all_at(&nanos.to_ne_bytes(), which * 8).unwrap();
    }

    /// Makes a command and its child processes use these clocks.
    pub(crate) fn apply_to(&self, bench: &Bench, command: &mut Command) {
        let (library, source) = (bench.path("clock.so"), include_str!("clock.c"));
        let source = bench.write("clock.c", source);
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .args([&library, &source])
            .status();
        assert!(made.unwrap().success());
        command.env("LD_PRELOAD", &library).env("CLOCKS", &self.0);
    }

    /// Starts an agent that uses these clocks, and waits until it has joined.
    pub(crate) fn agent(&self, fleet: &Fleet, name: &str) -> Running {
        let mut command = fleet.joining(name, fleet.url(), &[]);
        self.apply_to(&fleet.bench, &mut command);
        let mut agent = start(command);
        agent.wait_for("the agent to join", |agent| {
            agent.stderr_so_far().contains("is in the fleet `home`")
        });
        agent
    }
}
