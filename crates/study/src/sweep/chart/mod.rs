//! Chart of one metric over the first varied key: a series for each value of the second key, and a panel for each
//! combination of the others.

mod svg;
mod text;

pub use svg::svg;
pub use text::text;

use super::columns::Measure;
use super::rows::Rows;

/// Data of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Name and unit of the metric: `throughput_mbps (Mbit/s)`.
    pub metric: String,
    /// Unit and type of the metric's values.
    pub measure: Measure,
    /// First key, along the x axis.
    pub key: String,
    /// Values of that key, in order.
    pub values: Vec<String>,
    /// One group for each combination of the other keys' values.
    pub groups: Vec<Group>,
    /// Maximum number of seeds per point; a point is their median.
    pub seeds: u32,
}

/// Points of one combination of the other keys' values.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Second key and its value; empty if there is no second key.
    pub series: String,
    /// Further keys and their values; empty if there are at most two keys.
    pub panel: String,
    /// A point for each value of the first key, if it has results.
    pub points: Vec<Option<Point>>,
}

/// Minimum, median and maximum over the runs of one cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Minimum.
    pub low: f64,
    /// Median.
    pub median: f64,
    /// Maximum.
    pub high: f64,
}

impl Chart {
    /// Creates the chart of a column.
    ///
    /// # Panics
    /// The column does not exist.
    #[must_use]
    pub fn new(rows: &Rows, column: usize) -> Self {
        let mut values: Vec<String> = Vec::new();
        let mut names: Vec<(String, String)> = Vec::new();
        let mut cells: Vec<Vec<Vec<f64>>> = Vec::new();
        for row in &rows.rows {
            let at = place(&mut values, &row.values[0]);
            let others = rows.keys.iter().zip(&row.values).skip(1);
            let mut others = others.map(|(key, value)| format!("{key} = {value}"));
            let series = others.next().unwrap_or_default();
            let panel: Vec<String> = others.collect();
            let group = place(&mut names, &(series, panel.join(", ")));
            if cells.len() <= group {
                cells.push(Vec::new());
            }
            if cells[group].len() <= at {
                cells[group].resize(at + 1, Vec::new());
            }
            cells[group][at].extend(row.metrics[column].number());
        }
        let groups = names.into_iter().zip(cells).map(|((series, panel), mut points)| {
            points.resize(values.len(), Vec::new());
            Group {
                series,
                panel,
                points: points.into_iter().map(Point::from_values).collect(),
            }
        });
        let measure = rows.columns[column].measure;
        let name = &rows.columns[column].name;
        Chart {
            metric: match measure.unit() {
                "" => name.clone(),
                unit => format!("{name} ({unit})"),
            },
            measure,
            key: rows.keys[0].clone(),
            groups: groups.collect(),
            values,
            seeds: rows.repeat,
        }
    }

    /// Title: the metric, and the number of seeds per point.
    #[must_use]
    pub fn title(&self) -> String {
        match self.seeds {
            1 => self.metric.clone(),
            seeds => format!("{}, median of {seeds} seeds", self.metric),
        }
    }
}

impl Group {
    /// Description of the combination; empty if there is no second key.
    #[must_use]
    pub fn name(&self) -> String {
        if self.panel.is_empty() {
            self.series.clone()
        } else {
            format!("{}, {}", self.series, self.panel)
        }
    }
}

impl Point {
    fn from_values(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let (low, high) = (*values.first()?, *values.last()?);
        let median = match values.len() % 2 {
            0 => (values[middle - 1] + values[middle]) / 2.0,
            _ => values[middle],
        };
        Some(Point { low, median, high })
    }
}

fn place<T: PartialEq + Clone>(known: &mut Vec<T>, value: &T) -> usize {
    known.iter().position(|other| other == value).unwrap_or_else(|| {
        known.push(value.clone());
        known.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_the_median_between_its_extremes() {
        let point = |metrics: &[f64]| Point::from_values(metrics.to_vec()).map(|p| (p.low, p.median, p.high));
        assert_eq!(point(&[]), None);
        assert_eq!(point(&[3.0]), Some((3.0, 3.0, 3.0)));
        assert_eq!(point(&[9.0, 1.0, 2.0]), Some((1.0, 2.0, 9.0)));
        assert_eq!(point(&[4.0, 1.0, 2.0, 9.0]), Some((1.0, 3.0, 9.0)));
    }
}
