//! Simulates a plan as it is and with each change, and judges what the change brings.

use super::WhatIf;
use crate::pool::map;
use netburn_record::summary::{Summariser, Summary};
use netburn_record::{Ending, Header, Sink as _};
use netburn_report::compare::{Comparison, Options, Side, judge_together};
use netburn_scenario::Plan;
use netburn_simulate::SimulateError;
use netburn_workload::Verdict;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What every change brings.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// How many runs there are of each, under the same seeds.
    pub runs: usize,
    /// The worst verdict of the runs of the plan as it is.
    pub verdict: Verdict,
    /// One for each change, in their order.
    pub answers: Vec<Answer>,
}

/// What one change brings.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The change.
    pub what_if: WhatIf,
    /// The worst verdict of the runs with it.
    pub verdict: Verdict,
    /// What it changes against the plan as it is. All changes are judged together.
    pub comparison: Comparison,
}

/// Why nothing could be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The plan, or one with a change, can't be simulated.
    #[error("it can't be simulated: {0}")]
    Simulate(#[from] SimulateError),
    /// Somebody stopped it.
    #[error("interrupted")]
    Stopped,
}

/// Simulates `plan` and every change of it `runs` times, each time under the next of the plan's own seeds, on `threads` processors, and
/// judges. What comes out depends on neither number nor order. `progress` is told how many runs are done of how many.
///
/// # Errors
/// When the plan can't be simulated, or `stop` was set.
pub fn answer(
    plan: &Plan,
    what_ifs: Vec<WhatIf>,
    runs: usize,
    threads: usize,
    stop: &AtomicBool,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Answers, AnswerError> {
    let plans: Vec<&Plan> = std::iter::once(plan)
        .chain(what_ifs.iter().map(|what_if| &what_if.plan))
        .collect();
    let runs = runs.max(1);
    let all = plans.len() * runs;
    let done = AtomicU64::new(0);
    let summaries = map(all, threads, &|place| {
        let (which, round) = (place / runs, (place % runs) as u64);
        let seeded = Plan {
            seed: plan.seed.repeat(round),
            ..plans[which].clone()
        };
        let result = summary(&seeded, stop);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, all as u64);
        result
    });
    let summaries: Vec<Summary> = summaries.into_iter().collect::<Result<_, _>>()?;
    let mut sets = summaries.chunks(runs);
    let without = sets.next().unwrap_or_default();
    let answers = what_ifs.into_iter().zip(sets).map(|(what_if, with)| Answer {
        comparison: Comparison::unjudged(side(&what_if.label, with), side(BASELINE, without), Options::default()),
        verdict: verdict(with),
        what_if,
    });
    let mut answers: Vec<Answer> = answers.collect();
    judge_together(
        &mut answers
            .iter_mut()
            .map(|answer| &mut answer.comparison)
            .collect::<Vec<_>>(),
    );
    Ok(Answers {
        runs,
        answers,
        verdict: verdict(without),
    })
}

fn summary(plan: &Plan, stop: &AtomicBool) -> Result<Summary, AnswerError> {
    let mut summariser = Summariser::new(Header::simulated(plan.clone()));
    let done = netburn_simulate::run(plan, |_, rows| {
        for row in &rows {
            summariser.put(row).expect("a summariser takes every row");
        }
        match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    match done.interrupted {
        true => Err(AnswerError::Stopped),
        false => Ok(summariser.finish(&plan.name, &Ending::Complete)),
    }
}

fn verdict(runs: &[Summary]) -> Verdict {
    netburn_workload::worst(runs.iter().map(|run| run.verdict))
}

/// What the plan without a change is called.
const BASELINE: &str = "as it is";

fn side(name: &str, runs: &[Summary]) -> Side {
    let mut side = Side::new(name);
    for run in runs {
        side.add_summary(Path::new(name), run, None);
    }
    side
}
