//! Many scenarios, each under several variants: one table, worst first.

use super::format::{counts, metric_name, share};
use super::pairwise::{Comparison, Options, judge_together};
use super::side::Side;
use crate::sanitise::{sanitise, truncate, wrap};
use crate::style::{Tone, paint};
use crate::table::{Cell as TextCell, left, render};
use netburn_stats::judge::Judgement;

/// Scenarios × variants, each compared with the scenario's baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Name of the baseline variant.
    pub baseline: String,
    /// The other variants, in their order.
    pub variants: Vec<String>,
    /// A row for every scenario and station, the worst first.
    pub rows: Vec<Row>,
    /// The comparisons that the cells point into.
    pub comparisons: Vec<Comparison>,
}

/// One station of one scenario under every variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The scenario.
    pub scenario: String,
    /// The station; `None` for in total.
    pub station: Option<String>,
    /// A cell for each variant; `None` without runs or without a common metric.
    pub cells: Vec<Option<Cell>>,
}

/// Quantity a variant does to a station.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The variant's place.
    pub variant: usize,
    /// The place of the comparison that it is of.
    pub comparison: usize,
    /// The station's worst judgement; better if nothing is worse.
    pub judgement: Judgement,
    /// Index of the metric with the largest difference in that comparison.
    pub metric: Option<usize>,
}

impl Matrix {
    /// Holds every scenario's variants against its baseline, and judges all of it together. `scenarios`: each a name, the
    /// baseline's side, and a side for every variant or none.
    #[must_use]
    pub fn new(
        baseline: &str,
        variants: &[String],
        scenarios: Vec<(String, Side, Vec<Option<Side>>)>,
        options: Options,
    ) -> Self {
        let mut comparisons = Vec::new();
        let mut places = Vec::new();
        for (scenario, against, sides) in scenarios {
            for (variant, side) in sides.into_iter().enumerate() {
                if let Some(side) = side {
                    places.push((scenario.clone(), variant));
                    comparisons.push(Comparison::unjudged(side, against.clone(), options));
                }
            }
        }
        judge_together(&mut comparisons.iter_mut().collect::<Vec<_>>());
        let mut rows: Vec<Row> = Vec::new();
        for (place, (scenario, variant)) in places.iter().enumerate() {
            for station in stations(&comparisons[place]) {
                let wanted = |row: &Row| row.scenario == *scenario && row.station == station;
                let row = rows.iter().position(wanted).unwrap_or_else(|| {
                    rows.push(Row {
                        scenario: scenario.clone(),
                        station: station.clone(),
                        cells: vec![None; variants.len()],
                    });
                    rows.len() - 1
                });
                rows[row].cells[*variant] = Some(cell(&comparisons[place], place, *variant, station.as_deref()));
            }
        }
        let mut matrix = Matrix {
            baseline: baseline.to_owned(),
            variants: variants.to_vec(),
            rows: Vec::new(),
            comparisons,
        };
        rows.sort_by(|a, b| matrix.badness(b).total_cmp(&matrix.badness(a)));
        matrix.rows = rows;
        matrix
    }

    /// Number of metrics of all comparisons with this judgement.
    #[must_use]
    pub fn count(&self, wanted: Judgement) -> usize {
        self.comparisons.iter().map(|comparison| comparison.count(wanted)).sum()
    }

    /// Sort key of a row's worst cell: worse ones first, by their share.
    fn badness(&self, row: &Row) -> f64 {
        let cells = row.cells.iter().flatten().map(|cell| {
            let metric = cell
                .metric
                .map(|place| &self.comparisons[cell.comparison].metrics[place]);
            let share = metric
                .map_or(0.0, |metric| metric.share().map_or(1.0, f64::abs))
                .min(1e6);
            match cell.judgement {
                Judgement::Worse => 2e6 + share,
                Judgement::CantTell => 1e6,
                Judgement::Same => 0.0,
                Judgement::Better => -share,
            }
        });
        cells.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Text of a cell: `worse: p95 ms +12 %`.
    #[must_use]
    pub fn words(&self, cell: &Cell) -> String {
        let Some(place) = cell.metric else {
            return cell.judgement.name().to_owned();
        };
        let metric = &self.comparisons[cell.comparison].metrics[place];
        let by = match metric.share() {
            Some(of) if metric.key.quantity.unit() != super::Unit::Share => share(Some(of), metric.key.quantity.unit()),
            _ => format!(
                " ({})",
                super::format::signed(metric.contrast().difference, metric.key.quantity.unit())
            ),
        };
        format!("{}: {}{by}", cell.judgement.name(), metric_name(&metric.key, false))
    }

    /// Lines of about `width` columns, with colours if `colour`. Each comparison has a number and a
    /// command that shows it in full.
    #[must_use]
    pub fn text(&self, width: usize, colour: bool) -> String {
        let answers = self
            .comparisons
            .iter()
            .flat_map(|comparison| comparison.metrics.iter().map(|metric| &metric.answer));
        let title = format!("Against {}: {}", sanitise(&self.baseline), counts(answers));
        let mut lines = wrap(&paint(&title, Tone::Heading, colour), width, "  ");
        lines.push(String::new());
        let headings: Vec<String> = self.variants.iter().map(|name| truncate(&sanitise(name), 30)).collect();
        let mut columns = vec![left("SCENARIO"), left("STATION")];
        columns.extend(headings.iter().map(|name| left(name)));
        let rows: Vec<Vec<TextCell>> = self
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
                        let words = sanitise(&self.words(cell));
                        TextCell::new(format!("[{}] {words}", cell.comparison + 1), cell.judgement.into())
                    }
                    None => TextCell::new("–", Tone::Quiet),
                }));
                cells
            })
            .collect();
        lines.extend(render(&columns, &rows, 2, width, colour));
        lines.push(String::new());
        if let Some(needed) = self.comparisons.iter().find_map(Comparison::too_few) {
            lines.extend(wrap(
                &format!(
                    "Too few runs for the number of metrics: {needed} runs of each variant are needed (--repeat {needed})."
                ),
                width,
                "  ",
            ));
        }
        for (number, comparison) in self.comparisons.iter().enumerate() {
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
}

/// The stations of a comparison in its order, `None` for in total.
fn stations(of: &Comparison) -> Vec<Option<String>> {
    let mut stations: Vec<Option<String>> = Vec::new();
    for metric in &of.metrics {
        if !stations.contains(&metric.key.station) {
            stations.push(metric.key.station.clone());
        }
    }
    stations
}

fn cell(of: &Comparison, comparison: usize, variant: usize, station: Option<&str>) -> Cell {
    let metrics = || {
        of.metrics
            .iter()
            .enumerate()
            .filter(|(_, metric)| metric.key.station.as_deref() == station)
    };
    let any = |wanted| metrics().any(|(_, metric)| metric.answer.judgement == wanted);
    let judgement = match () {
        () if any(Judgement::Worse) => Judgement::Worse,
        () if any(Judgement::Better) => Judgement::Better,
        () if any(Judgement::CantTell) => Judgement::CantTell,
        () => Judgement::Same,
    };
    let telling = metrics().filter(|(_, metric)| {
        metric.answer.judgement == judgement && matches!(judgement, Judgement::Worse | Judgement::Better)
    });
    // The first of the largest.
    let largest = telling.fold(None, |best: Option<(usize, f64)>, (place, metric)| {
        let share = metric.share().map_or(f64::MAX, f64::abs);
        match best {
            Some((_, most)) if most >= share => best,
            _ => Some((place, share)),
        }
    });
    Cell {
        variant,
        comparison,
        judgement,
        metric: largest.map(|(place, _)| place),
    }
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", sanitise(path).replace('\'', r"'\''"))
    }
}
