//! Results per second, while the measurement runs.

use netburn_record::Row;
use netburn_stats::Distribution;
use netburn_stats::percentile::P50;
use netburn_units::{Duration, Instant};
use netburn_workload::Outcome;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SECOND: i64 = 1_000_000_000;

/// Result of one second.
#[derive(Debug, Clone, PartialEq)]
pub struct Second {
    /// End of the second, in seconds since the start.
    pub at: i64,
    /// Pages that finished.
    pub pages: u64,
    /// Pages that failed or timed out.
    pub failed: u64,
    /// Bytes of content moved.
    pub bytes: u64,
    /// Median latency of the finished pages; `None` with fewer than 6.
    pub median: Option<Duration>,
    /// Maximum latency.
    pub max: Option<Duration>,
}

/// Aggregates rows per second.
#[derive(Debug, Default)]
pub struct Seconds {
    open: BTreeMap<i64, Sum>,
    next: i64,
}

#[derive(Debug, Default)]
struct Sum {
    latencies: Vec<u64>,
    failed: u64,
    bytes: u64,
}

impl Seconds {
    /// Adds a row. A row of a second that has been returned counts in the next one.
    pub fn put(&mut self, row: &Row) {
        match row {
            Row::Operation(row) => {
                let operation = &row.operation;
                let Some(at) = operation.finished else { return };
                let latency = operation.latency();
                let sum = self.sum(at);
                match operation.outcome {
                    Outcome::Finished => sum.latencies.extend(latency.map(Duration::as_nanos)),
                    Outcome::Failed(_) | Outcome::TimedOut => sum.failed += 1,
                    Outcome::NotStarted | Outcome::Unfinished | Outcome::Cut => {}
                }
            }
            Row::Interval(row) => self.sum(row.at).bytes += row.bytes_down + row.bytes_up,
            Row::Connection(_) | Row::Link(_) | Row::Event(_) | Row::Air(_) | Row::Observed(_) => {}
        }
    }

    /// Returns the next second that has ended by `until`, including seconds without rows.
    pub fn next(&mut self, until: Instant) -> Option<Second> {
        let at = self.next + 1;
        if at * SECOND > until.as_nanos() {
            return None;
        }
        let mut sum = self.open.remove(&self.next).unwrap_or_default();
        self.next = at;
        let pages = sum.latencies.len() as u64;
        let found = Distribution::from_slice(&mut sum.latencies, 0, &[P50]);
        Some(Second {
            at,
            pages,
            failed: sum.failed,
            bytes: sum.bytes,
            median: found.percentile(P50).value().map(Duration::from_nanos),
            max: found.max.map(Duration::from_nanos),
        })
    }

    fn sum(&mut self, at: Instant) -> &mut Sum {
        let second = at.as_nanos().div_euclid(SECOND).max(self.next);
        self.open.entry(second).or_default()
    }
}

impl Second {
    /// Returns the throughput in Mbit/s.
    #[must_use]
    pub fn mbps(&self) -> f64 {
        self.bytes as f64 * 8e-6
    }

    /// Returns the heading of [`line`](Self::line)s.
    #[must_use]
    pub fn heading() -> String {
        format!(
            "{:>6} {:>8} {:>7} {:>10} {:>10} {:>10}",
            "s", "pages", "failed", "Mbit/s", "p50 ms", "max ms"
        )
    }

    /// Returns one line with fixed columns, `-` for unknown values.
    #[must_use]
    pub fn line(&self) -> String {
        let ms = |span: Option<Duration>| span.map_or("-".to_owned(), |span| format!("{:.2}", span.as_millis_f64()));
        let (median, max) = (ms(self.median), ms(self.max));
        let (at, pages, failed, mbps) = (self.at, self.pages, self.failed, self.mbps());
        format!("{at:>6} {pages:>8} {failed:>7} {mbps:>10.2} {median:>10} {max:>10}")
    }

    /// Returns one line of JSON Lines.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "second": self.at,
            "pages": self.pages,
            "failed": self.failed,
            "throughput_mbps": self.mbps(),
            "latency_ms": {
                "p50": self.median.map(Duration::as_millis_f64),
                "max": self.max.map(Duration::as_millis_f64),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::{IntervalRow, OperationRow};
    use netburn_workload::{Failure, Operation};

    fn page(due: i64, finished: i64, outcome: Outcome) -> Row {
        Row::Operation(OperationRow {
            station: 0,
            workload: 0,
            operation: Operation {
                sequence: 0,
                due: Instant::from_millis(due),
                started: None,
                connected: None,
                first_byte: None,
                finished: Some(Instant::from_millis(finished)),
                bytes: 0,
                outcome,
                far: None,
                tcp_connected: None,
            },
        })
    }

    #[test]
    fn a_second_contains_the_pages_that_ended_in_it() {
        let mut seconds = Seconds::default();
        for millis in [10, 20, 30, 40, 50, 990] {
            seconds.put(&page(0, millis, Outcome::Finished));
        }
        seconds.put(&page(0, 999, Outcome::Failed(Failure::Dial)));
        seconds.put(&page(900, 1000, Outcome::Finished));
        seconds.put(&Row::Interval(IntervalRow {
            station: 0,
            workload: 0,
            at: Instant::from_millis(900),
            bytes_down: 125_000,
            bytes_up: 0,
        }));
        assert_eq!(seconds.next(Instant::from_millis(999)), None);
        let first = seconds.next(Instant::from_secs(3)).unwrap();
        assert_eq!((first.at, first.pages, first.failed), (1, 6, 1));
        assert_eq!(first.line(), "     1        6       1       1.00      30.00     990.00");
        assert_eq!(Second::heading().len(), first.line().len());
        assert_eq!(first.json()["latency_ms"]["p50"], 30.0);
        // Late rows count in the next possible second.
        seconds.put(&page(0, 500, Outcome::TimedOut));
        let second = seconds.next(Instant::from_secs(3)).unwrap();
        assert_eq!((second.pages, second.failed, second.median), (1, 1, None));
        assert_eq!(
            second.line(),
            "     2        1       1       0.00          -     100.00"
        );
        assert_eq!(seconds.next(Instant::from_secs(3)).unwrap().pages, 0);
        assert_eq!(seconds.next(Instant::from_secs(3)), None);
    }
}
