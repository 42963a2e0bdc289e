//! The catalogue of metrics: names, units, values and comparisons of the numbers of a summary.
//!
//! Sweeps, comparisons, tables and formulas over runs iterate over it. The entries of results that only some kinds of workload
//! have are beside these results, in [`kinds`](crate::kinds).

mod run;
mod workload;

pub use crate::quantity::{Comparison, Gauge, Measured, Quantity, Table, Unit, VERDICTS};

use crate::kinds::KindResults;
use crate::quantity::Metric;
use crate::summary::{GoalSummary, StationSummary, Summary, WorkloadSummary};

/// Metrics of the whole run.
#[must_use]
pub fn of_run(summary: &Summary) -> Vec<Measured> {
    let metrics = run::RUN.iter();
    metrics.filter_map(|metric| metric.measure(summary, None)).collect()
}

/// Metrics of a station without those of its workloads.
#[must_use]
pub fn of_station(station: &StationSummary) -> Vec<Measured> {
    let metrics = run::STATION.iter();
    metrics.filter_map(|metric| metric.measure(station, None)).collect()
}

/// Metrics of a workload, with those of each goal.
#[must_use]
pub fn of_workload(workload: &WorkloadSummary) -> Vec<Measured> {
    let measure = |metric: &'static Metric<WorkloadSummary>| metric.measure(workload, None);
    let of_goal = |(number, goal): (usize, &GoalSummary)| {
        let metrics = workload::GOAL.iter();
        metrics
            .filter_map(|metric| metric.measure(goal, Some(number)))
            .collect::<Vec<_>>()
    };
    let mut all: Vec<Measured> = workload::WORKLOAD.iter().filter_map(measure).collect();
    all.extend(workload.goals.iter().enumerate().flat_map(of_goal));
    all.extend(workload.results.measure());
    all
}

/// Descriptions of the metrics of the whole run.
pub fn run_quantities() -> impl Iterator<Item = &'static Quantity> {
    run::RUN.iter().map(|metric| &metric.quantity)
}

/// Descriptions of the metrics of a station.
pub fn station_quantities() -> impl Iterator<Item = &'static Quantity> {
    run::STATION.iter().map(|metric| &metric.quantity)
}

/// Descriptions of the metrics of a goal.
pub fn goal_quantities() -> impl Iterator<Item = &'static Quantity> {
    workload::GOAL.iter().map(|metric| &metric.quantity)
}

/// Descriptions of the metrics of a workload, with those of a goal. Kinds of workload that measure the same have one name for it.
pub fn workload_quantities() -> impl Iterator<Item = &'static Quantity> {
    let common = workload::WORKLOAD.iter().map(|metric| &metric.quantity);
    common.chain(goal_quantities()).chain(KindResults::quantities())
}
