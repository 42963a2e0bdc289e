//! What a sweep comes to: one row a run.

use super::check::Checked;
use super::columns::{Column, MetricValue, Measure, VERDICT, WORST_P95, figures};
use super::grid::Grid;
use netburn_record::Summary;
use std::collections::BTreeMap;

/// The rows of a sweep under their columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// The varied keys.
    pub keys: Vec<String>,
    /// The columns of figures.
    pub columns: Vec<Column>,
    /// How often each cell is run.
    pub repeat: u32,
    /// How many runs the whole sweep has.
    pub of: u64,
    /// The rows of finished runs, in the order of their numbers.
    pub rows: Vec<Row>,
}

/// One run, or one cell that can't be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its number, from 1.
    pub run: u64,
    /// Its values, in the order of the keys.
    pub values: Vec<String>,
    /// What all chance in it came from; `None` where nothing was run.
    pub seed: Option<u64>,
    /// Its figures, in the order of the columns.
    pub figures: Vec<MetricValue>,
}

impl Rows {
    /// No rows yet.
    #[must_use]
    pub fn new(grid: &Grid, checked: &Checked) -> Self {
        Rows {
            keys: grid.keys().to_vec(),
            columns: checked.columns.clone(),
            repeat: grid.repeat(),
            of: grid.runs(),
            rows: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// The place of a column by its name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The metric that a chart shows where none is asked for: the longest 95th percentile of a wait, or the throughput where less than
    /// half of the rows know it.
    #[must_use]
    pub fn metric(&self) -> usize {
        let known = |place: &usize| {
            let numbers = self.rows.iter().filter(|row| row.figures[*place].number().is_some());
            numbers.count() * 2 >= self.rows.len().max(1)
        };
        let throughput = self.column("throughput_mbps").unwrap_or_default();
        self.column(WORST_P95).filter(known).unwrap_or(throughput)
    }
}

impl Row {
    pub(super) fn of(rows: &Rows, run: u64, seed: u64, values: Vec<String>, summary: &Summary) -> Self {
        let mut found: BTreeMap<Column, MetricValue> = figures(summary).into_iter().collect();
        let figures = rows
            .columns
            .iter()
            .map(|column| found.remove(column).unwrap_or(MetricValue::None));
        Row {
            run: run + 1,
            values,
            seed: Some(seed),
            figures: figures.collect(),
        }
    }

    /// The row of a cell that can't be run: its verdict says so, and nothing else is known. It has the number of the cell's first run.
    pub(super) fn impossible(rows: &Rows, run: u64, values: Vec<String>) -> Self {
        let figure = |column: &Column| match column.name == VERDICT {
            true => MetricValue::Text(IMPOSSIBLE),
            false => MetricValue::None,
        };
        Row {
            run: run + 1,
            values,
            seed: None,
            figures: rows.columns.iter().map(figure).collect(),
        }
    }
}

/// The verdict of a cell that can't be run.
pub const IMPOSSIBLE: &str = "impossible";

/// Looks a metric up among columns by its name.
///
/// # Errors
/// When there is none of that name, or it is no number: what would be right.
pub fn metric<'a>(columns: &'a [Column], name: &str) -> Result<&'a Column, String> {
    let numbers = || columns.iter().filter(|column| column.measure != Measure::Verdict);
    if let Some(column) = numbers().find(|column| column.name == name) {
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
        "--metric {shown}: there is no such column of numbers; {near}There are {}",
        names.join(", ")
    ))
}
