//! Due times of probes.

use super::Part;
use crate::common::MIN_PERIOD;
use crate::schedule::Schedule;
use netburn_units::{Duration, Instant, Seed};

/// Probes on a fixed grid: foreign and self probes alternate, if there is load.
#[derive(Debug)]
pub(crate) struct ProbeSchedule {
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

    /// Both kinds, but none before [`set_interval`](Schedule::set_interval).
    pub(crate) fn stopped() -> Self {
        ProbeSchedule {
            every: MIN_PERIOD,
            phase: Duration::ZERO,
            next: None,
            part: Part::Foreign,
            alternate: true,
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

    fn set_interval(&mut self, now: Instant, interval: Option<Duration>) {
        self.next = interval.map(|interval| {
            let every = (interval / 2).max(MIN_PERIOD);
            let before = std::mem::replace(&mut self.every, every);
            match self.next {
                Some(next) => now.max(next - before + every),
                None => {
                    self.part = Part::Foreign;
                    now
                }
            }
        });
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Both kinds alternate. A probe after a change of the distance has the new distance to the probe before it.
    #[test]
    fn a_schedule_with_a_change() {
        let at = Instant::from_millis;
        let mut schedule = ProbeSchedule::stopped();
        assert_eq!(schedule.next(), None);
        schedule.set_interval(Instant::ZERO, Some(Duration::from_millis(100)));
        let mut due = Vec::new();
        for step in 0..6 {
            if step == 3 {
                schedule.set_interval(at(110), Some(Duration::from_millis(200)));
            }
            let next = schedule.next().unwrap();
            due.push((next, Part::from_sequence(schedule.fell_due().unwrap())));
        }
        use Part::{Foreign, Own};
        let expected = [
            (0, Foreign),
            (50, Own),
            (100, Foreign),
            (200, Own),
            (300, Foreign),
            (400, Own),
        ];
        assert_eq!(due, expected.map(|(millis, part)| (at(millis), part)));
        // A shorter distance is not in the past.
        schedule.set_interval(at(450), Some(Duration::from_millis(20)));
        assert_eq!(schedule.next(), Some(at(450)));
        schedule.set_interval(at(450), None);
        assert_eq!(schedule.next(), None);
    }
}
