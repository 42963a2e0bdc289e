//! Chart as SVG: lines over a scale if the first key's values are numbers with one unit, else bars side by side. With
//! three keys or more it has several panels.

use super::scale::{scale, unit};
use super::{Chart, Group};
use netburn_report::chart::{self, Axis, Datum, Scale, Series, Shape, Theme, Unit};

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
    let y = Axis::new(&chart.metric, unit(chart.unit), Scale::Linear);
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
        // The axis names the key; with it, the title would be wider than the chart.
        title: chart.title(),
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
