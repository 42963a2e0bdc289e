//! Control of runs: progress and warnings.

use crate::open_lab::OpenLab;
use netburn_fleet_controller::fleet_run::Participants;
use netburn_parallel::Cancel;
use netburn_record::Row;
use netburn_run_control::Phase;
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::path::Path;

/// Progress of runs, and warnings.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// One of several runs begins.
    Run {
        /// Number of the run, from 1.
        number: usize,
        /// Number of all runs.
        total: usize,
        /// Plan, with the seed of the run.
        plan: &'a Plan,
    },
    /// A lab for this plan is opened, which takes seconds for hundreds of stations.
    OpeningLab(&'a Plan),
    /// The lab of a run is open.
    LabOpen(&'a OpenLab),
    /// State of waiting for the members of a fleet, as text.
    Waiting(&'a str),
    /// The members of a fleet that run the plan are known.
    Members(&'a Plan, &'a Participants),
    /// The folder of a run exists. Rows follow.
    Recording(&'a Plan, &'a Path),
    /// A phase of a run begins, with its expected length. Simulated runs have no phases.
    Phase(Phase, Duration),
    /// The time of a run. In real time about ten times a second; in simulated time after every 0.1 s.
    Tick(Instant),
    /// A row that was recorded.
    Row(&'a Row),
    /// A warning for the user. It is also recorded.
    Warning(&'a str),
    /// A warning of the lab.
    LabWarning(&'a str),
    /// The results are being written.
    Writing,
    /// The recording of a run ended, also with an error.
    Ended,
}

/// Control of runs: it stops them, and receives their progress and warnings.
#[derive(Clone)]
pub struct RunControl<'a> {
    cancel: Cancel,
    observer: &'a (dyn Fn(Event<'_>) + Sync),
}

impl<'a> RunControl<'a> {
    /// Control with an observer of all events. Concurrent runs call it from several threads.
    #[must_use]
    pub fn new(cancel: Cancel, observer: &'a (dyn Fn(Event<'_>) + Sync)) -> Self {
        RunControl { cancel, observer }
    }

    /// Returns the cancellation of the runs.
    #[must_use]
    pub const fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Passes an event to the observer. Environments call this.
    pub fn report(&self, event: Event<'_>) {
        (self.observer)(event);
    }
}

impl Default for RunControl<'_> {
    /// Control without an observer. Runs end as planned.
    fn default() -> Self {
        RunControl::new(Cancel::default(), &|_| ())
    }
}

impl std::fmt::Debug for RunControl<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunControl")
            .field("cancel", &self.cancel)
            .finish_non_exhaustive()
    }
}
