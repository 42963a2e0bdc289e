//! A histogram of integers with buckets of equal relative width.

use crate::view::{Curve, Point};
use netburn_stats::percentile::{rank, supported};
use netburn_units::Probability;

/// Counts of nanoseconds in 2^`BITS` buckets per power of two. A value read back is off by at most
/// 2^−(`BITS` + 1) of itself. Minimum and maximum are exact. Memory is used only for the buckets
/// between them, at most 8 × (65 − `BITS`) × 2^`BITS` bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Histogram<const BITS: u32> {
    /// Number of the first bucket.
    first: usize,
    counts: Vec<u64>,
    count: u64,
    unbounded: u64,
    range: Option<(u64, u64)>,
}

impl<const BITS: u32> Histogram<BITS> {
    /// Adds a sample.
    pub fn add(&mut self, value: u64) {
        self.count += 1;
        self.range = Some(match self.range {
            Some((least, most)) => (least.min(value), most.max(value)),
            None => (value, value),
        });
        let place = self.place(Self::bucket(value));
        self.counts[place] += 1;
    }

    /// Adds an operation that never ended; it ranks above all others.
    pub fn add_unbounded(&mut self) {
        self.unbounded += 1;
    }

    /// Number of all samples, including operations that never ended.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count + self.unbounded
    }

    /// Number of operations that never ended.
    #[must_use]
    pub fn unbounded(&self) -> u64 {
        self.unbounded
    }

    /// Minimum and maximum of those that ended.
    #[must_use]
    pub fn range(&self) -> Option<(u64, u64)> {
        self.range
    }

    /// The percentile at `level` by nearest rank, whether or not the count supports it. The inner `None`: it falls
    /// among those that never ended. The outer `None`: there are no samples.
    #[must_use]
    pub fn percentile(&self, level: Probability) -> Option<Option<u64>> {
        let rank = rank(level, self.count());
        if rank == 0 {
            return None;
        }
        let (least, most) = match self.range {
            Some(range) if rank <= self.count => range,
            _ => return Some(None),
        };
        let mut below = 0;
        for (count, bucket) in self.counts.iter().zip(self.first..) {
            below += count;
            if below >= rank {
                return Some(Some(Self::middle(bucket).clamp(least, most)));
            }
        }
        Some(Some(most))
    }

    /// Percentile at `level` in ms; `None` if the count does not support it or it falls among
    /// operations that never ended.
    #[must_use]
    pub fn supported_ms(&self, level: Probability) -> Option<f64> {
        if supported(level, self.count()) {
            self.percentile(level)?.map(ms)
        } else {
            None
        }
    }

    /// The whole distribution at every level that the count supports. `exact` holds levels, in
    /// increasing order, with exact values; values between them are clamped to them.
    #[must_use]
    pub fn curve(&self, exact: &[(Probability, f64)]) -> Curve {
        let mut points = Vec::new();
        let levels = LEVELS.iter().filter_map(|ppb| Probability::from_ppb(*ppb));
        let known = |level: Probability| exact.iter().find(|(known, _)| *known == level).map(|(_, ms)| *ms);
        let mut ranks = self.ranks();
        for level in levels.filter(|level| supported(*level, self.count())) {
            let value = ranks.value(rank(level, self.count())).map(|value| {
                let below = exact.iter().rev().find(|(known, _)| *known < level);
                let above = exact.iter().find(|(known, _)| *known > level);
                let value = below.map_or(value, |(_, least)| value.max(*least));
                above.map_or(value, |(_, most)| value.min(*most))
            });
            points.push(Point {
                level: f64::from(level.as_ppb()) / 1e9,
                ms: known(level).or(value),
            });
        }
        Curve {
            count: self.count(),
            unbounded: self.unbounded,
            min_ms: self.range.map(|(least, _)| ms(least)),
            max_ms: self.range.map(|(_, most)| ms(most)),
            points,
        }
    }

    /// Adds the samples of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (count, bucket) in other.counts.iter().zip(other.first..) {
            if *count > 0 {
                let place = self.place(bucket);
                self.counts[place] += count;
            }
        }
        self.count += other.count;
        self.unbounded += other.unbounded;
        self.range = match (self.range, other.range) {
            (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
            (one, other) => one.or(other),
        };
    }

    /// Index of a bucket, which is created if necessary.
    fn place(&mut self, bucket: usize) -> usize {
        if self.counts.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            let more = self.first - bucket;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = bucket;
        }
        let place = bucket - self.first;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        place
    }

    /// Values in increasing order of rank, in one pass over the buckets.
    fn ranks(&self) -> Ranks<'_, BITS> {
        Ranks {
            of: self,
            place: 0,
            below: 0,
        }
    }

    fn bucket(value: u64) -> usize {
        if value < 1 << BITS {
            return value as usize;
        }
        let shift = 63 - value.leading_zeros() - BITS;
        ((shift as usize) << BITS) + (value >> shift) as usize
    }

    /// The middle of a bucket, rounded down.
    fn middle(bucket: usize) -> u64 {
        if bucket < 2 << BITS {
            return bucket as u64;
        }
        let shift = (bucket >> BITS) as u32 - 1;
        let mantissa = (bucket & ((1 << BITS) - 1)) as u64 + (1 << BITS);
        (mantissa << shift) + ((1_u64 << shift) >> 1)
    }
}

struct Ranks<'a, const BITS: u32> {
    of: &'a Histogram<BITS>,
    place: usize,
    /// Samples in the buckets before `place`.
    below: u64,
}

impl<const BITS: u32> Ranks<'_, BITS> {
    /// The value at `rank`, in ms. Ranks must not decrease from call to call.
    fn value(&mut self, rank: u64) -> Option<f64> {
        let (least, most) = self.of.range.filter(|_| rank <= self.of.count)?;
        while let Some(count) = self.of.counts.get(self.place) {
            if self.below + count >= rank {
                let value = Histogram::<BITS>::middle(self.of.first + self.place);
                return Some(ms(value.clamp(least, most)));
            }
            self.below += count;
            self.place += 1;
        }
        Some(ms(most))
    }
}

/// The levels of a curve, in parts per billion: closer together the closer to the end.
const LEVELS: [u32; 79] = levels();

const fn levels() -> [u32; 79] {
    let mut levels = [0; 79];
    let mut at = 0;
    // 5, 10, … 45 %; 50, 52.5, … 87.5 %; then the same 9 steps of each tail: 90, 91, … 99, 99.1, … 99.9999 %.
    let mut level = 50_000_000;
    while level < 500_000_000 {
        levels[at] = level;
        at += 1;
        level += 50_000_000;
    }
    while level < 900_000_000 {
        levels[at] = level;
        at += 1;
        level += 25_000_000;
    }
    let mut tail = 100_000_000;
    while tail >= 1000 {
        let mut step = 0;
        while step < 9 {
            levels[at] = 1_000_000_000 - tail + step * (tail / 10);
            at += 1;
            step += 1;
        }
        tail /= 10;
    }
    levels
}

fn ms(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn levels_increase_and_include_those_of_the_summary() {
        assert!(LEVELS.windows(2).all(|pair| pair[0] < pair[1]), "{LEVELS:?}");
        for level in netburn_stats::STANDARD {
            assert!(LEVELS.contains(&level.as_ppb()), "{level}");
        }
        assert_eq!(LEVELS[0], 50_000_000);
        assert!(LEVELS[78] < 1_000_000_000);
    }

    #[test]
    fn small_values_are_exact_and_unbounded_ones_rank_last() {
        let mut histogram = Histogram::<5>::default();
        for value in [3, 1, 2, 31] {
            histogram.add(value);
        }
        histogram.add_unbounded();
        let at = |percent: u32| histogram.percentile(Probability::from_ppb(percent * 10_000_000).unwrap());
        assert_eq!(at(20), Some(Some(1)));
        assert_eq!(at(60), Some(Some(3)));
        assert_eq!(at(80), Some(Some(31)));
        assert_eq!(at(81), Some(None));
        assert_eq!(Histogram::<5>::default().percentile(netburn_stats::P50), None);
    }

    #[test]
    fn exact_values_stay_and_others_lie_between() {
        let mut histogram = Histogram::<2>::default();
        (0..1000).for_each(|value| histogram.add(1_000_000 + value * 1000));
        let exact = [(netburn_stats::P50, 1.499), (netburn_stats::P90, 1.899)];
        let curve = histogram.curve(&exact);
        assert_eq!(curve.at(0.5), Some(Some(1.499)));
        assert_eq!(curve.at(0.9), Some(Some(1.899)));
        assert_eq!(curve.at(0.999), None, "1000 samples don't support it");
        let values: Vec<f64> = curve.points.iter().filter_map(|point| point.ms).collect();
        assert!(values.windows(2).all(|pair| pair[0] <= pair[1]), "{values:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn percentiles_are_accurate_to_a_bucket(
            samples in prop::collection::vec(prop_oneof![0_u64..100, any::<u64>(), 1_000_000_u64..90_000_000], 1..200),
            ppb in 0_u32..=1_000_000_000,
        ) {
            let mut histogram = Histogram::<7>::default();
            samples.iter().for_each(|value| histogram.add(*value));
            let level = Probability::from_ppb(ppb).unwrap();
            let mut sorted = samples;
            sorted.sort_unstable();
            let exact = sorted[rank(level, sorted.len() as u64) as usize - 1];
            let got = histogram.percentile(level).unwrap().unwrap();
            prop_assert!(got.abs_diff(exact) <= exact >> 8, "{got} for {exact}");
            prop_assert_eq!(histogram.range(), Some((sorted[0], *sorted.last().unwrap())));
        }

        #[test]
        fn merging_equals_counting_all(one in prop::collection::vec(any::<u64>(), 0..50), other in prop::collection::vec(0_u64..1 << 40, 0..50)) {
            let of = |samples: &[u64]| {
                let mut histogram = Histogram::<5>::default();
                samples.iter().for_each(|value| histogram.add(*value));
                histogram
            };
            let mut merged = of(&one);
            merged.merge(&of(&other));
            let all = of(&[one, other].concat());
            prop_assert_eq!(merged.count(), all.count());
            prop_assert_eq!(merged.curve(&[]), all.curve(&[]));
        }
    }
}
