//! `run --interleave`: several scenarios in alternation, so that drift of the environment affects all of them.

use super::screen::Screen;
use super::{announced, environment, fleet, interruptible, is_interrupted, recorded};
use crate::args::{Changes, CompareFormat, Format, RunArgs};
use crate::compare::in_turns;
use crate::exit::{self, CliError, ExitStatus};
use crate::plan::Chosen;
use crate::terminal::{eprint_message, print_stdout};
use netburn_analysis::compare::Side;
use netburn_record::{Run, UnixTime, make_folder};
use netburn_runner::{Event, Recorded, RunControl, RunError, interleave};
use netburn_scenario::{Environment, Plan};
use std::path::PathBuf;

/// `netburn run --interleave A B…`.
pub(super) fn run(args: &RunArgs) -> Result<ExitStatus, CliError> {
    let (plans, chosen) = resolved(args)?;
    let simulated = chosen.environment == Environment::Simulate;
    let parent = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("runs").join(format!("{}-interleaved", UnixTime::now().for_file_name())));
    if chosen.environment == Environment::Fleet {
        for plan in &plans {
            fleet::confirm_volume(plan, args.yes)?;
        }
    }
    let environment = environment(chosen, Some(args))?;
    let parent = make_folder(&parent).map_err(RunError::Create)?;
    let folders: Vec<PathBuf> = names(&plans).iter().map(|name| parent.join(name)).collect();
    let done = if simulated {
        eprint_message("in simulated time nothing drifts: the order of the runs does not change the results");
        let all = plans
            .iter()
            .zip(&folders)
            .map(|(plan, folder)| recorded(plan, &*environment, folder));
        all.collect::<Result<Vec<Recorded>, CliError>>()?
    } else {
        let (cancel, screen) = interruptible(Screen::new(true))?;
        let observer = |event: Event<'_>| screen.show(event);
        interleave(&plans, &*environment, &folders, &RunControl::new(cancel, &observer))?
    };
    let mut sides = Vec::new();
    for one in &done {
        eprint_message(&format!("saved to {}", one.run.path().display()));
        let run = Run::open(one.run.path()).map_err(|error| CliError::Failed(error.to_string()))?;
        let mut side = Side::new("");
        side.add(&run);
        sides.push(side);
    }
    if sides.len() > 1 {
        let page = parent.join("compare.html");
        match std::fs::write(&page, in_turns(sides.clone(), CompareFormat::Html)) {
            Ok(()) => eprint_message(&format!("compared in {}", page.display())),
            Err(error) => eprint_message(&format!("{} can't be written: {error}", page.display())),
        }
        let format = match args.format {
            Format::Json => CompareFormat::Json,
            Format::Text => CompareFormat::Text,
        };
        match print_stdout(&in_turns(sides, format)) {
            Ok(()) | Err(CliError::BrokenPipe) => {}
            Err(stop) => return Err(stop),
        }
    }
    let mut ends = done
        .iter()
        .map(|one| exit::of_run(one.run.summary(), is_interrupted(one), args.check));
    Ok(worst(&mut ends))
}

/// The plans of all scenarios, which must be for one environment.
fn resolved(args: &RunArgs) -> Result<(Vec<Plan>, Chosen), CliError> {
    if args.others.is_empty() {
        return Err(CliError::Usage(
            "--interleave takes two scenarios or more: netburn run --interleave A.toml B.toml --repeat 10".to_owned(),
        ));
    }
    let mut plans = Vec::new();
    let mut before: Option<Environment> = None;
    for scenario in std::iter::once(&args.changes.scenario).chain(&args.others) {
        let changes = Changes {
            scenario: scenario.clone(),
            ..args.changes.clone()
        };
        // The lab that was opened as a check is closed again: each run has its own lab.
        let (plan, chosen) = announced(&changes, args.on)?;
        let environment = chosen.environment;
        if *before.get_or_insert(environment) != environment {
            return Err(CliError::Usage(format!(
                "{} would run on {environment}, and the scenario before it on {}: give --on, so that all run on one \
                 environment",
                plan.name,
                before.map_or("another", Environment::name)
            )));
        }
        plans.push(plan);
    }
    let environment = before.expect("there is at least one scenario");
    Ok((plans, Chosen::requested(environment)))
}

/// A unique folder name for each plan.
fn names(plans: &[Plan]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for plan in plans {
        let numbered = (2..).map(|number| format!("{}-{number}", plan.name));
        let mut candidates = std::iter::once(plan.name.clone()).chain(numbered);
        names.extend(candidates.find(|name| !names.contains(name)));
    }
    names
}

/// A failed goal takes precedence over a scenario that could not be measured, unless a signal stopped the run.
fn worst(ends: &mut dyn Iterator<Item = ExitStatus>) -> ExitStatus {
    let mut worst = ExitStatus::Success;
    for end in ends {
        worst = match (worst, end) {
            (ExitStatus::GoalFailed, _) | (_, ExitStatus::GoalFailed) => ExitStatus::GoalFailed,
            (ExitStatus::NotMeasured, _) | (_, ExitStatus::NotMeasured) => ExitStatus::NotMeasured,
            (_, end) => end,
        };
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_goal_decides() {
        use ExitStatus::{GoalFailed, NotMeasured, Success};
        assert_eq!(worst(&mut [Success, NotMeasured, GoalFailed].into_iter()), GoalFailed);
        assert_eq!(worst(&mut [Success, NotMeasured].into_iter()), NotMeasured);
        assert_eq!(worst(&mut [Success, Success].into_iter()), Success);
    }
}
