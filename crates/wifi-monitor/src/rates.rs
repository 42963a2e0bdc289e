//! Detection of rate collapses.

use netburn_units::{Duration, Instant};

/// Minimum length of a collapse: a rate below a quarter of the median so far.
const MIN_COLLAPSE: Duration = Duration::from_secs(3);
/// Minimum number of samples for a median.
const MIN_SAMPLES: usize = 10;

/// Rates of one link, sampled about once a second.
#[derive(Debug, Clone, Default)]
pub(super) struct Rates {
    /// Rates outside collapses, sorted.
    samples: Vec<u64>,
    low: Option<Low>,
}

#[derive(Debug, Clone, Copy)]
struct Low {
    since: Instant,
    last: Instant,
    lowest: u64,
    median: u64,
}

/// A collapse that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Collapse {
    /// First low sample.
    pub(super) since: Instant,
    /// Last low sample.
    pub(super) until: Instant,
    /// Lowest rate in bit/s.
    pub(super) lowest: u64,
    /// Median before the collapse in bit/s.
    pub(super) median: u64,
}

impl Rates {
    /// Adds a sample. Returns the collapse that it ends, if any.
    pub(super) fn sample(&mut self, at: Instant, bps: u64) -> Option<Collapse> {
        let median = match self.low {
            Some(low) => Some(low.median),
            None => (self.samples.len() >= MIN_SAMPLES).then(|| self.samples[self.samples.len() / 2]),
        };
        match median {
            Some(median) if bps < median / 4 => {
                let low = self.low.get_or_insert(Low {
                    since: at,
                    last: at,
                    lowest: bps,
                    median,
                });
                low.last = at;
                low.lowest = low.lowest.min(bps);
                None
            }
            _ => {
                let place = self.samples.partition_point(|samples| *samples < bps);
                self.samples.insert(place, bps);
                self.end()
            }
        }
    }

    /// Ends sampling. Returns the current collapse, if any.
    pub(super) fn end(&mut self) -> Option<Collapse> {
        let low = self.low.take()?;
        let lasted = low.last.checked_since(low.since)? >= MIN_COLLAPSE;
        lasted.then_some(Collapse {
            since: low.since,
            until: low.last,
            lowest: low.lowest,
            median: low.median,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rates: &[u64]) -> Vec<Collapse> {
        let mut rates_under_test = Rates::default();
        let mut found = Vec::new();
        for (rate, second) in rates.iter().zip(0..) {
            found.extend(rates_under_test.sample(Instant::from_secs(second), *rate));
        }
        found.extend(rates_under_test.end());
        found
    }

    #[test]
    fn three_seconds_below_a_quarter_are_a_collapse() {
        let mut rates = vec![400; 12];
        rates.extend([99, 60, 99, 99, 400]);
        let collapse = Collapse {
            since: Instant::from_secs(12),
            until: Instant::from_secs(15),
            lowest: 60,
            median: 400,
        };
        assert_eq!(run(&rates), [collapse]);
        assert_eq!(run(&rates[..16]), [collapse], "also one that the run's end ends");
    }

    #[test]
    fn shorter_or_not_so_low_or_too_early_is_none() {
        let after = |low: &[u64]| run(&[&[400; 12], low, &[400]].concat());
        assert_eq!(after(&[99, 99, 99]), [], "two seconds from the first look to the last");
        assert_eq!(after(&[100; 9]), [], "a quarter is not below a quarter");
        assert_eq!(
            run(&[&[400; 4][..], &[10; 6]].concat()),
            [],
            "ten looks are needed for a median"
        );
        assert_eq!(after(&[]), []);
    }

    #[test]
    fn low_rates_of_a_collapse_leave_the_median_as_it_was() {
        let mut rates = vec![400; 12];
        for _ in 0..3 {
            rates.extend([10; 20]);
            rates.push(400);
        }
        assert_eq!(run(&rates).len(), 3);
    }
}
