//! Columns of a row and their values, from a run's summary.

use netburn_record::summary::{StationSummary, WorkloadSummary, verdict_name};
use netburn_record::{Header, RunStatus, Summary, summary::Summariser};
use netburn_scenario::Plan;

/// A column of metric values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// Name: `throughput_mbps`, `b.browsing.p95_ms`.
    pub name: String,
    /// Unit and type of the values.
    pub measure: Measure,
}

/// Unit and type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Milliseconds.
    Ms,
    /// 10⁶ bit/s.
    Mbps,
    /// 0 to 1.
    Share,
    /// A count.
    Count,
    /// Points of the rating R of a call.
    Points,
    /// Round trips per minute.
    Rpm,
    /// A verdict, by name.
    Verdict,
}

/// Value of one metric in a row.
#[derive(Debug, Clone, PartialEq)]
pub enum MetricValue {
    /// Unknown, or not applicable to this run.
    None,
    /// A number.
    Number(f64),
    /// Name of a verdict.
    Text(&'static str),
}

impl Measure {
    /// Unit for the axis of a chart; empty if it has none.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Measure::Ms => "ms",
            Measure::Mbps => "Mbit/s",
            Measure::Rpm => "rpm",
            Measure::Share | Measure::Count | Measure::Points | Measure::Verdict => "",
        }
    }
}

impl MetricValue {
    /// Returns the number, if the value is one.
    #[must_use]
    pub const fn number(&self) -> Option<f64> {
        match self {
            MetricValue::Number(value) => Some(*value),
            MetricValue::None | MetricValue::Text(_) => None,
        }
    }

    /// Formats the value for CSV: the number with all digits, the text, or an empty field.
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

/// Columns of a plan's rows.
pub(super) fn columns(plan: &Plan) -> Vec<Column> {
    // A run without rows has the same columns, all empty.
    let empty = Summariser::new(Header::simulated(plan.clone())).finish("", &RunStatus::Complete);
    metrics(&empty).into_iter().map(|(column, _)| column).collect()
}

/// Values of a run, each with its column.
pub(super) fn metrics(summary: &Summary) -> Vec<(Column, MetricValue)> {
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

/// Column of the run's verdict.
pub(super) const VERDICT: &str = "verdict";

/// Column of the highest 95th percentile latency.
pub(super) const WORST_P95: &str = "worst_p95_ms";

/// Highest 95th percentile latency of all workloads except downloads and uploads. `None` if no workload has enough operations, or
/// if the percentile falls among operations that never ended.
fn worst_p95(summary: &Summary) -> Option<f64> {
    let workloads = summary.stations.iter().flat_map(|station| &station.workloads);
    let waits = workloads.filter(|workload| !matches!(workload.kind.as_str(), "download" | "upload"));
    let supported = waits.filter(|workload| workload.latency_ms.count >= P95_NEEDS);
    let p95s: Option<Vec<f64>> = supported.map(|workload| workload.latency_ms.p95).collect();
    p95s?.into_iter().reduce(f64::max)
}

/// Minimum number of samples for a 95th percentile: 3 / (1 − 0.95).
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
    if let Some(segments) = &workload.segments {
        all.extend([
            number(&name("bit_rate_mbps"), Measure::Mbps, segments.mean_mbps),
            number(&name("at_highest_share"), Measure::Share, segments.at_highest_share),
            count(&name("switches"), segments.switches),
        ]);
    }
    if let Some(probe) = &workload.probe {
        all.push(number(&name("lost_share"), Measure::Share, probe.lost_share));
    }
    if let Some(streams) = &workload.streams {
        if let Some(frames) = streams.down.and_then(|stream| stream.frames) {
            all.push(number(
                &name("missed_frames_share"),
                Measure::Share,
                frames.missed_share,
            ));
        }
        if let Some(trip) = &streams.round_trip_ms {
            all.extend([
                number(&name("round_trip_p50_ms"), Measure::Ms, trip.p50),
                number(&name("round_trip_p95_ms"), Measure::Ms, trip.p95),
                number(&name("qoo"), Measure::Points, streams.qoo),
            ]);
        }
        for (direction, stream) in [("up", &streams.up), ("down", &streams.down)] {
            if let Some(stream) = stream {
                let delay = stream.delivery.delay_ms.unwrap_or_default();
                all.extend([
                    number(&name(&format!("delay_{direction}_p50_ms")), Measure::Ms, delay.p50),
                    number(&name(&format!("delay_{direction}_p95_ms")), Measure::Ms, delay.p95),
                    number(
                        &name(&format!("lost_{direction}_share")),
                        Measure::Share,
                        stream.delivery.lost_share,
                    ),
                ]);
                if let Some(video) = stream.video {
                    let of = |what: &str, unit: &str| name(&format!("{what}_{direction}{unit}"));
                    all.extend([
                        count(&of("freezes", ""), video.freezes),
                        number(&of("frozen", "_share"), Measure::Share, video.frozen_share),
                        number(&of("rate", "_mbps"), Measure::Mbps, video.rate_mbps),
                        number(&of("at_target", "_share"), Measure::Share, video.at_target_share),
                    ]);
                }
            }
        }
    }
    if let Some(of) = &workload.responsiveness {
        all.extend([
            number(&name("rpm"), Measure::Rpm, of.rpm),
            number(&name("foreign_rpm"), Measure::Rpm, of.foreign_rpm),
            number(&name("loaded_rpm"), Measure::Rpm, of.loaded_rpm),
            number(&name("p90_rpm"), Measure::Rpm, of.p90_rpm),
            count(
                &name("lost_probes"),
                of.foreign_probes.lost.saturating_add(of.self_probes.lost),
            ),
        ]);
    }
    if let Some(voice) = &workload.voice {
        for (direction, stream) in [("up", &voice.up), ("down", &voice.down)] {
            all.extend([
                number(&name(&format!("rating_{direction}")), Measure::Points, stream.rating),
                number(
                    &name(&format!("lost_{direction}_share")),
                    Measure::Share,
                    stream.delivery.lost_share,
                ),
            ]);
        }
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
