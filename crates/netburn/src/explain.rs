//! `netburn explain`: likely causes, and simulated remedies.

use crate::args::{ExplainArgs, Format};
use crate::causes;
use crate::exit::{CliError, ExitStatus};
use crate::plan::wrong;
use crate::record::unopened;
use crate::remedies::{self, simulate_changes};
use crate::signals;
use crate::terminal::{TerminalStyle, document, eprint_message, print_stdout};
use netburn_analysis::explain::{Cause, Explanation, Remedies, causes_of, explain as explained, stored};
use netburn_record::Run;
use netburn_report::environment::sentence;
use netburn_report::sanitise::{sanitise, wrap};
use netburn_runner::pool::processors;
use netburn_scenario::{Plan, load};
use netburn_study::twin::{self, Agreement, NoModel};
use netburn_study::whatif::{AnswerError, Answers, Change, Interventions, json, propose, repeated, text};

mod contract;
mod fitted;

/// Default number of simulations of each change.
const RUNS: u16 = 8;
/// Warning about remedies of a model that differs from the run.
const POOR: &str = "most measured values differ from those of the model, so it may be that of another network.";

/// `netburn explain RUN`.
pub(crate) fn explain(args: &ExplainArgs) -> Result<ExitStatus, CliError> {
    let run = Run::open(&args.run).map_err(|error| unopened(&args.run, error))?;
    let runs = args.runs.unwrap_or(RUNS);
    if runs == 0 && args.model.is_some() {
        return Err(CliError::Usage(
            "--model needs simulations, and --runs 0 disables them".to_owned(),
        ));
    }
    if runs > 0
        && let Some(source) = fitted::source(args, &run)?
    {
        return fitted::explain(args, &run, &source);
    }
    if args.contract_down.or(args.contract_up).is_some() {
        return Err(CliError::Usage(
            "a contract is compared with models that are fitted to a measurement: `netburn measure` makes one"
                .to_owned(),
        ));
    }
    let model = args.model.as_deref().map(|name| modelled(&run, name)).transpose()?;
    let (explanation, proposed, answers, agreement) = match runs {
        0 => {
            let explanation = causes_of(&run).map_err(|error| unopened(&args.run, error))?;
            (explanation, Interventions::default(), None, None)
        }
        _ => {
            let explanation = causes_by_simulation(args, &run, model.as_ref())?;
            let agreement = match &model {
                Some(plan) => agreed(&run, &repeated(plan, runs.into()), args.jobs)?,
                None => None,
            };
            let plan = model.as_ref().unwrap_or(&run.header().plan);
            let (proposed, answers) = helped(args, runs, &run, plan, &explanation.causes)?;
            // The reports of the run are about its own scenario, and keep what most simulations showed.
            let has_more = Remedies::stored(run.path()).is_some_and(|kept| kept.runs > runs.into());
            let is_whole = model.is_none() && args.duration.is_none() && !has_more;
            if let Some(answers) = answers.as_ref().filter(|answers| is_whole && !answers.interrupted) {
                remedies::keep(&run, answers, plan);
            }
            (explanation, proposed, answers, agreement)
        }
    };
    let warning = agreement.as_ref().filter(|agreement| agreement.is_poor()).map(|_| POOR);
    let written = match args.format {
        Format::Json => {
            let mut object = json(&run.path().to_string_lossy(), &explanation, &proposed, answers.as_ref());
            if let Some(agreement) = &agreement {
                object["agreement"] = twin::json(agreement);
                object["uncertain"] = warning.is_some().into();
            }
            document(&object)
        }
        Format::Text => {
            let look = TerminalStyle::for_stdout();
            let mut said = opening(&run, look.width);
            if let Some(agreement) = &agreement {
                said.push_str(&twin::text(agreement, look.width, look.colour));
                said.push_str("\n\n");
            }
            said.push_str(&text(
                &explanation,
                &proposed,
                answers.as_ref(),
                warning,
                look.width,
                look.colour,
            ));
            said
        }
    };
    print_stdout(&written)?;
    Ok(ExitStatus::Success)
}

/// The sentence on the environment, with which an explanation begins, and an empty line.
fn opening(run: &Run, width: usize) -> String {
    let mut said = wrap(sentence(run.header().environment), width, "").join("\n");
    said.push_str("\n\n");
    said
}

/// Plan of the run's workloads on the network of this scenario.
fn modelled(run: &Run, name: &str) -> Result<Plan, CliError> {
    let document = load(name).map_err(wrong)?;
    twin::loaded(&run.header().plan, &document).map_err(|error| match error {
        NoModel::Scenario(error) => wrong(error),
        error => CliError::Usage(sanitise(&format!("{name} is no model of this run: {error}"))),
    })
}

/// The causes by simulation, of the model if there is one. Those that `run` found and stored are those of its report.
fn causes_by_simulation(args: &ExplainArgs, run: &Run, model: Option<&Plan>) -> Result<Explanation, CliError> {
    if model.is_none()
        && let Some(explanation) = stored(run.path())
    {
        return Ok(explanation);
    }
    let rules = explained(run).map_err(|error| unopened(&args.run, error))?;
    announce(&rules);
    let threads = args.jobs.map_or_else(processors, usize::from);
    Ok(match model {
        Some(plan) => causes::on_plan(run, plan, &rules, threads)?.0,
        None => causes::simulated(run, &rules, threads)?.unwrap_or(rules),
    })
}

/// Measured values beside those of simulations of the model, or of several models.
fn agreed(run: &Run, plans: &[Plan], jobs: Option<u16>) -> Result<Option<Agreement>, CliError> {
    let cancel = signals::cancel_or_exit(signals::STOPPING)?;
    let threads = jobs.map_or_else(processors, usize::from);
    twin::agreement(run.summary(), plans, threads, &cancel)
        .map_err(|error| CliError::Usage(sanitise(&error.to_string())))
}

/// Prints the causes by the rules at once. The simulations that follow take longer.
fn announce(rules: &Explanation) {
    for cause in &rules.causes {
        eprint_message(&sanitise(&format!("by the record: {}", cause.title)));
    }
}

/// Simulated remedies.
fn helped(
    args: &ExplainArgs,
    runs: u16,
    run: &Run,
    plan: &Plan,
    causes: &[Cause],
) -> Result<(Interventions, Option<Answers>), CliError> {
    let proposed = propose(plan, run.summary(), causes, args.duration.as_deref())
        .map_err(|error| CliError::Usage(error.to_string()))?;
    let Some(plan) = &proposed.plan else {
        return Ok((proposed.changes, None));
    };
    let changes = proposed.changes.what_ifs.iter().cloned().map(Change::from).collect();
    match simulate_changes(&repeated(plan, runs.into()), changes, args.jobs)? {
        Ok(answers) => Ok((proposed.changes, Some(answers))),
        Err(AnswerError::Stopped) => Ok((Interventions::not_simulated(&"stopped before the first result"), None)),
        Err(error) => Ok((Interventions::not_simulated(&error), None)),
    }
}
