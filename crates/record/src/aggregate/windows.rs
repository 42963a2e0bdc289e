//! Windows of time.

use netburn_units::{Duration, Instant};
use std::collections::BTreeMap;

/// Division of a run into buckets of equal width, from the beginning of the load on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buckets {
    width: Duration,
    count: usize,
}

impl Buckets {
    /// As many buckets of `width` as it takes to cover `length`; at least one. A width of zero becomes 1 ns.
    #[must_use]
    pub fn covering(length: Duration, width: Duration) -> Self {
        let width = width.max(Duration::from_nanos(1));
        Buckets {
            width,
            count: length.as_nanos().div_ceil(width.as_nanos()).max(1) as usize,
        }
    }

    /// Width of a bucket.
    #[must_use]
    pub const fn width(&self) -> Duration {
        self.width
    }

    /// Number of buckets.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Index of the bucket of an instant, in ns since the load began; `None` before the load and after the last bucket.
    #[must_use]
    pub fn index(&self, nanos: i64) -> Option<usize> {
        let index = usize::try_from(u64::try_from(nanos).ok()? / self.width.as_nanos()).ok()?;
        (index < self.count).then_some(index)
    }
}

/// Values of a run by bucket. The first value allocates the memory for all buckets.
#[derive(Debug, Clone)]
pub struct Bucketed<T> {
    buckets: Buckets,
    /// Empty without data.
    values: Vec<T>,
    last: usize,
}

impl<T: Clone + Default> Bucketed<T> {
    /// Values without data.
    #[must_use]
    pub const fn new(buckets: Buckets) -> Self {
        Bucketed {
            buckets,
            values: Vec::new(),
            last: 0,
        }
    }

    /// The value of the bucket of an instant, in ns since the load began; `None` before the load and after the last bucket.
    pub fn bucket(&mut self, nanos: i64) -> Option<&mut T> {
        let index = self.buckets.index(nanos)?;
        if self.values.is_empty() {
            self.values = vec![T::default(); self.buckets.count()];
        }
        self.last = self.last.max(index);
        self.values.get_mut(index)
    }

    /// The value of a bucket; `None` without data in any bucket.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.values.get(index)
    }

    /// Index of the last bucket with data; 0 without data.
    #[must_use]
    pub const fn last(&self) -> usize {
        self.last
    }

    /// The values of all buckets; empty without data.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }
}

/// The newest buckets of a run, for an active run of unknown length. Rows may arrive in any order.
#[derive(Debug, Clone)]
pub struct Recent<T> {
    /// In ns.
    width: i64,
    kept: i64,
    buckets: BTreeMap<i64, T>,
}

impl<T: Default> Recent<T> {
    /// Keeps the newest bucket of `width` and the `kept` buckets before it.
    #[must_use]
    pub fn new(width: Duration, kept: u32) -> Self {
        Recent {
            width: i64::try_from(width.as_nanos()).unwrap_or(i64::MAX).max(1),
            kept: kept.into(),
            buckets: BTreeMap::new(),
        }
    }

    /// The bucket of an instant; `None` if it is older than those that are kept.
    pub fn bucket(&mut self, at: Instant) -> Option<&mut T> {
        let number = self.number(at);
        let newest = self.newest().unwrap_or(number);
        if number < newest.saturating_sub(self.kept) {
            return None;
        }
        if number > newest {
            self.buckets = self.buckets.split_off(&number.saturating_sub(self.kept));
        }
        Some(self.buckets.entry(number).or_default())
    }

    /// Number of the bucket of an instant: 0 begins with the load.
    #[must_use]
    pub fn number(&self, at: Instant) -> i64 {
        at.as_nanos().div_euclid(self.width)
    }

    /// Number of the newest bucket; `None` without any.
    #[must_use]
    pub fn newest(&self) -> Option<i64> {
        self.buckets.last_key_value().map(|(number, _)| *number)
    }

    /// End of the newest bucket; `None` without any.
    #[must_use]
    pub fn end(&self) -> Option<Instant> {
        let number = self.newest()?.saturating_add(1);
        Some(Instant::from_nanos(number.saturating_mul(self.width)))
    }

    /// The bucket of that number.
    #[must_use]
    pub fn get(&self, number: i64) -> Option<&T> {
        self.buckets.get(&number)
    }

    /// The buckets from number `from` to before number `to`, the oldest first.
    pub fn range(&self, from: i64, to: i64) -> impl Iterator<Item = &T> + '_ {
        self.buckets.range(from..to.max(from)).map(|(_, bucket)| bucket)
    }

    /// The buckets that begin at `from` or later and before `to`, the oldest first.
    pub fn between(&self, from: Instant, to: Instant) -> impl Iterator<Item = &T> + '_ {
        // The number of the first bucket that begins at the instant or later.
        let first = |at: Instant| self.number(at) + i64::from(at.as_nanos().rem_euclid(self.width) > 0);
        self.range(first(from), first(to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_the_load_and_nothing_else() {
        let buckets = Buckets::covering(Duration::from_millis(2_500), Duration::from_secs(1));
        assert_eq!(buckets.count(), 3);
        for (nanos, index) in [
            (-1, None),
            (0, Some(0)),
            (999_999_999, Some(0)),
            (2_999_999_999, Some(2)),
            (3_000_000_000, None),
        ] {
            assert_eq!(buckets.index(nanos), index, "{nanos}");
        }
    }

    #[test]
    fn values_are_kept_by_bucket() {
        let buckets = Buckets::covering(Duration::from_secs(3), Duration::from_secs(1));
        let mut counts = Bucketed::<u64>::new(buckets);
        assert_eq!(counts.bucket(-1), None);
        assert_eq!((counts.values(), counts.get(0)), (&[][..], None));
        for nanos in [1_999_999_999, 1_000_000_000, 0, 3_000_000_000] {
            if let Some(count) = counts.bucket(nanos) {
                *count += 1;
            }
        }
        assert_eq!((counts.values(), counts.last()), (&[1, 2, 0][..], 1));
        assert_eq!((counts.get(1), counts.get(3)), (Some(&2), None));
    }

    #[test]
    fn the_newest_buckets_are_kept_whatever_the_order() {
        let mut recent = Recent::<u64>::new(Duration::from_secs(1), 2);
        for second in [3, 5, 4, 2] {
            if let Some(sum) = recent.bucket(Instant::from_secs(second)) {
                *sum += second as u64;
            }
        }
        assert_eq!(recent.range(0, 9).copied().collect::<Vec<_>>(), [3, 4, 5]);
        *recent.bucket(Instant::from_secs(8)).unwrap() += 8;
        assert_eq!(recent.range(0, 9).copied().collect::<Vec<_>>(), [8]);
        assert_eq!((recent.get(8), recent.newest()), (Some(&8), Some(8)));
        assert_eq!(recent.end(), Some(Instant::from_secs(9)));
    }

    #[test]
    fn a_bucket_lies_between_two_instants_if_its_beginning_does() {
        let mut recent = Recent::<u64>::new(Duration::from_millis(100), 20);
        for tenth in 0..10 {
            *recent.bucket(Instant::from_millis(tenth * 100)).unwrap() = tenth as u64;
        }
        let between = |from, to| -> Vec<u64> {
            let buckets = recent.between(Instant::from_millis(from), Instant::from_millis(to));
            buckets.copied().collect()
        };
        assert_eq!(between(200, 500), [2, 3, 4]);
        assert_eq!(between(201, 501), [3, 4, 5]);
        assert_eq!(between(500, 200), [0; 0]);
        let all = recent.between(Instant::from_nanos(i64::MIN), Instant::from_nanos(i64::MAX));
        assert_eq!(all.count(), 10);
    }
}
