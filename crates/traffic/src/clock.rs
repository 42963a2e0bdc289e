//! The run clock: converts between run time and this machine's monotonic clock.

use netburn_units::Instant;
use std::time;

/// Converts between run time and this process's monotonic clock. Run time is in nanoseconds since the start of the run,
/// negative before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunClock {
    zero: time::Instant,
}

impl RunClock {
    /// Creates a clock whose run starts at `zero`, which may be in the future.
    #[must_use]
    pub fn starting_at(zero: time::Instant) -> Self {
        Self { zero }
    }

    /// Creates a clock whose run starts now.
    #[must_use]
    pub fn starting_now() -> Self {
        Self::starting_at(time::Instant::now())
    }

    /// Returns the present run time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.at(time::Instant::now())
    }

    /// Returns the run time at `moment`.
    #[must_use]
    pub fn at(&self, moment: time::Instant) -> Instant {
        let nanos = match moment.checked_duration_since(self.zero) {
            Some(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
            None => -i64::try_from(self.zero.duration_since(moment).as_nanos()).unwrap_or(i64::MAX),
        };
        Instant::from_nanos(nanos)
    }

    /// Returns the monotonic clock's instant at run time `at`. For times before the origin of that clock, returns run
    /// time zero.
    #[must_use]
    pub fn when(&self, at: Instant) -> time::Instant {
        let span = time::Duration::from_nanos(at.as_nanos().unsigned_abs());
        let moment = if at < Instant::ZERO {
            self.zero.checked_sub(span)
        } else {
            self.zero.checked_add(span)
        };
        moment.unwrap_or(self.zero)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_time_converts_to_the_clock_and_back() {
        let zero = time::Instant::now() + time::Duration::from_secs(10);
        let clock = RunClock::starting_at(zero);
        assert_eq!(clock.at(zero), Instant::ZERO);
        assert_eq!(clock.at(zero + time::Duration::from_millis(3)), Instant::from_millis(3));
        assert_eq!(
            clock.at(zero - time::Duration::from_micros(7)),
            Instant::from_micros(-7)
        );
        for nanos in [-5_000_000_000, -1, 0, 1, 77_000_000_000] {
            let at = Instant::from_nanos(nanos);
            assert_eq!(clock.at(clock.when(at)), at);
        }
        assert!(clock.now() < Instant::ZERO);
    }
}
