//! Totals of a workload that the summary does not contain.

use super::evidence::{StationEvidence, WorkloadEvidence};
use netburn_units::Duration;
use netburn_workload::config::BIN;

/// Totals of one workload of one station, over its evaluated operations and time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkloadTotals {
    /// Evaluated time in which the workload runs.
    pub evaluated: Duration,
    /// Operations that count.
    pub operations: u64,
    /// Finished operations of these.
    pub finished: u64,
    /// Content that was moved, in bytes.
    pub bytes: f64,
    /// Mean and standard deviation of the content of finished operations, in bytes; `None` if none finished.
    pub length: Option<(f64, f64)>,
    /// Mean latency of finished operations, in ms; `None` if none finished.
    pub mean_latency_ms: Option<f64>,
}

impl WorkloadTotals {
    /// Totals of a station's workloads, in the plan's order.
    pub(crate) fn of_station(station: &StationEvidence) -> Vec<WorkloadTotals> {
        station.workloads.iter().map(WorkloadTotals::new).collect()
    }

    fn new(counted: &WorkloadEvidence) -> Self {
        let finished = counted.latency.len() as f64;
        let total: f64 = counted.latency.iter().map(|nanos| *nanos as f64).sum();
        WorkloadTotals {
            evaluated: counted.active,
            operations: counted.counts.all(),
            finished: counted.counts.finished,
            bytes: (counted.moved / u128::from(BIN.as_nanos())) as f64,
            length: counted.lengths.mean_and_deviation(),
            mean_latency_ms: (finished > 0.0).then(|| total / finished / 1e6),
        }
    }
}
