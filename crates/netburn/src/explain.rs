//! `netburn explain`: likely causes, and simulated remedies.

use crate::args::{ExplainArgs, Format};
use crate::exit::{CliError, ExitStatus};
use crate::record::{document, unopened};
use crate::signals;
use crate::terminal::{TerminalStyle, eprint_message, overwrite_line, print_stdout, stderr_is_terminal};
use netburn_analysis::explain::{Cause, explain as explained};
use netburn_record::Run;
use netburn_report::environment::sentence;
use netburn_report::sanitise::wrap;
use netburn_runner::pool::processors;
use netburn_scenario::{Document, Environment, Plan};
use netburn_study::whatif::{AnswerError, Answers, Interventions, WhatIf, answer, json, text, what_ifs};
use std::sync::{Mutex, PoisonError};

/// `netburn explain RUN`.
pub(crate) fn explain(args: &ExplainArgs) -> Result<ExitStatus, CliError> {
    let run = Run::open(&args.run).map_err(|error| unopened(&args.run, error))?;
    let explanation = explained(&run).map_err(|error| unopened(&args.run, error))?;
    let (proposed, answers) = match args.runs {
        0 => (Interventions::default(), None),
        _ => helped(args, &run, &explanation.causes)?,
    };
    let written = match args.format {
        Format::Json => document(&json(
            &run.path().to_string_lossy(),
            &explanation,
            &proposed,
            answers.as_ref(),
        )),
        Format::Text => {
            let look = TerminalStyle::for_stdout();
            let mut said = wrap(sentence(run.header().environment), look.width, "").join("\n");
            said.push_str("\n\n");
            said.push_str(&text(
                &explanation,
                &proposed,
                answers.as_ref(),
                look.width,
                look.colour,
            ));
            said
        }
    };
    print_stdout(&written)?;
    Ok(ExitStatus::Success)
}

/// Simulated remedies.
fn helped(args: &ExplainArgs, run: &Run, causes: &[Cause]) -> Result<(Interventions, Option<Answers>), CliError> {
    if causes.is_empty() {
        return Ok((Interventions::default(), None));
    }
    let plan = match simulated(args, &run.header().plan)? {
        Ok(plan) => plan,
        Err(why) => {
            let proposed = Interventions {
                not_simulated: vec![format!("What would help can't be simulated: {why}")],
                ..Interventions::default()
            };
            return Ok((proposed, None));
        }
    };
    let proposed = what_ifs(&plan, run.summary(), causes);
    if proposed.what_ifs.is_empty() {
        return Ok((proposed, None));
    }
    match simulate_changes(&plan, &proposed.what_ifs, args.runs, args.jobs)? {
        Ok(answers) => Ok((proposed, Some(answers))),
        Err(AnswerError::Stopped) => Err(CliError::Failed("interrupted".to_owned())),
        Err(error) => {
            let proposed = Interventions {
                not_simulated: vec![format!("What would help can't be simulated: {error}.")],
                ..Interventions::default()
            };
            Ok((proposed, None))
        }
    }
}

/// Simulates a plan without and with each change, `runs` times on `jobs` processors (all by default), and shows the progress.
pub(crate) fn simulate_changes(
    plan: &Plan,
    what_ifs: &[WhatIf],
    runs: u16,
    jobs: Option<u16>,
) -> Result<Result<Answers, AnswerError>, CliError> {
    let threads = jobs.map_or_else(processors, usize::from);
    let cancel = signals::cancel_or_exit()?;
    let changes = what_ifs.len();
    let plural = if changes == 1 { "change" } else { "changes" };
    eprint_message(&format!(
        "simulating the scenario without and with {changes} {plural}, {runs} times each: a model, not the network"
    ));
    let shown = Mutex::new(0);
    let progress = |done: u64, of: u64| {
        if stderr_is_terminal() {
            let mut last = shown.lock().unwrap_or_else(PoisonError::into_inner);
            overwrite_line(&format!("{done} of {of} runs"), &mut last);
        }
    };
    let answers = answer(plan, what_ifs.to_vec(), usize::from(runs), threads, &cancel, &progress);
    if stderr_is_terminal() {
        overwrite_line("", &mut shown.lock().unwrap_or_else(PoisonError::into_inner));
    }
    Ok(answers)
}

/// The plan to be simulated, or why there is none: a run on real devices needs no air in its scenario.
fn simulated(args: &ExplainArgs, plan: &Plan) -> Result<Result<Plan, String>, CliError> {
    let mut document = Document::from_json(&plan.to_json());
    if let Some(duration) = &args.duration {
        document
            .set("duration", duration)
            .map_err(|error| CliError::Usage(error.to_string()))?;
        // The only possible error is the requested time.
        document.resolve().map_err(|error| CliError::Usage(error.to_string()))?;
    }
    Ok(match document.resolve_for(Environment::Simulate) {
        Ok((plan, _)) => Ok(plan),
        Err(_) => Err("the run's scenario doesn't say how the air is (`joins`, `signal`). With that in it, on --on simulate, it could be".to_owned()),
    })
}
