//! A ranking for a terminal.

use super::heading;
use crate::compare::format::{metric_name, metric_value};
use crate::environment::sentence;
use crate::sanitise::{sanitise, wrap};
use crate::style::{Tone, paint};
use crate::table::{Cell, left, render, right};
use netburn_analysis::compare::{Ranked, Ranking, Side};
use netburn_stats::metric_change::MIN_RUNS;

/// Warnings about the ranking, one message each.
pub(in crate::compare) fn warnings(ranking: &Ranking) -> Vec<String> {
    let mut lines = Vec::new();
    if !ranking.shares_a_station() {
        lines.push("The variants have no station in common; the ranking covers only the totals.".to_owned());
    }
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
    lines.extend(overall(ranking, width, colour));
    if !ranking.metrics.is_empty() {
        lines.push(String::new());
        lines.extend(each_metric(ranking, width, colour));
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

fn overall(ranking: &Ranking, width: usize, colour: bool) -> Vec<String> {
    let rows: Vec<Vec<Cell>> = ranking
        .standings
        .iter()
        .map(|standing| {
            let side = &ranking.sides[standing.side];
            vec![
                sanitise(&standing.name).into(),
                side.runs.len().to_string().into(),
                side.environment().map_or("–", |environment| environment.name()).into(),
                format!("{:.2}", standing.mean_rank).into(),
                standing
                    .interval
                    .map_or_else(String::new, |i| format!("{:.2} to {:.2}", i.low, i.high))
                    .into(),
                format!("{} of {}", standing.best_in, ranking.metrics.len()).into(),
            ]
        })
        .collect();
    let columns = [
        left("VARIANT"),
        right("RUNS"),
        left("ON"),
        right("MEAN RANK"),
        right("95 % INTERVAL"),
        right("BEST OR TIED"),
    ];
    render(&columns, &rows, 1, width, colour)
}

fn each_metric(ranking: &Ranking, width: usize, colour: bool) -> Vec<String> {
    let headings: Vec<String> = ranking
        .standings
        .iter()
        .map(|standing| heading(&standing.name))
        .collect();
    let mut columns = vec![left("STATION"), left("METRIC")];
    columns.extend(headings.iter().map(|name| right(name)));
    let mut before = None;
    let rows: Vec<Vec<Cell>> = ranking
        .metrics
        .iter()
        .map(|ranked| {
            let station = if before.replace(&ranked.key.station) == Some(&ranked.key.station) {
                String::new()
            } else {
                ranked
                    .key
                    .station
                    .as_ref()
                    .map_or_else(|| "(all)".to_owned(), |name| sanitise(name))
            };
            let mut cells = vec![
                station.into(),
                sanitise(&metric_name(&ranked.key, ranking.keys())).into(),
            ];
            cells.extend(ranking.standings.iter().map(|standing| cell(ranked, standing.side)));
            cells
        })
        .collect();
    render(&columns, &rows, 2, width, colour)
}

fn cell(ranked: &Ranked, side: usize) -> Cell {
    let mark = if ranked.is_best(side) { "*" } else { "" };
    let shown = format!("{}{mark}", metric_value(ranked.medians[side], &ranked.key));
    match ranked.against_best[side] {
        None => Cell::new(shown, Tone::Heading),
        Some(judgement) => Cell::new(shown, judgement.into()),
    }
}
