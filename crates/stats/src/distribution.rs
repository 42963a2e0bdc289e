//! Count, extremes and percentiles of a set of samples.

use crate::percentile::{self, Percentile, STANDARD};
use netburn_units::Probability;

/// What a set of integer samples comes to. Some samples may be known only to be larger than any that ended (an
/// operation that never finished): they rank above all others and have no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    /// All samples, those without an upper bound included.
    pub count: u64,
    /// Those without an upper bound.
    pub unbounded: u64,
    /// The least sample that has a value.
    pub min: Option<u64>,
    /// The largest sample that has a value. Where `unbounded` is not zero the true maximum is not known.
    pub max: Option<u64>,
    /// The percentiles asked for, in order of their levels.
    percentiles: Vec<(Probability, Percentile)>,
}

impl Distribution {
    /// What `samples` and `unbounded` more without an upper bound come to, at the [`STANDARD`] percentiles.
    ///
    /// The samples are reordered in place, no copy is made; time is linear in their number.
    #[must_use]
    pub fn from_samples(mut samples: Vec<u64>, unbounded: u64) -> Self {
        Self::of(&mut samples, unbounded, &STANDARD)
    }

    /// The same at `levels`, in any order, from samples that the caller keeps (reordered).
    #[must_use]
    pub fn of(samples: &mut [u64], unbounded: u64, levels: &[Probability]) -> Self {
        let finite = samples.len() as u64;
        let count = finite.saturating_add(unbounded);
        let mut levels = levels.to_vec();
        levels.sort_unstable();
        levels.dedup();
        // Both extremes are found with the percentiles: they are the first and the last rank.
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

    /// The percentile at `level`.
    ///
    /// # Panics
    /// When `level` is none of those that were asked for.
    #[must_use]
    #[track_caller]
    pub fn percentile(&self, level: Probability) -> Percentile {
        match self.percentiles.binary_search_by_key(&level, |(level, _)| *level) {
            Ok(at) => self.percentiles[at].1,
            Err(_) => panic!("the percentile at {level} was not asked for"),
        }
    }

    /// All percentiles asked for, in order of their levels.
    #[must_use]
    pub fn percentiles(&self) -> &[(Probability, Percentile)] {
        &self.percentiles
    }
}

/// Puts at each of `places` (ascending, counted from `offset`, the place of the first of `samples`) the sample that
/// sorting would put there. Halving the list of places leaves each level of the recursion one pass over the samples
/// at most.
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
