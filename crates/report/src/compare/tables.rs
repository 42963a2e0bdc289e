//! Tables of comparisons, rankings and matrices, for a terminal and for a page.

use super::format::{effect, interval, is_absolute, metric_name, metric_value, probability, share, signed};
use crate::sanitise::{sanitise, truncate};
use crate::style::Tone;
use crate::table::{Cell, Column, Table, left, numbers, right, words};
use netburn_analysis::compare::{self, Comparison, Matrix, Ranked, Ranking};

/// The widest name of a side in a heading.
const NAME: usize = 18;
/// The widest name of a variant in a matrix.
const VARIANT: usize = 30;

/// A column of a side's values.
fn side(name: &str) -> Column<'static> {
    right("").named(heading(name))
}

/// A name as a column's heading.
fn heading(name: &str) -> String {
    truncate(&sanitise(name), NAME)
}

fn station(name: Option<&String>) -> Cell {
    name.map_or("(all)", String::as_str).into()
}

/// Index of the column with the result of each metric.
pub(super) const RESULT: usize = 5;

/// The metrics of a comparison with their judgements.
pub(super) fn metrics(of: &Comparison) -> Table {
    let rows = of.metrics.iter().map(|metric| {
        let (contrast, unit) = (metric.contrast(), metric.key.unit());
        vec![
            station(metric.key.station.as_ref()),
            metric_name(&metric.key, of.keys()).into(),
            metric_value(contrast.medians[0], &metric.key).into(),
            metric_value(contrast.medians[1], &metric.key).into(),
            format!("{}{}", signed(contrast.difference, unit), share(metric.share(), unit)).into(),
            Cell::judgement(metric.answer.judgement),
            interval(contrast.interval, unit).into(),
            probability(metric.answer.corrected).into(),
            effect(metric).into(),
        ]
    });
    Table {
        caption: "Compared metrics",
        columns: vec![
            words("Station").once(),
            words("Metric"),
            side(&of.against.name),
            side(&of.these.name),
            numbers("Difference"),
            words("Result"),
            numbers("Interval").apart(),
            right("p"),
            words("Effect size"),
        ],
        keys: 2,
        rows: rows.collect(),
    }
}

/// The variants by their mean rank.
pub(super) fn standings(of: &Ranking) -> Table {
    let rows = of.standings.iter().map(|standing| {
        let side = &of.sides[standing.side];
        let interval = standing.interval;
        vec![
            standing.name.as_str().into(),
            side.runs.len().to_string().into(),
            side.environment().map_or("–", |environment| environment.name()).into(),
            standing
                .mean_rank
                .map_or_else(|| "–".to_owned(), |rank| format!("{rank:.2}"))
                .into(),
            interval
                .map_or_else(String::new, |of| format!("{:.2} to {:.2}", of.low, of.high))
                .into(),
            format!("{} of {}", standing.best_in, of.metrics.len()).into(),
        ]
    });
    Table {
        caption: "Ranking",
        columns: vec![
            words("Variant"),
            numbers("Runs"),
            words("On"),
            numbers("Mean rank"),
            numbers("95 % interval"),
            numbers("Best or tied"),
        ],
        keys: 1,
        rows: rows.collect(),
    }
}

/// The medians of each variant.
pub(super) fn ranked(of: &Ranking) -> Table {
    let rows = of.metrics.iter().map(|ranked| {
        let mut cells = vec![
            station(ranked.key.station.as_ref()),
            metric_name(&ranked.key, of.keys()).into(),
        ];
        cells.extend(of.standings.iter().map(|standing| median(ranked, standing.side)));
        cells
    });
    let mut columns = vec![words("Station").once(), words("Metric")];
    columns.extend(of.standings.iter().map(|standing| side(&standing.name)));
    Table {
        caption: "Metrics of each variant",
        columns,
        keys: 2,
        rows: rows.collect(),
    }
}

fn median(of: &Ranked, side: usize) -> Cell {
    let mark = if of.is_best(side) { "*" } else { "" };
    let shown = format!("{}{mark}", metric_value(of.medians[side], &of.key));
    let tone = of.against_best[side].map_or(Tone::Heading, Tone::from);
    let range = of.intervals[side].map_or_else(String::new, |range| {
        let [low, high] = [range.low, range.high].map(|end| metric_value(end, &of.key));
        format!("{low} to {high}")
    });
    Cell {
        note: range,
        ..Cell::new(shown, tone)
    }
}

/// A row for each scenario and station, and a column for each variant. A page links each cell to its comparison.
pub(super) fn matrix(of: &Matrix) -> Table {
    let rows = of.rows.iter().map(|row| {
        let mut cells = vec![row.scenario.as_str().into(), station(row.station.as_ref())];
        cells.extend(row.cells.iter().map(|cell| match cell {
            Some(cell) => judged(of, cell),
            None => Cell::unknown(),
        }));
        cells
    });
    let mut columns = vec![words("Scenario"), words("Station")];
    let variants = of
        .variants
        .iter()
        .map(|name| left("").named(truncate(&sanitise(name), VARIANT)));
    columns.extend(variants);
    Table {
        caption: "Scenarios, worst first",
        columns,
        keys: 2,
        rows: rows.collect(),
    }
}

/// `[1] worse: p95 ms +12 %`
fn judged(matrix: &Matrix, cell: &compare::Cell) -> Cell {
    let (number, judgement, detail) = (cell.comparison + 1, cell.judgement, detail(matrix, cell));
    let words = match &detail {
        Some(detail) => format!("[{number}] {}: {detail}", judgement.name()),
        None => format!("[{number}] {}", judgement.name()),
    };
    Cell {
        text: words,
        link: Some(format!("#part-c-{number}")),
        note: detail.unwrap_or_default(),
        ..Cell::judgement(judgement)
    }
}

/// Metric behind a cell's judgement, with its difference; `None` without such a metric.
pub(super) fn detail(matrix: &Matrix, cell: &compare::Cell) -> Option<String> {
    let comparison = &matrix.comparisons[cell.comparison];
    let metric = &comparison.metrics[cell.metric?];
    let unit = metric.key.unit();
    let by = match metric.share() {
        Some(of) if !is_absolute(unit) => share(Some(of), unit),
        _ => format!(" ({})", signed(metric.contrast().difference, unit)),
    };
    Some(format!("{}{by}", metric_name(&metric.key, comparison.keys())))
}
