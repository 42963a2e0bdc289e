//! Values of a plan over TCP from the rows of a run.

use super::plan::CrosscheckPlan;
use super::results::Values;
use netburn_record::Row;
use netburn_stats::{Distribution, P50};
use netburn_units::Instant;
use std::ops::Range;

/// Collects the values of one run of a plan over TCP. Workload 0 of each station is its flow, workload 1 its probes.
///
/// **Call order:** [`add`](Self::add) every row of the run, then [`values`](Self::values).
#[derive(Debug)]
pub struct Collector {
    measured: Range<Instant>,
    bytes: Vec<u64>,
    round_trips: Vec<Vec<u64>>,
}

impl Collector {
    /// A collector without rows.
    #[must_use]
    pub fn new(plan: &CrosscheckPlan) -> Self {
        let begin = Instant::ZERO + plan.warmup;
        Collector {
            measured: begin..begin + plan.measured,
            bytes: vec![0; plan.stations.len()],
            round_trips: vec![Vec::new(); plan.stations.len()],
        }
    }

    /// Adds a row. Rows outside the measured time change nothing.
    ///
    /// # Panics
    /// The row has a station that the plan does not have.
    pub fn add(&mut self, row: &Row) {
        match row {
            Row::Interval(row) if row.workload == 0 && self.measured.contains(&row.at) => {
                self.bytes[usize::from(row.station)] += row.bytes_down + row.bytes_up;
            }
            Row::Operation(row) if row.workload == 1 && self.measured.contains(&row.operation.due) => {
                let in_time = row.operation.finished.is_some_and(|at| at <= self.measured.end);
                if let Some(latency) = row.operation.latency().filter(|_| in_time) {
                    self.round_trips[usize::from(row.station)].push(latency.as_nanos());
                }
            }
            _ => {}
        }
    }

    /// The values of a run with this seed.
    #[must_use]
    pub fn values(self, seed: u64) -> Values {
        let seconds = self.measured.end.since(self.measured.start).as_secs_f64();
        let median = |samples: Vec<u64>| median_ms(&Distribution::from_samples(samples, 0));
        Values {
            seed,
            goodput: self.bytes.iter().map(|bytes| *bytes as f64 * 8e-6 / seconds).collect(),
            round_trip: self.round_trips.into_iter().map(median).collect(),
        }
    }
}

/// Median of latencies in ms.
pub(super) fn median_ms(latencies: &Distribution) -> Option<f64> {
    latencies.percentile(P50).value().map(|nanos| nanos as f64 / 1e6)
}
