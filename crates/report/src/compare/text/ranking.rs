//! A ranking for a terminal.

use crate::compare::tables;
use crate::environment::sentence;
use crate::sanitise::wrap;
use crate::style::{Tone, paint};
use netburn_analysis::compare::{Ranking, Side};
use netburn_stats::metric_change::MIN_RUNS;

/// Warnings about the ranking, one message each.
pub(in crate::compare) fn warnings(ranking: &Ranking) -> Vec<String> {
    let mut lines = Vec::new();
    if ranking.metrics.is_empty() && !ranking.not_compared.is_empty() {
        lines.push("The variants have no comparable metric.".to_owned());
    } else if !ranking.shares_a_station() {
        lines.push("The variants have no station in common; the ranking covers only the totals.".to_owned());
    }
    lines.extend(super::not_compared(&ranking.not_compared));
    let mut environments: Vec<&str> = ranking
        .sides
        .iter()
        .filter_map(Side::environment)
        .map(|environment| environment.name())
        .collect();
    environments.sort_unstable();
    environments.dedup();
    if environments.len() > 1 {
        lines.push(format!(
            "Warning: the variants ran in different environments ({}); differences may come from that.",
            environments.join(", ")
        ));
    }
    if ranking.sides.iter().any(|side| side.runs.len() < MIN_RUNS) {
        lines.push(
            "A variant with fewer than three runs cannot be distinguished from others; use --repeat 5.".to_owned(),
        );
    }
    lines
}

/// Lines of about `width` columns, with colours if `colour`.
#[must_use]
pub fn ranking(ranking: &Ranking, width: usize, colour: bool) -> String {
    let mut lines = Vec::new();
    if let Some(environment) = ranking.sides.first().and_then(Side::environment) {
        lines.extend(wrap(sentence(environment), width, ""));
        lines.push(String::new());
    }
    let title = format!(
        "{} variants, ranked by {} common metrics",
        ranking.sides.len(),
        ranking.metrics.len()
    );
    lines.push(paint(&title, Tone::Heading, colour));
    lines.push(String::new());
    lines.extend(tables::standings(ranking).lines(width, colour));
    if !ranking.metrics.is_empty() {
        lines.push(String::new());
        lines.extend(tables::ranked(ranking).lines(width, colour));
    }
    lines.push(String::new());
    for warning in warnings(ranking) {
        lines.extend(wrap(&warning, width, "  "));
    }
    let legend = legend(ranking);
    lines.extend(wrap(&legend, width, "  "));
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

/// Basis of the ranking.
pub(in crate::compare) fn legend(ranking: &Ranking) -> String {
    format!(
        "Medians of runs. * marks the best variant and those that cannot be distinguished from it ({} pairs, rank test with Holm's correction, 5 %). Intervals: 95 %, {} bootstrap resamples of runs, seed {}.",
        ranking.judged_with, ranking.options.draws, ranking.options.seed.0
    )
}
