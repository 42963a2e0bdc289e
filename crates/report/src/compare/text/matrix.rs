//! A matrix for a terminal.

use crate::compare::format::{counts, is_absolute, metric_name, share, signed};
use crate::sanitise::{sanitise, truncate, wrap};
use crate::style::{Tone, paint};
use crate::table::{Cell as TextCell, left, render};
use netburn_analysis::compare::{Cell, Comparison, Matrix, Side};

/// Text of a cell: `worse: p95 ms +12 %`.
fn words(matrix: &Matrix, cell: &Cell) -> String {
    match detail(matrix, cell) {
        Some(detail) => format!("{}: {detail}", cell.judgement.name()),
        None => cell.judgement.name().to_owned(),
    }
}

/// Metric behind a cell's judgement, with its difference; `None` without such a metric.
pub(in crate::compare) fn detail(matrix: &Matrix, cell: &Cell) -> Option<String> {
    let place = cell.metric?;
    let comparison = &matrix.comparisons[cell.comparison];
    let metric = &comparison.metrics[place];
    let by = match metric.share() {
        Some(of) if !is_absolute(metric.key.unit()) => share(Some(of), metric.key.unit()),
        _ => format!(" ({})", signed(metric.contrast().difference, metric.key.unit())),
    };
    Some(format!("{}{by}", metric_name(&metric.key, comparison.keys())))
}

/// Lines of about `width` columns, with colours if `colour`. Each comparison has a number and a
/// command that shows it in full.
#[must_use]
pub fn matrix(matrix: &Matrix, width: usize, colour: bool) -> String {
    let answers = matrix
        .comparisons
        .iter()
        .flat_map(|comparison| comparison.metrics.iter().map(|metric| &metric.answer));
    let title = format!("Against {}: {}", sanitise(&matrix.baseline), counts(answers));
    let mut lines = wrap(&paint(&title, Tone::Heading, colour), width, "  ");
    lines.push(String::new());
    let headings: Vec<String> = matrix
        .variants
        .iter()
        .map(|name| truncate(&sanitise(name), 30))
        .collect();
    let mut columns = vec![left("SCENARIO"), left("STATION")];
    columns.extend(headings.iter().map(|name| left(name)));
    let rows: Vec<Vec<TextCell>> = matrix
        .rows
        .iter()
        .map(|row| {
            let station = row
                .station
                .as_ref()
                .map_or_else(|| "(all)".to_owned(), |name| sanitise(name));
            let mut cells = vec![sanitise(&row.scenario).into(), station.into()];
            cells.extend(row.cells.iter().map(|cell| match cell {
                Some(cell) => {
                    let words = sanitise(&words(matrix, cell));
                    TextCell::new(format!("[{}] {words}", cell.comparison + 1), cell.judgement.into())
                }
                None => TextCell::new("–", Tone::Quiet),
            }));
            cells
        })
        .collect();
    lines.extend(render(&columns, &rows, 2, width, colour));
    lines.push(String::new());
    if let Some(needed) = matrix.comparisons.iter().find_map(Comparison::too_few) {
        lines.extend(wrap(
            &format!(
                "Too few runs for the number of metrics: {needed} runs of each variant are needed (--repeat {needed})."
            ),
            width,
            "  ",
        ));
    }
    for (number, comparison) in matrix.comparisons.iter().enumerate() {
        let words = |side: &Side| {
            side.sources
                .iter()
                .map(|source| quoted(source))
                .collect::<Vec<_>>()
                .join(" ")
        };
        // Commands are never wrapped, so that they can be copied.
        lines.push(format!(
            "[{}] netburn compare {} --against {}",
            number + 1,
            words(&comparison.these),
            words(&comparison.against)
        ));
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

/// A path, quoted for a shell.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", sanitise(path).replace('\'', r"'\''"))
    }
}
