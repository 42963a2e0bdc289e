//! Progress of a measurement: its phases, instead of the many workloads of which they consist.

use crate::terminal::{eprint_message, overwrite_line, stderr_is_terminal};
use netburn_fit::Schedule;
use netburn_units::Instant;

/// The phases on standard error: one line that is overwritten, or a line for each phase without a terminal.
pub(super) struct Phases {
    schedule: Schedule,
    /// Phase that was shown last.
    phase: Option<usize>,
    /// Length of the line.
    shown: usize,
}

impl Phases {
    pub(super) fn new(schedule: Schedule) -> Self {
        Phases {
            schedule,
            phase: None,
            shown: 0,
        }
    }

    /// Shows the phase at `now`.
    pub(super) fn tick(&mut self, now: Instant) {
        let Some((phase, text)) = at(&self.schedule, now) else {
            self.clear();
            return;
        };
        if stderr_is_terminal() {
            overwrite_line(&text, &mut self.shown);
        } else if self.phase != Some(phase) {
            eprint_message(&text);
        }
        self.phase = Some(phase);
    }

    /// Prints a permanent line.
    pub(super) fn say(&mut self, text: &str) {
        self.clear();
        eprint_message(text);
    }

    fn clear(&mut self) {
        if stderr_is_terminal() {
            overwrite_line("", &mut self.shown);
        }
    }
}

/// Number and description of the phase that began last before `now`; `None` before the first and after the last one.
pub(crate) fn at(schedule: &Schedule, now: Instant) -> Option<(usize, String)> {
    let end = Instant::ZERO + schedule.duration();
    let left = end.checked_since(now).filter(|left| left.as_nanos() > 0)?;
    let begun = schedule
        .phases
        .iter()
        .take_while(|phase| Instant::ZERO + phase.start <= now);
    let number = begun.count().checked_sub(1)?;
    let text = format!(
        "phase {} of {}: {}; {} s left",
        number + 1,
        schedule.phases.len(),
        schedule.phases[number].describe(&schedule.stations),
        left.as_nanos().div_ceil(1_000_000_000)
    );
    Some((number, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Duration;

    #[test]
    fn each_phase_has_its_stations_and_the_time_that_is_left() {
        let schedule = Schedule::measure(&["laptop".to_owned(), "tv".to_owned()]);
        let text = |ms| at(&schedule, Instant::ZERO + Duration::from_millis(ms)).map(|(_, text)| text);
        // Seven phases of 4 s and six pauses of 2 s are 40 s. The fourth begins at 18 s.
        assert_eq!(text(0).unwrap(), "phase 1 of 7: idle; 40 s left");
        assert_eq!(text(17_999).unwrap(), "phase 3 of 7: tv down; 23 s left");
        assert_eq!(text(18_000).unwrap(), "phase 4 of 7: laptop up; 22 s left");
        assert_eq!(text(36_000).unwrap(), "phase 7 of 7: laptop up, tv up; 4 s left");
        assert_eq!(text(40_000), None);
    }
}
