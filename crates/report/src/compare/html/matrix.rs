//! The page of a matrix.

use super::{head, metric_table, verdict};
use crate::compare::format::counts;
use crate::compare::tables;
use crate::compare::text::premises;
use crate::html::{document, escaped, section, table};
use netburn_analysis::compare::Matrix;
use std::fmt::Write as _;

/// The matrix as a page: each cell of the table links to its comparison below.
#[must_use]
pub fn matrix(matrix: &Matrix) -> String {
    let title = format!("{} against {}", matrix.variants.join(", "), matrix.baseline);
    let mut body = matrix
        .comparisons
        .first()
        .map_or_else(String::new, |first| head(&title, &first.these));
    let answers = matrix
        .comparisons
        .iter()
        .flat_map(|comparison| comparison.metrics.iter().map(|metric| &metric.answer));
    let _ = writeln!(
        body,
        "<p class=\"verdict\">{}</p>\n</header>\n<main>",
        escaped(&counts(answers))
    );
    let mut cells = tables::matrix(matrix);
    // A page has room for the whole names.
    for (column, name) in cells.columns.iter_mut().skip(cells.keys).zip(&matrix.variants) {
        column.heading = name.clone().into();
    }
    body.push_str(&section(
        "matrix",
        "Scenarios and variants, worst first",
        &table(&cells),
    ));
    for (number, comparison) in matrix.comparisons.iter().enumerate() {
        let (scenario, variant) = place(matrix, number);
        let mut content = format!("<p class=\"verdict\">{}</p>\n", verdict(comparison));
        for line in premises(comparison) {
            let _ = writeln!(content, "<p class=\"facts\">{}</p>", escaped(&line));
        }
        content.push_str(&metric_table(comparison));
        let name = format!("[{}] {scenario}: {variant} against {}", number + 1, matrix.baseline);
        body.push_str(&section(&format!("c-{}", number + 1), &name, &content));
    }
    body.push_str("</main>\n");
    document(&title, &body, &[])
}

/// The scenario and the variant of a comparison.
fn place(matrix: &Matrix, comparison: usize) -> (&str, &str) {
    let found = matrix.rows.iter().find_map(|row| {
        let cell = row.cells.iter().flatten().find(|cell| cell.comparison == comparison)?;
        Some((row.scenario.as_str(), matrix.variants[cell.variant].as_str()))
    });
    found.unwrap_or(("", ""))
}
