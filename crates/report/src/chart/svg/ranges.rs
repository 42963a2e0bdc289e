//! Ranges with values beside them: a row for each name, with the ranges of all series one below the other.

use super::{MAX_SERIES, Theme, writer};
use crate::chart::{Chart, Datum, Scale, Series, Shape};
use crate::sanitise::truncate;
use writer::SvgWriter;

/// Narrow, so that the text is readable on a phone.
const WIDTH: f64 = 420.0;
const TOP: f64 = 4.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 20.0;
/// Height of the name of a group.
const HEADING: f64 = 19.0;
/// Height of a range.
const TRACK: f64 = 12.0;
/// Distance between rows.
const GAP: f64 = 5.0;
/// Letters of a group's name, and of a row's.
const LETTERS: (usize, usize) = (54, 13);

/// Maximum number of rows that are drawn. The table has all.
const MAX_ROWS: usize = 80;

/// Between the group and the row in a name. Rows of one group follow each other below its name.
pub(crate) const GROUP: &str = ": ";

/// A range, and the value beside it.
struct Track<'a> {
    series: &'a Series,
    range: &'a Datum,
    value: Option<f64>,
}

/// A row with its name and its place from the top.
struct Row<'a> {
    /// `None` if the row before has the same one.
    heading: Option<&'a str>,
    name: &'a str,
    top: f64,
    tracks: Vec<Track<'a>>,
}

/// The chart as an SVG document. Its horizontal axis must hold names. A series of points has the values of the ranges
/// before it.
pub(super) fn svg(chart: &Chart, theme: Theme) -> String {
    let Scale::Names(names) = &chart.x.scale else {
        return String::new();
    };
    let series = &chart.series[..chart.series.len().min(MAX_SERIES)];
    let (rows, bottom) = rows(names, series);
    let ranges = series.iter().filter(|series| series.shape == Shape::Ranges);
    let legend: Vec<(String, usize)> = ranges
        .map(|series| (series.name.clone(), series.colour_index))
        .collect();
    let (placed, lines) = writer::flow(&legend, WIDTH - 16.0);
    let mut svg = SvgWriter::new(chart, theme, WIDTH, bottom + 46.0 + 20.0 * lines as f64);
    plot(&mut svg, chart, &rows, bottom);
    svg.legend(&placed, bottom + 54.0);
    svg.finish()
}

/// The rows, and the lower end of the last one.
fn rows<'a>(names: &'a [String], series: &'a [Series]) -> (Vec<Row<'a>>, f64) {
    let mut bottom = TOP;
    let mut group = None;
    let mut rows = Vec::new();
    for (place, name) in names.iter().enumerate().take(MAX_ROWS) {
        let (own, name) = name.rsplit_once(GROUP).unwrap_or((name, ""));
        let heading = (group != Some(own)).then_some(own);
        group = Some(own);
        if heading.is_some() {
            bottom += HEADING;
        }
        let tracks = tracks(series, place);
        rows.push(Row {
            heading,
            name,
            top: bottom,
            tracks,
        });
        bottom += TRACK * rows.last().map_or(0, |row: &Row<'_>| row.tracks.len()).max(1) as f64 + GAP;
    }
    (rows, bottom)
}

/// The ranges of a row, each with the value of the next series of points.
fn tracks(series: &[Series], place: usize) -> Vec<Track<'_>> {
    let at = |series: &'_ Series| series.points.iter().position(|datum| datum.x as usize == place);
    let mut tracks: Vec<Track<'_>> = Vec::new();
    let mut is_of_last = false;
    for series in series {
        let datum = at(series).map(|number| &series.points[number]);
        match (series.shape, datum) {
            (Shape::Ranges, Some(range)) => {
                is_of_last = true;
                tracks.push(Track {
                    series,
                    range,
                    value: None,
                });
            }
            (Shape::Ranges, None) => is_of_last = false,
            (_, Some(datum)) if is_of_last => {
                if let Some(last) = tracks.last_mut() {
                    last.value = datum.y;
                }
            }
            _ => {}
        }
    }
    tracks
}

fn plot(svg: &mut SvgWriter, chart: &Chart, rows: &[Row<'_>], bottom: f64) {
    let [_, up] = chart.extent().unwrap_or([(0.0, 1.0), (0.0, 1.0)]);
    let ends = chart.y.range(up);
    let room = WIDTH - LEFT - RIGHT;
    let along = |value: f64| LEFT + room * chart.y.place(value, ends);
    let mut last = f64::MIN;
    for tick in chart.y.ticks(ends, 4) {
        let (at, half) = (along(tick.value), tick.label.chars().count() as f64 * 3.6);
        svg.rule(at, TOP + HEADING, at, bottom);
        if at - half > last + 6.0 {
            last = at + half;
            svg.quiet(at, bottom + 16.0, "middle", &tick.label);
        }
    }
    svg.quiet(LEFT + room / 2.0, bottom + 34.0, "middle", &chart.y.heading());
    for row in rows {
        if let Some(heading) = row.heading {
            svg.word(4.0, row.top - 5.0, "start", &truncate(heading, LETTERS.0));
        }
        let middle = row.top + TRACK * row.tracks.len() as f64 / 2.0;
        svg.quiet(LEFT - 10.0, middle + 4.0, "end", &truncate(row.name, LETTERS.1));
        for (number, track) in row.tracks.iter().enumerate() {
            draw(svg, chart, track, row.top + TRACK * number as f64, &along);
        }
    }
}

/// A range with its median, and the value as a dot inside or a diamond outside.
fn draw(svg: &mut SvgWriter, chart: &Chart, track: &Track<'_>, y: f64, along: &dyn Fn(f64) -> f64) {
    let (Some(low), Some(high)) = (track.range.low, track.range.high) else {
        return;
    };
    let write = |value| chart.y.unit.write(value);
    let median = track.range.y;
    let mut description = format!("{}: {} to {}", track.series.name, write(low), write(high));
    if let Some(median) = median {
        description.push_str(&format!(", median {}", write(median)));
    }
    if let Some(value) = track.value {
        description.push_str(&format!("; measured {}", write(value)));
    }
    let (from, to) = (along(low), along(high));
    let width = (to - from).max(2.0);
    let colour = track.series.colour_index;
    svg.range([from, y + 1.5, width, TRACK - 3.0], colour, &description);
    if let Some(median) = median {
        let path = format!("M{:.1} {:.1}v{:.1}", along(median), y + 1.5, TRACK - 3.0);
        svg.stroke(&path, colour, 2.0, 1.0);
    }
    if let Some(value) = track.value {
        svg.value(along(value), y + TRACK / 2.0, (low..=high).contains(&value));
    }
}
