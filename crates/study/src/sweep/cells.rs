//! Results of the cells: the median of each metric over the runs of a cell, with its confidence interval.

use super::columns::Column;
use super::csv::line;
use super::rows::{Row, Rows};
use netburn_record::metrics::Unit;
use netburn_stats::bootstrap::median;
use netburn_stats::median_interval;
use serde_json::{Map, Value, json};

/// Cells of a sweep with finished runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells<'a> {
    /// Varied keys.
    pub keys: &'a [String],
    /// Columns of numbers, with their indices in [`Rows::columns`].
    columns: Vec<(usize, &'a Column)>,
    /// Cells, in order.
    pub cells: Vec<Cell<'a>>,
}

/// One combination of values.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell<'a> {
    /// Values of the keys.
    pub values: &'a [String],
    /// Finished runs; at least one.
    pub rows: Vec<&'a Row>,
}

/// A metric over the runs of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Median.
    pub median: f64,
    /// Ends of the confidence interval of the median, of a level of 0.95 or more. `None` with fewer than six values.
    pub interval: Option<(f64, f64)>,
}

impl<'a> Cells<'a> {
    /// Groups the rows by their cells. Invalid cells are left out.
    #[must_use]
    pub fn new(rows: &'a Rows) -> Self {
        let mut cells = Cells::with_impossible(rows);
        cells.cells.retain(|cell| cell.rows[0].seed.is_some());
        cells
    }

    /// Groups the rows by their cells. An invalid cell has one row without metrics.
    pub(super) fn with_impossible(rows: &'a Rows) -> Self {
        let mut cells: Vec<Cell<'a>> = Vec::new();
        for row in &rows.rows {
            match cells.last_mut() {
                // The runs of a cell are consecutive.
                Some(cell) if cell.values == row.values => cell.rows.push(row),
                _ => cells.push(Cell {
                    values: &row.values,
                    rows: vec![row],
                }),
            }
        }
        let numbers = rows.columns.iter().enumerate();
        Cells {
            keys: &rows.keys,
            columns: numbers.filter(|(_, column)| column.unit != Unit::Verdict).collect(),
            cells,
        }
    }

    /// Columns of numbers, with their indices in [`Rows::columns`].
    #[must_use]
    pub fn columns(&self) -> &[(usize, &'a Column)] {
        &self.columns
    }

    /// Formats the cells as CSV: the keys, the number of runs, and for each metric its median and the ends of its interval.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut text = String::new();
        let metrics = self.columns.iter().flat_map(|(_, column)| column_names(column));
        let header: Vec<String> = self
            .keys
            .iter()
            .cloned()
            .chain(["runs".to_owned()])
            .chain(metrics)
            .collect();
        line(&mut text, header.iter().map(String::as_str));
        for cell in &self.cells {
            let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
            let metrics = self
                .columns
                .iter()
                .flat_map(|(place, _)| cell.values_of(*place).map(number));
            let fields: Vec<String> = cell
                .values
                .iter()
                .cloned()
                .chain([cell.rows.len().to_string()])
                .chain(metrics)
                .collect();
            line(&mut text, fields.iter().map(String::as_str));
        }
        text
    }

    /// JSON: `[{ values: { key: value }, runs, metrics: { name: { median, low, high } } }]`. Unknown values are `null`.
    #[must_use]
    pub fn json(&self) -> Value {
        let cell = |cell: &Cell<'_>| {
            let keys = self.keys.iter().cloned();
            let values: Map<String, Value> = keys.zip(cell.values.iter().cloned().map(Value::from)).collect();
            let metrics = self.columns.iter().map(|(place, column)| {
                let [median, low, high] = cell.values_of(*place);
                (
                    column.name.clone(),
                    json!({ "median": median, "low": low, "high": high }),
                )
            });
            json!({ "values": values, "runs": cell.rows.len(), "metrics": metrics.collect::<Map<_, _>>() })
        };
        self.cells.iter().map(cell).collect()
    }
}

/// Names of the columns of a metric: its median, and the ends of the interval.
#[must_use]
pub fn column_names(column: &Column) -> [String; 3] {
    let name = &column.name;
    [name.clone(), format!("{name} low"), format!("{name} high")]
}

impl Cell<'_> {
    /// Values of a metric, one for each run that has one.
    #[must_use]
    pub fn numbers(&self, column: usize) -> Vec<f64> {
        self.rows
            .iter()
            .filter_map(|row| row.metrics[column].number())
            .collect()
    }

    /// Median of a metric, and the ends of its interval.
    #[must_use]
    pub fn values_of(&self, column: usize) -> [Option<f64>; 3] {
        let estimate = self.estimate(column);
        let interval = estimate.and_then(|estimate| estimate.interval);
        [
            estimate.map(|estimate| estimate.median),
            interval.map(|ends| ends.0),
            interval.map(|ends| ends.1),
        ]
    }

    /// A metric over the runs. `None` if no run has a value.
    #[must_use]
    pub fn estimate(&self, column: usize) -> Option<Estimate> {
        Estimate::from_values(&self.numbers(column))
    }
}

impl Estimate {
    /// Estimate from one value per run. `None` without values.
    #[must_use]
    pub fn from_values(values: &[f64]) -> Option<Self> {
        let interval = median_interval(values).map(|interval| (interval.low, interval.high));
        (!values.is_empty()).then(|| Estimate {
            median: median(&mut values.to_vec()),
            interval,
        })
    }
}
