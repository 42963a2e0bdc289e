//! Response surface: the median of a metric over two keys whose values are numbers, as a map with contour lines. Each combination
//! of the other keys has a panel.

use super::contour::contour;
use super::scale::{scale, unit};
use crate::sweep::cells::Cells;
use crate::sweep::grid::Grid;
use crate::sweep::rows::Rows;
use crate::sweep::table::format_value;
use netburn_record::metrics;
use netburn_report::chart::{Axis, Scale, Unit, escaped};
use std::fmt::Write as _;

/// A response surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    metric: String,
    unit: metrics::Unit,
    x: Numbers,
    y: Numbers,
    /// Name and medians of each panel; the medians of each value of `y` in a row.
    panels: Vec<(String, Vec<Vec<Option<f64>>>)>,
    /// Least and greatest median.
    range: (f64, f64),
}

/// A key and its values in ascending order.
#[derive(Debug, Clone, PartialEq)]
struct Numbers {
    /// Index of the key.
    index: usize,
    label: String,
    values: Vec<f64>,
    /// Names of the values in the order of the sweep, each with its index in `values`.
    places: Vec<usize>,
}

/// Minimum number of values of a key.
const MIN_VALUES: usize = 3;

/// Maximum number of panels.
const MAX_PANELS: usize = 12;

/// Maximum number of cells of a panel whose values are printed.
const MAX_LABELLED: usize = 120;

const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 46.0;
const HEADING: f64 = 30.0;
const LEGEND: f64 = 52.0;

impl Surface {
    /// The surface of the metric in a column, over the first two keys that have three or more numbers as values. `None` if
    /// there are no two such keys, or no values.
    ///
    /// # Panics
    /// The column does not exist.
    #[must_use]
    pub fn new(grid: &Grid, cells: &Cells<'_>, rows: &Rows, column: usize) -> Option<Self> {
        let keys = grid.keys().iter().zip(grid.values()).enumerate();
        let mut numbers = keys.filter_map(|(index, (key, values))| Numbers::new(index, key, values));
        let (x, y) = (numbers.next()?, numbers.next()?);
        let mut panels: Vec<(String, Vec<Vec<Option<f64>>>)> = Vec::new();
        let mut range: Option<(f64, f64)> = None;
        for cell in &cells.cells {
            let others = cells.keys.iter().zip(cell.values).enumerate();
            let name: Vec<String> = others
                .filter(|(index, _)| *index != x.index && *index != y.index)
                .map(|(_, (key, value))| format!("{key} = {value}"))
                .collect();
            let name = name.join(", ");
            let panel = match panels.iter().position(|(known, _)| *known == name) {
                Some(place) => place,
                None => {
                    panels.push((name, vec![vec![None; x.values.len()]; y.values.len()]));
                    panels.len() - 1
                }
            };
            let place = |numbers: &Numbers| -> Option<usize> {
                let of = &grid.values()[numbers.index];
                let value = &cell.values[numbers.index];
                Some(numbers.places[of.iter().position(|known| known == value)?])
            };
            let median = cell.estimate(column).map(|estimate| estimate.median);
            if let Some(median) = median {
                let (low, high) = range.unwrap_or((median, median));
                range = Some((low.min(median), high.max(median)));
            }
            panels[panel].1[place(&y)?][place(&x)?] = median;
        }
        panels.truncate(MAX_PANELS);
        let column = &rows.columns[column];
        Some(Surface {
            metric: match column.unit.symbol() {
                "" => column.name.clone(),
                unit => format!("{} ({unit})", column.name),
            },
            unit: column.unit,
            x,
            y,
            panels,
            range: range?,
        })
    }

    /// Formats the surface as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let columns = self.panels.len().clamp(1, 2);
        let lines = self.panels.len().div_ceil(columns);
        let width = WIDTH * columns as f64;
        let height = HEADING + HEIGHT * lines as f64 + LEGEND;
        let mut svg = String::new();
        let title = escaped(&format!("{}, median of the runs", self.metric));
        let description = escaped(&format!(
            "Map of {} over {} and {}.",
            self.metric, self.x.label, self.y.label
        ));
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"DejaVu Sans, sans-serif\" font-size=\"12\" role=\"img\">\n<title>{title}</title>\n\
             <desc>{description}</desc>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
             <text x=\"8\" y=\"19\" font-size=\"15\" fill=\"{INK}\">{title}</text>\n"
        );
        for (place, (name, medians)) in self.panels.iter().enumerate() {
            let (across, down) = ((place % columns) as f64, (place / columns) as f64);
            let _ = writeln!(
                svg,
                "<g transform=\"translate({:.1} {:.1})\">",
                across * WIDTH,
                HEADING + down * HEIGHT
            );
            self.panel(&mut svg, name, medians);
            svg.push_str("</g>\n");
        }
        self.legend(&mut svg, HEADING + HEIGHT * lines as f64);
        svg.push_str("</svg>\n");
        svg
    }

    fn panel(&self, svg: &mut String, name: &str, medians: &[Vec<Option<f64>>]) {
        text(svg, LEFT, TOP - 10.0, "start", INK, name);
        let (columns, rows) = (edges(&self.x.values), edges(&self.y.values));
        let along = |value: f64| LEFT + share(value, &columns) * (WIDTH - LEFT - RIGHT);
        let up = |value: f64| HEIGHT - BOTTOM - share(value, &rows) * (HEIGHT - TOP - BOTTOM);
        let labelled = self.x.values.len() * self.y.values.len() <= MAX_LABELLED && self.x.values.len() <= 9;
        for (row, medians) in medians.iter().enumerate() {
            for (column, median) in medians.iter().enumerate() {
                let Some(median) = *median else { continue };
                let (x0, x1) = (along(columns[column]), along(columns[column + 1]));
                let (y0, y1) = (up(rows[row + 1]), up(rows[row]));
                let tone = self.tone(median);
                let value = format_value(median, self.unit);
                // Half a pixel more: renderers leave light lines between neighbours otherwise.
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x0:.1}\" y=\"{y0:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{value}</title></rect>",
                    x1 - x0 + 0.5,
                    y1 - y0 + 0.5,
                    colour(tone)
                );
                if labelled {
                    let ink = if tone > 0.55 { "#fff" } else { INK };
                    text(
                        svg,
                        f64::midpoint(x0, x1),
                        f64::midpoint(y0, y1) + 4.0,
                        "middle",
                        ink,
                        &value,
                    );
                }
            }
        }
        for level in self.levels() {
            let mut path = String::new();
            for (from, to) in contour(&self.x.values, &self.y.values, medians, level) {
                let _ = write!(
                    path,
                    "M{:.1} {:.1}L{:.1} {:.1}",
                    along(from.0),
                    up(from.1),
                    along(to.0),
                    up(to.1)
                );
            }
            if !path.is_empty() {
                let _ = writeln!(
                    svg,
                    "<path d=\"{path}\" stroke=\"#d1480f\" stroke-width=\"1.2\" fill=\"none\"><title>{}</title></path>",
                    format_value(level, self.unit)
                );
            }
        }
        let axis = |label: &str| Axis::new(label, Unit::Count, Scale::Linear);
        let ends = |edges: &[f64]| (edges[0], edges[edges.len() - 1]);
        for tick in axis(&self.x.label).ticks(ends(&columns), 6) {
            text(
                svg,
                along(tick.value),
                HEIGHT - BOTTOM + 16.0,
                "middle",
                FAINT,
                &tick.label,
            );
        }
        for tick in axis(&self.y.label).ticks(ends(&rows), 5) {
            text(svg, LEFT - 6.0, up(tick.value) + 4.0, "end", FAINT, &tick.label);
        }
        text(svg, WIDTH - RIGHT, HEIGHT - BOTTOM + 34.0, "end", FAINT, &self.x.label);
        let _ = writeln!(
            svg,
            "<text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"end\" fill=\"{FAINT}\">{}</text>",
            TOP,
            escaped(&self.y.label)
        );
    }

    /// The colours, with the contour levels.
    fn legend(&self, svg: &mut String, top: f64) {
        let width = 260.0;
        let steps = 52;
        for step in 0..steps {
            let tone = f64::from(step) / f64::from(steps - 1);
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"12\" fill=\"{}\"/>",
                LEFT + width * f64::from(step) / f64::from(steps),
                top + 8.0,
                width / f64::from(steps) + 0.5,
                colour(tone)
            );
        }
        for level in self.levels() {
            let x = LEFT + width * self.tone(level);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {:.1}v12\" stroke=\"#d1480f\" stroke-width=\"1.2\"/>",
                top + 8.0
            );
            text(svg, x, top + 36.0, "middle", FAINT, &format_value(level, self.unit));
        }
        text(
            svg,
            LEFT + width + 16.0,
            top + 18.0,
            "start",
            FAINT,
            "lines: contours of these values",
        );
    }

    /// `true` if the range is large, so that colours and levels are those of the logarithm.
    fn is_logarithmic(&self) -> bool {
        self.range.0 > 0.0 && self.range.1 / self.range.0 > 20.0
    }

    /// Levels of the contour lines.
    fn levels(&self) -> Vec<f64> {
        let scale = if self.is_logarithmic() {
            Scale::Log
        } else {
            Scale::Linear
        };
        let (low, high) = self.range;
        let ticks = Axis::new(&self.metric, unit(self.unit), scale).ticks(self.range, 6);
        let values = ticks.into_iter().map(|tick| tick.value);
        values.filter(|value| *value > low && *value < high).collect()
    }

    /// Place of a value in the range, 0 to 1.
    fn tone(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        let (value, low, high) = if self.is_logarithmic() {
            (value.ln(), low.ln(), high.ln())
        } else {
            (value, low, high)
        };
        if high > low { (value - low) / (high - low) } else { 0.0 }
    }
}

impl Numbers {
    fn new(index: usize, key: &str, values: &[String]) -> Option<Self> {
        let (numbers, unit) = scale(values)?;
        let mut sorted = numbers.clone();
        sorted.sort_by(f64::total_cmp);
        let place = |number: &f64| sorted.iter().position(|other| other == number);
        let places = numbers.iter().filter_map(place).collect();
        (sorted.len() >= MIN_VALUES).then(|| Numbers {
            index,
            label: if unit.is_empty() {
                key.to_owned()
            } else {
                format!("{key} ({unit})")
            },
            places,
            values: sorted,
        })
    }
}

const INK: &str = "#1b1f24";
const FAINT: &str = "#59636e";

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, fill: &str, text: &str) {
    let text = escaped(text);
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{fill}\">{text}</text>"
    );
}

/// Borders of the cells around ascending values: half-way between neighbours.
fn edges(values: &[f64]) -> Vec<f64> {
    let last = values.len() - 1;
    let half = |from: usize, to: usize| (values[to] - values[from]) / 2.0;
    let first = values[0] - half(0, 1);
    let between = values.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
    [first]
        .into_iter()
        .chain(between)
        .chain([values[last] + half(last - 1, last)])
        .collect()
}

fn share(value: f64, edges: &[f64]) -> f64 {
    (value - edges[0]) / (edges[edges.len() - 1] - edges[0])
}

/// Colour of a tone from 0 (light) to 1 (dark). The lightness falls evenly, so that the order is visible without colour vision.
fn colour(tone: f64) -> String {
    const STOPS: [[f64; 3]; 4] = [
        [244.0, 247.0, 230.0],
        [142.0, 203.0, 187.0],
        [49.0, 124.0, 161.0],
        [20.0, 38.0, 84.0],
    ];
    let place = tone.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let stop = (place as usize).min(STOPS.len() - 2);
    let part = place - stop as f64;
    let channel =
        |index: usize| (STOPS[stop][index] + (STOPS[stop + 1][index] - STOPS[stop][index]) * part).round() as u8;
    format!("#{:02x}{:02x}{:02x}", channel(0), channel(1), channel(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_meet_half_way_between_values() {
        assert_eq!(edges(&[-80.0, -70.0, -50.0]), [-85.0, -75.0, -60.0, -40.0]);
        assert_eq!(share(-62.5, &[-85.0, -40.0]), 0.5);
        assert_eq!((colour(0.0), colour(1.0)), ("#f4f7e6".to_owned(), "#142654".to_owned()));
    }
}
