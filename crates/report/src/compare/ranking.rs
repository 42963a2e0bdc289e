//! More than two sides: who is best at what, and how surely.

use super::figure::Key;
use super::pairing::Pairing;
use super::side::Side;
use super::text::heading;
use super::two::{Options, Table, known, question};
use super::written::{value, what};
use crate::environment::sentence;
use crate::paint::{Tone, paint};
use crate::plain::{sanitise, wrap};
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
    /// Every figure that all have.
    pub figures: Vec<Ranked>,
    /// How many pairs that vary were judged together.
    pub judged_with: usize,
    /// How it was made.
    pub options: Options,
}

/// How a side does over all figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Which side, by its place.
    pub side: usize,
    /// Its name.
    pub name: String,
    /// The mean of its ranks over all figures by medians, 1 the best; those who are even share the mean.
    pub mean_rank: f64,
    /// Where that lies, 95 % sure: a bootstrap that resamples each side's runs. `None` where a side has fewer than two.
    pub interval: Option<Interval>,
    /// In how many figures it is the best, or can't be told from the best.
    pub best_in: usize,
}

/// A figure of all sides; by the sides' places.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Which.
    pub key: Key,
    /// The medians of the runs.
    pub medians: Vec<f64>,
    /// Where each lies, 95 % sure; `None` with fewer than two runs, or where one never came.
    pub intervals: Vec<Option<Interval>>,
    /// Their ranks, 1 the best.
    pub ranks: Vec<f64>,
    /// The places, the best first.
    pub order: Vec<usize>,
    /// What each is against the best one; `None` for that itself.
    pub against_best: Vec<Option<Judgement>>,
}

impl Ranking {
    /// Ranks `sides`, of which there should be two or more.
    #[must_use]
    pub fn new(sides: Vec<Side>, options: Options) -> Self {
        let tables: Vec<Table> = sides.iter().map(Table::of).collect();
        let mut figures = Vec::new();
        let (mut shared, mut values) = (Vec::new(), Vec::new());
        for key in tables.first().map_or(&[][..], |table| &table.order) {
            let of_all = tables.iter().map(|table| table.runs(key));
            let Some(runs) = of_all.collect::<Option<Vec<_>>>() else {
                continue;
            };
            let of_each: Vec<Vec<f64>> = runs.iter().map(|runs| known(runs)).collect();
            figures.push(ranked(key, &of_each, options));
            values.push(of_each);
            shared.push(runs);
        }
        let judged_with = judge(&sides, &mut figures, &shared, options);
        let standings = standings(&sides, &figures, &values, options);
        Ranking {
            standings,
            figures,
            judged_with,
            options,
            sides,
        }
    }

    /// Whether all have at least one station of one name.
    #[must_use]
    pub fn shares_a_station(&self) -> bool {
        self.figures.iter().any(|ranked| ranked.key.station.is_some())
    }

    /// What makes the ranking doubtful, a sentence each.
    pub(super) fn doubts(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.shares_a_station() {
            lines.push("There is no station that all of them have: the ranking says nothing of any.".to_owned());
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
                "Other environments: {}. What differs may be what the environments are, not what was changed.",
                environments.join(", ")
            ));
        }
        if self.sides.iter().any(|side| side.runs.len() < MIN_RUNS) {
            lines.push(
                "A variant with fewer than three runs can't be told from any other: --repeat 5 makes five.".to_owned(),
            );
        }
        lines
    }

    /// As lines of about `width` columns, with colours where `colour`.
    #[must_use]
    pub fn text(&self, width: usize, colour: bool) -> String {
        let mut lines = Vec::new();
        if let Some(environment) = self.sides.first().and_then(Side::environment) {
            lines.extend(wrap(sentence(environment), width, ""));
            lines.push(String::new());
        }
        let title = format!(
            "{} variants, ranked over {} figures that all have",
            self.sides.len(),
            self.figures.len()
        );
        lines.push(paint(&title, Tone::Heading, colour));
        lines.push(String::new());
        lines.extend(self.overall(width, colour));
        if !self.figures.is_empty() {
            lines.push(String::new());
            lines.extend(self.each(width, colour));
        }
        lines.push(String::new());
        for doubt in self.doubts() {
            lines.extend(wrap(&doubt, width, "  "));
        }
        let legend = self.legend();
        lines.extend(wrap(&legend, width, "  "));
        let mut text = lines.join("\n");
        text.push('\n');
        text
    }

    /// What it rests on.
    pub(super) fn legend(&self) -> String {
        format!(
            "Medians of runs; * is the best, and what can't be told from the best ({} pairs, rank test with Holm's correction, \
             5 %). Intervals: 95 %, {} draws that resample runs, seed {}.",
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
                    format!("{} of {}", standing.best_in, self.figures.len()).into(),
                ]
            })
            .collect();
        let columns = [
            left("VARIANT"),
            right("RUNS"),
            left("ON"),
            right("MEAN RANK"),
            right("95 % INTERVAL"),
            right("BEST, OR AS GOOD"),
        ];
        render(&columns, &rows, 1, width, colour)
    }

    fn each(&self, width: usize, colour: bool) -> Vec<String> {
        let headings: Vec<String> = self.standings.iter().map(|standing| heading(&standing.name)).collect();
        let mut columns = vec![left("STATION"), left("FIGURE")];
        columns.extend(headings.iter().map(|name| right(name)));
        let mut before = None;
        let rows: Vec<Vec<Cell>> = self
            .figures
            .iter()
            .map(|ranked| {
                let station = match before.replace(&ranked.key.station) == Some(&ranked.key.station) {
                    true => String::new(),
                    false => ranked
                        .key
                        .station
                        .as_ref()
                        .map_or_else(|| "(all)".to_owned(), |name| sanitise(name)),
                };
                let mut cells = vec![station.into(), sanitise(&what(&ranked.key, false)).into()];
                cells.extend(self.standings.iter().map(|standing| ranked.cell(standing.side)));
                cells
            })
            .collect();
        render(&columns, &rows, 2, width, colour)
    }
}

impl Ranked {
    /// Whether a side is the best, or can't be told from it.
    #[must_use]
    pub fn is_best(&self, side: usize) -> bool {
        matches!(
            self.against_best[side],
            None | Some(Judgement::Same | Judgement::CantTell)
        )
    }

    fn cell(&self, side: usize) -> Cell {
        let unit = self.key.what.unit();
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
    let better = key.what.better();
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

/// Judges every side of every figure against the best, all together; gives how many pairs that vary there were.
fn judge(sides: &[Side], figures: &mut [Ranked], runs: &[Vec<&[Option<f64>]>], options: Options) -> usize {
    let mut pairings: BTreeMap<[usize; 2], Pairing> = BTreeMap::new();
    let mut places = Vec::new();
    let mut questions = Vec::new();
    for (figure, runs) in runs.iter().enumerate() {
        let best = figures[figure].order[0];
        for side in (0..runs.len()).filter(|side| *side != best) {
            let of_both = || Pairing::of(&sides[best], &sides[side]);
            let pairing = pairings.entry([best, side]).or_insert_with(of_both);
            if let Some(question) = question(&figures[figure].key, [runs[best], runs[side]], pairing, options) {
                places.push((figure, side));
                questions.push(question);
            }
        }
    }
    for ((figure, side), answer) in places.iter().zip(judge_all(&questions)) {
        figures[*figure].against_best[*side] = Some(answer.judgement);
    }
    varying(&questions)
}

fn standings(sides: &[Side], figures: &[Ranked], values: &[Vec<Vec<f64>>], options: Options) -> Vec<Standing> {
    let intervals = mean_ranks(sides.len(), figures, values, options);
    let mut all: Vec<Standing> = (0..sides.len())
        .map(|side| {
            let sum: f64 = figures.iter().map(|ranked| ranked.ranks[side]).sum();
            Standing {
                side,
                name: sides[side].name.clone(),
                mean_rank: sum / figures.len().max(1) as f64,
                interval: intervals.as_ref().map(|intervals| intervals[side]),
                best_in: figures.iter().filter(|ranked| ranked.is_best(side)).count(),
            }
        })
        .collect();
    all.sort_by(|a, b| a.mean_rank.total_cmp(&b.mean_rank));
    all
}

/// The interval of each side's mean rank: each draw resamples every side's runs, ranks all figures anew and takes the means.
fn mean_ranks(sides: usize, figures: &[Ranked], values: &[Vec<Vec<f64>>], options: Options) -> Option<Vec<Interval>> {
    let few = values.iter().flatten().any(|values| values.len() < 2);
    if few || figures.is_empty() || options.draws == 0 {
        return None;
    }
    let mut drawn = vec![Vec::with_capacity(options.draws as usize); sides];
    for draw in 0..options.draws {
        let mut sums = vec![0.0; sides];
        for (ranked, values) in figures.iter().zip(values) {
            let medians: Vec<f64> = values
                .iter()
                .enumerate()
                .map(|(side, values)| {
                    // A run is drawn with all its figures: one stream for each draw and side.
                    let mut stream = options.seed.stream("ranking", u64::from(draw) << 16 | side as u64);
                    let mut resample: Vec<f64> = values
                        .iter()
                        .map(|_| values[stream.below(values.len() as u64) as usize])
                        .collect();
                    median(&mut resample)
                })
                .collect();
            for (sum, rank) in sums.iter_mut().zip(ranks(&medians, ranked.key.what.better())) {
                *sum += rank;
            }
        }
        for (drawn, sum) in drawn.iter_mut().zip(sums) {
            drawn.push(sum / figures.len() as f64);
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
