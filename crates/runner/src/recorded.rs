//! Runs that are recorded to folders: one run, all runs of a plan, and the runs of several plans in alternation.

use crate::control::{Event, RunControl};
use crate::environment::RunEnvironment;
use crate::error::RunError;
use crate::pool;
use netburn_record::{Header, Host, Recorder, Row, Run, RunSet, RunStatus, Sink, UnixTime};
use netburn_scenario::{Environment, Plan};
use netburn_units::Seed;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Interval between checks for an abort while results are written.
const ABORT_CHECK: Duration = Duration::from_millis(20);

/// A recorded run, or all runs of a plan.
#[derive(Debug)]
pub struct Recorded {
    /// The record. Its summary covers all runs.
    pub run: Run,
    /// Status of the run. For several runs: the first reason why they are incomplete.
    pub status: RunStatus,
}

/// Executes one run of a plan and records it to `folder`, or to `folder-2` and so on if it exists.
///
/// # Errors
/// The run has no result, or it can't be stored.
pub fn record(
    plan: &Plan,
    environment: &dyn RunEnvironment,
    folder: &Path,
    control: &RunControl<'_>,
) -> Result<Recorded, RunError> {
    environment.check(plan)?;
    record_checked(plan, environment, folder, control)
}

/// Executes all runs of a plan ([`Plan::repeat`]), each with its own seed, and records them to `folder`. As many runs execute at
/// the same time as the environment [permits](RunEnvironment::concurrency). A plan with one run is [recorded](record)
/// directly to the folder. Otherwise each run has a folder in it, and the summary covers all of them. After a run that
/// is stopped or failed, no further run starts.
///
/// # Errors
/// The first error of a run; or the results can't be stored.
pub fn repeat(
    plan: &Plan,
    environment: &dyn RunEnvironment,
    folder: &Path,
    control: &RunControl<'_>,
) -> Result<Recorded, RunError> {
    environment.check(plan)?;
    if plan.repeat == 1 {
        return record_checked(plan, environment, folder, control);
    }
    let mut set = RunSet::create(folder).map_err(RunError::Create)?;
    let total = plan.repeat as usize;
    let ended = AtomicBool::new(false);
    let results = pool::map(total, environment.concurrency(), &|round| {
        if ended.load(Ordering::Relaxed) || round > 0 && control.cancel().is_stopped() {
            return None;
        }
        let plan = repeated(plan, round);
        control.report(Event::Run {
            number: round + 1,
            total,
            plan: &plan,
        });
        let result = record_checked(&plan, environment, &set.path_of(round), control);
        if !matches!(&result, Ok(recorded) if recorded.status == RunStatus::Complete) {
            ended.store(true, Ordering::Relaxed);
        }
        Some(result)
    });
    let mut status = RunStatus::Complete;
    let mut made = 0;
    // Runs are numbered without a gap. Those that did not start come last.
    for result in results.into_iter().map_while(|result| result) {
        let recorded = result?;
        set.add(recorded.run);
        made += 1;
        if status == RunStatus::Complete {
            status = recorded.status;
        }
    }
    if made < total && status == RunStatus::Complete {
        status = RunStatus::Interrupted;
    }
    finish(set, status)
}

/// Executes the runs of several plans in alternation, so that drift of the environment affects all of them. Each block
/// has every plan with remaining runs once. The order is from the seed of the first plan. Each plan has its own folder
/// with a folder for each run. Returns the records of the plans that have a run. Simulated time has no drift, so there
/// the plans are [repeated](repeat) one after the other.
///
/// # Errors
/// The first error of a run; or the results can't be stored.
///
/// # Panics
/// If the numbers of plans and folders differ.
pub fn interleave(
    plans: &[Plan],
    environment: &dyn RunEnvironment,
    folders: &[PathBuf],
    control: &RunControl<'_>,
) -> Result<Vec<Recorded>, RunError> {
    assert_eq!(plans.len(), folders.len(), "each plan has a folder");
    if environment.kind() == Environment::Simulate {
        let all = plans.iter().zip(folders);
        return all
            .map(|(plan, folder)| repeat(plan, environment, folder, control))
            .collect();
    }
    plans.iter().try_for_each(|plan| environment.check(plan))?;
    let mut sets = Vec::new();
    for folder in folders {
        sets.push((RunSet::create(folder).map_err(RunError::Create)?, 0));
    }
    let rounds: Vec<u32> = plans.iter().map(|plan| plan.repeat).collect();
    let order = interleaved_order(&rounds, plans.first().map_or(Seed(0), |plan| plan.seed));
    let mut status = RunStatus::Complete;
    for (place, number) in order.iter().zip(1..) {
        if number > 1 && control.cancel().is_stopped() {
            status = RunStatus::Interrupted;
            break;
        }
        let (set, round) = &mut sets[*place];
        let plan = repeated(&plans[*place], *round);
        *round += 1;
        control.report(Event::Run {
            number,
            total: order.len(),
            plan: &plan,
        });
        let recorded = record_checked(&plan, environment, &set.next_path(), control)?;
        set.add(recorded.run);
        status = recorded.status;
        if status != RunStatus::Complete {
            break;
        }
    }
    let begun = sets.into_iter().filter(|(_, rounds)| *rounds > 0);
    begun.map(|(set, _)| finish(set, status.clone())).collect()
}

/// The plan of a run of several, numbered from 0.
fn repeated(plan: &Plan, round: usize) -> Plan {
    Plan {
        seed: plan.seed.repeat(round as u64),
        ..plan.clone()
    }
}

/// Order of the runs, as indices of their plans: each block has every plan with remaining runs once, in random order.
fn interleaved_order(rounds: &[u32], seed: Seed) -> Vec<usize> {
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

/// Writes the pooled summary of several runs.
fn finish(set: RunSet, status: RunStatus) -> Result<Recorded, RunError> {
    let folder = set.path().to_owned();
    let run = set
        .finish()
        .map_err(|error| RunError::storage(&error).in_folder(&folder))?;
    Ok(Recorded { run, status })
}

/// Executes one run of a plan that the environment can run, and records it to `folder`.
fn record_checked(
    plan: &Plan,
    environment: &dyn RunEnvironment,
    folder: &Path,
    control: &RunControl<'_>,
) -> Result<Recorded, RunError> {
    // Before the folder exists: without a lab or members there is nothing to record.
    let prepared = environment.prepare(plan, control)?;
    let mut recorder = Recorder::create(folder, header(plan, environment.kind())).map_err(RunError::Create)?;
    let folder = recorder.path().to_owned();
    control.report(Event::Recording(plan, &folder));
    let mut sink = ReportingSink {
        recorder: &mut recorder,
        control,
    };
    let recorded = prepared
        .run(Some(&folder), &mut sink, control)
        .and_then(|status| write(recorder, status, control));
    control.report(Event::Ended);
    recorded.map_err(|error| error.in_folder(&folder))
}

fn header(plan: &Plan, environment: Environment) -> Header {
    match environment {
        Environment::Simulate => Header::simulated(plan.clone()),
        _ => Header {
            plan: plan.clone(),
            environment,
            seed: plan.seed,
            host: Host::here(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started: Some(UnixTime::now()),
            source: None,
        },
    }
}

/// Completes the record. An abort does not wait for that.
fn write(recorder: Recorder, status: RunStatus, control: &RunControl<'_>) -> Result<Recorded, RunError> {
    control.report(Event::Writing);
    let (tell, written) = channel();
    let end = status.clone();
    std::thread::spawn(move || {
        // The receiver is dropped after an abort.
        let _ = tell.send(recorder.finish(&end));
    });
    let run = loop {
        match written.recv_timeout(ABORT_CHECK) {
            Ok(run) => break run.map_err(|error| RunError::storage(&error))?,
            Err(RecvTimeoutError::Timeout) if control.cancel().is_aborted() => {
                return Err(RunError::Aborted { folder: None });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => panic!("writing a record does not panic"),
        }
    };
    Ok(Recorded { run, status })
}

/// Sink that records rows and then reports them.
struct ReportingSink<'a> {
    recorder: &'a mut Recorder,
    control: &'a RunControl<'a>,
}

impl Sink for ReportingSink<'_> {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        self.recorder.put(row)?;
        self.control.report(Event::Row(row));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.recorder.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_has_every_scenario_once_in_an_order_of_its_own() {
        let order = interleaved_order(&[40, 40, 40], Seed(3));
        assert_eq!(order.len(), 120);
        let mut first = [0; 3];
        for round in order.chunks(3) {
            let mut sorted = round.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
            first[round[0]] += 1;
        }
        // A third of 40 rounds each, ± three deviations of √(40 × 1/3 × 2/3) = 3.0.
        assert!(first.iter().all(|count| (5..=22).contains(count)), "{first:?}");
        assert_eq!(order, interleaved_order(&[40, 40, 40], Seed(3)));
        assert_ne!(order, interleaved_order(&[40, 40, 40], Seed(4)));
    }

    #[test]
    fn a_plan_with_fewer_runs_ends_sooner() {
        let order = interleaved_order(&[1, 3], Seed(1));
        assert_eq!(order.iter().filter(|place| **place == 0).count(), 1);
        assert_eq!(order[2..], [1, 1]);
    }
}
