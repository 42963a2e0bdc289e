//! The page of a matrix.

use super::{badge, head, metric_table, verdict};
use crate::compare::format::counts;
use crate::compare::text::{detail, premises};
use crate::html::{document, escaped, section};
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
    body.push_str(&section(
        "matrix",
        "Scenarios and variants, worst first",
        &matrix_table(matrix),
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

fn matrix_table(matrix: &Matrix) -> String {
    let mut out = String::from(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Scenarios, worst first\"><table><caption>Scenarios, worst first</caption><thead><tr><th scope=\"col\">Scenario</th><th scope=\"col\">Station</th>",
    );
    for variant in &matrix.variants {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escaped(variant));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in &matrix.rows {
        let station = row.station.as_deref().unwrap_or("(all)");
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td>",
            escaped(&row.scenario),
            escaped(station)
        );
        for cell in &row.cells {
            let _ = match cell {
                Some(cell) => {
                    let detail = detail(matrix, cell).unwrap_or_default();
                    write!(
                        out,
                        "<td><a href=\"#part-c-{}\">{}</a> {}</td>",
                        cell.comparison + 1,
                        badge(cell.judgement, cell.judgement.name()),
                        escaped(&detail)
                    )
                }
                None => write!(out, "<td>–</td>"),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    out
}
