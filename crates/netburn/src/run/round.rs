//! The runs of a plan: each is a fleet run with its own folder.

use super::Done;
use super::fleet::FleetTarget;
use super::lab_launcher::{self, LabLauncher, LabStarter, RecordingSink};
use super::screen::Screen;
use crate::exit::CliError;
use crate::lab;
use crate::runtime;
use crate::signals::Signals;
use crate::terminal::{eprint_message, stderr_colour};
use netburn_fleet::fleet_run::Participants;
use netburn_lab::Lab;
use netburn_record::{Environment, Header, Host, Recorder, Run, RunSet, RunStatus, Sink, UnixTime};
use netburn_report::Live;
use netburn_run_control::{ControllerError, Launcher, Options, Outcome, ThisMachine, Watch, run_local};
use netburn_scenario::Plan;
use std::path::{Path, PathBuf};
use tokio::sync::watch;

/// Executes all runs of `plan` and records them to `folder`.
///
/// `lab` is an open lab for the first run. `fleet` is the fleet that runs the plan.
pub(super) fn all(
    plan: &Plan,
    environment: Environment,
    lab: Option<Lab>,
    fleet: Option<&FleetTarget>,
    folder: &Path,
) -> Result<Done, CliError> {
    finished(rounds(plan, environment, lab, fleet, folder))
}

/// Executes the runs of several plans interleaved, each plan with its own folder. `order` has the index of the plan of
/// each run. Returns the result of each plan that has a run.
pub(super) fn interleaved(
    plans: &[Plan],
    environment: Environment,
    fleet: Option<&FleetTarget>,
    order: &[usize],
    folders: &[PathBuf],
) -> Result<Vec<Done>, CliError> {
    finished(turns(plans, environment, fleet, order, folders))
}

fn finished<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = runtime::here()?;
    let done = runtime.block_on(work);
    // A record that is still being written must not delay the exit after an abort.
    runtime.shutdown_background();
    done
}

async fn turns(
    plans: &[Plan],
    environment: Environment,
    fleet: Option<&FleetTarget>,
    order: &[usize],
    folders: &[PathBuf],
) -> Result<Vec<Done>, CliError> {
    let not_measured = |e: std::io::Error| CliError::Failed(e.to_string());
    let mut signals = Signals::new().map_err(not_measured)?;
    let program = std::env::current_exe().map_err(not_measured)?;
    let mut made = Vec::new();
    for folder in folders {
        made.push((RunSet::create(folder).map_err(not_created)?, 0_u64));
    }
    let mut last = RunStatus::Complete;
    for (number, place) in order.iter().enumerate() {
        let (repeats, round) = &mut made[*place];
        let plan = Plan {
            seed: plans[*place].seed.repeat(*round),
            ..plans[*place].clone()
        };
        *round += 1;
        eprint_message(&format!(
            "run {} of {}: {}, seed {}",
            number + 1,
            order.len(),
            plan.name,
            plan.seed.0
        ));
        let path = repeats.next_path();
        let (run, ending) = one(&plan, environment, None, fleet, &path, &program, &mut signals).await?;
        repeats.add(run);
        last = ending;
        if last != RunStatus::Complete {
            break;
        }
    }
    let mut done = Vec::new();
    for (repeats, round) in made {
        if round > 0 {
            let folder = repeats.path().to_owned();
            let pooled = repeats.finish().map_err(|error| incomplete_record(&folder, &error))?;
            done.push(Done::new(&pooled, &last));
        }
    }
    Ok(done)
}

async fn rounds(
    plan: &Plan,
    environment: Environment,
    mut open: Option<Lab>,
    fleet: Option<&FleetTarget>,
    folder: &Path,
) -> Result<Done, CliError> {
    let not_measured = |e: std::io::Error| CliError::Failed(e.to_string());
    let mut signals = Signals::new().map_err(not_measured)?;
    let program = std::env::current_exe().map_err(not_measured)?;
    if plan.repeat == 1 {
        let (run, ending) = one(plan, environment, open, fleet, folder, &program, &mut signals).await?;
        return Ok(Done::new(&run, &ending));
    }
    let mut repeats = RunSet::create(folder).map_err(not_created)?;
    let mut last = RunStatus::Complete;
    for round in 0..plan.repeat {
        let plan = Plan {
            seed: plan.seed.repeat(u64::from(round)),
            ..plan.clone()
        };
        eprint_message(&format!("run {} of {}, seed {}", round + 1, plan.repeat, plan.seed.0));
        let (run, ending) = one(
            &plan,
            environment,
            open.take(),
            fleet,
            &repeats.next_path(),
            &program,
            &mut signals,
        )
        .await?;
        repeats.add(run);
        last = ending;
        if last != RunStatus::Complete {
            break;
        }
    }
    let folder = repeats.path().to_owned();
    let pooled = repeats.finish().map_err(|error| incomplete_record(&folder, &error))?;
    Ok(Done::new(&pooled, &last))
}

/// Executes one run and records it to `folder`.
async fn one(
    plan: &Plan,
    environment: Environment,
    open: Option<Lab>,
    fleet: Option<&FleetTarget>,
    folder: &Path,
    program: &Path,
    signals: &mut Signals,
) -> Result<(Run, RunStatus), CliError> {
    // Before the folder exists: without agents there is nothing to record.
    let cast = match fleet {
        Some(on) => tokio::select! {
            cast = on.wait_for_members(plan) => Some(cast?),
            () = signals.next() => return Err(CliError::Failed("interrupted".to_owned())),
        },
        None => None,
    };
    // Before the folder exists: without a lab there is nothing to record.
    let lab = match environment {
        Environment::Lab => match open {
            Some(lab) => Some(lab),
            None => Some(lab::open(plan)?),
        },
        _ => None,
    };
    if let Some(lab) = &lab {
        lab::announce(lab);
    }
    let header = Header {
        plan: plan.clone(),
        environment,
        seed: plan.seed,
        host: Host::here(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: Some(UnixTime::now()),
        source: None,
    };
    let mut recorder = Recorder::create(folder, header).map_err(not_created)?;
    let folder = recorder.path().to_owned();
    let screen = Screen::new(Live::new(plan, stderr_colour()));
    let mut keeping = RecordingSink::new(&mut recorder, environment, lab.as_ref());
    let cast = fleet.zip(cast).map(|(on, cast)| (on, cast, folder.as_path()));
    let outcome = measured(plan, &mut keeping, lab.as_ref(), cast, program, &screen, signals)
        .await
        .map_err(|Aborted| aborted(&folder))?;
    keeping.check_interfaces();
    if let Some(lab) = &lab {
        // The self-check of the lab is complete from here on.
        lab.stop();
        lab_launcher::warn(lab, &mut screen.clone());
    }
    if let Err(error) = keeping.finish() {
        screen.finish();
        return Err(incomplete_record(&folder, &error));
    }
    drop(lab);
    let ending = match outcome {
        Ok(outcome) if outcome.interrupted => RunStatus::Interrupted,
        Ok(_) => RunStatus::Complete,
        Err(ControllerError::Storage(error)) => {
            screen.finish();
            let more = match environment {
                Environment::Fleet => "; the agents keep their results, and deliver them when there is space",
                _ => "",
            };
            return Err(incomplete_record(&folder, &format!("{error}{more}")));
        }
        Err(error) => RunStatus::Failed(error.to_string()),
    };
    screen.writing();
    let writing = tokio::task::spawn_blocking({
        let ending = ending.clone();
        move || recorder.finish(&ending)
    });
    let run = tokio::select! {
        finished = writing => finished.expect("writing a record does not panic"),
        () = signals.next() => return Err(aborted(&folder)),
    };
    screen.finish();
    let run = run.map_err(|error| incomplete_record(&folder, &error))?;
    Ok((run, ending))
}

/// A second signal aborted the run.
struct Aborted;

async fn measured(
    plan: &Plan,
    recorder: &mut RecordingSink<'_>,
    lab: Option<&Lab>,
    cast: Option<(&FleetTarget, Participants, &Path)>,
    program: &Path,
    screen: &Screen,
    signals: &mut Signals,
) -> Result<Result<Outcome, ControllerError>, Aborted> {
    let (stop, stopped) = watch::channel(false);
    let mut launcher = ThisMachine {
        program: program.to_owned(),
    };
    let mut inside = lab.map(|lab| LabLauncher::new(lab, program));
    let launcher: &mut dyn Launcher = match &mut inside {
        Some(inside) => inside,
        None => &mut launcher,
    };
    let (mut rows, mut watching) = (screen.clone(), LabStarter::new(screen.clone(), lab));
    let sinks: Vec<&mut dyn Sink> = vec![recorder, &mut rows];
    let watch: &mut dyn Watch = &mut watching;
    let running = async {
        let Some((on, cast, folder)) = cast else {
            let stop = stopped;
            return run_local(
                plan,
                Options {
                    launcher,
                    sinks,
                    watch,
                    stop,
                },
            )
            .await;
        };
        on.run(
            plan,
            cast,
            folder,
            Options {
                launcher,
                sinks,
                watch,
                stop: stopped,
            },
        )
        .await
    };
    let mut running = std::pin::pin!(running);
    loop {
        tokio::select! {
            outcome = &mut running => return Ok(outcome),
            () = signals.next() => {
                if stop.send_replace(true) {
                    return Err(Aborted);
                }
                screen.say("stopping and saving the results; a second signal aborts");
            }
        }
    }
}

fn aborted(folder: &Path) -> CliError {
    CliError::Failed(format!(
        "aborted; `netburn report {}` completes the record",
        folder.display()
    ))
}

/// The error for rows or results that can't be written. The folder exists.
pub(super) fn incomplete_record(folder: &Path, error: &dyn std::fmt::Display) -> CliError {
    CliError::Failed(format!(
        "the record can't be written: {error}; the rows so far are in {path}, and `netburn report {path}` completes \
         the record once there is space",
        path = folder.display()
    ))
}

/// The error for a record whose folder or spool can't be created. Nothing was measured.
pub(super) fn not_created(error: netburn_record::Error) -> CliError {
    CliError::Failed(format!("the record can't be written: {error}"))
}
