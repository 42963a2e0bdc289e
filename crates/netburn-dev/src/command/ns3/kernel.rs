//! Plans whose values differ, in the lab: with the same model of the air and the TCP of this machine's kernel.

use crate::args::CrosscheckArgs;
use crate::command::{program, run_plan, temporary_folder, unaccepted_issues};
use crate::exit::CliError;
use netburn_dev::crosscheck::plan::Transport;
use netburn_dev::crosscheck::{Collector, CrosscheckPlan, PlanResult, Values};
use netburn_record::Run;
use netburn_runner::Lab;
use netburn_scenario::Environment;
use std::collections::BTreeMap;
use std::path::Path;

/// Runs of a plan, unless `--repeat` has another number.
const RUNS: u32 = 3;
/// Attempts to run a plan before it is left out because the lab's self-check fails.
const ATTEMPTS: u32 = 3;

/// Runs the stored plans over TCP that differ and have too few runs in the lab. `write` stores the results after each plan.
pub(super) fn add_runs(
    args: &CrosscheckArgs,
    plans: &[CrosscheckPlan],
    known: &mut BTreeMap<u64, PlanResult>,
    write: impl Fn(&BTreeMap<u64, PlanResult>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let runs = args.repeat.unwrap_or(RUNS);
    let wanted = |plan: &&CrosscheckPlan| {
        let result = known.get(&plan.number).filter(|result| result.is_of(plan));
        let tcp = matches!(plan.transport, Transport::Cubic | Transport::Reno);
        // The lab has no servers in the house.
        tcp && !plan.has_nas()
            && result
                .is_some_and(|result| (result.kernel.len() as u32) < runs && super::count_differing(plan, result) > 0)
    };
    let wanted: Vec<&CrosscheckPlan> = plans.iter().filter(wanted).collect();
    let folder = temporary_folder()?;
    eprintln!("{} plans to run in the lab", wanted.len());
    for plan in wanted {
        let mut values = Vec::new();
        for seed in 1..=u64::from(runs) {
            match in_lab(plan, seed, args, folder.path())? {
                Ok(one) => values.push(one),
                Err(why) => {
                    eprintln!("plan {}: {}", plan.number, why.join("; "));
                    break;
                }
            }
        }
        if values.len() as u32 == runs
            && let Some(result) = known.get_mut(&plan.number)
        {
            result.kernel = values;
            write(known)?;
            eprintln!("plan {}: {}", plan.number, plan.summary());
        }
    }
    Ok(())
}

/// One run, or why its values are unreliable.
fn in_lab(
    plan: &CrosscheckPlan,
    seed: u64,
    args: &CrosscheckArgs,
    folder: &Path,
) -> Result<Result<Values, Vec<String>>, CliError> {
    let resolved = plan
        .resolved(seed, Environment::Lab)
        .map_err(|why| CliError::Usage(why.render(false)))?;
    let mut why = Vec::new();
    for attempt in 0..ATTEMPTS {
        let folder = folder.join(format!("{}-{seed}-{attempt}", plan.number));
        let summary = run_plan(&resolved, &Lab::new(&program()?), &folder)?;
        why = unaccepted_issues(args, &summary.self_check.reasons);
        if why.is_empty() {
            let unreadable = |error| CliError::Usage(format!("{}: {error}", folder.display()));
            let mut collector = Collector::new(plan);
            let run = Run::open(&folder).map_err(unreadable)?;
            run.rows(&mut |row| collector.add(&row)).map_err(unreadable)?;
            return Ok(Ok(collector.values(seed)));
        }
    }
    Ok(Err(why))
}
