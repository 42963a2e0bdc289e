//! Progress and outcome of a run.

use netburn_record::{Health, Loss};
use netburn_units::{Duration, Instant};

/// Phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Agents and the server start and join.
    Joining,
    /// Preparation and clock synchronisation.
    Clocks,
    /// Measurement of the idle latency.
    Baseline,
    /// Load.
    Running,
    /// No new operations; running ones may finish.
    Draining,
    /// Delivery of the remaining results.
    Collecting,
}

/// Receiver of progress reports.
pub trait ProgressObserver {
    /// A phase begins. `left` is its expected length.
    fn phase(&mut self, phase: Phase, left: Duration) {
        let _ = (phase, left);
    }

    /// The agents get their start command. It is `now` in the time of the run: negative, and 300 ms before the first
    /// packet.
    fn started(&mut self, now: Instant) {
        let _ = now;
    }

    /// The run time, at the beginning of each phase from the baseline on, and about ten times a second.
    fn tick(&mut self, now: Instant) {
        let _ = now;
    }

    /// A warning for the user. It is also recorded.
    fn warn(&mut self, text: &str) {
        let _ = text;
    }
}

/// Outcome of a run. Everything that affects the verdict is also recorded.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// True if the run was ended early from outside.
    pub interrupted: bool,
    /// Why a run that [needs all agents](crate::controller::Timeouts::max_absence) ended early: which one left, and its reason.
    pub left: Option<String>,
    /// Lost agents and servers, each with the reason.
    pub lost: Vec<(String, Loss)>,
    /// Self-reports on the measurement.
    pub health: Vec<Health>,
}
