//! A chart as an SVG.

mod bars;
mod paths;
mod pen;

use super::{Chart, Shape};
pub(crate) use paths::thin;
use paths::{band, line, points};
use pen::Pen;
pub use pen::escaped;

/// The colours and the letters of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Those of the page that it is part of: custom properties `--ink`, `--quiet`, `--grid`, `--h0` to `--h5`.
    Page,
    /// Its own, on white: a file for itself.
    File,
}

const WIDTH: f64 = 760.0;
const TOP: f64 = 30.0;
const PLOT: f64 = 250.0;
const RIGHT: f64 = 18.0;

/// Points drawn of all series together: more can't be told apart.
const DRAWN: usize = 4000;

/// The most series that are drawn: the table has all.
pub const MOST_SERIES: usize = 24;

/// The chart as an SVG document without a prologue. Texts from elsewhere are escaped; nothing in it refers to anything outside.
#[must_use]
pub fn svg(chart: &Chart, look: Look) -> String {
    if chart.series.iter().any(|series| series.shape == Shape::Bars) {
        return bars::svg(chart, look);
    }
    let series = &chart.series[..chart.series.len().min(MOST_SERIES)];
    let [along, up] = chart.extent().unwrap_or([(0.0, 1.0), (0.0, 1.0)]);
    let (along, up) = (chart.x.range(along), chart.y.range(up));
    let upward = chart.y.ticks(up, 5);
    let widest = upward.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0);
    let left = 14.0 + 7.2 * widest as f64;
    let room = WIDTH - left - RIGHT;
    let x = |value: f64| left + room * chart.x.place(value, along);
    let y = |value: f64| TOP + PLOT * (1.0 - chart.y.place(value, up));
    let names: Vec<(String, usize)> = legend(chart, series.len());
    let (rows, lines) = pen::flow(&names, WIDTH - 16.0);
    let height = TOP + PLOT + 48.0 + 20.0 * lines as f64;
    let mut pen = Pen::new(chart, look, WIDTH, height);
    pen.quiet(4.0, 14.0, "start", &chart.y.heading());
    for tick in &upward {
        pen.rule(left, y(tick.value), WIDTH - RIGHT, y(tick.value));
        pen.quiet(left - 7.0, y(tick.value) + 4.0, "end", &tick.label);
    }
    let mut last = f64::MIN;
    for tick in chart.x.ticks(along, 8) {
        let (at, half) = (x(tick.value), tick.label.chars().count() as f64 * 3.6);
        pen.rule(at, TOP + PLOT, at, TOP + PLOT + 5.0);
        if at - half > last + 6.0 {
            last = at + half;
            pen.quiet(at.min(WIDTH - half - 2.0), TOP + PLOT + 19.0, "middle", &tick.label);
        }
    }
    pen.quiet(left + room / 2.0, TOP + PLOT + 38.0, "middle", &chart.x.heading());
    if let Some((from, to, why)) = &chart.aside {
        let (from, to) = (x(*from), x(*to));
        pen.area(from, TOP, to - from, PLOT, None);
        if to - from > 7.0 * why.chars().count() as f64 {
            pen.quiet(from + 4.0, TOP + PLOT - 6.0, "start", why);
        }
    }
    let mut last = f64::MIN;
    for mark in &chart.marks {
        let at = x(mark.x);
        if mark.length > 0.0 {
            pen.area(at, TOP, (x(mark.x + mark.length) - at).max(1.0), PLOT, mark.hue);
        }
        let signed = at > last + 12.0;
        pen.mark(at, TOP, PLOT, mark, signed);
        if signed {
            last = at;
        }
    }
    let each = (DRAWN / series.len().max(1)).clamp(60, 640);
    for series in series {
        let drawn = thin(&series.points, each);
        match series.shape {
            Shape::Points => points(&mut pen, &drawn, series.hue, &x, &y),
            shape => {
                band(&mut pen, &drawn, series.hue, &x, &y);
                line(&mut pen, &drawn, series.hue, shape == Shape::Steps, &x, &y);
            }
        }
    }
    for level in &chart.levels {
        let at = y(level.y);
        pen.level(left, WIDTH - RIGHT, at, level);
    }
    pen.legend(&rows, TOP + PLOT + 58.0);
    pen.finish()
}

/// Names and hues of the legend; none for a single series without a name.
fn legend(chart: &Chart, drawn: usize) -> Vec<(String, usize)> {
    let mut names: Vec<(String, usize)> = chart.series[..drawn]
        .iter()
        .filter(|series| !series.name.is_empty())
        .map(|series| (series.name.clone(), series.hue))
        .collect();
    if chart.series.len() > drawn {
        names.push((
            format!("and {} more in the table", chart.series.len() - drawn),
            usize::MAX,
        ));
    }
    names
}
