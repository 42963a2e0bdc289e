//! Parts of a sweep for several machines: `3/16` is the third of sixteen shards.

use std::fmt;
use std::str::FromStr;

/// One of several shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Number of the shard, from 1.
    number: u32,
    /// Number of all shards.
    of: u32,
}

/// Maximum number of shards.
pub const MAX_SHARDS: u32 = 100_000;

/// Invalid text of a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected K/N, such as 3/16, with 1 ≤ K ≤ N ≤ {MAX_SHARDS}")]
pub struct ParseShardError;

impl Shard {
    /// Returns `true` if the unit of work with this number, from 0, belongs to the shard. Neighbours belong to different
    /// shards, so that expensive values are spread over all shards.
    #[must_use]
    pub fn contains(self, unit: u64) -> bool {
        unit % u64::from(self.of) == u64::from(self.number - 1)
    }
}

impl FromStr for Shard {
    type Err = ParseShardError;

    fn from_str(text: &str) -> Result<Self, ParseShardError> {
        let parse = |text: &str| -> Option<u32> {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse().ok()).flatten()
        };
        let (number, of) = text.split_once('/').ok_or(ParseShardError)?;
        match (parse(number), parse(of)) {
            (Some(number), Some(of)) if (1..=of).contains(&number) && of <= MAX_SHARDS => Ok(Shard { number, of }),
            _ => Err(ParseShardError),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shards_are_numbered_from_one() {
        let shard: Shard = "3/16".parse().unwrap();
        assert_eq!(shard.to_string(), "3/16");
        let units: Vec<u64> = (0..40).filter(|unit| shard.contains(*unit)).collect();
        assert_eq!(units, [2, 18, 34]);
        for wrong in [
            "", "3", "0/16", "17/16", "1/0", "+1/2", "1/ 2", "1/100001", "1/2/3", "a/b",
        ] {
            assert_eq!(wrong.parse::<Shard>(), Err(ParseShardError), "{wrong}");
        }
    }

    proptest! {
        /// Every unit belongs to exactly one shard.
        #[test]
        fn shards_are_a_partition(of in 1_u32..50, unit in 0_u64..1000) {
            let owners = (1..=of).filter(|number| Shard { number: *number, of }.contains(unit));
            prop_assert_eq!(owners.count(), 1);
        }
    }
}
