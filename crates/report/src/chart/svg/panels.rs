//! Small multiples: several charts with the same axes and series in one SVG.

use super::{Chart, Frame, MAX_SERIES, PLOT, Shape, SvgWriter, TOP, Theme, WIDTH, bars, legend, plot, writer};
use crate::chart::Scale;
use crate::sanitise::truncate;

/// Maximum number of panels that are drawn.
pub const MAX_PANELS: usize = 12;

/// Height of a panel's heading.
const HEADING: f64 = 22.0;

/// Height between the axes of a panel of three columns; one of two columns has [`PLOT`].
const LOW_PLOT: f64 = 190.0;

/// Panels of one SVG document, each with its heading. All have the axes of the first one, and the legend is that of
/// the panel with the most series. Bars are in one column, and lines in up to three columns.
///
/// The title, the description and the identifier are those of the first panel. A note gives the number of panels
/// beyond [`MAX_PANELS`].
#[must_use]
pub fn panels(charts: &[(String, Chart)], theme: Theme) -> String {
    let Some((_, first)) = charts.first() else {
        return String::new();
    };
    let shown = &charts[..charts.len().min(MAX_PANELS)];
    let extents = shown.iter().filter_map(|(_, chart)| chart.extent());
    let [along, up] = extents
        .reduce(|one, other| [wider(one[0], other[0]), wider(one[1], other[1])])
        .unwrap_or([(0.0, 1.0), (0.0, 1.0)]);
    let (along, up) = (first.x.range(along), first.y.range(up));
    let is_bars = |chart: &Chart| chart.series.iter().any(|series| series.shape == Shape::Bars);
    let names = match &first.x.scale {
        Scale::Names(names) if shown.iter().any(|(_, chart)| is_bars(chart)) => Some(names),
        _ => None,
    };
    let most = shown
        .iter()
        .map(|(_, chart)| chart)
        .max_by_key(|chart| chart.series.len());
    let series = most.map_or(0, |chart| chart.series.len().min(MAX_SERIES));
    let (width, columns, height) = match names {
        Some(names) => (bars::WIDTH, 1, bars::TOP + bars::height(names, series) + 44.0),
        None => {
            let columns = match shown.len() {
                count @ 1..=2 => count,
                4 => 2,
                _ => 3,
            };
            (WIDTH, columns, TOP + plot_height(columns) + 44.0)
        }
    };
    let lines_of_panels = shown.len().div_ceil(columns);
    let bottom = (HEADING + height) * lines_of_panels as f64;
    let (rows, lines) = writer::flow(&legend(most.unwrap_or(first), series), width - 16.0);
    let more = charts.len() - shown.len();
    let note = if more > 0 { 20.0 } else { 0.0 };
    let mut svg = SvgWriter::new(first, theme, width, bottom + 12.0 + 20.0 * lines as f64 + note);
    let column = width / columns as f64;
    for (index, (name, chart)) in shown.iter().enumerate() {
        let (x, y) = (
            (index % columns) as f64 * column,
            (HEADING + height) * (index / columns) as f64,
        );
        svg.start_group(x, y);
        let letters = ((column - 8.0) / 7.2) as usize;
        svg.word(4.0, 14.0, "start", &truncate(name, letters));
        svg.end_group();
        svg.start_group(x, y + HEADING);
        let drawn = &chart.series[..chart.series.len().min(MAX_SERIES)];
        match names {
            Some(names) => bars::plot(&mut svg, chart, names, drawn, up),
            None => {
                let frame = Frame {
                    width: column,
                    plot: plot_height(columns),
                    along,
                    up,
                    ticks: if columns > 1 { 5 } else { 8 },
                };
                plot(&mut svg, chart, drawn, &frame);
            }
        }
        svg.end_group();
    }
    svg.legend(&rows, bottom + 16.0);
    if more > 0 {
        let text = format!("and {more} more, not drawn");
        svg.quiet(8.0, bottom + 16.0 + 20.0 * lines as f64, "start", &text);
    }
    svg.finish()
}

/// Height between the axes of a panel.
const fn plot_height(columns: usize) -> f64 {
    if columns > 2 { LOW_PLOT } else { PLOT }
}

fn wider(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.min(other.0), one.1.max(other.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Datum, Series, Unit};

    fn chart(scale: Scale, shape: Shape, highest: f64) -> Chart {
        let points = [Datum::new(0.0, Some(highest / 2.0)), Datum::new(1.0, Some(highest))];
        let mut series = Series::line("one", 0, points);
        series.shape = shape;
        Chart {
            id: "c".to_owned(),
            title: "title".to_owned(),
            description: "description".to_owned(),
            note: String::new(),
            x: Axis::new("key", Unit::Count, scale),
            y: Axis::new("late", Unit::Count, Scale::Linear).within(Some(0.0), None),
            series: vec![series],
            levels: Vec::new(),
            marks: Vec::new(),
            aside: None,
        }
    }

    fn count(svg: &str, part: &str) -> usize {
        svg.matches(part).count()
    }

    #[test]
    fn all_panels_have_the_axis_of_the_highest_value() {
        let panel = |name: &str, highest| (name.to_owned(), chart(Scale::Linear, Shape::Line, highest));
        let svg = panels(&[panel("a", 10.0), panel("b", 100.0), panel("c", 20.0)], Theme::File);
        // The axis ends at 105. A fifth of it is 21, and the next round step is 50.
        for tick in ["0", "50", "100"] {
            let label = format!("text-anchor=\"end\" fill=\"#59636e\">{tick}</text>");
            assert_eq!(count(&svg, &label), 3, "{tick}");
        }
        for name in ["a", "b", "c"] {
            assert_eq!(count(&svg, &format!(">{name}</text>")), 1);
        }
        // One title, one legend, and as many groups as it opens.
        assert_eq!((count(&svg, "<title id="), count(&svg, ">one</text>")), (1, 1));
        assert_eq!(count(&svg, "<g "), count(&svg, "</g>"));
        // 760 / 3 = 253.3 per column.
        assert_eq!(count(&svg, "translate(506.7 22.0)"), 1);
    }

    #[test]
    fn bars_of_equal_values_have_equal_lengths_in_all_panels() {
        let names = Scale::Names(vec!["x".to_owned(), "y".to_owned()]);
        let panel = |name: &str, highest| (name.to_owned(), chart(names.clone(), Shape::Bars, highest));
        let svg = panels(&[panel("a", 10.0), panel("b", 20.0)], Theme::File);
        let widths: Vec<&str> = svg
            .split("<rect ")
            .skip(2)
            .filter_map(|rect| rect.split("width=\"").nth(1)?.split('"').next())
            .collect();
        // 5 and 10 in the first panel, 10 and 20 in the second.
        assert_eq!(widths.len(), 4);
        assert_eq!(widths[1], widths[2]);
    }

    #[test]
    fn further_panels_are_counted() {
        let all: Vec<(String, Chart)> = (0..MAX_PANELS + 3)
            .map(|index| (format!("p{index}"), chart(Scale::Linear, Shape::Line, 1.0)))
            .collect();
        let svg = panels(&all, Theme::File);
        assert!(svg.contains(">and 3 more, not drawn</text>"));
        assert!(svg.contains(">p11</text>") && !svg.contains(">p12</text>"));
        assert_eq!(panels(&[], Theme::File), "");
    }
}
