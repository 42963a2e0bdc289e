//! The metrics of a case from the summaries of both environments, and their comparison.

use super::cases::Case;
use super::metric::{Kind, Metric};
use super::page::{self, Comparison, MetricResult};
use crate::sample::Outcome;
use netburn_record::Summary;
use netburn_record::summary::WorkloadSummary;

/// Compares each metric of a case.
/// With quality issues of the lab, its values are unreliable.
#[must_use]
pub fn compare(case: &Case, metrics: Vec<Metric>, quality_issues: Vec<String>) -> Comparison {
    let result = |metric: Metric| MetricResult {
        // All flows of a case share the channel, so a quality issue of one makes all of them unreliable.
        outcome: if quality_issues.is_empty() {
            metric.outcome()
        } else {
            Outcome::Unreliable
        },
        known: case
            .known
            .iter()
            .find(|(name, _)| metric.name.starts_with(name))
            .map(|(_, why)| *why),
        metric,
    };
    Comparison {
        results: metrics.into_iter().map(result).collect(),
        name: case.name.clone(),
        group: case.group,
        runs: case.runs,
        quality_issues,
    }
}

/// The metrics of a case that both summaries have, with a value of each run.
#[must_use]
pub fn metrics(case: &Case, simulated: &Summary, lab: &Summary) -> Vec<Metric> {
    let mut metrics = all_metrics(simulated, lab);
    if case.over_a_wire {
        metrics.retain(|metric| metric.kind == Kind::Goodput);
        metrics.iter_mut().for_each(|metric| metric.kind = Kind::Wire);
    }
    metrics
}

fn all_metrics(simulated: &Summary, lab: &Summary) -> Vec<Metric> {
    let mut all = Vec::new();
    for (s, station) in simulated.stations.iter().enumerate() {
        let loads = |of: &&WorkloadSummary| kind(of).is_some_and(|kind| kind.is_bulk);
        if station.workloads.iter().filter(loads).count() > 1 {
            let together = |run: &Summary| {
                each_run(run)
                    .iter()
                    .map(|run| run.stations[s].throughput_mbps)
                    .collect()
            };
            all.push(Metric {
                name: format!("{} together, Mbit/s", station.name),
                kind: Kind::Goodput,
                simulator: together(simulated),
                lab: together(lab),
            });
        }
        for (w, workload) in station.workloads.iter().enumerate() {
            let of = |run: &Summary, metric: &dyn Fn(&WorkloadSummary) -> Option<f64>| {
                let each = each_run(run)
                    .iter()
                    .filter_map(|run| metric(run.stations.get(s)?.workloads.get(w)?));
                each.collect::<Vec<f64>>()
            };
            let mut add = |what: &str, kind, metric: &dyn Fn(&WorkloadSummary) -> Option<f64>| {
                all.push(Metric {
                    name: format!("{} {}{what}", station.name, workload.name),
                    kind,
                    simulator: of(simulated, metric),
                    lab: of(lab, metric),
                });
            };
            match kind(workload) {
                Some(kind) if kind.is_bulk => add(", Mbit/s", Kind::Goodput, &|of| Some(of.throughput_mbps)),
                // The player decides whether a stream is good, not the latency of its objects.
                _ if workload.player.is_some() => {}
                _ => add(", p50 ms", Kind::Median, &|of| of.latency_ms.p50),
            }
            if !workload.goals.is_empty() {
                // The verdict of the worst goal. Quality issues of the self-check are reported separately.
                add(", verdict", Kind::Verdict, &|of| {
                    of.goals
                        .iter()
                        .map(|goal| page::number(goal.verdict))
                        .max_by(f64::total_cmp)
                });
            }
        }
    }
    all
}

fn kind(workload: &WorkloadSummary) -> Option<&'static netburn_workload::Kind> {
    netburn_workload::Kind::by_name(&workload.kind)
}

/// The runs that a summary covers.
fn each_run(summary: &Summary) -> &[Summary] {
    if summary.repeats.is_empty() {
        std::slice::from_ref(summary)
    } else {
        &summary.repeats
    }
}
