//! Ranking of more than two sides.

use super::format::{metric_name, value};
use super::metric::Key;
use super::pairing::Pairing;
use super::pairwise::{Options, Table, known, question};
use super::side::Side;
use super::text::heading;
use crate::environment::sentence;
use crate::sanitise::{sanitise, wrap};
use crate::style::{Tone, paint};
use crate::table::{Cell, left, render, right};
use netburn_stats::bootstrap::median;
use netburn_stats::contrast::{LEVEL, judge_all, varying};
use netburn_stats::judge::{Better, Judgement, MIN_RUNS};
use netburn_stats::percentile::rank;
use netburn_stats::{Interval, interval};
use netburn_units::Probability;
use std::collections::BTreeMap;

/// Several sides, ranked.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The sides, as they were given.
    pub sides: Vec<Side>,
    /// The sides, the best mean rank first.
    pub standings: Vec<Standing>,
    /// Every value that all have.
    pub metrics: Vec<Ranked>,
    /// Number of pairs that vary were judged together.
    pub judged_with: usize,
    /// Options of the ranking.
    pub options: Options,
}

/// Overall result of a side.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Index of the side.
    pub side: usize,
    /// Its name.
    pub name: String,
    /// Mean rank over all metrics by medians, 1 is the best; ties share the mean.
    pub mean_rank: f64,
    /// 95 % confidence interval of the mean rank: a bootstrap over each side's runs. `None` if a
    /// side has fewer than two runs.
    pub interval: Option<Interval>,
    /// Number of metrics in which the side is the best, or cannot be distinguished from the best.
    pub best_in: usize,
}

/// A value of all sides; by the sides' places.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Metric.
    pub key: Key,
    /// The medians of the runs.
    pub medians: Vec<f64>,
    /// 95 % confidence intervals; `None` with fewer than two runs, or if a value is infinite.
    pub intervals: Vec<Option<Interval>>,
    /// Their ranks, 1 the best.
    pub ranks: Vec<f64>,
    /// The places, the best first.
    pub order: Vec<usize>,
    /// Quantity each is against the best one; `None` for that itself.
    pub against_best: Vec<Option<Judgement>>,
}

impl Ranking {
    /// Ranks `sides`, of which there should be two or more.
    #[must_use]
    pub fn new(sides: Vec<Side>, options: Options) -> Self {
        let tables: Vec<Table> = sides.iter().map(Table::from_side).collect();
        let mut metrics = Vec::new();
        let (mut shared, mut values) = (Vec::new(), Vec::new());
        for key in tables.first().map_or(&[][..], |table| &table.order) {
            let runs_of_all = tables.iter().map(|table| table.runs(key));
            let Some(runs) = runs_of_all.collect::<Option<Vec<_>>>() else {
                continue;
            };
            let of_each: Vec<Vec<f64>> = runs.iter().map(|runs| known(runs)).collect();
            metrics.push(ranked(key, &of_each, options));
            values.push(of_each);
            shared.push(runs);
        }
        let judged_with = judge(&sides, &mut metrics, &shared, options);
        let standings = standings(&sides, &metrics, &values, options);
        Ranking {
            standings,
            metrics,
            judged_with,
            options,
            sides,
        }
    }

    /// Returns true if all have at least one station of one name.
    #[must_use]
    pub fn shares_a_station(&self) -> bool {
        self.metrics.iter().any(|ranked| ranked.key.station.is_some())
    }

    /// Warnings about the ranking, one message each.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.shares_a_station() {
            lines.push("The variants have no station in common; the ranking covers only the totals.".to_owned());
        }
        let mut environments: Vec<&str> = self
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
        if self.sides.iter().any(|side| side.runs.len() < MIN_RUNS) {
            lines.push(
                "A variant with fewer than three runs cannot be distinguished from others; use --repeat 5.".to_owned(),
            );
        }
        lines
    }

    /// Lines of about `width` columns, with colours if `colour`.
    #[must_use]
    pub fn text(&self, width: usize, colour: bool) -> String {
        let mut lines = Vec::new();
        if let Some(environment) = self.sides.first().and_then(Side::environment) {
            lines.extend(wrap(sentence(environment), width, ""));
            lines.push(String::new());
        }
        let title = format!(
            "{} variants, ranked by {} common metrics",
            self.sides.len(),
            self.metrics.len()
        );
        lines.push(paint(&title, Tone::Heading, colour));
        lines.push(String::new());
        lines.extend(self.overall(width, colour));
        if !self.metrics.is_empty() {
            lines.push(String::new());
            lines.extend(self.each(width, colour));
        }
        lines.push(String::new());
        for warning in self.warnings() {
            lines.extend(wrap(&warning, width, "  "));
        }
        let legend = self.legend();
        lines.extend(wrap(&legend, width, "  "));
        let mut text = lines.join("\n");
        text.push('\n');
        text
    }

    /// Quantity it rests on.
    pub(super) fn legend(&self) -> String {
        format!(
            "Medians of runs. * marks the best variant and those that cannot be distinguished from it ({} pairs, rank test with Holm's correction, 5 %). Intervals: 95 %, {} bootstrap resamples of runs, seed {}.",
            self.judged_with, self.options.draws, self.options.seed.0
        )
    }

    fn overall(&self, width: usize, colour: bool) -> Vec<String> {
        let rows: Vec<Vec<Cell>> = self
            .standings
            .iter()
            .map(|standing| {
                let side = &self.sides[standing.side];
                vec![
                    sanitise(&standing.name).into(),
                    side.runs.len().to_string().into(),
                    side.environment().map_or("–", |environment| environment.name()).into(),
                    format!("{:.2}", standing.mean_rank).into(),
                    standing
                        .interval
                        .map_or_else(String::new, |i| format!("{:.2} to {:.2}", i.low, i.high))
                        .into(),
                    format!("{} of {}", standing.best_in, self.metrics.len()).into(),
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

    fn each(&self, width: usize, colour: bool) -> Vec<String> {
        let headings: Vec<String> = self.standings.iter().map(|standing| heading(&standing.name)).collect();
        let mut columns = vec![left("STATION"), left("METRIC")];
        columns.extend(headings.iter().map(|name| right(name)));
        let mut before = None;
        let rows: Vec<Vec<Cell>> = self
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
                let mut cells = vec![station.into(), sanitise(&metric_name(&ranked.key, false)).into()];
                cells.extend(self.standings.iter().map(|standing| ranked.cell(standing.side)));
                cells
            })
            .collect();
        render(&columns, &rows, 2, width, colour)
    }
}

impl Ranked {
    /// Returns true if a side is the best, or is unknown from it.
    #[must_use]
    pub fn is_best(&self, side: usize) -> bool {
        matches!(
            self.against_best[side],
            None | Some(Judgement::Same | Judgement::CantTell)
        )
    }

    fn cell(&self, side: usize) -> Cell {
        let unit = self.key.quantity.unit();
        let mark = if self.is_best(side) { "*" } else { "" };
        let shown = format!("{}{mark}", value(self.medians[side], unit));
        match self.against_best[side] {
            None => Cell::new(shown, Tone::Heading),
            Some(judgement) => Cell::new(shown, judgement.into()),
        }
    }
}

fn ranked(key: &Key, values: &[Vec<f64>], options: Options) -> Ranked {
    let medians: Vec<f64> = values.iter().map(|values| median(&mut values.clone())).collect();
    let better = key.quantity.better();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| in_order(medians[*a], medians[*b], better));
    Ranked {
        ranks: ranks(&medians, better),
        intervals: values
            .iter()
            .map(|values| interval(values, median, LEVEL, options.draws, options.seed))
            .collect(),
        against_best: vec![None; values.len()],
        key: key.clone(),
        medians,
        order,
    }
}

/// The best first.
fn in_order(one: f64, other: f64, better: Better) -> std::cmp::Ordering {
    match better {
        Better::Lower => one.total_cmp(&other),
        Better::Higher => other.total_cmp(&one),
    }
}

/// The ranks of values, 1 the best; equal ones share the mean.
fn ranks(values: &[f64], better: Better) -> Vec<f64> {
    let rank = |mine: f64| {
        let before = values
            .iter()
            .filter(|other| in_order(**other, mine, better).is_lt())
            .count();
        let even = values.iter().filter(|other| **other == mine).count();
        before as f64 + f64::midpoint(1.0, even as f64)
    };
    values.iter().map(|value| rank(*value)).collect()
}

/// Judges every side of every value against the best, in total; gives how many pairs that vary
/// there were.
fn judge(sides: &[Side], metrics: &mut [Ranked], runs: &[Vec<&[Option<f64>]>], options: Options) -> usize {
    let mut pairings: BTreeMap<[usize; 2], Pairing> = BTreeMap::new();
    let mut places = Vec::new();
    let mut questions = Vec::new();
    for (metric, runs) in runs.iter().enumerate() {
        let best = metrics[metric].order[0];
        for side in (0..runs.len()).filter(|side| *side != best) {
            let of_both = || Pairing::new(&sides[best], &sides[side]);
            let pairing = pairings.entry([best, side]).or_insert_with(of_both);
            if let Some(question) = question(&metrics[metric].key, [runs[best], runs[side]], pairing, options) {
                places.push((metric, side));
                questions.push(question);
            }
        }
    }
    for ((metric, side), answer) in places.iter().zip(judge_all(&questions)) {
        metrics[*metric].against_best[*side] = Some(answer.judgement);
    }
    varying(&questions)
}

fn standings(sides: &[Side], metrics: &[Ranked], values: &[Vec<Vec<f64>>], options: Options) -> Vec<Standing> {
    let intervals = mean_ranks(sides.len(), metrics, values, options);
    let mut all: Vec<Standing> = (0..sides.len())
        .map(|side| {
            let sum: f64 = metrics.iter().map(|ranked| ranked.ranks[side]).sum();
            Standing {
                side,
                name: sides[side].name.clone(),
                mean_rank: sum / metrics.len().max(1) as f64,
                interval: intervals.as_ref().map(|intervals| intervals[side]),
                best_in: metrics.iter().filter(|ranked| ranked.is_best(side)).count(),
            }
        })
        .collect();
    all.sort_by(|a, b| a.mean_rank.total_cmp(&b.mean_rank));
    all
}

/// Interval of each side's mean rank. Each draw resamples every side's runs, ranks all metrics
/// again and takes the means.
fn mean_ranks(sides: usize, metrics: &[Ranked], values: &[Vec<Vec<f64>>], options: Options) -> Option<Vec<Interval>> {
    let few = values.iter().flatten().any(|values| values.len() < 2);
    if few || metrics.is_empty() || options.draws == 0 {
        return None;
    }
    let mut drawn = vec![Vec::with_capacity(options.draws as usize); sides];
    for draw in 0..options.draws {
        let mut sums = vec![0.0; sides];
        for (ranked, values) in metrics.iter().zip(values) {
            let medians: Vec<f64> = values
                .iter()
                .enumerate()
                .map(|(side, values)| {
                    // A run is drawn with all its metrics: one stream for each draw and side.
                    let mut stream = options.seed.stream("ranking", u64::from(draw) << 16 | side as u64);
                    let mut resample: Vec<f64> = values
                        .iter()
                        .map(|_| values[stream.below(values.len() as u64) as usize])
                        .collect();
                    median(&mut resample)
                })
                .collect();
            for (sum, rank) in sums.iter_mut().zip(ranks(&medians, ranked.key.quantity.better())) {
                *sum += rank;
            }
        }
        for (drawn, sum) in drawn.iter_mut().zip(sums) {
            drawn.push(sum / metrics.len() as f64);
        }
    }
    let below = Probability::from_ppb((Probability::ONE.as_ppb() - LEVEL.as_ppb()) / 2)?;
    let place = rank(below, u64::from(options.draws)) as usize;
    let middle = drawn.into_iter().map(|mut drawn| {
        drawn.sort_unstable_by(f64::total_cmp);
        Interval {
            low: drawn[place - 1],
            high: drawn[drawn.len() - place],
        }
    });
    Some(middle.collect())
}
