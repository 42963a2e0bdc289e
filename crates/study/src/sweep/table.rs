//! Results as a table in a terminal: values of the keys, verdict, and the main metrics of every station.

use super::cells::{Cell as SweepCell, Cells};
use super::columns::{Column, MetricValue};
use super::rows::Rows;
use netburn_record::metrics::Unit;
use netburn_report::sanitise::{sanitise, truncate};
use netburn_report::style::Tone;
use netburn_report::table::{Cell, left, render, right};

/// Maximum number of lines in the terminal; the files have all.
const MAX_SHOWN_LINES: usize = 100;

/// Maximum width of a value.
const MAX_VALUE_WIDTH: usize = 40;

/// Formats the results, `width` columns wide: a line for each run, or for each cell if there are several runs of each.
#[must_use]
pub fn table(rows: &Rows, width: usize, colour: bool) -> String {
    let columns = rows.columns.iter().enumerate();
    let shown: Vec<(usize, &str)> = columns
        .filter_map(|(place, column)| Some((place, column.heading.as_deref()?)))
        .collect();
    let keys: Vec<String> = rows.keys.iter().map(|key| sanitise(key)).collect();
    let mut columns: Vec<_> = keys.iter().map(|key| left(key)).collect();
    let repeated = rows.repeat > 1;
    if repeated {
        columns.push(right("RUNS"));
    }
    let fixed = columns.len();
    for (place, heading) in &shown {
        columns.push(match rows.columns[*place].unit {
            Unit::Verdict => left(heading),
            _ => right(heading),
        });
    }
    let cells = Cells::with_impossible(rows).cells;
    let lines: Vec<Vec<Cell>> = cells
        .iter()
        .take(MAX_SHOWN_LINES)
        .map(|of| {
            let values = of.values.iter();
            let values = values.map(|value| Cell::from(truncate(&sanitise(value), MAX_VALUE_WIDTH)));
            let runs = repeated.then(|| {
                of.rows
                    .iter()
                    .filter(|row| row.seed.is_some())
                    .count()
                    .to_string()
                    .into()
            });
            let metrics = shown.iter().map(|(place, _)| metric(&rows.columns[*place], of, *place));
            values.chain(runs).chain(metrics).collect()
        })
        .collect();
    let mut text = String::new();
    for line in render(&columns, &lines, fixed, width, colour) {
        text.push_str(&line);
        text.push('\n');
    }
    match cells.len().saturating_sub(MAX_SHOWN_LINES) {
        0 => {}
        more => {
            let file = if repeated { "cells.csv" } else { "rows.csv" };
            text.push_str(&format!("and {more} more in {file}\n"));
        }
    }
    text
}

/// A metric of a cell: the median of its runs, or their verdicts.
fn metric(column: &Column, of: &SweepCell<'_>, place: usize) -> Cell {
    if column.unit != Unit::Verdict {
        let estimate = of.estimate(place);
        return cell(column, &estimate.map(|estimate| estimate.median).into());
    }
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    for row in &of.rows {
        let MetricValue::Text(verdict) = row.metrics[place] else {
            continue;
        };
        match counts.iter_mut().find(|(known, _)| *known == verdict) {
            Some((_, count)) => *count += 1,
            None => counts.push((verdict, 1)),
        }
    }
    // The sort is stable: equal counts keep the order of the runs.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    match counts[..] {
        [] => Cell::default(),
        [(verdict, _)] => cell(column, &MetricValue::Text(verdict)),
        _ => {
            let counts: Vec<String> = counts
                .iter()
                .map(|(verdict, count)| format!("{count} {verdict}"))
                .collect();
            counts.join(", ").into()
        }
    }
}

fn cell(column: &Column, metric: &MetricValue) -> Cell {
    match metric {
        MetricValue::None => Cell::default(),
        MetricValue::Text("none") => "–".into(),
        MetricValue::Text(text) => Cell::new(*text, tone(text)),
        MetricValue::Number(value) => match column.unit {
            Unit::Share if column.heading.as_deref().is_some_and(|heading| heading.ends_with('%')) => {
                format!("{:.0}", value * 100.0).into()
            }
            unit => format_value(*value, unit).into(),
        },
    }
}

fn tone(verdict: &str) -> Tone {
    match verdict {
        "pass" => Tone::Good,
        "marginal" | "inconclusive" => Tone::Unreliable,
        "fail" => Tone::Bad,
        _ => Tone::Plain,
    }
}

/// Formats a value with three significant digits.
pub(super) fn format_value(value: f64, unit: Unit) -> String {
    match (unit, value.abs()) {
        (Unit::Count | Unit::Rpm, _) => format!("{value:.0}"),
        (Unit::Share, _) => format!("{value:.2}"),
        (Unit::Points, _) => format!("{value:.1}"),
        (Unit::Mbps, ..1.0) | (Unit::Ms, ..10.0) => format!("{value:.2}"),
        (Unit::Mbps, ..1000.0) | (Unit::Ms, ..100.0) => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
