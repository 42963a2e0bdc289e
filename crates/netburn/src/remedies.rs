//! Simulated changes of a run, which are stored with it for its reports.

use crate::exit::CliError;
use crate::signals;
use crate::terminal::{eprint_message, overwrite_line, stderr_is_terminal};
use netburn_analysis::explain::{Cause, Remedies};
use netburn_record::Run;
use netburn_runner::pool::processors;
use netburn_scenario::Plan;
use netburn_study::causes::plan_of;
use netburn_study::whatif::{AnswerError, Answers, Change, answer, effects, propose, remedies, repeated};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Number of simulations of each change: the default of `netburn explain`.
const RUNS: u64 = 8;
/// Device-seconds of all simulations together, below which they take a few seconds: a larger home is simulated less often.
const MAX_QUICK: u64 = 2_000;
/// Device-seconds of all simulations together at most. Beyond, only `netburn explain` simulates the changes.
const MAX_SECONDS: u64 = 6_000;
/// Simulations of each change at least, because one alone can be chance.
const MIN_RUNS: u64 = 2;

/// Changes for the causes of a run that a plan models, by simulation. They are stored with the run. `None` for a run without a
/// model or without causes, after an interruption, and for a home that takes too long.
pub(crate) fn simulated(run: &Run, causes: &[Cause]) -> Result<Option<Remedies>, CliError> {
    let Some(plan) = plan_of(run) else {
        return Ok(None);
    };
    let proposed = propose(&plan, run.summary(), causes, None).map_err(|error| CliError::Usage(error.to_string()))?;
    let Some(plan) = proposed.plan else { return Ok(None) };
    let changes: Vec<Change> = proposed.changes.what_ifs.into_iter().map(Change::from).collect();
    let Some(runs) = runs(&plan, changes.len()) else {
        return Ok(None);
    };
    let Ok(answers) = simulate_changes(&repeated(&plan, runs), changes, None)? else {
        return Ok(None);
    };
    if answers.interrupted {
        return Ok(None);
    }
    Ok(Some(keep(run, &answers, &plan)))
}

/// Stores the results of changes with their run.
pub(crate) fn keep(run: &Run, answers: &Answers, plan: &Plan) -> Remedies {
    let effects = effects(answers, plan);
    // The comparison of `best` needs more runs than a large home has.
    let found = remedies(answers, &effects, effects.recommended().map(|effect| effect.answer));
    if let Err(error) = found.store(run.path()) {
        eprint_message(&format!("the simulated changes can't be stored: {error}"));
    }
    found
}

/// Simulates each plan without and with each change on `jobs` processors (all by default), and shows the progress.
pub(crate) fn simulate_changes(
    plans: &[Plan],
    changes: Vec<Change>,
    jobs: Option<u16>,
) -> Result<Result<Answers, AnswerError>, CliError> {
    let threads = jobs.map_or_else(processors, usize::from);
    let cancel = signals::cancel_or_exit(signals::STOPPING)?;
    let (count, runs) = (changes.len(), plans.len());
    let plural = if count == 1 { "change" } else { "changes" };
    eprint_message(&format!(
        "simulating the scenario without and with {count} {plural}, {runs} times each: a model, not the network"
    ));
    let (shown, begun) = (Mutex::new(0), Instant::now());
    let progress = |done: u64, of: u64| {
        if stderr_is_terminal() {
            let mut last = shown.lock().unwrap_or_else(PoisonError::into_inner);
            let left = remaining(begun.elapsed(), done, of);
            overwrite_line(&format!("{done} of {of} runs{left}"), &mut last);
        }
    };
    let answers = answer(plans, changes, threads, &cancel, &progress);
    if stderr_is_terminal() {
        overwrite_line("", &mut shown.lock().unwrap_or_else(PoisonError::into_inner));
    }
    Ok(answers)
}

/// Time that the other runs will take, if it is known: `, about 12 s left`.
fn remaining(elapsed: Duration, done: u64, of: u64) -> String {
    if done == 0 || done >= of {
        return String::new();
    }
    let seconds = elapsed.as_secs_f64() / done as f64 * (of - done) as f64;
    format!(", about {:.0} s left", seconds.ceil())
}

/// Number of simulations of each of these changes; `None` if they take too long.
fn runs(plan: &Plan, changes: usize) -> Option<usize> {
    let seconds = plan.duration.as_secs_f64().ceil() as u64;
    let each = seconds.saturating_mul(plan.stations.len() as u64).max(1);
    let all = each.saturating_mul(changes as u64 + 1);
    (all.saturating_mul(MIN_RUNS) <= MAX_SECONDS).then(|| (MAX_QUICK / all).clamp(MIN_RUNS, RUNS) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::{Document, load};

    fn plan(duration: &str) -> Plan {
        let mut document: Document = load("slow-neighbour").unwrap();
        document.set("duration", duration).unwrap();
        document.resolve().unwrap()
    }

    /// Two devices for 30 s, and three changes: 8 × 4 × 60 device-seconds are within the first limit.
    #[test]
    fn a_large_home_is_simulated_less_often_and_a_huge_one_not_at_all() {
        assert_eq!(runs(&plan("31 s"), 3), Some(8));
        assert_eq!(runs(&plan("60 s"), 3), Some(4));
        assert_eq!(runs(&plan("200 s"), 3), Some(2));
        assert_eq!(runs(&plan("375 s"), 3), Some(2));
        assert_eq!(runs(&plan("376 s"), 3), None);
    }
}
