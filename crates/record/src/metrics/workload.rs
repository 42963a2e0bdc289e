//! Metrics of every workload, and of a goal.

use crate::quantity::{Metric, Unit, count, percentile, verdict};
use crate::summary::{GoalSummary, WorkloadSummary};
use netburn_stats::metric_change::{Better, Tolerance};
use netburn_stats::percentile::{P75, P90, P99};
use netburn_stats::{P50, P95};
use netburn_workload::kinds::Kind;

pub(super) static WORKLOAD: [Metric<WorkloadSummary>; 12] = [
    Metric::new("verdict", Unit::Verdict, |of: &WorkloadSummary| verdict(of.verdict)),
    Metric::new("throughput_mbps", Unit::Mbps, |of: &WorkloadSummary| {
        Some(Some(of.throughput_mbps))
    })
    .gauge(
        "netburn_workload_throughput_bits_per_second",
        "Content of a workload in the evaluated time, both directions.",
    )
    .compared(
        "Mbit/s",
        "throughput, of a station, a workload or all",
        Better::Higher,
        Tolerance::RATE,
    )
    .compared_if(moves_data),
    Metric::new("operations", Unit::Count, |of: &WorkloadSummary| count(of.operations)),
    Metric::new("goal_misses", Unit::Count, |of: &WorkloadSummary| count(of.goal_misses)),
    Metric::new("failures", Unit::Count, |of: &WorkloadSummary| count(of.failures)),
    Metric::new("min_ms", Unit::Ms, |of: &WorkloadSummary| Some(of.latency_ms.min)).at("latency_ms.min"),
    Metric::new("p50_ms", Unit::Ms, |of: &WorkloadSummary| {
        Some(percentile(of.latency_ms.p50, P50, &of.latency_ms))
    })
    .at("latency_ms.p50")
    .compared("p50 ms", "latency at p50", Better::Lower, Tolerance::LATENCY)
    .compared_if(is_waited_for),
    Metric::new("p75_ms", Unit::Ms, |of: &WorkloadSummary| {
        Some(percentile(of.latency_ms.p75, P75, &of.latency_ms))
    })
    .at("latency_ms.p75"),
    Metric::new("p90_ms", Unit::Ms, |of: &WorkloadSummary| {
        Some(percentile(of.latency_ms.p90, P90, &of.latency_ms))
    })
    .at("latency_ms.p90"),
    Metric::new("p95_ms", Unit::Ms, |of: &WorkloadSummary| {
        Some(percentile(of.latency_ms.p95, P95, &of.latency_ms))
    })
    .at("latency_ms.p95")
    .compared("p95 ms", "latency at p95", Better::Lower, Tolerance::LATENCY)
    .compared_if(is_waited_for),
    Metric::new("p99_ms", Unit::Ms, |of: &WorkloadSummary| {
        Some(percentile(of.latency_ms.p99, P99, &of.latency_ms))
    })
    .at("latency_ms.p99"),
    Metric::new("max_ms", Unit::Ms, |of: &WorkloadSummary| Some(of.latency_ms.max)).at("latency_ms.max"),
];

pub(super) static GOAL: [Metric<GoalSummary>; 2] = [
    Metric::new("met", Unit::Share, |goal: &GoalSummary| Some(goal.met))
        .gauge("netburn_goal_met_ratio", "Share of a goal's samples within its limit.")
        .compared(
            "met %",
            "share of the samples that met a goal",
            Better::Higher,
            Tolerance::MET,
        ),
    Metric::new("excess", Unit::Share, |goal: &GoalSummary| Some(goal.excess)).gauge(
        "netburn_goal_excess_ratio",
        "A goal's worst sample divided by its limit.",
    ),
];

/// Returns true if throughput matters for a workload, rather than latency.
fn moves_data(workload: &WorkloadSummary) -> bool {
    Kind::by_name(&workload.kind).is_some_and(|kind| kind.is_rated_by_throughput)
}

/// Returns true if latency matters.
fn is_waited_for(workload: &WorkloadSummary) -> bool {
    Kind::by_name(&workload.kind).is_none_or(|kind| kind.is_waited_for)
}
