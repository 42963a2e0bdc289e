//! One metric over the first varied key, in groups by the other keys.

mod svg;
mod text;

pub use svg::svg;
pub use text::text;

use super::columns::Measure;
use super::rows::Rows;

/// What a chart shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The metric's name and unit: `throughput_mbps (Mbit/s)`.
    pub metric: String,
    /// What its figures are.
    pub measure: Measure,
    /// The first key, along the chart.
    pub key: String,
    /// That key's values, in their order.
    pub values: Vec<String>,
    /// One for each combination of the other keys' values.
    pub groups: Vec<Group>,
    /// How many seeds a point stands for at most; it is their median.
    pub seeds: u32,
}

/// The points of one combination of the other keys' values.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The combination in words; empty when there is no other key.
    pub name: String,
    /// A point for each value of the first key, where there is one.
    pub points: Vec<Option<Point>>,
}

/// What the runs of one cell come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The least of them.
    pub low: f64,
    /// Their median.
    pub median: f64,
    /// The greatest.
    pub high: f64,
}

impl Chart {
    /// The chart of a column.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    pub fn new(rows: &Rows, column: usize) -> Self {
        let mut values: Vec<String> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut cells: Vec<Vec<Vec<f64>>> = Vec::new();
        for row in &rows.rows {
            let at = place(&mut values, &row.values[0]);
            let others = rows.keys.iter().zip(&row.values).skip(1);
            let name: Vec<String> = others.map(|(key, value)| format!("{key} = {value}")).collect();
            let group = place(&mut names, &name.join(", "));
            if cells.len() <= group {
                cells.push(Vec::new());
            }
            if cells[group].len() <= at {
                cells[group].resize(at + 1, Vec::new());
            }
            cells[group][at].extend(row.figures[column].number());
        }
        let groups = names.into_iter().zip(cells).map(|(name, mut points)| {
            points.resize(values.len(), Vec::new());
            Group {
                name,
                points: points.into_iter().map(Point::of).collect(),
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

    /// The metric and what a point is, in words.
    #[must_use]
    pub fn title(&self) -> String {
        match self.seeds {
            1 => self.metric.clone(),
            seeds => format!("{}, median of {seeds} seeds", self.metric),
        }
    }

    /// The greatest figure of all; `None` without any.
    #[must_use]
    pub fn highest(&self) -> Option<f64> {
        let points = self.groups.iter().flat_map(|group| group.points.iter().flatten());
        points.map(|point| point.high).reduce(f64::max)
    }
}

impl Point {
    fn of(mut figures: Vec<f64>) -> Option<Self> {
        figures.sort_by(f64::total_cmp);
        let middle = figures.len() / 2;
        let (low, high) = (*figures.first()?, *figures.last()?);
        let median = match figures.len() % 2 {
            0 => (figures[middle - 1] + figures[middle]) / 2.0,
            _ => figures[middle],
        };
        Some(Point { low, median, high })
    }
}

fn place(known: &mut Vec<String>, value: &str) -> usize {
    known.iter().position(|other| other == value).unwrap_or_else(|| {
        known.push(value.to_owned());
        known.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_the_median_between_its_extremes() {
        let point = |figures: &[f64]| Point::of(figures.to_vec()).map(|p| (p.low, p.median, p.high));
        assert_eq!(point(&[]), None);
        assert_eq!(point(&[3.0]), Some((3.0, 3.0, 3.0)));
        assert_eq!(point(&[9.0, 1.0, 2.0]), Some((1.0, 2.0, 9.0)));
        assert_eq!(point(&[4.0, 1.0, 2.0, 9.0]), Some((1.0, 3.0, 9.0)));
    }
}
