//! Descriptions of metrics, and how their values are taken from results.

use crate::latency_ms::LatencyMs;
use crate::verdict::verdict_name;
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
    /// Headings of its columns, by [`Table`]; `None`: the table does not contain the metric.
    headings: [Option<&'static str>; Table::COUNT],
}

/// A table whose columns are metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Stations and goals of a run, on a terminal.
    Stations,
    /// Workloads of a run, on its page.
    Workloads,
    /// Workloads of a run, in Markdown.
    Markdown,
    /// Runs of a sweep, on a terminal.
    Sweep,
}

impl Table {
    const COUNT: usize = Table::Sweep as usize + 1;
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
#[derive(Debug, Clone)]
pub struct Measured {
    /// Its metric.
    pub quantity: &'static Quantity,
    /// Number of the goal, from 0; `None` for metrics that are not those of a goal.
    pub goal: Option<usize>,
    /// The value; `None` if it is unknown. A percentile among operations that never ended is infinite.
    pub value: Option<f64>,
    /// Operations that never ended, if the value is a percentile among them, or the maximum of the others.
    pub unended: u64,
    /// True if comparisons of this workload contain the metric.
    pub is_compared: bool,
    /// Name of its row in a table of the runs before and after a change; `None`: the table does not contain it.
    pub row: Option<String>,
}

/// Verdicts by name, with their numbers.
pub const VERDICTS: [(&str, f64); 4] = [("fail", 0.0), ("inconclusive", 1.0), ("marginal", 2.0), ("pass", 3.0)];

/// A metric of a summary, a station, a workload or a goal.
pub(crate) struct Metric<T: 'static> {
    pub(crate) quantity: Quantity,
    /// `None` if the metric does not apply; `Some(None)` if its value is unknown.
    value: fn(&T) -> Option<Option<f64>>,
    unended: fn(&T) -> u64,
    /// True if a comparison contains it.
    is_compared: fn(&T) -> bool,
    row: fn(&T) -> Option<String>,
}

impl<T> Metric<T> {
    /// A metric whose name is also its path.
    pub(crate) const fn new(name: &'static str, unit: Unit, value: fn(&T) -> Option<Option<f64>>) -> Self {
        Metric {
            quantity: Quantity {
                name,
                path: name,
                alias: None,
                unit,
                gauge: None,
                comparison: None,
                headings: [None; Table::COUNT],
            },
            value,
            unended: |_| 0,
            is_compared: |_| true,
            row: |_| None,
        }
    }

    pub(crate) const fn at(mut self, path: &'static str) -> Self {
        self.quantity.path = path;
        self
    }

    pub(crate) const fn alias(mut self, alias: &'static str) -> Self {
        self.quantity.alias = Some(alias);
        self
    }

    pub(crate) const fn compared(
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

    pub(crate) const fn gauge(mut self, name: &'static str, help: &'static str) -> Self {
        self.quantity.gauge = Some(Gauge {
            name,
            help,
            direction: None,
        });
        self
    }

    /// A family with a label for the direction.
    pub(crate) const fn gauge_of(mut self, direction: &'static str, name: &'static str, help: &'static str) -> Self {
        self.quantity.gauge = Some(Gauge {
            name,
            help,
            direction: Some(direction),
        });
        self
    }

    pub(crate) const fn compared_if(mut self, is_compared: fn(&T) -> bool) -> Self {
        self.is_compared = is_compared;
        self
    }

    /// A column of a table.
    pub(crate) const fn column(mut self, table: Table, heading: &'static str) -> Self {
        self.quantity.headings[table as usize] = Some(heading);
        self
    }

    pub(crate) const fn unended(mut self, unended: fn(&T) -> u64) -> Self {
        self.unended = unended;
        self
    }

    pub(crate) const fn row(mut self, row: fn(&T) -> Option<String>) -> Self {
        self.row = row;
        self
    }

    pub(crate) fn measure(&'static self, of: &T, goal: Option<usize>) -> Option<Measured> {
        (self.value)(of).map(|value| Measured {
            quantity: &self.quantity,
            goal,
            value,
            unended: (self.unended)(of),
            is_compared: self.quantity.comparison.is_some() && (self.is_compared)(of),
            row: (self.row)(of),
        })
    }
}

impl Quantity {
    /// Returns true for its name, and for its older name.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }

    /// Heading of its column in a table; `None`: the table does not contain the metric.
    #[must_use]
    pub const fn heading(&self, table: Table) -> Option<&'static str> {
        self.headings[table as usize]
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
pub(crate) fn count(value: u64) -> Option<Option<f64>> {
    Some(Some(value as f64))
}

/// The number of a verdict in [`VERDICTS`].
pub(crate) fn verdict(verdict: Verdict) -> Option<Option<f64>> {
    let name = verdict_name(verdict);
    let known = VERDICTS.iter().find(|(known, _)| *known == name);
    Some(known.map(|(_, number)| *number))
}

/// A percentile; infinite among samples that never ended.
pub(crate) fn percentile(value: Option<f64>, level: Probability, of: &LatencyMs) -> Option<f64> {
    match unended(value, level, of) {
        0 => value,
        _ => Some(f64::INFINITY),
    }
}

/// Number of samples that never ended, if the percentile `value` is among them.
pub(crate) fn unended(value: Option<f64>, level: Probability, of: &LatencyMs) -> u64 {
    match value {
        None if supported(level, of.count) => of.unbounded,
        _ => 0,
    }
}
