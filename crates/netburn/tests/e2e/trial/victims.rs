//! The processes of a run, by what they do, and random instants of it.

use super::random::Random;
use crate::common::Running;
use std::time::{Duration, Instant};

/// A process of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Victim {
    /// `netburn run`, which in a lab also carries the packets.
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
    pub(super) fn of(self, run: &Running, random: &mut Random) -> Option<u32> {
        let found = match self {
            Victim::Controller | Victim::FleetController => vec![run.id()],
            Victim::Agent => run.participants("agent"),
            Victim::Server => run.participants("serve"),
            Victim::Helper => run.participants("lab-init"),
        };
        (!found.is_empty()).then(|| random.pick(&found))
    }
}

/// An instant of a run that was waited for.
pub(super) struct Reached {
    /// When the load began, within 100 ms and not before it; `None` before it.
    pub(super) load: Option<Instant>,
}

/// Waits for a random instant: one of four is before the load, while the processes start and join; the others are up to
/// `last` after it began. `None` when the run had ended before.
pub(super) fn reach(run: &mut Running, random: &mut Random, last: Duration) -> Option<Reached> {
    let begun = Instant::now();
    let late = random.millis(0, last.as_millis() as u64);
    let mut until = match random.below(4) {
        0 => Some(begun + random.millis(0, 1200)),
        _ => None,
    };
    let mut load = None;
    loop {
        if load.is_none() && run.said().contains(": running, ") {
            load = Some(Instant::now());
            until = until.or_else(|| Some(Instant::now() + late));
        }
        if until.is_some_and(|until| until <= Instant::now()) {
            return Some(Reached { load });
        }
        if run.has_ended() {
            return None;
        }
        assert!(begun.elapsed() < Duration::from_secs(90), "no load:\n{}", run.said());
        std::thread::sleep(Duration::from_millis(1));
    }
}
