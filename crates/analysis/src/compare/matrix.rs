//! Many scenarios, each under several variants: one table, worst first.

use super::pairwise::{Comparison, Options, judge_together};
use super::side::Side;
use netburn_stats::metric_change::Judgement;

/// Scenarios × variants, each compared with the scenario's baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Name of the baseline variant.
    pub baseline: String,
    /// The other variants, in their order.
    pub variants: Vec<String>,
    /// A row for every scenario and station, the worst first.
    pub rows: Vec<Row>,
    /// The comparisons to which the cells refer.
    pub comparisons: Vec<Comparison>,
}

/// One station of one scenario under every variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The scenario.
    pub scenario: String,
    /// The station; `None` for the whole run.
    pub station: Option<String>,
    /// A cell for each variant; `None` without runs or without a common metric.
    pub cells: Vec<Option<Cell>>,
}

/// Effect of a variant on a station.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Index of the variant.
    pub variant: usize,
    /// Index of the comparison that the cell belongs to.
    pub comparison: usize,
    /// The station's worst judgement; better if nothing is worse.
    pub judgement: Judgement,
    /// Index of the metric with the largest difference in that comparison.
    pub metric: Option<usize>,
}

impl Matrix {
    /// Compares every scenario's variants with its baseline, and judges all comparisons together. Each of `scenarios`
    /// has a name, the baseline's side, and for every variant a side or `None`.
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
}

/// The stations of a comparison in its order; `None` is the whole run.
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
