//! A matrix for a terminal.

use crate::compare::format::counts;
use crate::compare::tables;
use crate::sanitise::{sanitise, wrap};
use crate::style::{Tone, paint};
use netburn_analysis::compare::{Comparison, Matrix, Side};

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
    lines.extend(tables::matrix(matrix).lines(width, colour));
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
