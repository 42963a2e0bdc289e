//! Timers of the loops that drive a session, such as heartbeats and syncs.

use netburn_protocol::own_clock::to_std;
use netburn_units::Duration;
use std::time::Instant;

/// A timer that expires an interval after it was created or expired last. It does not catch up: a loop that
/// polls it late gets one expiration.
#[derive(Debug)]
pub struct Timer {
    interval: Duration,
    due: Instant,
}

impl Timer {
    /// Creates a timer that begins now.
    #[must_use]
    pub fn new(interval: Duration) -> Timer {
        Timer {
            interval,
            due: Instant::now() + to_std(interval),
        }
    }

    /// Time of the next expiration.
    #[must_use]
    pub const fn due(&self) -> Instant {
        self.due
    }

    /// Returns whether the timer has expired. If so, restarts it.
    pub fn poll(&mut self, now: Instant) -> bool {
        let expired = self.due <= now;
        if expired {
            self.due = now + to_std(self.interval);
        }
        expired
    }

    /// Makes the timer expire at `now`, unless it expires earlier.
    pub fn expire(&mut self, now: Instant) {
        self.due = self.due.min(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_poll_gets_one_expiration() {
        let mut timer = Timer::new(Duration::from_secs(1));
        let due = timer.due();
        let later = due + std::time::Duration::from_secs(10);
        assert!(!timer.poll(due - std::time::Duration::from_nanos(1)));
        assert!(timer.poll(later));
        assert!(!timer.poll(later));
        assert_eq!(timer.due() - later, std::time::Duration::from_secs(1));
        timer.expire(later);
        assert!(timer.poll(later));
    }
}
