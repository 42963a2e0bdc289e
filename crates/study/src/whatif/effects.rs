//! Effects of changes on equally likely models of one network.
//!
//! Each model is simulated without and with a change, with the same seed. So each pair of runs shows whether the change helps
//! in that model, and the share of the models is a probability. A change or a value is judged *better* or *worse* if it is so
//! in 90 % of the models or more.

use super::{Answer, Answers};
use crate::causes::{CLEARLY, Outcome};
use netburn_analysis::compare::{Key, metrics};
use netburn_record::Summary;
use netburn_record::summary::WorkloadSummary;
use netburn_scenario::Plan;
use netburn_stats::metric_change::{Better, Judgement};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Share of the models that must agree, in percent.
const AGREE_PERCENT: usize = 90;
/// Smallest distance of a workload from its goal that counts, and the smallest change of it: less is chance, such as one late
/// page of nine.
const NOTICEABLE: f64 = 0.15;

/// Effects of all changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Effects<'a> {
    /// Number of models.
    pub models: usize,
    /// Models in which a goal is missed without a change.
    pub missing: usize,
    /// One effect for each change, the best first.
    pub effects: Vec<Effect<'a>>,
}

/// Effect of one change.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect<'a> {
    /// The change with its runs.
    pub answer: &'a Answer,
    /// Models in which it helps: a workload is clearly nearer to its goal, and none is clearly farther from it.
    pub better: usize,
    /// Models in which it harms: a workload is clearly farther from its goal, also if others are nearer.
    pub worse: usize,
    /// Models in which a goal is missed with the change.
    pub missing: usize,
    /// Judgement about the change: better if it helps in 90 % of the models that miss goals, and harms in 10 % of all at
    /// most.
    pub judgement: Judgement,
    /// Values of the devices.
    pub values: Vec<Value>,
}

/// A value of a device with and without a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// The metric.
    pub key: Key,
    /// Kind of its workload, or of the only transfer of the device; otherwise empty.
    pub kind: String,
    /// Smallest, median and largest value of the models without the change.
    pub before: [f64; 3],
    /// The same with the change.
    pub after: [f64; 3],
    /// Models in which it becomes better by more than the tolerance of the metric.
    pub better: usize,
    /// Models in which it becomes worse.
    pub worse: usize,
    /// Judgement about the value.
    pub judgement: Judgement,
}

/// Effects of changes. `plan` is the plan of any model, whose workloads are those of all.
#[must_use]
pub fn effects<'a>(answers: &'a Answers, plan: &Plan) -> Effects<'a> {
    let before: Vec<Outcome> = answers.baseline.iter().map(|run| Outcome::new(plan, run)).collect();
    let missing = before.iter().filter(|outcome| misses(outcome)).count();
    let all = answers.answers.iter();
    let mut effects: Vec<(Effect<'a>, f64)> = all.map(|answer| effect(answer, answers, plan, &before)).collect();
    effects.sort_by(|(one, one_loss), (other, other_loss)| {
        let rank = |effect: &Effect<'_>| {
            (
                rank(effect.judgement),
                effect.missing,
                Reverse(effect.better),
                effect.worse,
            )
        };
        let costs = |effect: &Effect<'_>| (effect.costs().count(), effect.answer.what_if.effort);
        rank(one)
            .cmp(&rank(other))
            .then(coarse(*one_loss).cmp(&coarse(*other_loss)))
            .then(costs(one).cmp(&costs(other)))
            .then(one_loss.total_cmp(other_loss))
    });
    Effects {
        models: before.len(),
        missing,
        effects: effects.into_iter().map(|(effect, _)| effect).collect(),
    }
}

impl<'a> Effects<'a> {
    /// The change to recommend: the best one that helps. `None` if goals are missed in 10 % of the models at most.
    #[must_use]
    pub fn recommended(&self) -> Option<&Effect<'a>> {
        let best = self.effects.first()?;
        (!self.is_fine() && best.judgement == Judgement::Better).then_some(best)
    }

    /// Without a recommendation: the change that helps in most models that miss goals, if these are at least half of them,
    /// and that harms in 10 % of all at most.
    #[must_use]
    pub fn promising(&self) -> Option<&Effect<'a>> {
        let best = self.effects.first()?;
        let may = !self.is_fine() && best.judgement == Judgement::CantTell;
        (may && 2 * best.better >= self.missing && is_few(best.worse, self.models)).then_some(best)
    }

    /// True if goals are missed in 10 % of the models at most.
    #[must_use]
    pub fn is_fine(&self) -> bool {
        is_few(self.missing, self.models)
    }
}

impl Effect<'_> {
    /// Values that the change certainly makes worse.
    pub fn costs(&self) -> impl Iterator<Item = &Value> {
        self.values.iter().filter(|value| value.judgement == Judgement::Worse)
    }
}

impl Value {
    /// True for the share of a goal's samples that meet it.
    #[must_use]
    pub fn is_goal(&self) -> bool {
        self.key.goal.is_some()
    }
}

/// At least 90 % of `all`.
const fn is_most(count: usize, all: usize) -> bool {
    all > 0 && 100 * count >= AGREE_PERCENT * all
}

/// At most 10 % of `all`.
const fn is_few(count: usize, all: usize) -> bool {
    100 * count <= (100 - AGREE_PERCENT) * all
}

const fn rank(judgement: Judgement) -> u8 {
    match judgement {
        Judgement::Better => 0,
        Judgement::CantTell => 1,
        Judgement::Same => 2,
        Judgement::Worse => 3,
    }
}

/// Losses that differ less than this are equal for the order, so that costs and effort decide.
fn coarse(loss: f64) -> u64 {
    (loss * 4.0) as u64
}

/// The effect, and the mean distance from the goals with the change.
fn effect<'a>(answer: &'a Answer, answers: &Answers, plan: &Plan, before: &[Outcome]) -> (Effect<'a>, f64) {
    let with = &answer.comparison.these.runs;
    let after: Vec<Outcome> = with.iter().map(|run| Outcome::new(plan, run)).collect();
    let (mut better, mut worse) = (0, 0);
    for (one, other) in before.iter().zip(&after) {
        match of_model(one, other) {
            Judgement::Better => better += 1,
            Judgement::Worse => worse += 1,
            Judgement::Same | Judgement::CantTell => {}
        }
    }
    let models = before.len();
    let without_goals = before.iter().filter(|outcome| misses(outcome)).count();
    let judgement = match () {
        () if is_most(better, without_goals) && is_few(worse, models) => Judgement::Better,
        () if is_most(worse, models) => Judgement::Worse,
        () if is_few(better + worse, models) => Judgement::Same,
        () => Judgement::CantTell,
    };
    let effect = Effect {
        answer,
        better,
        worse,
        missing: after.iter().filter(|outcome| misses(outcome)).count(),
        judgement,
        values: values(&answers.baseline, with),
    };
    (effect, after.iter().map(loss).sum::<f64>() / models.max(1) as f64)
}

/// True if a workload misses its goal by more than chance.
fn misses(outcome: &Outcome) -> bool {
    let mut all = outcome.workloads.iter();
    all.any(|(_, state)| !state.is_met() && state.loss >= NOTICEABLE)
}

fn loss(outcome: &Outcome) -> f64 {
    outcome.workloads.iter().map(|(_, state)| state.loss).sum()
}

/// Judgement about a change in one model.
fn of_model(before: &Outcome, after: &Outcome) -> Judgement {
    let mut is_better = false;
    for (victim, was) in &before.workloads {
        // A workload without a result is as far from its goal as one that never meets it.
        let is = after.state(victim).map_or(1.0, |state| state.loss);
        let difference = is - was.loss;
        let is_clear = difference.abs() >= NOTICEABLE.max(CLEARLY * was.loss);
        if is_clear && difference > 0.0 {
            return Judgement::Worse;
        }
        is_better |= is_clear;
    }
    if is_better { Judgement::Better } else { Judgement::Same }
}

/// All values that each run has, in the order of the summary.
fn values(before: &[Summary], after: &[Summary]) -> Vec<Value> {
    let mut order: Vec<Key> = Vec::new();
    let mut pairs: HashMap<Key, Vec<[f64; 2]>> = HashMap::new();
    for (without, with) in before.iter().zip(after) {
        let known: HashMap<Key, f64> = metrics(with).into_iter().collect();
        for (key, was) in metrics(without) {
            let Some(is) = known.get(&key) else { continue };
            if !pairs.contains_key(&key) {
                order.push(key.clone());
            }
            pairs.entry(key).or_default().push([was, *is]);
        }
    }
    let complete = order
        .into_iter()
        .filter(|key| key.station.is_some() && pairs[key].len() == before.len());
    complete
        .map(|key| {
            let kind = before.first().and_then(|run| kind(run, &key)).unwrap_or_default();
            value(key.clone(), kind, &pairs[&key])
        })
        .collect()
}

/// Kind of the workload of a metric. A throughput of a device is that of its only transfer.
fn kind(run: &Summary, key: &Key) -> Option<String> {
    let station = run
        .stations
        .iter()
        .find(|own| Some(&own.name) == key.station.as_ref())?;
    let is_own = |own: &&WorkloadSummary| match &key.workload {
        Some(name) => own.name == *name,
        None => matches!(own.kind.as_str(), "download" | "upload"),
    };
    let mut own = station.workloads.iter().filter(is_own);
    let first = own.next()?;
    own.next().is_none().then(|| first.kind.clone())
}

fn value(key: Key, kind: String, pairs: &[[f64; 2]]) -> Value {
    let tolerance = key.tolerance(None);
    let gains = pairs.iter().map(|[was, is]| {
        let gain = match key.better() {
            Better::Higher => is - was,
            Better::Lower => was - is,
        };
        // The difference of two times without an end is no number.
        if gain.abs() > tolerance.at(*was) { gain } else { 0.0 }
    });
    let gains: Vec<f64> = gains.collect();
    let better = gains.iter().filter(|gain| **gain > 0.0).count();
    let worse = gains.iter().filter(|gain| **gain < 0.0).count();
    let models = pairs.len();
    let judgement = match () {
        () if is_most(better, models) => Judgement::Better,
        () if is_most(worse, models) => Judgement::Worse,
        () if is_few(better + worse, models) => Judgement::Same,
        () => Judgement::CantTell,
    };
    Value {
        key,
        kind,
        before: spread(pairs.iter().map(|pair| pair[0]).collect()),
        after: spread(pairs.iter().map(|pair| pair[1]).collect()),
        better,
        worse,
        judgement,
    }
}

/// Smallest, median and largest of some values.
fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    [values[0], values[last / 2], values[last]]
}

#[cfg(test)]
#[path = "effects_tests.rs"]
mod tests;
