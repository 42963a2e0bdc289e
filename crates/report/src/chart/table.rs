//! A chart as a table.

use super::{Chart, Datum, Scale, Unit};
use netburn_units::format_decimal;
use serde::Serialize;

/// Maximum number of rows. More points are combined, with their minimum and maximum.
pub const MAX_ROWS: usize = 40;

/// Rows of text, with a heading for each column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Table {
    /// Headings of the columns.
    pub head: Vec<String>,
    /// The rows. The first cell of each row describes the row.
    pub rows: Vec<Vec<String>>,
}

/// The chart's values: a row for each position, or for several consecutive ones, and a column for
/// each series. A cell for several values shows minimum and maximum. The last point of percentiles
/// is the slowest operation.
#[must_use]
pub fn table(chart: &Chart) -> Table {
    let mut along: Vec<f64> = chart.series.iter().flat_map(|s| s.points.iter().map(|p| p.x)).collect();
    along.sort_by(f64::total_cmp);
    along.dedup();
    let mut head = vec![chart.x.label.clone()];
    head.extend(chart.series.iter().map(|series| {
        if series.name.is_empty() {
            chart.y.label.clone()
        } else {
            series.name.clone()
        }
    }));
    let groups: Vec<Vec<f64>> = match &chart.x.scale {
        Scale::Percentile => along
            .into_iter()
            .filter(|level| shown(*level))
            .map(|level| vec![level])
            .collect(),
        Scale::Names(_) => along.into_iter().map(|x| vec![x]).collect(),
        Scale::Linear | Scale::Log => {
            let each = along.len().div_ceil(MAX_ROWS).max(1);
            along.chunks(each).map(<[f64]>::to_vec).collect()
        }
    };
    // Both advance together, because a series' points are in increasing order.
    let mut places = vec![0; chart.series.len()];
    let rows = groups.iter().map(|group| {
        let (from, to) = (group[0], group[group.len() - 1]);
        let mut row = vec![name(chart, from, to)];
        for (series, place) in chart.series.iter().zip(&mut places) {
            let rest = &series.points[*place..];
            let before = rest.partition_point(|point| point.x < from);
            let within = rest[before..].partition_point(|point| point.x <= to);
            *place += before + within;
            row.push(cell(&rest[before..before + within], chart.y.unit));
        }
        row
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    if chart.x.scale == Scale::Percentile {
        let mut row = vec!["slowest".to_owned()];
        row.extend(chart.series.iter().map(|series| match series.points.last() {
            Some(Datum { y: Some(value), .. }) => chart.y.unit.write(*value),
            Some(_) => "never finished".to_owned(),
            None => "–".to_owned(),
        }));
        rows.push(row);
    }
    Table { head, rows }
}

/// The levels of a curve that a table has.
fn shown(level: f64) -> bool {
    [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999]
        .iter()
        .any(|known| (known - level).abs() < 1e-9)
}

fn name(chart: &Chart, from: f64, to: f64) -> String {
    match &chart.x.scale {
        Scale::Names(names) => names.get(from as usize).cloned().unwrap_or_default(),
        Scale::Percentile => format!("{} %", format_decimal(from * 100.0, 4)),
        Scale::Linear | Scale::Log if to > from => {
            format!("{} to {}", chart.x.unit.write(from), chart.x.unit.write(to))
        }
        Scale::Linear | Scale::Log => chart.x.unit.write(from),
    }
}

fn cell(points: &[Datum], unit: Unit) -> String {
    let values = || points.iter().flat_map(Datum::values);
    let (Some(low), Some(high)) = (values().reduce(f64::min), values().reduce(f64::max)) else {
        return "–".to_owned();
    };
    let (low, high) = (unit.write(low), unit.write(high));
    match points {
        [only] if low != high => match only.y {
            Some(y) => format!("{} ({low} to {high})", unit.write(y)),
            None => format!("{low} to {high}"),
        },
        _ if low == high => low,
        _ => format!("{low} to {high}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Series, Shape};

    fn chart(scale: Scale, points: Vec<Datum>) -> Chart {
        Chart {
            id: "c".into(),
            title: String::new(),
            description: String::new(),
            note: String::new(),
            x: Axis::new("time", Unit::Seconds, scale),
            y: Axis::new("latency", Unit::Ms, Scale::Linear),
            series: vec![Series {
                name: "tv".into(),
                colour_index: 0,
                shape: Shape::Line,
                points,
            }],
            levels: Vec::new(),
            marks: Vec::new(),
            aside: None,
        }
    }

    #[test]
    fn many_points_become_few_rows_with_their_extremes() {
        let points = (0..400).map(|x| Datum::new(f64::from(x), (x != 7).then(|| f64::from(x % 10) + 1.0)));
        let table = table(&chart(Scale::Linear, points.collect()));
        assert_eq!(table.head, ["time", "tv"]);
        assert_eq!(table.rows.len(), 40);
        assert_eq!(table.rows[0], ["0 s to 9 s", "1.00 ms to 10.0 ms"]);
    }

    #[test]
    fn a_point_with_a_range_and_one_without_a_value() {
        let ranged = Datum {
            x: 0.0,
            y: Some(2.0),
            low: Some(1.0),
            high: Some(3.0),
        };
        let table = table(&chart(
            Scale::Names(vec!["a".into(), "b".into()]),
            vec![ranged, Datum::new(1.0, None)],
        ));
        assert_eq!(table.rows, [["a", "2.00 ms (1.00 ms to 3.00 ms)"], ["b", "–"]]);
    }
}
