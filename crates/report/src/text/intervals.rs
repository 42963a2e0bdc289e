//! Confidence intervals of the metrics of a run set.

use crate::sanitise::sanitise;
use crate::table::{Cell, left, render, right};
use netburn_analysis::format;
use netburn_record::Summary;
use netburn_record::summary::{StationSummary, WorkloadSummary};

/// Maximum number of intervals that are listed.
const MAX_INTERVALS: usize = 40;

/// A metric that users compare between runs.
struct Metric {
    /// Name in a table, with the unit.
    name: String,
    /// Path of the value in the summary.
    path: String,
    /// Factor from the value in the summary to the unit of the name.
    factor: f64,
}

/// Intervals of throughput, latencies and shares of met goals as a table; no lines without intervals of them.
pub(super) fn lines(summary: &Summary, width: usize, colour: bool) -> Vec<String> {
    let stations = summary.stations.iter();
    let stations = stations.map(|station| (station.name.as_str(), station_metrics(station)));
    let total = Metric::new("Mbit/s", "totals.throughput_mbps".to_owned());
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (station, metrics) in stations.chain([("(all)", vec![total])]) {
        let mut name = sanitise(station);
        for metric in metrics {
            if let Some([low, high]) = summary.intervals.get(&metric.path)
                && rows.len() < MAX_INTERVALS
            {
                let value = |value: f64| format::short(value * metric.factor);
                rows.push(vec![
                    std::mem::take(&mut name).into(),
                    sanitise(&metric.name).into(),
                    value(*low).into(),
                    value(*high).into(),
                ]);
            }
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = [
        left("STATION"),
        left("METRIC, 95 % INTERVAL"),
        right("LOW"),
        right("HIGH"),
    ];
    let mut lines = vec![String::new()];
    lines.extend(render(&columns, &rows, 2, width, colour));
    let more = summary.intervals.len() - rows.len();
    if more > 0 {
        lines.push(format!("… and {more} more with --format json"));
    }
    lines
}

fn station_metrics(station: &StationSummary) -> Vec<Metric> {
    let path = format!("stations.{}", station.name);
    let mut metrics = vec![
        Metric::new("Mbit/s", format!("{path}.throughput_mbps")),
        Metric::new("idle ms", format!("{path}.idle_latency_ms")),
    ];
    for workload in &station.workloads {
        metrics.extend(workload_metrics(&path, workload));
    }
    metrics
}

fn workload_metrics(station: &str, workload: &WorkloadSummary) -> Vec<Metric> {
    let name = &workload.name;
    let path = format!("{station}.workloads.{name}");
    let goals = workload.goals.iter().enumerate().map(|(number, goal)| Metric {
        name: if workload.goals.len() > 1 {
            format!("{name} {}, met %", goal.goal)
        } else {
            format!("{name} met %")
        },
        path: format!("{path}.goals.{number}.met"),
        factor: 100.0,
    });
    let latencies = ["p50", "p95", "p99", "max"].into_iter();
    let latencies = latencies.map(|of| Metric::new(&format!("{name} {of} ms"), format!("{path}.latency_ms.{of}")));
    goals.chain(latencies).collect()
}

impl Metric {
    /// A metric in the unit of the summary.
    fn new(name: &str, path: String) -> Self {
        Metric {
            name: name.to_owned(),
            path,
            factor: 1.0,
        }
    }
}
