//! Chart as bars in a terminal.

use super::Chart;
use crate::sweep::table::format_value;
use netburn_report::sanitise::{sanitise, truncate, width};

/// Maximum number of bars in the terminal; the SVG has more.
const MAX_BARS: usize = 60;

/// Maximum width of a label.
const MAX_LABEL_WIDTH: usize = 32;

/// Zero to seven eighths of a character's width.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Formats the chart in lines of at most `columns` columns: a bar for each value of the first key, proportional to its median.
#[must_use]
pub fn text(chart: &Chart, columns: usize) -> String {
    let mut text = format!("{} over {}\n", sanitise(&chart.title()), sanitise(&chart.key));
    let highest = chart
        .groups
        .iter()
        .flat_map(|group| group.points.iter().flatten())
        .map(|point| point.median)
        .fold(0.0, f64::max);
    let labels: Vec<String> = chart
        .values
        .iter()
        .map(|value| truncate(&sanitise(value), MAX_LABEL_WIDTH))
        .collect();
    let widest = labels.iter().map(|label| width(label)).max().unwrap_or(0);
    // With several seeds, the range follows the value.
    let beside = if chart.seeds.1 > 1 { 34 } else { 14 };
    let room = columns.saturating_sub(widest + beside).clamp(10, 60);
    let mut shown = 0;
    let bars = chart
        .groups
        .iter()
        .map(|group| group.points.iter().flatten().count())
        .sum::<usize>();
    for group in &chart.groups {
        if shown >= MAX_BARS {
            break;
        }
        let name = group.name();
        if !name.is_empty() {
            text.push_str(&format!("{}\n", truncate(&sanitise(&name), columns)));
        }
        for (label, point) in labels.iter().zip(&group.points) {
            let Some(point) = point else { continue };
            shown += 1;
            if shown > MAX_BARS {
                break;
            }
            let gap = " ".repeat(widest - width(label));
            let bar = bar(point.median, highest, room);
            let number = |value| format_value(value, chart.unit);
            let mut value = number(point.median);
            if chart.seeds.1 > 1 {
                value.push_str(&format!(" [{} to {}]", number(point.low), number(point.high)));
            }
            let line = if bar.is_empty() {
                format!("  {label}{gap}  {value}")
            } else {
                format!("  {label}{gap}  {bar} {value}")
            };
            text.push_str(&line);
            text.push('\n');
        }
    }
    match bars.saturating_sub(MAX_BARS) {
        0 if bars == 0 => text.push_str("  no run has a value of this metric\n"),
        0 => {}
        more => text.push_str(&format!("  and {more} more bars; chart.svg has more\n")),
    }
    text
}

/// Formats a bar of length `room` × `value` / `highest`, in steps of an eighth of a column.
fn bar(value: f64, highest: f64, room: usize) -> String {
    if highest <= 0.0 || value <= 0.0 {
        return String::new();
    }
    let eighths = (value / highest * room as f64 * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional_to_their_values() {
        assert_eq!(bar(10.0, 10.0, 10), "█".repeat(10));
        assert_eq!(bar(5.0, 10.0, 10), "█████");
        // A sixteenth of 10 is five eighths of one.
        assert_eq!(bar(0.625, 10.0, 10), "▋");
        assert_eq!(bar(0.0, 10.0, 10), "");
        assert_eq!(bar(0.0, 0.0, 10), "");
    }
}
