//! Chart as SVG: lines over a scale if the first key's values are numbers with one unit, else bars side by side. With
//! three keys or more it has several panels.

use super::{Chart, Group};
use crate::sweep::columns::Measure;
use netburn_report::chart::{self, Axis, Datum, Scale, Series, Shape, Theme, Unit};
use netburn_units::{BitRate, ByteSize, Dbm, Distance, Duration, Probability};

/// Formats the chart as an SVG document.
#[must_use]
pub fn svg(chart: &Chart) -> String {
    let mut panels: Vec<&str> = Vec::new();
    for group in &chart.groups {
        if !panels.contains(&group.panel.as_str()) {
            panels.push(&group.panel);
        }
    }
    match panels[..] {
        [] | [""] => chart::svg(&drawing(chart, ""), Theme::File),
        _ => {
            let drawn = panels.iter().map(|panel| ((*panel).to_owned(), drawing(chart, panel)));
            chart::panels(&drawn.collect::<Vec<_>>(), Theme::File)
        }
    }
}

/// Converts the groups of a panel to a chart of the report.
fn drawing(chart: &Chart, panel: &str) -> chart::Chart {
    // The axis names the key; with it, the title would be wider than the chart.
    let title = match chart.seeds {
        1 => chart.metric.clone(),
        seeds => format!("{}, median and range of {seeds} seeds", chart.metric),
    };
    let scale = scale(&chart.values);
    let x = match &scale {
        Some((_, "")) => Axis::new(&chart.key, Unit::Count, Scale::Linear),
        Some((_, unit)) => Axis::new(&format!("{} ({unit})", chart.key), Unit::Count, Scale::Linear),
        None => Axis::new(&chart.key, Unit::None, Scale::Names(chart.values.clone())),
    };
    let places: Vec<f64> = match &scale {
        Some((numbers, _)) => numbers.clone(),
        None => (0..chart.values.len()).map(|place| place as f64).collect(),
    };
    let shape = if scale.is_some() { Shape::Line } else { Shape::Bars };
    let y = Axis::new(&chart.metric, unit(chart.measure), Scale::Linear);
    // A series has the same colour in all panels.
    let mut names: Vec<&str> = Vec::new();
    for group in &chart.groups {
        if !names.contains(&group.series.as_str()) {
            names.push(&group.series);
        }
    }
    let colour = |group: &Group| names.iter().position(|name| *name == group.series).unwrap_or(0);
    let groups = chart.groups.iter().filter(|group| group.panel == panel);
    chart::Chart {
        id: "sweep".to_owned(),
        title,
        description: format!("{}: {} values of {}.", chart.metric, chart.values.len(), chart.key),
        note: String::new(),
        x,
        y: y.within(Some(0.0), None),
        series: groups
            .map(|group| series(group, colour(group), shape, &places))
            .collect(),
        levels: Vec::new(),
        marks: Vec::new(),
        aside: None,
    }
}

/// Series of a group; `places` are the positions of the first key's values.
fn series(group: &Group, index: usize, shape: Shape, places: &[f64]) -> Series {
    let known = group.points.iter().zip(places);
    let mut points: Vec<Datum> = known
        .filter_map(|(point, x)| {
            let point = point.as_ref()?;
            let ranged = point.low < point.high;
            Some(Datum {
                x: *x,
                y: Some(point.median),
                low: ranged.then_some(point.low),
                high: ranged.then_some(point.high),
            })
        })
        .collect();
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    Series {
        name: group.series.clone(),
        colour_index: index,
        shape,
        points,
    }
}

/// Unit of a metric's values on the axis.
const fn unit(measure: Measure) -> Unit {
    match measure {
        Measure::Ms => Unit::Ms,
        Measure::Mbps => Unit::Mbps,
        Measure::Share => Unit::Share,
        Measure::Count | Measure::Points | Measure::Rpm | Measure::Verdict => Unit::Count,
    }
}

/// Returns the values as numbers and their unit, if all are distinct numbers with the same unit.
fn scale(values: &[String]) -> Option<(Vec<f64>, &str)> {
    let parts: Option<Vec<(f64, &str)>> = values.iter().map(|value| number(value)).collect();
    let parts = parts?;
    let unit = parts.first()?.1;
    let mut numbers: Vec<f64> = parts.iter().map(|(number, _)| *number).collect();
    let same = parts.iter().all(|(_, other)| *other == unit);
    numbers.sort_by(f64::total_cmp);
    let distinct = numbers.windows(2).all(|pair| pair[0] < pair[1]);
    (same && distinct && values.len() > 1).then(|| (parts.into_iter().map(|(number, _)| number).collect(), unit))
}

fn number(value: &str) -> Option<(f64, &str)> {
    let value = value.trim().trim_matches('"').trim();
    let end = value
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || *c == '.' || (*at == 0 && matches!(c, '-' | '+' | '−'))))
        .map_or(value.len(), |(at, _)| at);
    let unit = value[end..].trim();
    let number: f64 = value[..end].replace('−', "-").parse().ok()?;
    // `20 MHz` and `20ms` are numbers; `5g` and `802.11n` are names.
    let is_quantity = unit.is_empty()
        || value[end..].starts_with(char::is_whitespace)
        || UNITS_WITHOUT_TYPE.contains(&unit)
        || has_known_unit(value);
    (number.is_finite() && is_quantity).then_some((number, unit))
}

/// Units of channel widths, queue limits and hardware queues, which have no type of their own.
const UNITS_WITHOUT_TYPE: [&str; 4] = ["MHz", "packets", "frames", "aggregates"];

fn has_known_unit(value: &str) -> bool {
    value.parse::<Dbm>().is_ok()
        || value.parse::<Duration>().is_ok()
        || value.parse::<BitRate>().is_ok()
        || value.parse::<ByteSize>().is_ok()
        || value.parse::<Distance>().is_ok()
        || value.parse::<Probability>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_one_unit_form_a_scale() {
        let scale = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(|v| (*v).to_owned()).collect();
            scale(&values).map(|(numbers, unit)| (numbers, unit.to_owned()))
        };
        let dbm = |numbers: [f64; 2]| Some((numbers.to_vec(), "dBm".to_owned()));
        assert_eq!(scale(&["-80dBm", "-70 dBm"]), dbm([-80.0, -70.0]));
        assert_eq!(scale(&["20ms", "5 ms"]), Some((vec![20.0, 5.0], "ms".to_owned())));
        assert_eq!(scale(&["20MHz", "40 MHz"]), Some((vec![20.0, 40.0], "MHz".to_owned())));
        assert_eq!(scale(&["1", "2.5", "10"]), Some((vec![1.0, 2.5, 10.0], String::new())));
        // A hyphen, and the minus sign that netburn prints.
        assert_eq!(scale(&["-86 dBm", "−40.5 dBm"]), dbm([-86.0, -40.5]));
        for no in [
            &["fifo", "airtime"][..],
            &["1 ms", "1 s"],
            &["802.11n", "802.11ac"],
            &["5g", "2g"],
            &["1"],
            &["1", "1.0"],
        ] {
            assert_eq!(scale(no), None, "{no:?}");
        }
    }
}
