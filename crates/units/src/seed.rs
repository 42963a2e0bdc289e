//! Random numbers that are equal on all platforms: one named stream per cause.

use crate::Duration;
use rand_core::Rng;
use rand_pcg::Pcg64;

/// Seed of all random numbers of a run. It is always known and stored in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

impl Seed {
    /// Stream for one cause ("backoff", "phase") of the user number `index`. Streams of different
    /// causes or indices are independent: an additional draw from one changes no other.
    #[must_use]
    pub fn stream(self, cause: &str, index: u64) -> RandomStream {
        let name = fnv1a(cause.as_bytes());
        let state = u128::from(mix(self.0 ^ name)) << 64 | u128::from(mix(self.0.wrapping_add(index)));
        let sequence = u128::from(name) << 64 | u128::from(index);
        RandomStream(Pcg64::new(state, sequence))
    }

    /// Seed of run number `round` of a run set; the first run (0) has the set's own seed. All
    /// others are below 2⁵³, so that programs whose numbers are 64-bit floats (JavaScript, `jq`)
    /// read them exactly from a document.
    #[must_use]
    pub fn repeat(self, round: u64) -> Seed {
        if round == 0 {
            self
        } else {
            Seed(mix(self.0 ^ mix(round)) >> (u64::BITS - EXACT_IN_FLOATS))
        }
    }
}

/// Number of bits of an integer that a 64-bit float represents exactly: the length of its
/// significand (IEEE 754 binary64).
const EXACT_IN_FLOATS: u32 = f64::MANTISSA_DIGITS;

/// Stream of random numbers: PCG XSL RR 128/64 (O'Neill 2014), equal on every platform.
#[derive(Debug, Clone)]
pub struct RandomStream(Pcg64);

impl RandomStream {
    /// Next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Integer in `0..bound`, without bias (Lemire 2019). Zero if `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            let low = product as u64;
            // The remainder is below `bound`: the division is rarely needed.
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// Duration from zero to just below `bound`.
    pub fn duration_below(&mut self, bound: Duration) -> Duration {
        Duration::from_nanos(self.below(bound.as_nanos()))
    }

    /// Draws an event: true with this probability.
    pub fn happens(&mut self, probability: crate::Probability) -> bool {
        self.below(1_000_000_000) < u64::from(probability.as_ppb())
    }
}

/// FNV-1a, 64 bits: hash of a name.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_reference_one() {
        // The first numbers of pcg64 (PCG XSL RR 128/64) with state 42 and stream 54: the check file of the C library
        // at pcg-random.org.
        let mut stream = RandomStream(Pcg64::new(42, 54));
        let first = std::array::from_fn(|_| stream.next_u64());
        assert_eq!(
            first,
            [
                0x86b1_da1d_7206_2b68,
                0x1304_aa46_c985_3d39,
                0xa367_0e9e_0dd5_0358,
                0xf909_0e52_9a7d_ae00,
                0xc85b_9fd8_3799_6f2c,
                0x6061_21f8_e391_9196,
            ]
        );
    }

    #[test]
    fn the_generator_is_that_of_the_paper() {
        // O'Neill (2014), written out: a 128-bit LCG, whose halves are xored and rotated by its top six bits.
        const MULTIPLIER: u128 = 2_549_297_995_355_413_924 << 64 | 4_865_540_595_714_422_341;
        let increment = 54 << 1 | 1;
        let step = |state: u128| state.wrapping_mul(MULTIPLIER).wrapping_add(increment);
        let mut state = step(step(0).wrapping_add(42));
        let mut stream = RandomStream(Pcg64::new(42, 54));
        for _ in 0..1_000 {
            state = step(state);
            let xored = (state >> 64) as u64 ^ state as u64;
            assert_eq!(stream.next_u64(), xored.rotate_right((state >> 122) as u32));
        }
    }

    #[test]
    fn names_are_hashed_as_published() {
        // The test vectors of FNV-1a, 64 bits (draft-eastlake-fnv, appendix C).
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn seeds_of_repeats_survive_floats() {
        let own = [0, 1, 2, 1 << 53, u64::MAX].map(Seed);
        for seed in own {
            assert_eq!(seed.repeat(0), seed, "a run's own seed is as it was given");
            let repeats: Vec<u64> = (1..1_000).map(|round| seed.repeat(round).0).collect();
            for repeat in &repeats {
                assert!(*repeat < 1 << 53, "{repeat}");
                // As JavaScript parses the number.
                assert_eq!(*repeat as f64 as u64, *repeat);
            }
            let distinct: std::collections::BTreeSet<&u64> = repeats.iter().collect();
            assert_eq!(distinct.len(), repeats.len());
        }
    }

    #[test]
    fn seeds_are_mixed_as_published() {
        // SplitMix64 from 1234567: each number mixes the state, which grows by the golden ratio.
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let numbers = [0, 1, 2].map(|i: u64| mix(1_234_567u64.wrapping_add(GOLDEN.wrapping_mul(i))));
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}
