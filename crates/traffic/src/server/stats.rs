//! Statistics of a worker: written by one thread, read by all.

use netburn_units::{Duration, Instant};
use std::sync::atomic::{
    AtomicI64, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// Statistics of one worker.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    /// Open connections.
    pub(crate) connections: AtomicU64,
    /// Bytes of content sent.
    pub(crate) bytes_down: AtomicU64,
    /// Bytes of content received.
    pub(crate) bytes_up: AtomicU64,
    /// Complete responses, with any status.
    pub(crate) requests: AtomicU64,
    /// Connections and requests rejected by a limit, or failed by an error of the server.
    pub(crate) rejected: AtomicU64,
    /// Time from the last byte of a request to the first byte of its response, without waits of the rate limit.
    pub(crate) service: Histogram,
    /// Lateness of rate-limited pieces.
    pub(crate) lateness: Histogram,
    /// Longest standstill that has ended, in nanoseconds.
    standstill: AtomicU64,
    /// Time of the worker's last check in nanoseconds of the monotonic clock; 0 before the first.
    last_check: AtomicI64,
}

/// Maximum time between two checks while standstills are detected. Shorter standstills may not be detected.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(20);

impl Stats {
    /// Records a check of the worker, and the standstill before it, if there was one.
    pub(crate) fn record_check(&self, now: Instant, standstill: Option<Duration>) {
        // The standstill is stored first: a reader that sees the new check must also see the standstill before it.
        if let Some(standstill) = standstill {
            self.standstill.fetch_max(standstill.as_nanos(), Relaxed);
        }
        self.last_check.store(now.as_nanos(), Release);
    }

    /// Returns the longest standstill until `now`, including the present one. After a pause of the whole process,
    /// another thread may call this before the worker runs again.
    pub(crate) fn longest_standstill(&self, now: Instant) -> Duration {
        let looked = Some(self.last_check.load(Acquire)).filter(|looked| *looked != 0);
        let ended = Duration::from_nanos(self.standstill.load(Relaxed));
        let since = looked.and_then(|looked| now.checked_since(Instant::from_nanos(looked)));
        let lasting = since.and_then(|since| since.checked_sub(CHECK_INTERVAL));
        ended.max(lasting.unwrap_or_default())
    }

    /// Adds to a counter.
    pub(crate) fn add(count: &AtomicU64, more: u64) {
        count.fetch_add(more, Relaxed);
    }

    /// Resets all statistics except the open connections.
    pub(crate) fn reset(&self) {
        for count in [
            &self.bytes_down,
            &self.bytes_up,
            &self.requests,
            &self.rejected,
            &self.standstill,
        ] {
            count.store(0, Relaxed);
        }
        self.service.reset();
        self.lateness.reset();
    }
}

/// Buckets per doubling: 16, so that values have an error of at most 1/16, upwards.
const STEPS: usize = 16;
/// The first `STEPS` nanoseconds have one bucket each, then 16 per doubling up to 2⁴⁰ ns, about 18 minutes.
const BUCKETS: usize = STEPS * 37;

/// A distribution of durations.
#[derive(Debug)]
pub(crate) struct Histogram {
    buckets: Box<[AtomicU64; BUCKETS]>,
    largest: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            buckets: Box::new([const { AtomicU64::new(0) }; BUCKETS]),
            largest: AtomicU64::new(0),
        }
    }
}

impl Histogram {
    pub(crate) fn record(&self, value: Duration) {
        self.buckets[bucket(value.as_nanos())].fetch_add(1, Relaxed);
        if value.as_nanos() > self.largest.load(Relaxed) {
            self.largest.fetch_max(value.as_nanos(), Relaxed);
        }
    }

    fn reset(&self) {
        self.buckets.iter().for_each(|bucket| bucket.store(0, Relaxed));
        self.largest.store(0, Relaxed);
    }
}

/// The sum of several histograms.
#[derive(Debug, Clone)]
pub(crate) struct Distribution {
    buckets: Vec<u64>,
    largest: u64,
    count: u64,
}

impl Distribution {
    pub(crate) fn merge<'a>(parts: impl Iterator<Item = &'a Histogram>) -> Self {
        let mut sum = Self {
            buckets: vec![0; BUCKETS],
            largest: 0,
            count: 0,
        };
        for part in parts {
            for (total, bucket) in sum.buckets.iter_mut().zip(part.buckets.iter()) {
                let count = bucket.load(Relaxed);
                *total += count;
                sum.count += count;
            }
            sum.largest = sum.largest.max(part.largest.load(Relaxed));
        }
        sum
    }

    /// Returns the number of values.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the maximum in µs; 0 without values.
    pub(crate) fn max_us(&self) -> f64 {
        self.largest as f64 / 1e3
    }

    /// Returns the value in µs that `share` of the values do not exceed: the upper edge of its bucket, at most 1/16 too
    /// large.
    pub(crate) fn quantile_us(&self, share: f64) -> f64 {
        let rank = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return upper_edge(index).min(self.largest) as f64 / 1e3;
            }
        }
        0.0
    }
}

fn bucket(value: u64) -> usize {
    let steps = STEPS as u64;
    if value < steps {
        return value as usize;
    }
    let doubling = value.ilog2() - STEPS.ilog2();
    let within = (value >> doubling) - steps;
    (STEPS * (doubling as usize + 1) + within as usize).min(BUCKETS - 1)
}

/// Returns the largest value of a bucket.
fn upper_edge(index: usize) -> u64 {
    let (doubling, within) = (index / STEPS, index % STEPS);
    if doubling == 0 {
        return within as u64;
    }
    ((STEPS + within + 1) as u64) << (doubling - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_standstill_that_lasts_counts() {
        let stats = Stats::default();
        let at = |ms: i64| Instant::from_nanos(ms * 1_000_000);
        assert_eq!(stats.longest_standstill(at(5_000)), Duration::ZERO, "no look yet");
        stats.record_check(at(1_000), None);
        assert_eq!(
            stats.longest_standstill(at(1_020)),
            Duration::ZERO,
            "the next look is due"
        );
        assert_eq!(stats.longest_standstill(at(4_000)), Duration::from_millis(2_980));
        stats.record_check(at(1_500), Some(Duration::from_millis(480)));
        assert_eq!(stats.longest_standstill(at(1_510)), Duration::from_millis(480));
        assert_eq!(stats.longest_standstill(at(2_100)), Duration::from_millis(580));
        stats.reset();
        assert_eq!(stats.longest_standstill(at(1_510)), Duration::ZERO);
    }

    #[test]
    fn quantiles_are_the_values_themselves_within_a_sixteenth() {
        let (one, other) = (Histogram::default(), Histogram::default());
        for micros in 1..=100 {
            let part = if micros % 2 == 0 { &one } else { &other };
            part.record(Duration::from_micros(micros));
        }
        let all = Distribution::merge([&one, &other].into_iter());
        assert_eq!((all.count(), all.max_us()), (100, 100.0));
        for (share, exact) in [(0.5, 50.0), (0.99, 99.0), (1.0, 100.0), (0.0, 1.0)] {
            let got = all.quantile_us(share);
            assert!((exact..=exact * 17.0 / 16.0).contains(&got), "{share}: {got}");
        }
        one.reset();
        assert_eq!(Distribution::merge([&one].into_iter()).quantile_us(0.99), 0.0);
    }

    proptest! {
        #[test]
        fn every_value_is_in_its_bucket(value in 0_u64..1 << 40) {
            let index = bucket(value);
            prop_assert!(value <= upper_edge(index));
            prop_assert!(index == 0 || value > upper_edge(index - 1) || value >= (1 << 40) - 1 || upper_edge(index - 1) == value);
        }
    }
}
