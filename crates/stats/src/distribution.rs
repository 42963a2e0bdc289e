//! Count, extremes and percentiles of a set of samples.

use crate::percentile::{self, Percentile, STANDARD};
use netburn_units::Probability;

/// Summary of a set of integer samples. Some samples may be unbounded: known only to exceed all
/// finished ones, as an operation that never finished. They rank above all others and have no
/// value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    /// Number of all samples, including unbounded ones.
    pub count: u64,
    /// Number of unbounded samples.
    pub unbounded: u64,
    /// Smallest sample that has a value.
    pub min: Option<u64>,
    /// Largest sample that has a value. If `unbounded` is not zero, the true maximum is unknown.
    pub max: Option<u64>,
    /// Requested percentiles, in order of their levels.
    percentiles: Vec<(Probability, Percentile)>,
}

impl Distribution {
    /// Summary of `samples` and `unbounded` further samples without an upper bound, at the
    /// [`STANDARD`] percentiles.
    ///
    /// The samples are reordered in place without a copy. The time is linear in their number.
    #[must_use]
    pub fn from_samples(mut samples: Vec<u64>, unbounded: u64) -> Self {
        Self::from_slice(&mut samples, unbounded, &STANDARD)
    }

    /// Summary at `levels`, in any order, of samples that the caller keeps (reordered).
    #[must_use]
    pub fn from_slice(samples: &mut [u64], unbounded: u64, levels: &[Probability]) -> Self {
        let finite = samples.len() as u64;
        let count = finite.saturating_add(unbounded);
        let mut levels = levels.to_vec();
        levels.sort_unstable();
        levels.dedup();
        // Both extremes are computed with the percentiles: they are the first and the last rank.
        let mut wanted = Vec::with_capacity(levels.len() + 2);
        if finite > 0 {
            wanted.extend([0, samples.len() - 1]);
        }
        let place = |level| match percentile::rank(level, count) {
            rank if !percentile::supported(level, count) || rank > finite => None,
            rank => Some(rank as usize - 1),
        };
        wanted.extend(levels.iter().filter_map(|level| place(*level)));
        wanted.sort_unstable();
        wanted.dedup();
        select(samples, 0, &wanted);
        let percentiles = levels
            .into_iter()
            .map(|level| {
                let percentile = match place(level) {
                    Some(place) => Percentile::Value(samples[place]),
                    None if percentile::supported(level, count) => Percentile::Unbounded,
                    None => Percentile::Unsupported,
                };
                (level, percentile)
            })
            .collect();
        Self {
            count,
            unbounded,
            min: samples.first().copied(),
            max: samples.last().copied(),
            percentiles,
        }
    }

    /// Percentile at `level`.
    ///
    /// # Panics
    /// If `level` was not requested.
    #[must_use]
    #[track_caller]
    pub fn percentile(&self, level: Probability) -> Percentile {
        match self.percentiles.binary_search_by_key(&level, |(level, _)| *level) {
            Ok(at) => self.percentiles[at].1,
            Err(_) => panic!("the percentile at {level} was not asked for"),
        }
    }

    /// All requested percentiles, in order of their levels.
    #[must_use]
    pub fn percentiles(&self) -> &[(Probability, Percentile)] {
        &self.percentiles
    }
}

/// Puts at each of `places` the sample that sorting would put there. `places` is ascending and
/// counts from `offset`, the place of the first of `samples`. Halving the list of places limits
/// each level of the recursion to one pass over the samples.
fn select(samples: &mut [u64], offset: usize, places: &[usize]) {
    if places.is_empty() {
        return;
    }
    let middle = places.len() / 2;
    let at = places[middle] - offset;
    let (below, _, above) = samples.select_nth_unstable(at);
    select(below, offset, &places[..middle]);
    select(above, offset + at + 1, &places[middle + 1..]);
}
