//! Horizontal bars: one group for each name, one bar for each series.

use super::{MAX_SERIES, Theme, legend, writer};
use crate::chart::{Chart, Scale, Series};
use crate::sanitise::truncate;
use writer::SvgWriter;

/// Narrow, so that the text is readable on a phone.
pub(super) const WIDTH: f64 = 560.0;
const BAR: f64 = 13.0;
const GAP: f64 = 9.0;
pub(super) const TOP: f64 = 8.0;

/// Maximum number of groups that are drawn. The table has all.
const MAX_BARS: usize = 60;

/// The chart as an SVG document. Its horizontal axis must hold names.
pub(super) fn svg(chart: &Chart, theme: Theme) -> String {
    let Scale::Names(names) = &chart.x.scale else {
        return String::new();
    };
    let series = &chart.series[..chart.series.len().min(MAX_SERIES)];
    let [_, up] = chart.extent().unwrap_or([(0.0, 1.0), (0.0, 1.0)]);
    let bottom = TOP + height(names, series.len());
    let (rows, lines) = writer::flow(&legend(chart, series.len()), WIDTH - 16.0);
    let mut svg = SvgWriter::new(chart, theme, WIDTH, bottom + 46.0 + 20.0 * lines as f64);
    plot(&mut svg, chart, names, series, chart.y.range(up));
    svg.legend(&rows, bottom + 54.0);
    svg.finish()
}

/// Height of the groups of bars.
pub(super) fn height(names: &[String], series: usize) -> f64 {
    (BAR * series as f64 + GAP) * names.len().min(MAX_BARS) as f64
}

/// Draws the axes and the bars. `ends` are those of the axis of values.
pub(super) fn plot(svg: &mut SvgWriter, chart: &Chart, names: &[String], series: &[Series], ends: (f64, f64)) {
    let shown = &names[..names.len().min(MAX_BARS)];
    let widest = shown
        .iter()
        .map(|name| crate::sanitise::width(name))
        .max()
        .unwrap_or(0)
        .min(24);
    let left = 16.0 + 7.2 * widest as f64;
    let room = WIDTH - left - 92.0;
    let along = |value: f64| left + room * chart.y.place(value, ends);
    let group = BAR * series.len() as f64 + GAP;
    let bottom = TOP + height(names, series.len());
    let mut last = f64::MIN;
    for tick in chart.y.ticks(ends, 4) {
        let (at, half) = (along(tick.value), tick.label.chars().count() as f64 * 3.6);
        svg.rule(at, TOP, at, bottom);
        if at - half > last + 6.0 {
            last = at + half;
            svg.quiet(at, bottom + 16.0, "middle", &tick.label);
        }
    }
    svg.quiet(left + room / 2.0, bottom + 34.0, "middle", &chart.y.heading());
    for (place, name) in shown.iter().enumerate() {
        let top = TOP + group * place as f64 + GAP / 2.0;
        svg.word(left - 8.0, top + (group - GAP) / 2.0 + 4.0, "end", &truncate(name, 24));
        for (number, series) in series.iter().enumerate() {
            let datum = series.points.iter().find(|datum| datum.x as usize == place);
            let Some((datum, value)) = datum.and_then(|datum| Some((datum, datum.y?))) else {
                continue;
            };
            let y = top + BAR * number as f64;
            let (from, to) = (along(ends.0.max(0.0)), along(value));
            let text = chart.y.unit.write(value);
            let description = format!("{name}, {}: {text}", series.name);
            svg.bar(
                [from, y, (to - from).max(1.0), BAR - 2.0],
                series.colour_index,
                &description,
            );
            let mut end = to;
            if let (Some(low), Some(high)) = (datum.low, datum.high) {
                let path = format!("M{:.1} {:.1}H{:.1}", along(low), y + BAR / 2.0 - 1.0, along(high));
                svg.stroke(&path, series.colour_index, 2.0, 0.6);
                end = end.max(along(high));
            }
            svg.word(end + 5.0, y + BAR - 3.0, "start", &text);
        }
    }
    for level in &chart.levels {
        svg.rule(along(level.y), TOP, along(level.y), bottom);
    }
}
