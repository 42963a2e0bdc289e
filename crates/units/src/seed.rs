//! Random numbers that are the same everywhere: one named stream per cause.

use crate::Duration;
use rand_core::Rng;
use rand_pcg::Pcg64;

/// What all chance in a run comes from. It is always known and kept in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

impl Seed {
    /// The stream for one cause ("backoff", "phase") of the `index`th of those who draw for it. Streams of different
    /// causes or indices are independent: drawing more from one changes no other.
    #[must_use]
    pub fn stream(self, cause: &str, index: u64) -> Stream {
        let name = fnv1a(cause.as_bytes());
        let state = u128::from(mix(self.0 ^ name)) << 64 | u128::from(mix(self.0.wrapping_add(index)));
        let sequence = u128::from(name) << 64 | u128::from(index);
        Stream(Pcg64::new(state, sequence))
    }

    /// The seed of the `round`th repeat of a run; the first (0) is the run's own.
    #[must_use]
    pub fn repeat(self, round: u64) -> Seed {
        if round == 0 {
            self
        } else {
            Seed(mix(self.0 ^ mix(round)))
        }
    }
}

/// A stream of random numbers: PCG XSL RR 128/64 (O'Neill 2014), the same on every platform.
#[derive(Debug, Clone)]
pub struct Stream(Pcg64);

impl Stream {
    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A whole number in `0..bound`, without bias (Lemire 2019). Zero when `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if (product as u64) >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// A duration from nothing to just below `bound`.
    pub fn duration_below(&mut self, bound: Duration) -> Duration {
        Duration::from_nanos(self.below(bound.as_nanos()))
    }

    /// Whether something of this probability happens.
    pub fn happens(&mut self, probability: crate::Probability) -> bool {
        self.below(1_000_000_000) < u64::from(probability.as_ppb())
    }
}

/// FNV-1a, 64 bits: a name as a number.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): neighbouring seeds become distant states.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
