//! Results of changes for the reports of their run.

use super::plain::{instruction, median, name};
use super::{Answer, Answers, Effect, Effects, Value};
use netburn_analysis::explain::{Remedies, Remedy, RemedyEffect};
use netburn_stats::metric_change::Judgement;

/// The changes for the reports of a run, in the order of their effects, behind the one that is `best`.
#[must_use]
pub fn remedies(answers: &Answers, effects: &Effects<'_>, best: Option<&Answer>) -> Remedies {
    let is_best = |effect: &Effect<'_>| best.is_some_and(|best| std::ptr::eq(best, effect.answer));
    let mut changes: Vec<Remedy> = effects
        .effects
        .iter()
        .map(|effect| remedy(effect, is_best(effect)))
        .collect();
    changes.sort_by_key(|change| !change.is_best);
    Remedies {
        runs: answers.runs,
        verdict: answers.verdict,
        changes,
    }
}

fn remedy(effect: &Effect<'_>, is_best: bool) -> Remedy {
    let what_if = &effect.answer.what_if;
    Remedy {
        instruction: instruction(what_if),
        effort: what_if.effort,
        set: what_if.set.clone(),
        verdict: effect.answer.verdict,
        is_best,
        effects: effect.values.iter().filter_map(clear).collect(),
    }
}

/// A value that becomes better or worse, and that has a name in plain words.
fn clear(value: &Value) -> Option<RemedyEffect> {
    let is_better = match value.judgement {
        Judgement::Better => true,
        Judgement::Worse => false,
        Judgement::Same | Judgement::CantTell => return None,
    };
    Some(RemedyEffect {
        station: value.key.station.clone()?,
        what: name(value)?,
        medians: [value.before, value.after].map(|all| median(value, all)),
        is_better,
    })
}
