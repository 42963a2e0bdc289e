//! Numbers of operations by outcome.

use netburn_workload::Outcome;

/// Operations by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) finished: u64,
    pub(crate) failed: u64,
    pub(crate) timed_out: u64,
    pub(crate) not_started: u64,
    pub(crate) unfinished: u64,
}

impl Counts {
    /// Counts an operation. `ended`: it has a latency.
    pub(crate) fn put(&mut self, outcome: Outcome, ended: bool) {
        *match outcome {
            Outcome::Finished if ended => &mut self.finished,
            Outcome::TimedOut => &mut self.timed_out,
            Outcome::NotStarted => &mut self.not_started,
            Outcome::Unfinished => &mut self.unfinished,
            // One that claims to have finished, but not when or before it was due, is broken.
            Outcome::Failed(_) | Outcome::Finished | Outcome::Cut => &mut self.failed,
        } += 1;
    }

    pub(crate) fn all(&self) -> u64 {
        self.finished + self.failed + self.timed_out + self.not_started + self.unfinished
    }

    /// Operations that never finished.
    pub(crate) fn unbounded(&self) -> u64 {
        self.all() - self.finished
    }

    /// Share of the started operations that did not finish; `None` without any.
    pub(crate) fn lost_share(&self) -> Option<f64> {
        match self.all() - self.not_started {
            0 => None,
            sent => Some((self.unbounded() - self.not_started) as f64 / sent as f64),
        }
    }

    pub(crate) fn add(&mut self, other: &Counts) {
        self.finished += other.finished;
        self.failed += other.failed;
        self.timed_out += other.timed_out;
        self.not_started += other.not_started;
        self.unfinished += other.unfinished;
    }
}
