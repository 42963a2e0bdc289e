//! The random numbers of one round.

use std::time::Duration;

/// SplitMix64 (Steele, Lea and Flood, 2014): it accepts any seed.
pub(super) struct Random(u64);

impl Random {
    /// The random numbers of one round of a trial.
    pub(super) fn new(seed: u64, round: usize) -> Random {
        let mut random = Random(seed ^ (round as u64).wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// One of several values.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A random time between `low` and `high`, in ms, with a resolution of 1 µs.
    pub(super) fn millis(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_micros(low * 1000 + self.next() % ((high - low) * 1000 + 1))
    }
}
