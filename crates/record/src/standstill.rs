//! Standstills: times in which a thread did not run although it should have.
//!
//! A thread that polls at least once per period can detect its own standstills: two polls are
//! further apart than the period. This detects any cause: a stopped or frozen process, a debugger,
//! a busy processor, a paused virtual machine, swapping. Work that takes longer than the period
//! counts too, because other work waits for it. Standstills shorter than the period may be missed.

use netburn_units::{Duration, Instant};

/// The standstills of one thread.
///
/// **Call order:** [`handle_poll`](Self::handle_poll) at every poll, at least once per period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standstills {
    period: Duration,
    last: Option<Instant>,
    longest: Duration,
    total: Duration,
    count: u64,
}

impl Standstills {
    /// Shorter standstills are not counted and not part of the total: threads that share a
    /// processor always wait this long.
    pub const COUNTED_FROM: Duration = Duration::from_micros(500);

    /// No standstill yet, for a thread that polls at least once per `period`.
    #[must_use]
    pub const fn new(period: Duration) -> Self {
        Standstills {
            period,
            last: None,
            longest: Duration::ZERO,
            total: Duration::ZERO,
            count: 0,
        }
    }

    /// Records a poll. Returns the standstill that ends here; `None` if the poll is in time.
    pub fn handle_poll(&mut self, now: Instant) -> Option<Duration> {
        let since = self.last.and_then(|last| now.checked_since(last)).unwrap_or_default();
        self.last = Some(now);
        let late = since.checked_sub(self.period)?;
        self.longest = self.longest.max(late);
        if late < Self::COUNTED_FROM {
            return None;
        }
        self.total += late;
        self.count += 1;
        Some(late)
    }

    /// Latest time of the next poll; `None` before the first poll.
    #[must_use]
    pub fn next_poll(&self) -> Option<Instant> {
        self.last.map(|last| last + self.period)
    }

    /// The longest standstill.
    #[must_use]
    pub const fn longest(&self) -> Duration {
        self.longest
    }

    /// The sum of those that are [counted](Self::COUNTED_FROM).
    #[must_use]
    pub const fn total(&self) -> Duration {
        self.total
    }

    /// The number of those that are [counted](Self::COUNTED_FROM).
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PERIOD: Duration = Duration::from_millis(1);

    fn after(looks: &[u64]) -> Standstills {
        let mut standstills = Standstills::new(PERIOD);
        for micros in looks {
            standstills.handle_poll(Instant::ZERO + Duration::from_micros(*micros));
        }
        standstills
    }

    fn seen(looks: &[u64]) -> (u64, u64, u64) {
        let standstills = after(looks);
        let micros = |span: Duration| span.as_nanos() / 1_000;
        (
            micros(standstills.longest()),
            micros(standstills.total()),
            standstills.count(),
        )
    }

    #[test]
    fn polls_in_time_are_no_standstill() {
        assert_eq!(seen(&[]), (0, 0, 0));
        assert_eq!(seen(&[7_000_000]), (0, 0, 0));
        assert_eq!(seen(&[0, 1_000, 1_400, 2_400]), (0, 0, 0));
    }

    #[test]
    fn a_late_poll_counts_from_its_due_time() {
        // After the poll at 0, another one was due within 1 ms.
        assert_eq!(seen(&[0, 1_201_000, 1_202_000]), (1_200_000, 1_200_000, 1));
        assert_eq!(seen(&[0, 41_000, 101_000]), (59_000, 99_000, 2));
        // 100 µs are every thread's.
        assert_eq!(seen(&[0, 1_100, 2_200]), (100, 0, 0));
    }

    #[test]
    fn the_next_poll_is_one_period_after_the_last() {
        assert_eq!(after(&[]).next_poll(), None);
        let next = Instant::ZERO + Duration::from_micros(8_000);
        assert_eq!(after(&[0, 7_000]).next_poll(), Some(next));
    }

    proptest! {
        /// For any position between polls, a standstill is detected except for one period, and
        /// never overestimated.
        #[test]
        fn a_stop_is_detected_except_for_one_period(start in 1_u64..20_000, length in 0_u64..3_000_000) {
            let looks: Vec<u64> = (0..3_100)
                .map(|look| look * 1_000)
                .map(|at| if (start..start + length).contains(&at) { start + length } else { at })
                .collect();
            let (longest, _, _) = seen(&looks);
            prop_assert!(longest <= length);
            prop_assert!(longest + 1_000 >= length, "{} of {}", longest, length);
        }
    }
}
