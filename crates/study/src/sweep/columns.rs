//! Columns of a row and their values, from a run's summary.

use netburn_record::metrics::{Measured, Table, Unit, VERDICTS, of_run, of_station, of_workload};
use netburn_record::{Header, RunStatus, Summary, summary::Summariser};
use netburn_scenario::Plan;

/// A column of metric values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// Name: `throughput_mbps`, `b.browsing.p95_ms`.
    pub name: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Heading on a terminal: `b browsing p95 ms`; `None` for columns that only the files have.
    pub heading: Option<String>,
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

/// Values of a run, each with its column: the [metrics](netburn_record::metrics) of the run, then those of each station
/// and its workloads. Goals other than the first of a workload have no columns.
pub(super) fn metrics(summary: &Summary) -> Vec<(Column, MetricValue)> {
    let mut all: Vec<_> = of_run(summary).iter().map(|measured| column("", measured)).collect();
    for station in &summary.stations {
        let prefix = format!("{}.", station.name);
        all.extend(of_station(station).iter().map(|measured| column(&prefix, measured)));
        for workload in &station.workloads {
            let prefix = format!("{prefix}{}.", workload.name);
            let first_goal = |measured: &&Measured| measured.goal.is_none_or(|number| number == 0);
            let measured = of_workload(workload);
            all.extend(
                measured
                    .iter()
                    .filter(first_goal)
                    .map(|measured| column(&prefix, measured)),
            );
        }
    }
    all
}

/// Column of the run's verdict.
pub(super) const VERDICT: &str = "verdict";

/// Column of the highest 95th percentile latency.
pub(super) const WORST_P95: &str = "worst_p95_ms";

fn column(prefix: &str, measured: &Measured) -> (Column, MetricValue) {
    let unit = measured.quantity.unit;
    let value = match unit {
        Unit::Verdict => MetricValue::Text(verdict_text(measured.value)),
        _ => measured.value.into(),
    };
    let heading = measured.quantity.heading(Table::Sweep);
    let column = Column {
        name: format!("{prefix}{}", measured.quantity.name),
        unit,
        heading: heading.map(|heading| format!("{}{heading}", prefix.replace('.', " "))),
    };
    (column, value)
}

/// Name of a verdict with this number; `none` without one.
fn verdict_text(rank: Option<f64>) -> &'static str {
    let known = VERDICTS.iter().find(|(_, number)| Some(*number) == rank);
    known.map_or("none", |(name, _)| name)
}
