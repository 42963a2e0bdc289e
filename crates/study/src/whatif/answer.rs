//! Simulation of a plan without and with each change, and comparison of the results.

use super::{Change, WhatIf};
use netburn_analysis::compare::{Comparison, Options, Side, judge_together};
use netburn_parallel::Cancel;
use netburn_parallel::pool::map;
use netburn_record::Summary;
use netburn_scenario::Plan;
use netburn_simulate::SimulateError;
use netburn_stats::metric_change::Judgement;
use netburn_workload::Verdict;
use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Results of all changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// Number of runs with and without each change, with the same seeds.
    pub runs: usize,
    /// The runs without a change, in the order of their plans.
    pub baseline: Vec<Summary>,
    /// Worst verdict of the runs of the unchanged plan.
    pub verdict: Verdict,
    /// One result for each change, the best first.
    pub answers: Vec<Answer>,
    /// True if the simulations were stopped: the changes without a result are left out.
    pub interrupted: bool,
}

/// Result of one change.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The simulated change.
    pub what_if: WhatIf,
    /// Worst verdict of the runs with the change.
    pub verdict: Verdict,
    /// Comparison with the unchanged plan. The test corrects for all changes together.
    pub comparison: Comparison,
}

/// Error of a simulation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The simulator rejects the plan or a changed plan.
    #[error("cannot simulate the plan: {0}")]
    Simulate(#[from] SimulateError),
    /// The simulation was stopped.
    #[error("interrupted")]
    Stopped,
}

/// Simulates each of `plans` once, and once with every change with the same seed, on `threads` threads, and compares the
/// results. The plans can be [one plan with several seeds](super::repeated), or equally likely models of one network. The
/// results do not depend on the number of threads. Calls `progress` with the number of finished and of all runs.
///
/// If `cancel` is stopped, the changes whose runs have all ended keep their results.
///
/// # Errors
/// The plan cannot be simulated, or `cancel` was stopped before a change had a result.
pub fn answer(
    plans: &[Plan],
    changes: Vec<Change>,
    threads: usize,
    cancel: &Cancel,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Answers, AnswerError> {
    let runs = plans.len();
    let all = (1 + changes.len()) * runs;
    let done = AtomicU64::new(0);
    let summaries = map(all, threads, &|place| {
        let run = place % runs;
        let changed = (place / runs).checked_sub(1).map(|which| Plan {
            seed: plans[run].seed,
            ..changes[which].plan(run).clone()
        });
        let result = summary(changed.as_ref().unwrap_or(&plans[run]), cancel);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, all as u64);
        result
    });
    let mut sets = complete_sets(summaries, runs)?.into_iter();
    let without = sets.next().flatten().ok_or(AnswerError::Stopped)?;
    let interrupted = sets.as_slice().iter().any(Option::is_none);
    let ended = changes
        .into_iter()
        .zip(sets)
        .filter_map(|(change, with)| Some((change.what_if, with?)));
    let answers = ended.map(|(what_if, with)| Answer {
        comparison: Comparison::unjudged(
            side(&what_if.label, &with),
            side(BASELINE, &without),
            Options::default(),
        ),
        verdict: verdict(&with),
        what_if,
    });
    let mut answers: Vec<Answer> = answers.collect();
    if interrupted && answers.is_empty() {
        return Err(AnswerError::Stopped);
    }
    judge_together(
        &mut answers
            .iter_mut()
            .map(|answer| &mut answer.comparison)
            .collect::<Vec<_>>(),
    );
    sort(&mut answers);
    Ok(Answers {
        runs,
        answers,
        interrupted,
        verdict: verdict(&without),
        baseline: without,
    })
}

/// Sorts changes, the best first: by the verdict, then by the fewest worse metrics, the most better metrics, and the least
/// effort. Equals keep their order.
pub(super) fn sort(answers: &mut [Answer]) {
    answers.sort_by_key(|answer| {
        (
            answer.verdict,
            answer.comparison.count(Judgement::Worse),
            Reverse(answer.comparison.count(Judgement::Better)),
            answer.what_if.effort,
        )
    });
}

/// Runs of each plan; `None` for a plan that has a run without an end.
fn complete_sets(
    summaries: Vec<Result<Summary, AnswerError>>,
    runs: usize,
) -> Result<Vec<Option<Vec<Summary>>>, AnswerError> {
    let mut sets = Vec::new();
    let mut summaries = summaries.into_iter();
    while summaries.len() > 0 {
        let set: Result<Vec<Summary>, AnswerError> = summaries.by_ref().take(runs).collect();
        sets.push(match set {
            Ok(set) => Some(set),
            Err(AnswerError::Stopped) => None,
            Err(error) => return Err(error),
        });
    }
    Ok(sets)
}

fn summary(plan: &Plan, cancel: &Cancel) -> Result<Summary, AnswerError> {
    let summary = netburn_simulate::summary(plan, &plan.name, &mut |_| {
        if cancel.is_stopped() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    summary.ok_or(AnswerError::Stopped)
}

fn verdict(runs: &[Summary]) -> Verdict {
    netburn_workload::worst(runs.iter().map(|run| run.verdict))
}

/// Name of the unchanged plan.
const BASELINE: &str = "baseline";

fn side(name: &str, runs: &[Summary]) -> Side {
    let mut side = Side::new(name);
    for run in runs {
        side.add_summary(Path::new(name), run, None);
    }
    side
}
