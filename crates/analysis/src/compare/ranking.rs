//! Ranking of more than two sides.

use super::comparable::{NotCompared, add, reason_of_any};
use super::metric::Key;
use super::pairing::Pairing;
use super::pairwise::{Options, Table, known, question};
use super::side::Side;
use netburn_stats::bootstrap::median;
use netburn_stats::contrast::{LEVEL, judge_all, varying};
use netburn_stats::metric_change::{Better, Judgement};
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
    /// Every metric that all sides have.
    pub metrics: Vec<Ranked>,
    /// Values that all sides have, and that are not compared because other programs measured it in different ways.
    pub not_compared: Vec<NotCompared>,
    /// Number of varying pairs that were judged together.
    pub judged_with: usize,
    /// Options of the ranking.
    pub options: Options,
}

/// Overall result of a side.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Index of the side.
    pub side: usize,
    /// Name.
    pub name: String,
    /// Mean rank over all metrics by medians, 1 is the best; ties share the mean. `None` without metrics.
    pub mean_rank: Option<f64>,
    /// 95 % confidence interval of the mean rank: a bootstrap over each side's runs. `None` if a
    /// side has fewer than two runs.
    pub interval: Option<Interval>,
    /// Number of metrics in which the side is the best, or cannot be distinguished from the best.
    pub best_in: usize,
}

/// A metric of all sides. Lists are in the order of the sides.
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
    /// Indices of the sides, the best first.
    pub order: Vec<usize>,
    /// Judgement of each side compared with the best one; `None` for the best one itself.
    pub against_best: Vec<Option<Judgement>>,
}

impl Ranking {
    /// The metrics that are ranked.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.metrics.iter().map(|ranked| &ranked.key)
    }

    /// Ranks `sides`, of which there should be two or more.
    #[must_use]
    pub fn new(sides: Vec<Side>, options: Options) -> Self {
        let tables: Vec<Table> = sides.iter().map(Table::from_side).collect();
        let mut metrics = Vec::new();
        let (mut shared, mut values, mut not_compared) = (Vec::new(), Vec::new(), Vec::new());
        for key in tables.first().map_or(&[][..], |table| &table.order) {
            let runs_of_all = tables.iter().map(|table| table.runs(key));
            let Some(runs) = runs_of_all.collect::<Option<Vec<_>>>() else {
                continue;
            };
            if let Some(reason) = reason_of_any(key, &sides) {
                add(&mut not_compared, key, reason);
                continue;
            }
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
            not_compared,
            judged_with,
            options,
            sides,
        }
    }

    /// Returns true if a station of the same name occurs in all sides.
    #[must_use]
    pub fn shares_a_station(&self) -> bool {
        self.metrics.iter().any(|ranked| ranked.key.station.is_some())
    }
}

impl Ranked {
    /// Returns true if a side is the best, or cannot be distinguished from the best.
    #[must_use]
    pub fn is_best(&self, side: usize) -> bool {
        matches!(
            self.against_best[side],
            None | Some(Judgement::Same | Judgement::CantTell)
        )
    }
}

fn ranked(key: &Key, values: &[Vec<f64>], options: Options) -> Ranked {
    let medians: Vec<f64> = values.iter().map(|values| median(&mut values.clone())).collect();
    let better = key.better();
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

/// Compares every side with the best one in every metric, and judges all of it together. Returns
/// the number of varying pairs.
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
                mean_rank: (!metrics.is_empty()).then(|| sum / metrics.len() as f64),
                interval: intervals.as_ref().map(|intervals| intervals[side]),
                best_in: metrics.iter().filter(|ranked| ranked.is_best(side)).count(),
            }
        })
        .collect();
    let mean = |standing: &Standing| standing.mean_rank.unwrap_or_default();
    all.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
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
            for (sum, rank) in sums.iter_mut().zip(ranks(&medians, ranked.key.better())) {
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
