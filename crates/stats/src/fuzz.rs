//! Entry point for the fuzzer.

use crate::{Distribution, percentile};
use netburn_units::Probability;

/// Decodes bytes as levels, a count of unbounded samples and samples, and compares the selection
/// with a full sort.
///
/// # Panics
/// If they differ.
pub fn check(bytes: &[u8]) {
    let mut words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    let Some(head) = words.next() else { return };
    let unbounded = head & 0xff;
    // A mask from the input narrows the values, so that ties are as common as distinct values.
    let mask = (1u64 << (head >> 8 & 0x3f)) - 1;
    let levels: Vec<Probability> = words
        .by_ref()
        .take((head >> 16 & 7) as usize)
        .filter_map(|word| Probability::from_ppb((word % 1_000_000_001) as u32))
        .collect();
    let mut samples: Vec<u64> = words.map(|word| word & mask).collect();
    let mut sorted = samples.clone();
    sorted.sort_unstable();
    let distribution = Distribution::from_slice(&mut samples, unbounded, &levels);
    assert_eq!(distribution.count, sorted.len() as u64 + unbounded);
    assert_eq!(
        (distribution.min, distribution.max),
        (sorted.first().copied(), sorted.last().copied())
    );
    for level in levels {
        let rank = percentile::rank(level, distribution.count);
        let expected = if percentile::supported(level, distribution.count) {
            sorted
                .get(rank as usize - 1)
                .map_or(percentile::Percentile::Unbounded, |sample| {
                    percentile::Percentile::Value(*sample)
                })
        } else {
            percentile::Percentile::Unsupported
        };
        assert_eq!(distribution.percentile(level), expected, "at {level}");
    }
    samples.sort_unstable();
    assert_eq!(samples, sorted, "selection only reorders");
}
