//! Chart as SVG: points on a scale if the first key's values are numbers with one unit, else bars side by side.

use super::{Chart, Point};
use std::fmt::Write as _;

const WIDTH: f64 = 800.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 44.0;
const PLOT: f64 = 320.0;
/// Maximum number of groups that a reader can distinguish.
const MAX_GROUPS: usize = 12;
/// Readable on white and on black.
const INK: &str = "#767676";
/// Colours that are distinguishable with any colour vision (Okabe and Ito, 2008), on light and dark backgrounds.
const HUES: [&str; 6] = ["#0082c8", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#7a68d6"];

/// Formats the chart as an SVG document. It has no background, so that it fits light and dark pages.
#[must_use]
pub fn svg(chart: &Chart) -> String {
    let groups = &chart.groups[..chart.groups.len().min(MAX_GROUPS)];
    let legend = if groups.iter().all(|group| group.name.is_empty()) {
        0
    } else {
        groups.len() + usize::from(chart.groups.len() > MAX_GROUPS)
    };
    let height = TOP + PLOT + 64.0 + 18.0 * legend as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\" \
         fill=\"{INK}\" role=\"img\">\n<title>{}</title>\n",
        escaped(&format!("{} over {}", chart.title(), chart.key))
    );
    let top = nice(chart.highest().unwrap_or(0.0));
    let y = |value: f64| TOP + PLOT * (1.0 - (value / top).clamp(0.0, 1.0));
    let whiskers = match chart.seeds {
        1 => "",
        _ => ", whiskers from the least to the greatest",
    };
    let heading = format!("{}{whiskers}", chart.title());
    text(&mut out, LEFT, 22.0, "start", &heading);
    for step in 0..=5 {
        let value = top * f64::from(step) / 5.0;
        let at = y(value);
        line(
            &mut out,
            LEFT,
            at,
            WIDTH - RIGHT,
            at,
            if step == 0 { 1.0 } else { 0.25 },
            INK,
        );
        text(&mut out, LEFT - 8.0, at + 4.0, "end", &tick(value));
    }
    match scale(&chart.values) {
        Some(numbers) => points(&mut out, chart, groups.len(), &numbers, &y),
        None => bars(&mut out, chart, groups.len(), &y),
    }
    text(
        &mut out,
        (LEFT + WIDTH - RIGHT) / 2.0,
        TOP + PLOT + 46.0,
        "middle",
        &chart.key,
    );
    if legend > 0 {
        for (index, group) in groups.iter().enumerate() {
            let at = TOP + PLOT + 68.0 + 18.0 * index as f64;
            mark(&mut out, LEFT + 5.0, at - 4.0, index);
            text(&mut out, LEFT + 18.0, at, "start", &group.name);
        }
        if chart.groups.len() > MAX_GROUPS {
            let more = format!("and {} more groups", chart.groups.len() - MAX_GROUPS);
            text(
                &mut out,
                LEFT + 18.0,
                TOP + PLOT + 68.0 + 18.0 * groups.len() as f64,
                "start",
                &more,
            );
        }
    }
    out.push_str("</svg>\n");
    out
}

/// Draws the points of each group, joined by a line.
fn points(out: &mut String, chart: &Chart, groups: usize, numbers: &[f64], y: &dyn Fn(f64) -> f64) {
    let (least, most) = numbers
        .iter()
        .fold((f64::MAX, f64::MIN), |(a, b), n| (a.min(*n), b.max(*n)));
    let span = if most > least { most - least } else { 1.0 };
    let room = WIDTH - LEFT - RIGHT - 40.0;
    let x = |number: f64| LEFT + 20.0 + room * (number - least) / span;
    let mut last = f64::MIN;
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|one, other| numbers[*one].total_cmp(&numbers[*other]));
    for place in &order {
        let at = x(numbers[*place]);
        // Overlapping labels are omitted.
        let half = chart.values[*place].chars().count() as f64 * 3.5;
        if at - half > last + 4.0 {
            last = at + half;
            text(out, at, TOP + PLOT + 20.0, "middle", &chart.values[*place]);
        }
    }
    for (index, group) in chart.groups.iter().take(groups).enumerate() {
        let hue = HUES[index % HUES.len()];
        let known: Vec<(f64, Point)> = order
            .iter()
            .filter_map(|p| Some((x(numbers[*p]), group.points[*p]?)))
            .collect();
        let path: Vec<String> = known
            .iter()
            .map(|(x, point)| format!("{x:.1},{:.1}", y(point.median)))
            .collect();
        let dash = if index < HUES.len() {
            ""
        } else {
            " stroke-dasharray=\"5 3\""
        };
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{hue}\" stroke-width=\"2\"{dash}/>",
            path.join(" ")
        );
        for (x, point) in known {
            whisker(out, x, point, hue, y);
            mark(out, x, y(point.median), index);
        }
    }
}

/// Draws bars of all groups side by side at each value.
fn bars(out: &mut String, chart: &Chart, groups: usize, y: &dyn Fn(f64) -> f64) {
    let slot = (WIDTH - LEFT - RIGHT) / chart.values.len().max(1) as f64;
    let bar = slot * 0.8 / groups.max(1) as f64;
    let letters = (slot / 7.0).max(1.0) as usize;
    for (place, value) in chart.values.iter().enumerate() {
        let begin = LEFT + slot * place as f64;
        if letters >= 2 {
            let label: String = value.chars().take(letters).collect();
            text(out, begin + slot / 2.0, TOP + PLOT + 20.0, "middle", &label);
        }
        for (index, group) in chart.groups.iter().take(groups).enumerate() {
            let Some(point) = group.points[place] else { continue };
            let x = begin + slot * 0.1 + bar * index as f64;
            let hue = HUES[index % HUES.len()];
            let faint = if index < HUES.len() {
                ""
            } else {
                " fill-opacity=\"0.6\""
            };
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{hue}\"{faint}/>",
                y(point.median),
                (bar - 1.0).max(0.5),
                (y(0.0) - y(point.median)).max(0.0)
            );
            whisker(out, x + bar / 2.0, point, INK, y);
        }
    }
}

/// Draws the range from minimum to maximum over several seeds.
fn whisker(out: &mut String, x: f64, point: Point, hue: &str, y: &dyn Fn(f64) -> f64) {
    if point.low < point.high {
        line(out, x, y(point.low), x, y(point.high), 1.0, hue);
    }
}

fn mark(out: &mut String, x: f64, y: f64, index: usize) {
    let hue = HUES[index % HUES.len()];
    let fill = if index < HUES.len() { hue } else { "none" };
    let _ = writeln!(
        out,
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{fill}\" stroke=\"{hue}\" stroke-width=\"2\"/>"
    );
}

fn line(out: &mut String, x1: f64, y1: f64, x2: f64, y2: f64, opacity: f64, hue: &str) {
    let _ = writeln!(
        out,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{hue}\" stroke-opacity=\"{opacity}\"/>"
    );
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, content: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
        escaped(content)
    );
}

/// Returns the values as numbers, if all are distinct numbers with the same unit.
fn scale(values: &[String]) -> Option<Vec<f64>> {
    let parts: Option<Vec<(f64, &str)>> = values.iter().map(|value| number(value)).collect();
    let parts = parts?;
    let unit = parts.first()?.1;
    let mut numbers: Vec<f64> = parts.iter().map(|(number, _)| *number).collect();
    let same = parts.iter().all(|(_, other)| *other == unit);
    numbers.sort_by(f64::total_cmp);
    let distinct = numbers.windows(2).all(|pair| pair[0] < pair[1]);
    (same && distinct && values.len() > 1).then(|| parts.into_iter().map(|(number, _)| number).collect())
}

fn number(value: &str) -> Option<(f64, &str)> {
    let value = value.trim().trim_matches('"').trim();
    let end = value
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || *c == '.' || (*at == 0 && matches!(c, '-' | '+' | '−'))))
        .map_or(value.len(), |(at, _)| at);
    let unit = value[end..].trim();
    // `802.11n` is a name, `20 MHz` is a number.
    let number: f64 = value[..end].replace('−', "-").parse().ok()?;
    (number.is_finite() && !value.starts_with("802.11")).then_some((number, unit))
}

/// Rounds `value` up to one of these steps times a power of ten.
fn nice(value: f64) -> f64 {
    if !(value > 0.0 && value.is_finite()) {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps
        .into_iter()
        .map(|step| step * power)
        .find(|top| *top >= value * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

fn tick(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    netburn_report::sanitise::sanitise(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_on_round_values() {
        for (value, top) in [
            (0.0, 1.0),
            (0.9, 1.0),
            (1.0, 1.0),
            (1.2, 1.5),
            (521.0, 600.0),
            (23.0, 25.0),
            (312.0, 400.0),
            (0.021, 0.025),
        ] {
            assert!((nice(value) / top - 1.0).abs() < 1e-9, "{value}: {}", nice(value));
        }
    }

    #[test]
    fn numbers_with_one_unit_form_a_scale() {
        let scale = |values: &[&str]| scale(&values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>());
        assert_eq!(scale(&["-80dBm", "-70 dBm"]), Some(vec![-80.0, -70.0]));
        assert_eq!(scale(&["1", "2.5", "10"]), Some(vec![1.0, 2.5, 10.0]));
        // A hyphen, and the minus sign that netburn prints.
        assert_eq!(scale(&["-86 dBm", "−40.5 dBm"]), Some(vec![-86.0, -40.5]));
        for no in [
            &["fifo", "airtime"][..],
            &["1 ms", "1 s"],
            &["802.11n", "802.11ac"],
            &["1"],
            &["1", "1.0"],
        ] {
            assert_eq!(scale(no), None, "{no:?}");
        }
    }
}
