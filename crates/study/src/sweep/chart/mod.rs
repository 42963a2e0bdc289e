//! Chart of one metric over the first varied key: a series for each value of the second key, and a panel for each
//! combination of the others.

mod contour;
mod scale;
mod surface;
mod svg;
mod text;

pub use surface::Surface;
pub use svg::svg;
pub use text::text;

use super::cells::{Cells, Estimate};
use super::rows::Rows;
use netburn_record::metrics::Unit;
use netburn_stats::median_interval::MIN_VALUES;

/// Data of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Name and unit of the metric: `throughput_mbps (Mbit/s)`.
    pub metric: String,
    /// Unit and type of the metric's values.
    pub unit: Unit,
    /// First key, along the x axis.
    pub key: String,
    /// Values of that key, in order.
    pub values: Vec<String>,
    /// One group for each combination of the other keys' values.
    pub groups: Vec<Group>,
    /// Minimum and maximum number of seeds per point; a point is their median.
    pub seeds: (usize, usize),
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

/// Median over the runs of one cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Median.
    pub median: f64,
    /// Lower end of the shown range: of the confidence interval of the median, or the minimum of fewer than six runs.
    pub low: f64,
    /// Upper end of the shown range.
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
        let mut points: Vec<Vec<Option<Point>>> = Vec::new();
        let mut seeds: Option<(usize, usize)> = None;
        for cell in &Cells::new(rows).cells {
            let runs = cell.rows.len();
            let (fewest, most) = seeds.unwrap_or((runs, runs));
            seeds = Some((fewest.min(runs), most.max(runs)));
            let at = place(&mut values, &cell.values[0]);
            let others = rows.keys.iter().zip(cell.values).skip(1);
            let mut others = others.map(|(key, value)| format!("{key} = {value}"));
            let series = others.next().unwrap_or_default();
            let panel: Vec<String> = others.collect();
            let group = place(&mut names, &(series, panel.join(", ")));
            if points.len() <= group {
                points.push(Vec::new());
            }
            if points[group].len() <= at {
                points[group].resize(at + 1, None);
            }
            points[group][at] = Point::from_values(&cell.numbers(column));
        }
        let groups = names.into_iter().zip(points).map(|((series, panel), mut points)| {
            points.resize(values.len(), None);
            Group { series, panel, points }
        });
        let unit = rows.columns[column].unit;
        let name = &rows.columns[column].name;
        Chart {
            metric: match unit.symbol() {
                "" => name.clone(),
                unit => format!("{name} ({unit})"),
            },
            unit,
            key: rows.keys[0].clone(),
            groups: groups.collect(),
            values,
            seeds: seeds.unwrap_or((1, 1)),
        }
    }

    /// Title: the metric, the number of seeds per point, and what the range shows.
    #[must_use]
    pub fn title(&self) -> String {
        let seeds = match self.seeds {
            (_, 1) => return self.metric.clone(),
            (fewest, most) if fewest == most => format!("{most} seeds"),
            (fewest, most) => format!("{fewest} to {most} seeds"),
        };
        let range = if self.has_intervals() { "95 % interval" } else { "range" };
        format!("{}, median and {range} of {seeds}", self.metric)
    }

    /// `true` if the ranges of the points are confidence intervals.
    #[must_use]
    pub const fn has_intervals(&self) -> bool {
        self.seeds.1 >= MIN_VALUES
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
    fn from_values(values: &[f64]) -> Option<Self> {
        let Estimate { median, interval } = Estimate::from_values(values)?;
        let range = || {
            let fold = |with: fn(f64, f64) -> f64| values.iter().copied().reduce(with).unwrap_or(median);
            (fold(f64::min), fold(f64::max))
        };
        let (low, high) = interval.unwrap_or_else(range);
        Some(Point { median, low, high })
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
    fn a_point_is_the_median_within_its_range() {
        let point = |metrics: &[f64]| Point::from_values(metrics).map(|p| (p.low, p.median, p.high));
        assert_eq!(point(&[]), None);
        assert_eq!(point(&[3.0]), Some((3.0, 3.0, 3.0)));
        assert_eq!(point(&[9.0, 1.0, 2.0]), Some((1.0, 2.0, 9.0)));
        assert_eq!(point(&[4.0, 1.0, 2.0, 9.0]), Some((1.0, 3.0, 9.0)));
        // Of nine values, the interval is from the second to the eighth.
        let nine: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(point(&nine), Some((2.0, 5.0, 8.0)));
    }
}
