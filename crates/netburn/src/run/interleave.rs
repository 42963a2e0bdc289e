//! `run --interleave`: several scenarios in alternation, so that drift of the environment affects all of them.

use super::{Done, announce, fleet, round, simulated};
use crate::args::{Changes, CompareFormat, Format, RunArgs};
use crate::compare::in_turns;
use crate::exit::{self, CliError, ExitStatus};
use crate::plan;
use crate::terminal::{eprint_message, print_stdout};
use netburn_record::{Run, UnixTime, make_folder};
use netburn_report::compare::Side;
use netburn_scenario::{Environment, Plan};
use netburn_units::Seed;
use std::path::PathBuf;

/// `netburn run --interleave A B…`.
pub(super) fn run(args: &RunArgs) -> Result<ExitStatus, CliError> {
    let (plans, environment) = resolved(args)?;
    let parent = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("runs").join(format!("{}-interleaved", UnixTime::now().for_file_name())));
    let on = match environment {
        Environment::Fleet => {
            for plan in &plans {
                fleet::confirm_volume(plan, args.yes)?;
            }
            Some(fleet::FleetTarget::new(args)?)
        }
        _ => None,
    };
    let parent = make_folder(&parent).map_err(round::not_created)?;
    let folders: Vec<PathBuf> = names(&plans).iter().map(|name| parent.join(name)).collect();
    let done = match environment {
        Environment::Simulate => {
            eprint_message("in virtual time nothing drifts: the order of rounds changes nothing");
            let all = plans
                .iter()
                .zip(&folders)
                .map(|(plan, folder)| simulated::all(plan, folder));
            all.collect::<Result<Vec<Done>, CliError>>()?
        }
        _ => {
            let rounds: Vec<u32> = plans.iter().map(|plan| plan.repeat).collect();
            round::interleaved(
                &plans,
                environment,
                on.as_ref(),
                &order(&rounds, plans[0].seed),
                &folders,
            )?
        }
    };
    let mut sides = Vec::new();
    for one in &done {
        eprint_message(&format!("saved to {}", one.folder.display()));
        let run = Run::open(&one.folder).map_err(|error| CliError::Failed(error.to_string()))?;
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
        .map(|one| exit::of_run(&one.summary, one.interrupted, args.check));
    Ok(worst(&mut ends))
}

/// The plans of all scenarios, which must be for one environment.
fn resolved(args: &RunArgs) -> Result<(Vec<Plan>, Environment), CliError> {
    if args.others.is_empty() {
        return Err(CliError::Usage(
            "--interleave takes two scenarios or more: netburn run --interleave A.toml B.toml --repeat 10".to_owned(),
        ));
    }
    let mut plans = Vec::new();
    let mut environment = None;
    for scenario in std::iter::once(&args.changes.scenario).chain(&args.others) {
        let changes = Changes {
            scenario: scenario.clone(),
            ..args.changes.clone()
        };
        // The lab that was opened as a check is closed again: each run has its own lab.
        let resolved = announce(plan::resolved(&changes, args.on)?);
        if *environment.get_or_insert(resolved.environment) != resolved.environment {
            return Err(CliError::Usage(format!(
                "{} would run on {}, and the scenario before it on {}: give --on, so that all run on one environment",
                resolved.plan.name,
                resolved.environment,
                environment.map_or("another", Environment::name)
            )));
        }
        plans.push(resolved.plan);
    }
    let environment = environment.expect("there is at least one scenario");
    Ok((plans, environment))
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

/// Order of the runs: each block has every plan with remaining runs once, in random order.
fn order(rounds: &[u32], seed: Seed) -> Vec<usize> {
    let mut order = Vec::new();
    for round in 0..rounds.iter().copied().max().unwrap_or(0) {
        let mut turn: Vec<usize> = (0..rounds.len()).filter(|place| rounds[*place] > round).collect();
        let mut stream = seed.stream("interleave", u64::from(round));
        // Fisher-Yates shuffle.
        for last in (1..turn.len()).rev() {
            turn.swap(last, stream.below(last as u64 + 1) as usize);
        }
        order.extend(turn);
    }
    order
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
    fn every_round_has_every_scenario_once_in_an_order_of_its_own() {
        let order = order(&[40, 40, 40], Seed(3));
        assert_eq!(order.len(), 120);
        let mut first = [0; 3];
        for round in order.chunks(3) {
            let mut sorted = round.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
            first[round[0]] += 1;
        }
        // Of 40 rounds a third each, give or take three deviations of √(40 × 1/3 × 2/3) = 3.0.
        assert!(first.iter().all(|count| (5..=22).contains(count)), "{first:?}");
        assert_eq!(order, super::order(&[40, 40, 40], Seed(3)));
        assert_ne!(order, super::order(&[40, 40, 40], Seed(4)));
    }

    #[test]
    fn a_scenario_with_fewer_runs_ends_earlier() {
        let order = order(&[1, 3], Seed(1));
        assert_eq!(order.iter().filter(|place| **place == 0).count(), 1);
        assert_eq!(order[2..], [1, 1]);
    }

    #[test]
    fn a_failed_goal_decides() {
        use ExitStatus::{GoalFailed, NotMeasured, Success};
        assert_eq!(worst(&mut [Success, NotMeasured, GoalFailed].into_iter()), GoalFailed);
        assert_eq!(worst(&mut [Success, NotMeasured].into_iter()), NotMeasured);
        assert_eq!(worst(&mut [Success, Success].into_iter()), Success);
    }
}
