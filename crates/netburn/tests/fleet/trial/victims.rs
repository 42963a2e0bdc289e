//! The processes of a run by their function, and random instants of a run.

use super::random::Random;
use crate::support::Running;
use std::time::{Duration, Instant};

/// A process of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Victim {
    /// `netburn run`, which in a lab also forwards the packets.
    Controller,
    Agent,
    Server,
    /// The lab's helper, or the first process in its namespaces.
    Helper,
    /// The controller of a fleet.
    FleetController,
}

impl Victim {
    pub(super) fn name(self) -> &'static str {
        match self {
            Victim::Controller => "controller",
            Victim::Agent => "agent",
            Victim::Server => "server",
            Victim::Helper => "lab helper",
            Victim::FleetController => "fleet controller",
        }
    }

    /// One such process among those that `run` started.
    pub(super) fn find(self, run: &Running, random: &mut Random) -> Option<u32> {
        let found = match self {
            Victim::Controller | Victim::FleetController => vec![run.id()],
            Victim::Agent => run.processes_with_subcommand("agent"),
            Victim::Server => run.processes_with_subcommand("serve"),
            Victim::Helper => run.processes_with_subcommand("lab-init"),
        };
        (!found.is_empty()).then(|| random.pick(&found))
    }
}

/// The instant of a run that was reached.
pub(super) struct Reached {
    /// Start of the load, at most 100 ms late; `None` before the load.
    pub(super) load: Option<Instant>,
}

/// Waits for a random instant. One of four is before the load, while the processes start and join. The others are up to
/// `last` after its start. Returns `None` if the run had ended before.
pub(super) fn reach(run: &mut Running, random: &mut Random, last: Duration) -> Option<Reached> {
    let begun = Instant::now();
    let late = random.millis(0, last.as_millis() as u64);
    let mut until = match random.below(4) {
        0 => Some(begun + random.millis(0, 1200)),
        _ => None,
    };
    let mut load = None;
    loop {
        if load.is_none() && run.stderr_so_far().contains(": running, ") {
            load = Some(Instant::now());
            until = until.or_else(|| Some(Instant::now() + late));
        }
        if until.is_some_and(|until| until <= Instant::now()) {
            return Some(Reached { load });
        }
        if run.has_ended() {
            return None;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(300),
            "no load:\n{}",
            run.stderr_so_far()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}
