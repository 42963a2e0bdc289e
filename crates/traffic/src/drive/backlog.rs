//! Detection of driver overload, from the time that a ready task waits for its turn.
//!
//! When more operations are due than one processor can run, each new operation delays all others, and open
//! connections accumulate until nothing finishes in time. An overloaded driver therefore starts no new operations until
//! its task queue is short.

use netburn_units::{Duration, Instant};

/// Maximum acceptable wait: one core finishes about 300 small requests in this time.
const MAX_WAIT: Duration = Duration::from_millis(25);
/// The driver is overloaded after every wait was too long for this time. A single standstill is not overload.
const SUSTAINED: Duration = Duration::from_millis(100);
/// After overload, a single wait that is too long means overload again, for this time.
const RELAPSE: Duration = Duration::from_secs(1);

/// Decides from consecutive waits whether the driver is overloaded.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// Start of the present wait.
    waiting: Option<Instant>,
    /// Start of the first of the latest consecutive long waits.
    long_since: Option<Instant>,
    /// Time of the last overload.
    last: Option<Instant>,
}

impl Backlog {
    /// A task becomes ready at `now`. Returns `false` if one is already waiting.
    pub(super) fn begin_wait(&mut self, now: Instant) -> bool {
        let begins = self.waiting.is_none();
        self.waiting.get_or_insert(now);
        begins
    }

    /// The task runs at `now`. Returns whether the driver is overloaded.
    pub(super) fn handle_turn(&mut self, now: Instant) -> bool {
        match self.waiting.take() {
            Some(since) => self.waited(since, now),
            None => false,
        }
    }

    /// Returns whether the driver is overloaded, if that is certain before the task runs.
    pub(super) fn handle_check(&mut self, now: Instant) -> Option<bool> {
        let since = self.waiting.filter(|since| is_long(*since, now))?;
        Some(self.waited(since, now))
    }

    fn waited(&mut self, since: Instant, now: Instant) -> bool {
        if !is_long(since, now) {
            self.long_since = None;
            return false;
        }
        let long_since = *self.long_since.get_or_insert(since);
        let overloaded = span(long_since, now) >= SUSTAINED || self.last.is_some_and(|last| span(last, now) <= RELAPSE);
        if overloaded {
            self.last = Some(now);
        }
        overloaded
    }
}

fn is_long(since: Instant, now: Instant) -> bool {
    span(since, now) > MAX_WAIT
}

fn span(since: Instant, now: Instant) -> Duration {
    now.checked_since(since).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(backlog: &mut Backlog, turns: &[(i64, i64)]) -> Vec<bool> {
        let turn = |(since, now): &(i64, i64)| {
            let at = |millis: &i64| Instant::from_millis(*millis);
            assert!(backlog.begin_wait(at(since)) && !backlog.begin_wait(at(now)));
            backlog.handle_turn(at(now))
        };
        turns.iter().map(turn).collect()
    }

    #[test]
    fn one_long_wait_is_not_overload() {
        let mut backlog = Backlog::default();
        let waits = [(0, 1), (20, 110), (110, 111), (120, 215), (215, 240), (240, 270)];
        assert_eq!(turns(&mut backlog, &waits), [false; 6]);
    }

    #[test]
    fn long_waits_for_a_tenth_of_a_second_are_overload_until_one_is_short() {
        let mut backlog = Backlog::default();
        let waits = [
            (0, 30),
            (30, 70),
            (70, 99),
            (99, 130),
            (130, 170),
            (170, 195),
            (195, 220),
        ];
        let overloaded = [false, false, false, true, true, false, false];
        assert_eq!(turns(&mut backlog, &waits), overloaded);
        // The next long wait is overload at once, for one second.
        assert_eq!(turns(&mut backlog, &[(1_140, 1_169)]), [true]);
        assert_eq!(turns(&mut backlog, &[(1_200, 1_201), (2_140, 2_170)]), [false, false]);
    }

    #[test]
    fn a_task_that_never_runs_is_overload() {
        let mut backlog = Backlog::default();
        assert_eq!(backlog.handle_check(Instant::from_millis(500)), None);
        assert!(backlog.begin_wait(Instant::from_millis(1_000)));
        let looks = [1_025, 1_026, 1_099, 1_100, 1_500].map(|at| backlog.handle_check(Instant::from_millis(at)));
        assert_eq!(looks, [None, Some(false), Some(false), Some(true), Some(true)]);
        assert!(backlog.handle_turn(Instant::from_millis(1_600)));
    }
}
