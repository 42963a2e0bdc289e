//! The evaluated time of a run or a station.

use netburn_units::{Duration, Instant};
use netburn_workload::config::BIN;

/// The time of a run that is evaluated: from the end of the warm-up to the end of the load. That of a station is the part
/// in which the station takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvaluatedTime {
    /// Begin.
    pub from: Instant,
    /// End; not included.
    pub to: Instant,
}

impl EvaluatedTime {
    /// Returns true if an instant is evaluated.
    #[must_use]
    pub fn contains(&self, at: Instant) -> bool {
        self.from <= at && at < self.to
    }

    /// The same time, which ends at `end` at the latest.
    #[must_use]
    pub fn ending_by(self, end: Instant) -> Self {
        EvaluatedTime {
            to: self.to.min(end),
            ..self
        }
    }

    /// Length of the evaluated time; zero if it ends before it begins.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.to.checked_since(self.from).unwrap_or_default()
    }

    /// An amount that belongs to the 100 ms from `at` on, multiplied by the nanoseconds of them that are evaluated. The sum
    /// over all intervals, divided by 10⁸, is the evaluated amount. No precision is lost before the division.
    #[must_use]
    pub fn weigh(&self, amount: u64, at: Instant) -> u128 {
        let Some(ended) = at.checked_add(BIN) else { return 0 };
        let inside = ended.min(self.to).checked_since(at.max(self.from));
        u128::from(amount) * u128::from(inside.unwrap_or_default().as_nanos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_counts_by_the_evaluated_part_of_its_interval() {
        let evaluated = EvaluatedTime {
            from: Instant::from_millis(250),
            to: Instant::from_millis(330),
        };
        for (at_ms, part_ns) in [
            (100, 0),
            (200, 50_000_000),
            (240, 80_000_000),
            (300, 30_000_000),
            (330, 0),
        ] {
            let weight = evaluated.weigh(7, Instant::from_millis(at_ms));
            assert_eq!(weight, 7 * part_ns, "{at_ms} ms");
        }
        assert_eq!(evaluated.weigh(u64::MAX, Instant::from_nanos(i64::MAX)), 0);
        assert_eq!(evaluated.weigh(u64::MAX, Instant::from_nanos(i64::MIN)), 0);
    }

    #[test]
    fn the_end_is_not_evaluated() {
        let evaluated = EvaluatedTime {
            from: Instant::from_secs(1),
            to: Instant::from_secs(3),
        };
        let contains = [999, 1_000, 2_999, 3_000].map(|ms| evaluated.contains(Instant::from_millis(ms)));
        assert_eq!(contains, [false, true, true, false]);
        assert_eq!(evaluated.length(), Duration::from_secs(2));
        assert_eq!(
            evaluated.ending_by(Instant::from_secs(2)).length(),
            Duration::from_secs(1)
        );
        assert_eq!(evaluated.ending_by(Instant::ZERO).length(), Duration::ZERO);
        assert_eq!(evaluated.ending_by(Instant::from_secs(9)), evaluated);
    }
}
