//! `netburn-dev crosscheck --against ns-3`: random plans in ns-3 and in the simulator. `netburn-dev speed`: their processor time.

mod kernel;
mod process;
pub(super) mod speed;

use crate::args::{CrosscheckArgs, Format};
use crate::exit::{CliError, ExitStatus, eprint_message, print_stdout};
use netburn_dev::crosscheck::{CrosscheckPlan, PlanResult, Values, compare, page};
use netburn_dev::sample::Outcome;
use netburn_dev::store::Store;
use netburn_runner::pool::{map, processors};
use process::Ns3;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Default path of the stored results.
const RESULTS: &str = "validation/crosscheck/ns-3.jsonl";
/// Seeds of netburn for each plan.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;
/// Seeds of ns-3 for a plan whose values disagree with the first seed.
const MORE_SEEDS: std::ops::RangeInclusive<u64> = 2..=5;

pub(super) fn crosscheck(args: &CrosscheckArgs) -> Result<ExitStatus, CliError> {
    let mut store = Store::open(args.results.as_deref().unwrap_or(Path::new(RESULTS)))?;
    let plans: Vec<CrosscheckPlan> = args.plans.clone().map(CrosscheckPlan::generate).collect();
    if args.resimulate {
        let stored: Vec<&CrosscheckPlan> = plans.iter().filter(|plan| stored(&store, plan).is_some()).collect();
        eprint_message(&format!("simulating {} stored plans again", stored.len()));
        let again = resimulated(&stored, &store, threads(args))?;
        store.replace(again)?;
    }
    if args.in_lab {
        kernel::add_runs(args, &plans, &mut store)?;
    }
    let mut failed = 0;
    if !args.stored {
        let missing: Vec<&CrosscheckPlan> = plans.iter().filter(|plan| stored(&store, plan).is_none()).collect();
        if !missing.is_empty() {
            failed = fill_in(args, &mut store, &missing)?;
            store.replace([])?;
        }
    }
    let chosen: Vec<&PlanResult> = plans.iter().filter_map(|plan| stored(&store, plan)).collect();
    print_stdout(&match args.format {
        Format::Text => page::text(&chosen),
        Format::Markdown => page::markdown(&chosen),
    })?;
    Ok(match page::unexplained(&chosen) {
        0 if failed > 0 || chosen.is_empty() => ExitStatus::NotMeasured,
        0 => ExitStatus::Success,
        _ => ExitStatus::OutOfTolerance,
    })
}

/// The stored result of a plan in its current form.
fn stored<'s>(store: &'s Store<PlanResult>, plan: &CrosscheckPlan) -> Option<&'s PlanResult> {
    store.get(&plan.number).filter(|result| result.is_of(plan))
}

fn threads(args: &CrosscheckArgs) -> usize {
    match args.jobs {
        Some(jobs) => usize::from(jobs),
        None => processors(),
    }
}

/// Runs the missing plans in both programs and appends each result to the file as soon as it is there. Returns how many failed.
fn fill_in(
    args: &CrosscheckArgs,
    store: &mut Store<PlanResult>,
    missing: &[&CrosscheckPlan],
) -> Result<usize, CliError> {
    let store = Mutex::new(store);
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    eprint_message(&format!("{} plans to run in ns-3", missing.len()));
    let worker = || -> Result<(), CliError> {
        let mut ns3 = Ns3::start(args.python.as_deref())?;
        while let Some(plan) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            let begun = std::time::Instant::now();
            let result = match both(plan, &mut ns3) {
                Ok(result) => result,
                Err(CliError::Failed(why)) => {
                    eprint_message(&format!("plan {}: {}", plan.number, why));
                    failed.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                Err(stop) => return Err(stop),
            };
            eprint_message(&format!(
                "plan {}: {} ({:.0} s): {}",
                plan.number,
                match count_differing(plan, &result) {
                    0 => "agrees".to_owned(),
                    values => format!("{values} values differ"),
                },
                begun.elapsed().as_secs_f64(),
                plan.summary(),
            ));
            store.lock().unwrap_or_else(PoisonError::into_inner).append(result)?;
        }
        Ok(())
    };
    let workers = threads(args).min(missing.len());
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        all.into_iter()
            .try_for_each(|one| one.join().expect("a worker does not panic"))
    })?;
    Ok(failed.into_inner())
}

/// Both programs: one seed of ns-3, and four more where a value disagrees with that.
fn both(plan: &CrosscheckPlan, ns3: &mut Ns3) -> Result<PlanResult, CliError> {
    let mut result = PlanResult {
        plan: plan.number,
        digest: plan.digest(),
        version: ns3.version.clone(),
        ns3: vec![ns3.run(plan, 1)?.values],
        netburn: simulated(plan)?,
        kernel: Vec::new(),
    };
    if count_differing(plan, &result) > 0 {
        for seed in MORE_SEEDS {
            result.ns3.push(ns3.run(plan, seed)?.values);
        }
    }
    Ok(result.shortened())
}

fn simulated(plan: &CrosscheckPlan) -> Result<Vec<Values>, CliError> {
    SEEDS
        .map(|seed| plan.simulate(seed).map_err(|why| CliError::Usage(why.to_string())))
        .collect()
}

fn resimulated(
    plans: &[&CrosscheckPlan],
    store: &Store<PlanResult>,
    threads: usize,
) -> Result<Vec<PlanResult>, CliError> {
    let results = map(plans.len(), threads, &|place| {
        let plan = plans[place];
        let mut result = stored(store, plan).expect("the plan is stored").clone();
        result.netburn = simulated(plan)?;
        Ok(result.shortened())
    });
    results.into_iter().collect()
}

fn count_differing(plan: &CrosscheckPlan, result: &PlanResult) -> usize {
    let compared = compare(plan, result);
    compared.iter().filter(|of| of.outcome == Outcome::Differs).count()
}
