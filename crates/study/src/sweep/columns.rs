//! What a row says of a run: its columns and their figures, from the run's summary.

use netburn_record::summary::{StationSummary, WorkloadSummary, verdict_name};
use netburn_record::{Ending, Header, Summary, summary::Summariser};
use netburn_scenario::Plan;

/// A column of figures.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// Its name: `throughput_mbps`, `b.browsing.p95_ms`.
    pub name: String,
    /// What its figures are.
    pub measure: Measure,
}

/// What a column's figures are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Milliseconds.
    Ms,
    /// 10⁶ bit/s.
    Mbps,
    /// 0 to 1.
    Share,
    /// How many.
    Count,
    /// A verdict, by name.
    Verdict,
}

/// One figure of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum MetricValue {
    /// Not known, or not of this run.
    None,
    /// A number.
    Number(f64),
    /// A verdict's name.
    Text(&'static str),
}

impl Measure {
    /// Its unit, as an axis says it; nothing where it has none.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Measure::Ms => "ms",
            Measure::Mbps => "Mbit/s",
            Measure::Share | Measure::Count | Measure::Verdict => "",
        }
    }
}

impl MetricValue {
    /// The number, if it is one.
    #[must_use]
    pub const fn number(&self) -> Option<f64> {
        match self {
            MetricValue::Number(value) => Some(*value),
            MetricValue::None | MetricValue::Text(_) => None,
        }
    }

    /// As a field of CSV: the number to its last digit, the text, or nothing.
    #[must_use]
    pub fn field(&self) -> String {
        match self {
            MetricValue::None => String::new(),
            MetricValue::Number(value) => value.to_string(),
            MetricValue::Text(text) => (*text).to_owned(),
        }
    }
}

impl From<Option<f64>> for MetricValue {
    fn from(value: Option<f64>) -> Self {
        value
            .filter(|value| value.is_finite())
            .map_or(MetricValue::None, MetricValue::Number)
    }
}

/// The columns that a plan's rows have.
pub(super) fn columns(plan: &Plan) -> Vec<Column> {
    // A run without rows has the same figures, all empty.
    let empty = Summariser::new(Header::simulated(plan.clone())).finish("", &Ending::Complete);
    figures(&empty).into_iter().map(|(column, _)| column).collect()
}

/// A run's figures, each with its column.
pub(super) fn figures(summary: &Summary) -> Vec<(Column, MetricValue)> {
    let totals = &summary.totals;
    let mut all = vec![
        verdict(VERDICT, summary.verdict),
        number("throughput_mbps", Measure::Mbps, Some(totals.throughput_mbps)),
        number("airtime_jain", Measure::Share, totals.airtime_jain),
        number(WORST_P95, Measure::Ms, worst_p95(summary)),
    ];
    for station in &summary.stations {
        of_station(station, &mut all);
    }
    all
}

/// The column of the verdict of the whole run.
pub(super) const VERDICT: &str = "verdict";

/// The column of the longest 95th percentile of all waits.
pub(super) const WORST_P95: &str = "worst_p95_ms";

/// The 95th percentile of the workload that waits longest, of those whose operations somebody waits for. `None` when none has
/// enough operations, or one of them is among those that never ended.
fn worst_p95(summary: &Summary) -> Option<f64> {
    let workloads = summary.stations.iter().flat_map(|station| &station.workloads);
    let waits = workloads.filter(|workload| !matches!(workload.kind.as_str(), "download" | "upload"));
    let supported = waits.filter(|workload| workload.latency_ms.count >= P95_NEEDS);
    let p95s: Option<Vec<f64>> = supported.map(|workload| workload.latency_ms.p95).collect();
    p95s?.into_iter().reduce(f64::max)
}

/// Samples that a 95th percentile needs: 3 / (1 − 0.95).
const P95_NEEDS: u64 = 60;

fn of_station(station: &StationSummary, all: &mut Vec<(Column, MetricValue)>) {
    let name = |what: &str| format!("{}.{what}", station.name);
    all.extend([
        verdict(&name("verdict"), station.verdict),
        number(&name("throughput_mbps"), Measure::Mbps, Some(station.throughput_mbps)),
        number(&name("airtime_share"), Measure::Share, station.airtime_share),
        number(&name("idle_latency_ms"), Measure::Ms, station.idle_latency_ms),
    ]);
    for workload in &station.workloads {
        of_workload(&name(&workload.name), workload, all);
    }
}

fn of_workload(name: &str, workload: &WorkloadSummary, all: &mut Vec<(Column, MetricValue)>) {
    let name = |what: &str| format!("{name}.{what}");
    let latency = &workload.latency_ms;
    all.extend([
        verdict(&name("verdict"), workload.verdict),
        number(&name("throughput_mbps"), Measure::Mbps, Some(workload.throughput_mbps)),
        count(&name("operations"), workload.operations),
        count(&name("goal_misses"), workload.goal_misses),
        number(&name("p50_ms"), Measure::Ms, latency.p50),
        number(&name("p95_ms"), Measure::Ms, latency.p95),
        number(&name("p99_ms"), Measure::Ms, latency.p99),
        number(&name("max_ms"), Measure::Ms, latency.max),
    ]);
    if let Some(player) = &workload.player {
        all.extend([
            count(&name("stalls"), player.stalls),
            number(&name("stalled_ms"), Measure::Ms, Some(player.stalled_ms)),
        ]);
    }
    if let Some(probe) = &workload.probe {
        all.push(number(&name("lost_share"), Measure::Share, probe.lost_share));
    }
}

fn number(name: &str, measure: Measure, value: Option<f64>) -> (Column, MetricValue) {
    (column(name, measure), value.into())
}

fn count(name: &str, value: u64) -> (Column, MetricValue) {
    number(name, Measure::Count, Some(value as f64))
}

fn verdict(name: &str, value: netburn_workload::Verdict) -> (Column, MetricValue) {
    (column(name, Measure::Verdict), MetricValue::Text(verdict_name(value)))
}

fn column(name: &str, measure: Measure) -> Column {
    Column {
        name: name.to_owned(),
        measure,
    }
}
