//! A chart as an SVG.

mod bars;
mod panels;
mod paths;
mod ranges;
mod writer;

use super::{Chart, HUES, Series, Shape};
pub use panels::{MAX_PANELS, panels};
pub(crate) use paths::thin;
use paths::{band, line, points};
pub(crate) use ranges::GROUP;
use writer::SvgWriter;
pub use writer::escaped;

/// The colours and the font of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Theme of the page around it: custom properties `--ink`, `--quiet`, `--grid`, `--h0` to
    /// `--h5`.
    Page,
    /// Own colours on white, for a file.
    File,
}

impl Theme {
    /// Colour of text and lines.
    pub(crate) const fn ink(self) -> &'static str {
        match self {
            Theme::Page => "var(--ink)",
            Theme::File => "#1b1f24",
        }
    }

    /// Colour behind the drawing.
    pub(crate) const fn background(self) -> &'static str {
        match self {
            Theme::Page => "var(--card)",
            Theme::File => "#fff",
        }
    }

    /// Colour of explanatory text.
    pub(crate) const fn faint(self) -> &'static str {
        match self {
            Theme::Page => "var(--quiet)",
            Theme::File => "#59636e",
        }
    }

    /// Colour of grid lines.
    pub(crate) const fn grid(self) -> &'static str {
        match self {
            Theme::Page => "var(--grid)",
            Theme::File => "#d5dae0",
        }
    }

    /// Colour of a failure.
    pub(crate) const fn failure(self) -> &'static str {
        match self {
            Theme::Page => "var(--fail)",
            Theme::File => "#a40e26",
        }
    }

    /// Font.
    pub(crate) const fn font(self) -> &'static str {
        match self {
            Theme::Page => "inherit",
            Theme::File => "DejaVu Sans, sans-serif",
        }
    }

    /// Colour with this index in [`HUES`], modulo its length.
    pub(crate) fn hue(self, index: usize) -> String {
        match self {
            Theme::Page => format!("var(--h{})", index % HUES.len()),
            Theme::File => HUES[index % HUES.len()].to_owned(),
        }
    }
}

const WIDTH: f64 = 760.0;
const TOP: f64 = 30.0;
const PLOT: f64 = 250.0;
const RIGHT: f64 = 18.0;

/// Maximum number of points of all series together. More points could not be distinguished.
const DRAWN: usize = 4000;

/// Maximum number of series that are drawn. The table has all.
pub const MAX_SERIES: usize = 24;

/// The chart as an SVG document without a prologue. Foreign text is escaped, and nothing refers to
/// other documents.
#[must_use]
pub fn svg(chart: &Chart, theme: Theme) -> String {
    if chart.series.iter().any(|series| series.shape == Shape::Bars) {
        return bars::svg(chart, theme);
    }
    if chart.series.iter().any(|series| series.shape == Shape::Ranges) {
        return ranges::svg(chart, theme);
    }
    let series = &chart.series[..chart.series.len().min(MAX_SERIES)];
    let [along, up] = chart.extent().unwrap_or([(0.0, 1.0), (0.0, 1.0)]);
    let names: Vec<(String, usize)> = legend(chart, series.len());
    let (rows, lines) = writer::flow(&names, WIDTH - 16.0);
    let height = TOP + PLOT + 48.0 + 20.0 * lines as f64;
    let mut svg = SvgWriter::new(chart, theme, WIDTH, height);
    let frame = Frame {
        width: WIDTH,
        plot: PLOT,
        along: chart.x.range(along),
        up: chart.y.range(up),
        ticks: 8,
    };
    plot(&mut svg, chart, series, &frame);
    svg.legend(&rows, TOP + PLOT + 58.0);
    svg.finish()
}

/// Size and ends of the axes of a plot.
struct Frame {
    width: f64,
    /// Height between the axes.
    plot: f64,
    along: (f64, f64),
    up: (f64, f64),
    /// Approximate number of ticks of the horizontal axis.
    ticks: usize,
}

/// Draws the axes, the marks, the series and the levels.
fn plot(svg: &mut SvgWriter, chart: &Chart, series: &[Series], frame: &Frame) {
    let Frame {
        width,
        plot,
        along,
        up,
        ticks,
    } = *frame;
    let upward = chart.y.ticks(up, 5);
    let widest = upward.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0);
    let left = 14.0 + 7.2 * widest as f64;
    let room = width - left - RIGHT;
    let x = |value: f64| left + room * chart.x.place(value, along);
    let y = |value: f64| TOP + plot * (1.0 - chart.y.place(value, up));
    svg.quiet(4.0, 14.0, "start", &chart.y.heading());
    for tick in &upward {
        svg.rule(left, y(tick.value), width - RIGHT, y(tick.value));
        svg.quiet(left - 7.0, y(tick.value) + 4.0, "end", &tick.label);
    }
    let mut last = f64::MIN;
    for tick in chart.x.ticks(along, ticks) {
        let (at, half) = (x(tick.value), tick.label.chars().count() as f64 * 3.6);
        svg.rule(at, TOP + plot, at, TOP + plot + 5.0);
        if at - half > last + 6.0 {
            last = at + half;
            svg.quiet(at.min(width - half - 2.0), TOP + plot + 19.0, "middle", &tick.label);
        }
    }
    svg.quiet(left + room / 2.0, TOP + plot + 38.0, "middle", &chart.x.heading());
    if let Some((from, to, why)) = &chart.aside {
        let (from, to) = (x(*from), x(*to));
        svg.area(from, TOP, to - from, plot, None);
        if to - from > 7.0 * why.chars().count() as f64 {
            svg.quiet(from + 4.0, TOP + plot - 6.0, "start", why);
        }
    }
    let mut last = f64::MIN;
    for mark in &chart.marks {
        let at = x(mark.x);
        if mark.length > 0.0 {
            svg.area(
                at,
                TOP,
                (x(mark.x + mark.length) - at).max(1.0),
                plot,
                mark.colour_index,
            );
        }
        let signed = at > last + 12.0;
        svg.mark(at, TOP, plot, mark, signed);
        if signed {
            last = at;
        }
    }
    let each = (DRAWN / series.len().max(1)).clamp(60, 640);
    for series in series {
        let drawn = thin(&series.points, each);
        match series.shape {
            Shape::Points => points(svg, &drawn, series.colour_index, &x, &y),
            shape => {
                band(svg, &drawn, series.colour_index, &x, &y);
                line(svg, &drawn, series.colour_index, shape == Shape::Steps, &x, &y);
            }
        }
    }
    for level in &chart.levels {
        let at = y(level.y);
        svg.level(left, width - RIGHT, at, level);
    }
}

/// Names and colours of the legend; none for a single series without a name.
fn legend(chart: &Chart, drawn: usize) -> Vec<(String, usize)> {
    let mut names: Vec<(String, usize)> = chart.series[..drawn]
        .iter()
        .filter(|series| !series.name.is_empty())
        .map(|series| (series.name.clone(), series.colour_index))
        .collect();
    if chart.series.len() > drawn {
        names.push((
            format!("and {} more in the table", chart.series.len() - drawn),
            usize::MAX,
        ));
    }
    names
}
