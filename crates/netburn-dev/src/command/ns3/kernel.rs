//! Plans whose values differ, in the lab: with the same model of the air and the TCP of this machine's kernel.

use crate::args::CrosscheckArgs;
use crate::command::{ATTEMPTS, program, run_plan, temporary_folder, unaccepted_issues, until_reliable};
use crate::exit::{CliError, eprint_message};
use netburn_dev::crosscheck::plan::Transport;
use netburn_dev::crosscheck::{Collector, CrosscheckPlan, PlanResult, Values};
use netburn_dev::store::Store;
use netburn_runner::Lab;
use netburn_scenario::Environment;
use std::path::Path;

/// Runs of a plan, unless `--repeat` has another number.
const RUNS: u32 = 3;

/// Runs the stored plans over TCP that differ and have too few runs in the lab. The results are stored after each plan.
pub(super) fn add_runs(
    args: &CrosscheckArgs,
    plans: &[CrosscheckPlan],
    store: &mut Store<PlanResult>,
) -> Result<(), CliError> {
    let runs = args.repeat.unwrap_or(RUNS);
    let wanted = |plan: &&CrosscheckPlan| {
        let tcp = matches!(plan.transport, Transport::Cubic | Transport::Reno);
        // The lab has no servers in the house.
        tcp && !plan.has_nas()
            && super::stored(store, plan)
                .is_some_and(|result| (result.kernel.len() as u32) < runs && super::count_differing(plan, result) > 0)
    };
    let wanted: Vec<&CrosscheckPlan> = plans.iter().filter(wanted).collect();
    let folder = temporary_folder()?;
    eprint_message(&format!("{} plans to run in the lab", wanted.len()));
    for plan in wanted {
        let mut kernel = Vec::new();
        for seed in 1..=u64::from(runs) {
            let (values, issues) = until_reliable(ATTEMPTS, || in_lab(plan, seed, args, &folder.path().join("run")))?;
            if !issues.is_empty() {
                eprint_message(&format!("plan {}: {}", plan.number, issues.join("; ")));
                break;
            }
            kernel.push(values);
        }
        if kernel.len() as u32 == runs
            && let Some(result) = super::stored(store, plan).cloned()
        {
            store.replace([PlanResult { kernel, ..result }.shortened()])?;
            eprint_message(&format!("plan {}: {}", plan.number, plan.summary()));
        }
    }
    Ok(())
}

/// One run, and the reasons why its values are unreliable.
fn in_lab(
    plan: &CrosscheckPlan,
    seed: u64,
    args: &CrosscheckArgs,
    folder: &Path,
) -> Result<(Values, Vec<String>), CliError> {
    let resolved = plan
        .resolved(seed, Environment::Lab)
        .map_err(|why| CliError::Usage(why.render(false)))?;
    let done = run_plan(&resolved, &Lab::new(&program()?), folder)?;
    let mut collector = Collector::new(plan);
    let unreadable = |error| CliError::Usage(format!("{}: {error}", done.path().display()));
    done.rows(&mut |row| collector.add(&row)).map_err(unreadable)?;
    let issues = unaccepted_issues(args, &done.summary().self_check.reasons);
    Ok((collector.values(seed), issues))
}
