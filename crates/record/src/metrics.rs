//! The catalogue of metrics: names, units, values and comparisons of the numbers of a summary.
//!
//! Sweeps, comparisons and formulas over runs iterate over it, so a new metric is one entry here. The
//! results of each kind of workload have a file with their entries.

mod playback;
mod probe;
mod responsiveness;
mod run;
mod streams;
mod voice;
mod workload;

use crate::summary::{GoalSummary, LatencyMs, StationSummary, Summary, WorkloadSummary};
use netburn_stats::metric_change::{Better, Tolerance};
use netburn_stats::percentile::supported;
use netburn_units::Probability;
use netburn_workload::Verdict;
use std::hash::{Hash, Hasher};

/// Description of a metric.
#[derive(Debug)]
pub struct Quantity {
    /// Name in files and arguments: `p95_ms`.
    pub name: &'static str,
    /// Path in the summary of its run, station, workload or goal: `latency_ms.p95`.
    pub path: &'static str,
    /// Older name that arguments and files may have.
    pub alias: Option<&'static str>,
    /// Unit.
    pub unit: Unit,
    /// Family of the OpenMetrics export; `None`: the export does not contain the metric.
    pub gauge: Option<Gauge>,
    /// Comparison of two sets of runs; `None`: comparisons do not contain the metric.
    pub comparison: Option<Comparison>,
}

/// Comparison of a metric.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// Short name with the displayed unit, for tables.
    pub heading: &'static str,
    /// Description, without an article.
    pub words: &'static str,
    /// Direction of improvement.
    pub better: Better,
    /// Difference that is irrelevant.
    pub tolerance: Tolerance,
}

/// Family of an OpenMetrics export.
#[derive(Debug, Clone, Copy)]
pub struct Gauge {
    /// Name, which ends with the unit.
    pub name: &'static str,
    /// Help text.
    pub help: &'static str,
    /// Label `direction`.
    pub direction: Option<&'static str>,
}

/// Unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// 10⁶ bit/s.
    Mbps,
    /// A share, 0 to 1, or a ratio.
    Share,
    /// A count.
    Count,
    /// Points of the rating R, 0 to 93, or of the Quality of Outcome, 0 to 100.
    Points,
    /// Round trips per minute.
    Rpm,
    /// A verdict, as in [`VERDICTS`].
    Verdict,
}

/// A value of a summary.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Its metric.
    pub quantity: &'static Quantity,
    /// Number of the goal, from 0; `None` for metrics that are not those of a goal.
    pub goal: Option<usize>,
    /// The value; `None` if it is unknown. A percentile among operations that never ended is infinite.
    pub value: Option<f64>,
    /// True if comparisons of this workload contain the metric.
    pub is_compared: bool,
}

/// Verdicts by name, with their numbers.
pub const VERDICTS: [(&str, f64); 4] = [("fail", 0.0), ("inconclusive", 1.0), ("marginal", 2.0), ("pass", 3.0)];

/// A metric of a summary, a station, a workload or a goal.
struct Metric<T: 'static> {
    quantity: Quantity,
    /// `None` if the metric does not apply; `Some(None)` if its value is unknown.
    value: fn(&T) -> Option<Option<f64>>,
    /// True if a comparison contains it.
    is_compared: fn(&T) -> bool,
}

impl<T> Metric<T> {
    /// A metric whose name is also its path.
    const fn new(name: &'static str, unit: Unit, value: fn(&T) -> Option<Option<f64>>) -> Self {
        Metric {
            quantity: Quantity {
                name,
                path: name,
                alias: None,
                unit,
                gauge: None,
                comparison: None,
            },
            value,
            is_compared: |_| true,
        }
    }

    const fn at(mut self, path: &'static str) -> Self {
        self.quantity.path = path;
        self
    }

    const fn alias(mut self, alias: &'static str) -> Self {
        self.quantity.alias = Some(alias);
        self
    }

    const fn compared(
        mut self,
        heading: &'static str,
        words: &'static str,
        better: Better,
        tolerance: Tolerance,
    ) -> Self {
        self.quantity.comparison = Some(Comparison {
            heading,
            words,
            better,
            tolerance,
        });
        self
    }

    const fn gauge(mut self, name: &'static str, help: &'static str) -> Self {
        self.quantity.gauge = Some(Gauge {
            name,
            help,
            direction: None,
        });
        self
    }

    /// A family with a label for the direction.
    const fn gauge_of(mut self, direction: &'static str, name: &'static str, help: &'static str) -> Self {
        self.quantity.gauge = Some(Gauge {
            name,
            help,
            direction: Some(direction),
        });
        self
    }

    const fn compared_if(mut self, is_compared: fn(&T) -> bool) -> Self {
        self.is_compared = is_compared;
        self
    }

    fn measure(&'static self, of: &T, goal: Option<usize>) -> Option<Measured> {
        (self.value)(of).map(|value| Measured {
            quantity: &self.quantity,
            goal,
            value,
            is_compared: self.quantity.comparison.is_some() && (self.is_compared)(of),
        })
    }
}

/// Metrics of the results that only some kinds of workload have.
static OF_KINDS: [&[Metric<WorkloadSummary>]; 8] = [
    playback::PLAYER,
    playback::SEGMENTS,
    probe::METRICS,
    streams::UP,
    streams::DOWN,
    streams::BOTH,
    responsiveness::METRICS,
    voice::METRICS,
];

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
    all.extend(OF_KINDS.into_iter().flatten().filter_map(measure));
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

/// Descriptions of the metrics of a workload. Kinds of workload that measure the same have one name for it.
pub fn workload_quantities() -> impl Iterator<Item = &'static Quantity> {
    let common = workload::WORKLOAD.iter().map(|metric| &metric.quantity);
    let goal = workload::GOAL.iter().map(|metric| &metric.quantity);
    let of_kinds = OF_KINDS.into_iter().flatten().map(|metric| &metric.quantity);
    common.chain(goal).chain(of_kinds)
}

impl Quantity {
    /// Returns true for its name, and for its older name.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }
}

// Two entries of one level never have the same path.
impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Quantity {}

impl PartialEq for Comparison {
    fn eq(&self, other: &Self) -> bool {
        (self.heading, self.words) == (other.heading, other.words)
    }
}

impl Eq for Comparison {}

impl Hash for Comparison {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.heading, self.words).hash(state);
    }
}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.path.hash(state);
    }
}

impl Unit {
    /// Name in JSON documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Ms => "ms",
            Unit::Mbps => "mbps",
            Unit::Share => "share",
            Unit::Count => "count",
            Unit::Points => "points",
            Unit::Rpm => "rpm",
            Unit::Verdict => "verdict",
        }
    }

    /// Symbol for the axis of a chart; empty if it has none.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::Ms => "ms",
            Unit::Mbps => "Mbit/s",
            Unit::Rpm => "rpm",
            Unit::Share | Unit::Count | Unit::Points | Unit::Verdict => "",
        }
    }
}

/// A count that always applies.
fn count(value: u64) -> Option<Option<f64>> {
    Some(Some(value as f64))
}

fn verdict(verdict: Verdict) -> Option<Option<f64>> {
    let rank = match verdict {
        Verdict::None => None,
        Verdict::Fail => Some(0.0),
        Verdict::Inconclusive => Some(1.0),
        Verdict::Marginal => Some(2.0),
        Verdict::Pass => Some(3.0),
    };
    Some(rank)
}

/// A percentile; infinite among samples that never ended.
fn percentile(value: Option<f64>, level: Probability, of: &LatencyMs) -> Option<f64> {
    match value {
        None if of.unbounded > 0 && supported(level, of.count) => Some(f64::INFINITY),
        value => value,
    }
}
