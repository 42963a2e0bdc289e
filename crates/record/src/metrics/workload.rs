//! Metrics of every workload, and of a goal.

use crate::goal_kind::GoalKind;
use crate::quantity::{Metric, Table, Unit, count, percentile, unended, verdict};
use crate::summary::{GoalSummary, WorkloadSummary};
use netburn_stats::metric_change::{Better, Tolerance};
use netburn_stats::percentile::{P75, P90, P99};
use netburn_stats::{P50, P95};
use netburn_workload::kinds::{Kind, probe::ProbeTarget};

/// A percentile of the latency.
macro_rules! latency_at {
    ($field:ident, $level:ident) => {
        Metric::new(concat!(stringify!($field), "_ms"), Unit::Ms, |of: &WorkloadSummary| {
            Some(percentile(of.latency_ms.$field, $level, &of.latency_ms))
        })
        .at(concat!("latency_ms.", stringify!($field)))
        .unended(|of: &WorkloadSummary| unended(of.latency_ms.$field, $level, &of.latency_ms))
        .column(Table::Workloads, stringify!($field))
    };
}

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
    .compared_if(moves_data)
    .column(Table::Stations, "Mbit/s")
    .column(Table::Workloads, "Mbit/s")
    .column(Table::Markdown, "Mbit/s")
    .row(|of: &WorkloadSummary| kind(of).is_some_and(|kind| kind.is_bulk).then(|| of.name.clone())),
    Metric::new("operations", Unit::Count, |of: &WorkloadSummary| count(of.operations))
        .column(Table::Workloads, "operations"),
    Metric::new("goal_misses", Unit::Count, |of: &WorkloadSummary| count(of.goal_misses))
        .column(Table::Workloads, "goal misses"),
    Metric::new("failures", Unit::Count, |of: &WorkloadSummary| count(of.failures)).column(Table::Workloads, "failed"),
    Metric::new("min_ms", Unit::Ms, |of: &WorkloadSummary| Some(of.latency_ms.min))
        .at("latency_ms.min")
        .column(Table::Workloads, "min"),
    latency_at!(p50, P50)
        .compared("p50 ms", "latency at p50", Better::Lower, Tolerance::LATENCY)
        .compared_if(is_waited_for)
        .column(Table::Stations, "p50 ms")
        .column(Table::Markdown, "p50")
        .column(Table::Sweep, "p50 ms")
        .row(|of: &WorkloadSummary| Some(format!("{}, median", round_trip(of)?))),
    latency_at!(p75, P75),
    latency_at!(p90, P90),
    latency_at!(p95, P95)
        .compared("p95 ms", "latency at p95", Better::Lower, Tolerance::LATENCY)
        .compared_if(is_waited_for)
        .column(Table::Stations, "p95 ms")
        .column(Table::Markdown, "p95")
        .column(Table::Sweep, "p95 ms")
        .row(|of: &WorkloadSummary| Some(format!("{}, p95", round_trip(of)?))),
    latency_at!(p99, P99).column(Table::Stations, "p99 ms"),
    Metric::new("max_ms", Unit::Ms, |of: &WorkloadSummary| Some(of.latency_ms.max))
        .at("latency_ms.max")
        .unended(|of: &WorkloadSummary| of.latency_ms.unbounded)
        .column(Table::Stations, "max ms")
        .column(Table::Workloads, "max")
        .row(|of: &WorkloadSummary| {
            let has_limit = of.goals.iter().any(|goal| goal.kind == GoalKind::Latency);
            has_limit.then(|| format!("{}: slowest", of.name))
        }),
];

pub(super) static GOAL: [Metric<GoalSummary>; 2] = [
    Metric::new("met", Unit::Share, |goal: &GoalSummary| Some(goal.met))
        .gauge("netburn_goal_met_ratio", "Share of a goal's samples within its limit.")
        .compared(
            "met %",
            "share of the samples that met a goal",
            Better::Higher,
            Tolerance::MET,
        )
        .column(Table::Stations, "MET")
        .column(Table::Markdown, "goals met")
        .row(|goal: &GoalSummary| Some(goal.goal.clone())),
    Metric::new("excess", Unit::Share, |goal: &GoalSummary| Some(goal.excess)).gauge(
        "netburn_goal_excess_ratio",
        "A goal's worst sample divided by its limit.",
    ),
];

/// Returns true if throughput matters for a workload, rather than latency.
fn moves_data(workload: &WorkloadSummary) -> bool {
    kind(workload).is_some_and(|kind| kind.is_rated_by_throughput)
}

/// Returns true if latency matters.
fn is_waited_for(workload: &WorkloadSummary) -> bool {
    kind(workload).is_none_or(|kind| kind.is_waited_for)
}

/// Path of a probe's round trips, in words; `None` for other kinds.
fn round_trip(workload: &WorkloadSummary) -> Option<&'static str> {
    kind(workload).filter(|kind| kind.is_probe())?;
    Some(match workload.probe.map(|probe| probe.target) {
        Some(ProbeTarget::Near) => "round trip to the access point",
        Some(ProbeTarget::Line) => "round trip over the internet line",
        Some(ProbeTarget::Server) | None => "round trip",
    })
}

fn kind(workload: &WorkloadSummary) -> Option<&'static Kind> {
    Kind::by_name(&workload.kind)
}
