//! Metrics of a run that are compared.

use netburn_record::Summary;
use netburn_record::metrics::{Comparison, Measured, Quantity, Unit, of_run, of_station, of_workload};
use netburn_record::summary::{StationSummary, WorkloadSummary};
use netburn_stats::metric_change::{Better, Tolerance};

/// A metric of a station and a workload.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The station; `None` for the whole run.
    pub station: Option<String>,
    /// Workload; `None` for the whole station.
    pub workload: Option<String>,
    /// Number and text of the goal, for metrics of a goal.
    pub goal: Option<(usize, String)>,
    /// The compared quantity.
    pub quantity: &'static Quantity,
    /// Its comparison.
    pub comparison: &'static Comparison,
}

impl Key {
    /// Key of a compared value; `None` if the value is not compared.
    fn new(measured: &Measured, station: Option<&StationSummary>, workload: Option<&WorkloadSummary>) -> Option<Self> {
        let goal = measured
            .goal
            .and_then(|number| Some((number, workload?.goals.get(number)?.goal.clone())));
        Some(Key {
            station: station.map(|station| station.name.clone()),
            workload: workload.map(|workload| workload.name.clone()),
            goal,
            quantity: measured.quantity,
            comparison: measured.quantity.comparison.as_ref().filter(|_| measured.is_compared)?,
        })
    }

    /// Direction of improvement.
    #[must_use]
    pub const fn better(&self) -> Better {
        self.comparison.better
    }

    /// Unit.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.quantity.unit
    }

    /// Tolerance below which a difference is irrelevant. `share` replaces the default.
    #[must_use]
    pub fn tolerance(&self, share: Option<f64>) -> Tolerance {
        let usual = self.comparison.tolerance;
        match share {
            Some(share) if usual.share > 0.0 => Tolerance { share, ..usual },
            // For a quantity that is a share itself, the tolerance is absolute.
            Some(share) => Tolerance { least: share, ..usual },
            None => usual,
        }
    }

    /// The value's path in a summary, with stations and workloads by name:
    /// `stations.laptop.workloads.browsing.latency_ms.p50`.
    #[must_use]
    pub fn path(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.station.as_ref().map(|station| format!("stations.{station}")));
        parts.extend(self.workload.as_ref().map(|workload| format!("workloads.{workload}")));
        parts.extend(self.goal.as_ref().map(|(number, _)| format!("goals.{number}")));
        parts.push(self.quantity.path.to_owned());
        parts.join(".")
    }
}

/// Metrics of one run with their values, in display order; unknown ones are omitted. A percentile
/// among operations that never ended is infinite.
#[must_use]
pub fn metrics(summary: &Summary) -> Vec<(Key, f64)> {
    let mut all = Vec::new();
    for station in &summary.stations {
        station_metrics(station, &mut all);
    }
    add(&of_run(summary), None, None, &mut all);
    all
}

fn add(
    measured: &[Measured],
    station: Option<&StationSummary>,
    workload: Option<&WorkloadSummary>,
    all: &mut Vec<(Key, f64)>,
) {
    let known = measured.iter().filter_map(|measured| {
        let value = measured.value.filter(|value| !value.is_nan())?;
        Some((Key::new(measured, station, workload)?, value))
    });
    all.extend(known);
}

fn station_metrics(station: &StationSummary, all: &mut Vec<(Key, f64)>) {
    let mut workloads: Vec<Vec<Measured>> = station.workloads.iter().map(of_workload).collect();
    let is_throughput = |measured: &Measured| measured.is_compared && measured.quantity.path == "throughput_mbps";
    // The throughput of a station with one workload equals that of the workload.
    if workloads
        .iter()
        .flatten()
        .filter(|measured| is_throughput(measured))
        .count()
        == 1
    {
        for of in &mut workloads {
            of.retain(|measured| !is_throughput(measured));
        }
    }
    for (workload, of) in station.workloads.iter().zip(&workloads) {
        add(of, Some(station), Some(workload), all);
    }
    add(&of_station(station), Some(station), None, all);
}

#[cfg(test)]
#[path = "metric_tests.rs"]
mod tests;
