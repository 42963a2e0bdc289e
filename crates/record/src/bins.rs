//! Bytes in intervals of 100 ms.

use netburn_units::Instant;
use netburn_workload::config::BIN;

/// Bytes moved in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bin {
    /// Start of the interval: a multiple of 100 ms, also before time zero.
    pub(crate) at: Instant,
    /// Bytes towards the station.
    pub(crate) down: u64,
    /// Bytes away from it.
    pub(crate) up: u64,
}

/// One workload's bytes, put into intervals as they move.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bins {
    current: Option<Bin>,
}

impl Bins {
    /// Adds bytes that moved at `now`. Returns the previous interval when a new one begins. Time
    /// must not go back by more than an interval; late bytes count in the current one.
    pub(crate) fn add(&mut self, now: Instant, down: u64, up: u64) -> Option<Bin> {
        let at = start_of(now);
        let done = match self.current {
            Some(bin) if bin.at < at => self.current.take(),
            _ => None,
        };
        let bin = self.current.get_or_insert(Bin { at, down: 0, up: 0 });
        bin.down += down;
        bin.up += up;
        done
    }

    /// The interval that has ended by `now`, if something moved in it.
    pub(crate) fn ended(&mut self, now: Instant) -> Option<Bin> {
        match self.current {
            Some(bin) if bin.at + BIN <= now => self.current.take(),
            _ => None,
        }
    }

    /// Returns the unfinished interval.
    pub(crate) fn rest(&mut self) -> Option<Bin> {
        self.current.take()
    }
}

/// Start of the interval that contains `now`.
fn start_of(now: Instant) -> Instant {
    let length = BIN.as_nanos() as i64;
    Instant::from_nanos(now.as_nanos().div_euclid(length) * length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_are_counted_at_their_time() {
        let mut bins = Bins::default();
        assert_eq!(bins.add(Instant::from_millis(-30), 1, 0), None);
        let before = Bin {
            at: Instant::from_millis(-100),
            down: 1,
            up: 0,
        };
        assert_eq!(bins.add(Instant::from_millis(0), 2, 1), Some(before));
        assert_eq!(bins.add(Instant::from_millis(99), 3, 0), None);
        assert_eq!(bins.ended(Instant::from_millis(99)), None);
        let first = Bin {
            at: Instant::ZERO,
            down: 5,
            up: 1,
        };
        assert_eq!(bins.ended(Instant::from_millis(100)), Some(first));
        assert_eq!(bins.rest(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn nothing_is_lost(steps in prop::collection::vec((0_i64..250, 0_u64..1000, 0_u64..1000, any::<bool>()), 0..60)) {
            let (mut bins, mut now, mut total) = (Bins::default(), -5_000, (0, 0));
            let mut got = Vec::new();
            for (pass, down, up, look) in steps {
                now += pass;
                let now = Instant::from_millis(now);
                total = (total.0 + down, total.1 + up);
                got.extend(bins.add(now, down, up));
                if look {
                    got.extend(bins.ended(now));
                }
            }
            got.extend(bins.rest());
            prop_assert_eq!(total, got.iter().fold((0, 0), |sum, bin| (sum.0 + bin.down, sum.1 + bin.up)));
            prop_assert!(got.windows(2).all(|pair| pair[0].at < pair[1].at));
            prop_assert!(got.iter().all(|bin| bin.at.as_nanos().rem_euclid(100_000_000) == 0));
        }
    }
}
