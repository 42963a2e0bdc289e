//! Unpredictable numbers, from a seed of the browser.

use hmac::{Hmac, Mac};
use netburn_units::Duration;
use sha2::Sha256;

/// A generator. Its outputs are the HMAC-SHA256 of their numbers with the seed as key.
#[derive(Clone)]
pub(crate) struct Random {
    key: Hmac<Sha256>,
    count: u64,
}

impl Random {
    pub(crate) fn new(seed: &str) -> Random {
        Random {
            key: Hmac::new_from_slice(seed.as_bytes()).expect("a key of HMAC has any length"),
            count: 0,
        }
    }

    /// Returns 64 random bits.
    pub(crate) fn number(&mut self) -> u64 {
        self.count += 1;
        let tag = self
            .key
            .clone()
            .chain_update(self.count.to_be_bytes())
            .finalize()
            .into_bytes();
        tag[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Returns a random number that is used once, as 32 hexadecimal digits.
    pub(crate) fn nonce(&mut self) -> String {
        format!("{:016x}{:016x}", self.number(), self.number())
    }

    /// Returns a duration below `bound`.
    pub(crate) fn below(&mut self, bound: Duration) -> Duration {
        Duration::from_nanos(self.number() % bound.as_nanos().max(1))
    }
}
