//! Results of a sweep: one row per run.

use super::check::Checked;
use super::columns::{Column, MetricValue, VERDICT, WORST_P95, metrics};
use super::grid::Grid;
use netburn_record::Summary;
use netburn_record::metrics::{Unit, run_quantities, station_quantities};
use std::collections::BTreeMap;

/// Rows of a sweep with their columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Varied keys.
    pub keys: Vec<String>,
    /// Columns of the metrics.
    pub columns: Vec<Column>,
    /// Number of runs of each cell.
    pub repeat: u32,
    /// Number of runs of the whole sweep.
    pub total_runs: u64,
    /// Rows of finished runs, in the order of their numbers.
    pub rows: Vec<Row>,
}

/// One run, or one invalid cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Number of the run, from 1.
    pub run: u64,
    /// Values of the keys, in the order of the keys.
    pub values: Vec<String>,
    /// Random seed of the run; `None` for an invalid cell.
    pub seed: Option<u64>,
    /// Values of the metrics, in the order of the columns.
    pub metrics: Vec<MetricValue>,
}

impl Rows {
    /// Creates a table without rows.
    #[must_use]
    pub fn new(grid: &Grid, checked: &Checked) -> Self {
        Rows {
            keys: grid.keys().to_vec(),
            columns: checked.columns.clone(),
            repeat: grid.repeat(),
            total_runs: grid.runs(),
            rows: Vec::new(),
        }
    }

    /// Returns the index of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        position(&self.columns, name)
    }

    /// Returns the index of the column with this name, or else of the default metric.
    #[must_use]
    pub fn metric_or_default(&self, name: Option<&str>) -> usize {
        let column = name.and_then(|name| self.column(name));
        column.unwrap_or_else(|| self.metric())
    }

    /// Default metric of a chart: the highest 95th percentile latency, or the throughput if less than half of the rows have
    /// that.
    #[must_use]
    pub fn metric(&self) -> usize {
        let known = |place: &usize| {
            let numbers = self.rows.iter().filter(|row| row.metrics[*place].number().is_some());
            numbers.count() * 2 >= self.rows.len().max(1)
        };
        let throughput = self.column("throughput_mbps").unwrap_or_default();
        self.column(WORST_P95).filter(known).unwrap_or(throughput)
    }
}

impl Row {
    pub(super) fn from_summary(rows: &Rows, run: u64, seed: u64, values: Vec<String>, summary: &Summary) -> Self {
        let mut found: BTreeMap<Column, MetricValue> = metrics(summary).into_iter().collect();
        let metrics = rows
            .columns
            .iter()
            .map(|column| found.remove(column).unwrap_or(MetricValue::None));
        Row {
            run: run + 1,
            values,
            seed: Some(seed),
            metrics: metrics.collect(),
        }
    }

    /// Row of an invalid cell: the verdict is `impossible`, and all other values are unknown. Its number is that of the cell's first run.
    pub(super) fn impossible(rows: &Rows, run: u64, values: Vec<String>) -> Self {
        let metric = |column: &Column| {
            if column.name == VERDICT {
                MetricValue::Text(IMPOSSIBLE)
            } else {
                MetricValue::None
            }
        };
        Row {
            run: run + 1,
            values,
            seed: None,
            metrics: rows.columns.iter().map(metric).collect(),
        }
    }
}

/// Index of a column by its name, or by the name of the same metric in a formula: `station.b.voip.p95_ms`,
/// `totals.airtime_jain`, `station.b.idle_ms`.
fn position(columns: &[Column], name: &str) -> Option<usize> {
    let find = |name: &str| columns.iter().position(|column| column.name == name);
    let older = || {
        let name = name.strip_prefix("station.").unwrap_or(name);
        let (of, metric) = name.rsplit_once('.')?;
        let of = Some(of).filter(|of| *of != "totals");
        let mut known = station_quantities().chain(run_quantities());
        let quantity = known.find(|known| known.is_named(metric) || known.is_named(name));
        let metric = quantity.map_or(metric, |quantity| quantity.name);
        find(&of.map_or(metric.to_owned(), |of| format!("{of}.{metric}")))
    };
    find(name).or_else(older)
}

/// Verdict of an invalid cell.
pub const IMPOSSIBLE: &str = "impossible";

/// Returns the column of a metric.
///
/// # Errors
/// The column is unknown or not numeric.
pub fn metric<'a>(columns: &'a [Column], name: &str) -> Result<&'a Column, String> {
    let numbers = || columns.iter().filter(|column| column.unit != Unit::Verdict);
    let named = position(columns, name).map(|place| &columns[place]);
    if let Some(column) = named.filter(|column| column.unit != Unit::Verdict) {
        return Ok(column);
    }
    let shown = super::vary::shortened(name);
    let near = numbers()
        .min_by_key(|column| strsim::damerau_levenshtein(&column.name, &name.chars().take(200).collect::<String>()));
    let near = near
        .map(|column| format!("did you mean `{}`? ", column.name))
        .unwrap_or_default();
    let names: Vec<&str> = numbers().map(|column| column.name.as_str()).take(40).collect();
    Err(format!(
        "--metric {shown}: unknown metric; {near}Expected one of {}",
        names.join(", ")
    ))
}
