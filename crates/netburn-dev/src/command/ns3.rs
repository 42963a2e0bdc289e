//! `netburn-dev crosscheck --against ns-3`: random plans in ns-3 and in the simulator.

mod kernel;
mod process;

use crate::args::{CrosscheckArgs, Format};
use crate::exit::{CliError, ExitStatus, print_stdout};
use netburn_dev::crosscheck::{CrosscheckPlan, Outcome, PlanResult, compare, page, results};
use netburn_report::sanitise::sanitise;
use netburn_runner::pool::{map, processors};
use process::Ns3;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
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
    let path = args.results.as_deref().unwrap_or(Path::new(RESULTS));
    let mut known = read(path)?;
    let plans: Vec<CrosscheckPlan> = args.plans.clone().map(CrosscheckPlan::generate).collect();
    if args.resimulate {
        let stored: Vec<&CrosscheckPlan> = plans.iter().filter(|plan| is_stored(&known, plan)).collect();
        eprintln!("simulating {} stored plans again", stored.len());
        let again = resimulated(&stored, &known, threads(args))?;
        known.extend(again.into_iter().map(|result| (result.plan, result)));
        write(path, &known)?;
    }
    if args.in_lab {
        kernel::add_runs(args, &plans, &mut known, |known| write(path, known))?;
    }
    let missing: Vec<&CrosscheckPlan> = if args.stored {
        Vec::new()
    } else {
        plans.iter().filter(|plan| !is_stored(&known, plan)).collect()
    };
    let mut failed = 0;
    if !missing.is_empty() {
        // An interrupted run may have left half a line, to which nothing may be appended.
        write(path, &known)?;
        failed = fill_in(args, path, &missing)?;
        known = read(path)?;
        write(path, &known)?;
    }
    let chosen: Vec<&PlanResult> = plans
        .iter()
        .filter_map(|plan| known.get(&plan.number).filter(|result| result.is_of(plan)))
        .collect();
    print_stdout(&match args.format {
        Format::Text => page::text(&chosen),
        Format::Markdown => page::markdown(&chosen),
        Format::Json => format!("{:#}\n", page::json(&chosen)),
    })?;
    Ok(match page::unexplained(&chosen) {
        0 if failed > 0 || chosen.is_empty() => ExitStatus::NotMeasured,
        0 => ExitStatus::Success,
        _ => ExitStatus::OutOfTolerance,
    })
}

fn is_stored(known: &BTreeMap<u64, PlanResult>, plan: &CrosscheckPlan) -> bool {
    known.get(&plan.number).is_some_and(|result| result.is_of(plan))
}

fn threads(args: &CrosscheckArgs) -> usize {
    match args.jobs {
        Some(jobs) => usize::from(jobs),
        None => processors(),
    }
}

/// Runs the missing plans in both programs and appends each result to the file as soon as it is there. Returns how many failed.
fn fill_in(args: &CrosscheckArgs, path: &Path, missing: &[&CrosscheckPlan]) -> Result<usize, CliError> {
    let file = OpenOptions::new()
        .append(true)
        .open(path)
        .map_err(|error| unusable(path, &error))?;
    let file = Mutex::new(file);
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    eprintln!("{} plans to run in ns-3", missing.len());
    let worker = || -> Result<(), CliError> {
        let mut ns3 = Ns3::start(args.python.as_deref())?;
        while let Some(plan) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            let begun = std::time::Instant::now();
            let result = match both(plan, &mut ns3) {
                Ok(result) => result,
                Err(CliError::Failed(why)) => {
                    eprintln!("plan {}: {}", plan.number, sanitise(&why));
                    failed.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                Err(stop) => return Err(stop),
            };
            append(&file, &result).map_err(|error| unusable(path, &error))?;
            let differ = count_differing(plan, &result);
            eprintln!(
                "plan {}: {} ({:.0} s): {}",
                plan.number,
                match differ {
                    0 => "agrees".to_owned(),
                    values => format!("{values} values differ"),
                },
                begun.elapsed().as_secs_f64(),
                plan.summary(),
            );
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
        ns3: vec![ns3.run(plan, 1)?],
        netburn: simulated(plan)?,
        kernel: Vec::new(),
    };
    if count_differing(plan, &result) > 0 {
        for seed in MORE_SEEDS {
            result.ns3.push(ns3.run(plan, seed)?);
        }
    }
    Ok(result)
}

fn simulated(plan: &CrosscheckPlan) -> Result<Vec<netburn_dev::crosscheck::Values>, CliError> {
    SEEDS
        .map(|seed| plan.simulate(seed).map_err(|why| CliError::Usage(why.to_string())))
        .collect()
}

fn resimulated(
    plans: &[&CrosscheckPlan],
    known: &BTreeMap<u64, PlanResult>,
    threads: usize,
) -> Result<Vec<PlanResult>, CliError> {
    let results = map(plans.len(), threads, &|place| {
        let plan = plans[place];
        Ok(PlanResult {
            netburn: simulated(plan)?,
            ..known[&plan.number].clone()
        })
    });
    results.into_iter().collect()
}

fn count_differing(plan: &CrosscheckPlan, result: &PlanResult) -> usize {
    let compared = compare(plan, result);
    compared.iter().filter(|of| of.outcome == Outcome::Differs).count()
}

fn read(path: &Path) -> Result<BTreeMap<u64, PlanResult>, CliError> {
    match std::fs::read_to_string(path) {
        Ok(text) => results::read(&text)
            .map_err(|why| CliError::Usage(format!("{}: {}", path.display(), sanitise(&why.to_string())))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(unusable(path, &error)),
    }
}

/// Writes all results, one line for each plan in the order of their numbers, beside the file first.
fn write(path: &Path, known: &BTreeMap<u64, PlanResult>) -> Result<(), CliError> {
    let text: String = known.values().map(|result| result.line() + "\n").collect();
    let beside = path.with_extension("jsonl.new");
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, path))
        .map_err(|error| unusable(path, &error))
}

fn append(file: &Mutex<File>, result: &PlanResult) -> std::io::Result<()> {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    file.write_all((result.line() + "\n").as_bytes())
}

fn unusable(path: &Path, error: &std::io::Error) -> CliError {
    CliError::Usage(format!("{}: {error}", path.display()))
}
