//! Comparison of two sides, metric by metric.

use super::comparable::{NotCompared, add, reason};
use super::metric::{Key, metrics};
use super::pairing::Pairing;
use super::scenario_diff::{ChangedKey, changed_keys};
use super::side::Side;
use netburn_record::Environment;
use netburn_record::summary::{StationSummary, verdict_name};
use netburn_stats::contrast::{
    Answer, Contrast, Question, SIGNIFICANCE, Test, contrast, judge_all, min_p, paired, runs_needed, varying,
};
use netburn_stats::metric_change::{Judgement, MIN_RUNS};
use netburn_units::Seed;
use netburn_workload::{Verdict, worst};
use std::collections::HashMap;

/// Options of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Bootstrap resamples for the intervals of a ranking.
    pub draws: u32,
    /// Seed of the resampling.
    pub seed: Seed,
    /// Relative difference that is too small to matter; `None`: the default of each metric.
    pub tolerance: Option<f64>,
}

impl Default for Options {
    /// 2,000 draws from seed 1, with the usual tolerances.
    fn default() -> Self {
        Options {
            draws: 2_000,
            seed: Seed(1),
            tolerance: None,
        }
    }
}

/// Comparison of two sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Candidate.
    pub these: Side,
    /// Baseline.
    pub against: Side,
    /// Every metric that both sides have.
    pub metrics: Vec<MetricComparison>,
    /// Keys in which the scenarios differ; `None` if one scenario is unknown.
    pub changed_keys: Option<Vec<ChangedKey>>,
    /// Stations and workloads (`laptop`, `laptop.voip`) that only `these` has, and those that only `against` has.
    pub only: [Vec<String>; 2],
    /// Values that both sides have, and that are not compared because other programs measured it in different ways.
    pub not_compared: Vec<NotCompared>,
    /// Pairs of runs.
    pub pairing: Pairing,
    /// Number of varying metrics that were judged together.
    pub judged_with: usize,
    /// Options of the comparison.
    pub options: Options,
}

/// Verdicts of both sides of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictChange {
    /// Worst verdict of the baseline's runs.
    pub baseline: Verdict,
    /// Worst verdict of the candidate's runs.
    pub candidate: Verdict,
    /// Stations of both sides: name, worst verdict in the baseline, and worst verdict in the candidate.
    pub stations: Vec<(String, [Verdict; 2])>,
}

/// A metric of both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricComparison {
    /// Metric.
    pub key: Key,
    /// Values of the baseline's runs and of the candidate's runs, without unknown ones.
    pub values: [Vec<f64>; 2],
    /// Statistics of the runs.
    pub question: Question,
    /// Result of the test.
    pub answer: Answer,
}

/// Reason for which a metric is undecided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// Too few runs for the number of metrics. Contains the number of runs that each side needs.
    TooFew(usize),
    /// The interval overlaps the tolerance.
    Between,
}

impl Comparison {
    /// Compares `these` with `against`.
    #[must_use]
    pub fn new(these: Side, against: Side, options: Options) -> Self {
        let mut one = Self::unjudged(these, against, options);
        judge_together(&mut [&mut one]);
        one
    }

    /// The same without judgements yet: for [`judge_together`].
    #[must_use]
    pub fn unjudged(these: Side, against: Side, options: Options) -> Self {
        let (baseline, mine) = (Table::from_side(&against), Table::from_side(&these));
        let pairing = Pairing::new(&against, &these);
        let mut not_compared = Vec::new();
        let shared = mine.order.iter().filter_map(|key| {
            let runs = [baseline.runs(key)?, mine.runs(key)?];
            if let Some(reason) = reason(key, &these, &against) {
                add(&mut not_compared, key, reason);
                return None;
            }
            let question = question(key, runs, &pairing, options)?;
            Some(MetricComparison {
                key: key.clone(),
                values: runs.map(known),
                question,
                answer: Answer {
                    test: Test::RankSum,
                    p: 1.0,
                    corrected: 1.0,
                    judgement: Judgement::CantTell,
                },
            })
        });
        let metrics: Vec<MetricComparison> = shared.collect();
        let changed_keys = match (&against.plan, &these.plan) {
            (Some(baseline), Some(mine)) => {
                let modelled = |side: &Side| side.environment().is_none_or(Environment::models_air);
                Some(changed_keys(baseline, mine, modelled(&these) || modelled(&against)))
            }
            _ => None,
        };
        let (in_these, in_against) = (names(&these), names(&against));
        let without = |all: &[String], others: &[String]| {
            let mut only: Vec<String> = all.iter().filter(|name| !others.contains(name)).cloned().collect();
            // Workloads of a missing station are not listed.
            let stations = only.clone();
            only.retain(|name| {
                !stations
                    .iter()
                    .any(|s| name.strip_prefix(s.as_str()).is_some_and(|rest| rest.starts_with('.')))
            });
            only
        };
        Comparison {
            only: [without(&in_these, &in_against), without(&in_against, &in_these)],
            judged_with: metrics.len(),
            metrics,
            not_compared,
            pairing,
            changed_keys,
            these,
            against,
            options,
        }
    }

    /// Number of metrics with this judgement.
    #[must_use]
    pub fn count(&self, wanted: Judgement) -> usize {
        let those = self.metrics.iter().filter(|metric| metric.answer.judgement == wanted);
        those.count()
    }

    /// Overall judgement: worse if any metric is worse, else better if any is better; same if all
    /// are.
    #[must_use]
    pub fn judgement(&self) -> Judgement {
        let any = |wanted| self.count(wanted) > 0;
        match () {
            () if any(Judgement::Worse) => Judgement::Worse,
            () if any(Judgement::Better) => Judgement::Better,
            () if any(Judgement::CantTell) || self.metrics.is_empty() => Judgement::CantTell,
            () => Judgement::Same,
        }
    }

    /// Overall judgement in words; `mixed` if some metrics are worse and others better.
    #[must_use]
    pub fn headline(&self) -> &'static str {
        match (self.judgement(), self.count(Judgement::Better)) {
            (Judgement::Worse, 1..) => "mixed",
            (judgement, _) => judgement.name(),
        }
    }

    /// Returns true if a station of the same name occurs in both sides.
    #[must_use]
    pub fn shares_a_station(&self) -> bool {
        self.metrics.iter().any(|metric| metric.key.station.is_some())
    }

    /// The environments of both sides, baseline last, if they differ.
    #[must_use]
    pub fn environments(&self) -> Option<[Environment; 2]> {
        let (these, against) = (self.these.environment()?, self.against.environment()?);
        (these != against).then_some([these, against])
    }

    /// Returns how many runs of `these`, and of the baseline, could not be measured.
    #[must_use]
    pub fn inconclusive(&self) -> [usize; 2] {
        [&self.these, &self.against].map(|side| {
            let inconclusive = side.runs.iter().filter(|run| {
                let station = |station: &StationSummary| station.verdict == Verdict::Inconclusive;
                run.verdict == Verdict::Inconclusive || run.stations.iter().any(station)
            });
            inconclusive.count()
        })
    }

    /// Reason for which a metric is undecided.
    #[must_use]
    pub fn undecided(&self, metric: &MetricComparison) -> Option<Undecided> {
        let [without, with] = metric.question.contrast.runs;
        // The signed-rank test is used only with enough pairs.
        let least = match metric.answer.test {
            Test::RankSum => min_p(without, with) * self.judged_with as f64,
            Test::SignedRank => 0.0,
        };
        match metric.answer.judgement {
            Judgement::CantTell if without.min(with) < MIN_RUNS || least >= SIGNIFICANCE => {
                Some(Undecided::TooFew(runs_needed(self.judged_with)))
            }
            Judgement::CantTell => Some(Undecided::Between),
            _ => None,
        }
    }

    /// Number of runs of each side that a decision needs, if there are too few for a metric.
    #[must_use]
    pub fn too_few(&self) -> Option<usize> {
        self.metrics.iter().find_map(|metric| match self.undecided(metric) {
            Some(Undecided::TooFew(needed)) => Some(needed),
            _ => None,
        })
    }

    /// The worst verdicts of both sides: of their runs, and of each station that both have.
    #[must_use]
    pub fn verdict_change(&self) -> VerdictChange {
        let sides = [&self.against, &self.these];
        let [baseline, candidate] = sides.map(|side| worst(side.runs.iter().map(|run| run.verdict)));
        let mut names: Vec<&str> = Vec::new();
        for station in self.these.runs.iter().flat_map(|run| &run.stations) {
            if !names.contains(&station.name.as_str()) {
                names.push(&station.name);
            }
        }
        let stations = names.into_iter().filter_map(|name| {
            let of = |side: &Side| {
                let stations = side.runs.iter().flat_map(|run| &run.stations);
                let verdicts: Vec<Verdict> = stations.filter(|s| s.name == name).map(|s| s.verdict).collect();
                (!verdicts.is_empty()).then(|| worst(verdicts))
            };
            Some((name.to_owned(), [of(sides[0])?, of(sides[1])?]))
        });
        VerdictChange {
            baseline,
            candidate,
            stations: stations.collect(),
        }
    }

    /// The metrics that are compared.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.metrics.iter().map(|metric| &metric.key)
    }

    /// The worst verdict among the runs of each side, `these` first.
    #[must_use]
    pub fn verdicts(&self) -> [&'static str; 2] {
        [&self.these, &self.against].map(|side| verdict_name(worst(side.runs.iter().map(|run| run.verdict))))
    }
}

impl MetricComparison {
    /// Statistics of the runs.
    #[must_use]
    pub fn contrast(&self) -> &Contrast {
        &self.question.contrast
    }

    /// Returns true if the metric is better or worse.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        matches!(self.answer.judgement, Judgement::Better | Judgement::Worse)
    }

    /// Difference as a share of the baseline's median; `None` if that is zero or infinite.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let base = self.contrast().medians[0].abs();
        let share = self.contrast().difference / base;
        (base > 0.0 && share.is_finite()).then_some(share)
    }
}

/// Judges the results of several comparisons as one set, so that showing more of them raises no
/// more false alarms.
pub fn judge_together(comparisons: &mut [&mut Comparison]) {
    let questions: Vec<Question> = comparisons
        .iter()
        .flat_map(|comparison| comparison.metrics.iter().map(|metric| metric.question))
        .collect();
    let family = varying(&questions);
    let mut answers = judge_all(&questions).into_iter();
    for comparison in comparisons {
        comparison.judged_with = family;
        for (metric, answer) in comparison.metrics.iter_mut().zip(&mut answers) {
            metric.answer = answer;
        }
    }
}

/// A metric of two sides, run by run, for the judgement. Runs are paired if both runs of enough
/// pairs have the metric.
pub(super) fn question(key: &Key, runs: [&[Option<f64>]; 2], pairing: &Pairing, options: Options) -> Option<Question> {
    let whole = |[one, other]: &[usize; 2]| Some([runs[0][*one]?, runs[1][*other]?]);
    let pairs: Vec<[f64; 2]> = pairing.pairs.iter().filter_map(whole).collect();
    let contrast = if pairs.len() >= MIN_RUNS {
        paired(&pairs)?
    } else {
        contrast(&known(runs[0]), &known(runs[1]))?
    };
    Some(Question {
        contrast,
        better: key.better(),
        tolerance: key.tolerance(options.tolerance),
    })
}

/// The values of the runs that have one.
pub(super) fn known(runs: &[Option<f64>]) -> Vec<f64> {
    runs.iter().copied().flatten().collect()
}

/// The values of a side's runs.
pub(super) struct Table {
    /// Display order.
    pub(super) order: Vec<Key>,
    /// Value of each run, if the run has the metric.
    values: HashMap<Key, Vec<Option<f64>>>,
}

impl Table {
    pub(super) fn from_side(side: &Side) -> Self {
        let mut table = Table {
            order: Vec::new(),
            values: HashMap::new(),
        };
        for (place, run) in side.runs.iter().enumerate() {
            for (key, value) in metrics(run) {
                let values = table.values.entry(identity(&key)).or_insert_with(|| {
                    table.order.push(key);
                    vec![None; side.runs.len()]
                });
                values[place] = Some(value);
            }
        }
        table
    }

    /// Value of a metric in each run; `None` if no run has the metric.
    pub(super) fn runs(&self, key: &Key) -> Option<&[Option<f64>]> {
        self.values.get(&identity(key)).map(Vec::as_slice)
    }
}

/// Key for lookups: a goal by its text, not by its index.
fn identity(key: &Key) -> Key {
    let mut key = key.clone();
    if let Some((number, _)) = &mut key.goal {
        *number = 0;
    }
    key
}

/// The stations and workloads of a side.
fn names(side: &Side) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for station in side.runs.iter().flat_map(|run| &run.stations) {
        let uses = station
            .workloads
            .iter()
            .map(|workload| format!("{}.{}", station.name, workload.name));
        for name in std::iter::once(station.name.clone()).chain(uses) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}
