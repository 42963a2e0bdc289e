//! Due times of probes.

use super::Part;
use crate::common::MIN_PERIOD;
use crate::schedule::Schedule;
use netburn_units::{Duration, Instant, Seed};

/// Probes on a fixed grid: foreign and self probes alternate, if there is load.
#[derive(Debug)]
pub(super) struct ProbeSchedule {
    /// Time from one probe to the next.
    every: Duration,
    phase: Duration,
    /// Due time of the next probe; `None` beyond the range of time.
    next: Option<Instant>,
    /// Its kind.
    part: Part,
    alternate: bool,
    /// Number of the next foreign probe, and of the next self probe.
    numbers: [u64; 2],
}

impl ProbeSchedule {
    /// `interval` is the time between two probes of one kind.
    pub(super) fn new(interval: Duration, alternate: bool, start: Instant, seed: Seed, index: u64) -> Self {
        let every = if alternate { interval / 2 } else { interval }.max(MIN_PERIOD);
        let phase = seed.stream("phase", index).duration_below(every);
        ProbeSchedule {
            every,
            phase,
            next: start.checked_add(phase),
            part: Part::Foreign,
            alternate,
            numbers: [0; 2],
        }
    }
}

impl Schedule for ProbeSchedule {
    fn next(&self) -> Option<Instant> {
        self.next
    }

    fn phase(&self) -> Duration {
        self.phase
    }

    fn restart(&mut self, from: Instant) {
        self.next = from.checked_add(self.phase);
        self.part = Part::Foreign;
    }

    fn fell_due(&mut self) -> Option<u64> {
        let number = &mut self.numbers[usize::from(self.part == Part::Own)];
        let operation = self.part.operation(*number);
        *number += 1;
        if self.alternate {
            self.part = match self.part {
                Part::Foreign => Part::Own,
                Part::Own | Part::Load => Part::Foreign,
            };
        }
        self.next = self.next.and_then(|due| due.checked_add(self.every));
        Some(operation)
    }
}
