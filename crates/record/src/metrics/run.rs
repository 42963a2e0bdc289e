//! Metrics of the whole run and of a station.

use crate::quantity::{Metric, Table, Unit, verdict};
use crate::summary::{StationSummary, Summary};
use netburn_stats::P95;
use netburn_stats::metric_change::{Better, Tolerance};
use netburn_stats::percentile::supported;
use netburn_workload::Verdict;
use netburn_workload::kinds::Kind;

pub(super) static RUN: [Metric<Summary>; 4] = [
    Metric::new("verdict", Unit::Verdict, |run: &Summary| verdict(run.verdict)).column(Table::Sweep, "VERDICT"),
    Metric::new("throughput_mbps", Unit::Mbps, |run: &Summary| {
        Some(Some(run.totals.throughput_mbps))
    })
    .at("totals.throughput_mbps")
    .column(Table::Sweep, "Mbit/s")
    .alias("totals.throughput_mbps")
    .compared(
        "Mbit/s",
        "throughput, of a station, a workload or all",
        Better::Higher,
        Tolerance::RATE,
    ),
    Metric::new("airtime_jain", Unit::Share, |run: &Summary| {
        Some(run.totals.airtime_jain)
    })
    .gauge(
        "netburn_airtime_fairness_ratio",
        "Jain's index of the stations' airtime shares.",
    )
    .at("totals.airtime_jain")
    .column(Table::Sweep, "JAIN")
    .alias("totals.airtime_jain")
    .compared(
        "airtime Jain %",
        "Jain's index of the airtime",
        Better::Higher,
        Tolerance::RATE,
    ),
    Metric::new("worst_p95_ms", Unit::Ms, |run: &Summary| Some(worst_p95(run))),
];

pub(super) static STATION: [Metric<StationSummary>; 4] = [
    Metric::new("verdict", Unit::Verdict, |station: &StationSummary| {
        verdict(station.verdict)
    })
    .row(|station: &StationSummary| (station.verdict != Verdict::None).then(|| "verdict".to_owned())),
    Metric::new("throughput_mbps", Unit::Mbps, |station: &StationSummary| {
        Some(Some(station.throughput_mbps))
    })
    .gauge(
        "netburn_station_throughput_bits_per_second",
        "Content of a station in the evaluated time, both directions.",
    )
    .column(Table::Sweep, "Mbit/s")
    .compared(
        "Mbit/s",
        "throughput, of a station, a workload or all",
        Better::Higher,
        Tolerance::RATE,
    )
    .compared_if(|station: &StationSummary| !station.workloads.is_empty()),
    Metric::new("airtime_share", Unit::Share, |station: &StationSummary| {
        Some(station.airtime_share)
    })
    .gauge("netburn_station_airtime_ratio", "A station's share of the airtime.")
    .column(Table::Stations, "AIRTIME")
    .column(Table::Sweep, "air %"),
    Metric::new("idle_latency_ms", Unit::Ms, |station: &StationSummary| {
        Some(station.idle_latency_ms)
    })
    .gauge(
        "netburn_station_idle_latency_seconds",
        "Median round-trip time before the load.",
    )
    .alias("idle_ms")
    .column(Table::Stations, "IDLE ms")
    .compared("idle ms", "idle latency", Better::Lower, Tolerance::LATENCY),
];

/// Highest 95th percentile latency of all workloads except downloads and uploads. `None` if no workload has enough
/// operations, or if the percentile falls among operations that never ended.
fn worst_p95(summary: &Summary) -> Option<f64> {
    let workloads = summary
        .stations
        .iter()
        .flat_map(|station: &StationSummary| &station.workloads);
    let waits = workloads.filter(|workload| !Kind::by_name(&workload.kind).is_some_and(|kind| kind.is_bulk));
    let supported = waits.filter(|workload| supported(P95, workload.latency_ms.count));
    let p95s: Option<Vec<f64>> = supported.map(|workload| workload.latency_ms.p95).collect();
    p95s?.into_iter().reduce(f64::max)
}
