//! Causes of a run by simulation, with progress on standard error.

use crate::exit::CliError;
use crate::signals;
use crate::terminal::{eprint_message, overwrite_line, stderr_is_terminal};
use netburn_analysis::explain::{Explanation, store};
use netburn_record::Run;
use netburn_scenario::Plan;
use netburn_study::causes::{self, Diagnosis, Simulator};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval of updates of the progress.
const INTERVAL: Duration = Duration::from_millis(200);

/// Causes of a run whose missed goals a simulation can explain: without one part of the scenario at a time, on `threads`
/// threads. They are stored with the run. `None` for other runs. `rules` are the causes by the rules.
pub(crate) fn simulated(run: &Run, rules: &Explanation, threads: usize) -> Result<Option<Explanation>, CliError> {
    let Some(plan) = causes::plan_of(run) else {
        return Ok(None);
    };
    let (explanation, diagnosis) = on_plan(run, &plan, rules, threads)?;
    if !diagnosis.interrupted
        && let Err(error) = store(run.path(), &explanation)
    {
        eprint_message(&format!("the causes can't be stored: {error}"));
    }
    Ok(Some(explanation))
}

/// The same with another plan, such as that of a model of the run's network. Nothing is stored.
pub(crate) fn on_plan(
    run: &Run,
    plan: &Plan,
    rules: &Explanation,
    threads: usize,
) -> Result<(Explanation, Diagnosis), CliError> {
    let cancel = signals::cancel_or_exit(signals::STOPPING)?;
    let shown = Mutex::new((Instant::now(), 0));
    let progress = |done: u64| {
        if let Some(mut shown) = stderr_is_terminal().then(|| shown.lock().unwrap_or_else(PoisonError::into_inner))
            && shown.0.elapsed() >= INTERVAL
        {
            shown.0 = Instant::now();
            overwrite_line(&format!("looking for the cause: {done} simulations"), &mut shown.1);
        }
    };
    let simulator = Simulator::new(threads, &cancel, &progress);
    let found = causes::simulated(run, plan, rules, &simulator);
    overwrite_line("", &mut shown.lock().unwrap_or_else(PoisonError::into_inner).1);
    if let Some(note) = note(&found.1) {
        eprint_message(&note);
    }
    Ok(found)
}

/// Note on the workloads that the causes do not cover.
fn note(diagnosis: &Diagnosis) -> Option<String> {
    if diagnosis.interrupted {
        return Some("stopped: the causes are those that were found so far".to_owned());
    }
    let count = diagnosis.not_reproduced.len();
    (count > 0).then(|| {
        let plural = if count == 1 { "workload" } else { "workloads" };
        format!(
            "the simulator meets the goals of {count} {plural} that this run missed: for them, the causes are those of the rules"
        )
    })
}
