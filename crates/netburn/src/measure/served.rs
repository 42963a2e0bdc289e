//! Measurements that the page of a controller starts.

use super::devices::{agents, device};
use super::findings::Findings;
use super::{
    MODEL, check_names, continuing, default_folder, ended_early, environment, extent, keep_page, next, note, observed,
    planned,
};
use crate::args::Listen;
use crate::exit::CliError;
use crate::fit;
use crate::fleet::{OwnController, qr};
use crate::run::{is_interrupted, phases};
use crate::terminal::eprint_message;
use netburn_dashboard::measurement::{Invitation, MeasurementFuture, MeasurementState, Measurements, Offer};
use netburn_fit::schedule::{Device, Schedule};
use netburn_fleet_controller::assign::probe_targets;
use netburn_fleet_controller::control_client::{ControlClient, ControlError};
use netburn_fleet_controller::hub::State;
use netburn_report::sanitise::sanitise;
use netburn_runner::pool::processors;
use netburn_runner::{Cancel, Event, RunControl, repeat};
use netburn_scenario::Plan;
use netburn_units::Instant;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::spawn_blocking;

/// Columns of the findings.
const WIDTH: usize = 80;
/// Time for a measurement to save its results when the controller ends.
const STOP_TIMEOUT: Duration = Duration::from_secs(8);

/// The measurements of a controller of this user.
#[derive(Debug)]
struct ServedMeasurements {
    fleet: State,
    runs: PathBuf,
    last: Arc<Mutex<Last>>,
    /// Addresses of the controller that [`invite`](Measurements::invite) starts.
    listen: Vec<Listen>,
    /// This controller.
    own: Arc<Mutex<Option<OwnController>>>,
}

/// The measurement that began last.
#[derive(Debug, Default)]
struct Last {
    state: MeasurementState,
    cancel: Cancel,
}

/// The measurements of the controller with this state, with records in the folder `runs`.
pub(crate) fn served(fleet: State, runs: &Path) -> Arc<dyn Measurements> {
    served_at(fleet, runs, Vec::new())
}

/// The same, for a process that starts a controller at these addresses only when devices are to join.
pub(crate) fn served_at(fleet: State, runs: &Path, listen: Vec<Listen>) -> Arc<dyn Measurements> {
    Arc::new(ServedMeasurements {
        listen,
        fleet,
        runs: runs.to_owned(),
        last: Arc::default(),
        own: Arc::default(),
    })
}

impl ServedMeasurements {
    /// The devices that have joined.
    async fn joined(&self) -> Result<Vec<Device>, String> {
        let unavailable = |error| match error {
            ControlError::None => "Devices can't join yet.".to_owned(),
            error => format!("the controller does not answer: {error}"),
        };
        let mut control = ControlClient::connect(&self.fleet).await.map_err(unavailable)?;
        let members = agents(&control.members().await.map_err(unavailable)?, None);
        if members.is_empty() {
            return Err("No device has joined yet.".to_owned());
        }
        if let Some(busy) = members.iter().find(|member| member.run.is_some()) {
            return Err(format!("{} is in a run. Wait until it has ended.", busy.name));
        }
        let devices = members
            .iter()
            .map(|member| device(&member.name, probe_targets(&member.about)));
        Ok(devices.collect())
    }

    fn locked(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a measurement unless there is one.
    fn begin(&self, devices: &[Device]) -> Result<(), String> {
        let (schedule, plan) = planned(devices).map_err(CliError::into_message)?;
        let environment = environment(self.fleet.clone(), None).map_err(CliError::into_message)?;
        let folder = default_folder(&self.runs);
        let cancel = {
            let mut last = self.locked();
            if is_busy(&last.state) {
                return Err("a measurement is in progress".to_owned());
            }
            *last = Last {
                state: measuring(None, "the devices prepare".to_owned(), 0.0),
                cancel: Cancel::default(),
            };
            last.cancel.clone()
        };
        // A job that is dropped ends the measurement that is in progress, so it exists only for its own.
        let job = Job {
            environment,
            folder,
            schedule,
            plan,
            last: Arc::clone(&self.last),
        };
        let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        eprint_message(&format!("the page started a measurement of {}", names.join(", ")));
        // Without a thread, the job ends with an error.
        let started = std::thread::Builder::new().spawn(move || job.run(cancel));
        started
            .map(drop)
            .map_err(|error| format!("can't start threads: {error}"))
    }
}

impl Measurements for ServedMeasurements {
    fn offer(&self) -> MeasurementFuture<'_, Result<Offer, String>> {
        Box::pin(async {
            if is_busy(&self.state()) {
                return Err("A measurement is in progress.".to_owned());
            }
            let devices = self.joined().await?;
            let names: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
            check_names(&names).map_err(CliError::into_message)?;
            let (schedule, plan) = planned(&devices).map_err(CliError::into_message)?;
            Ok(Offer {
                devices: names,
                extent: extent(&schedule, &plan),
                note: note(&devices).map(sentence),
            })
        })
    }

    fn start(&self, names: Vec<String>) -> MeasurementFuture<'_, Result<(), String>> {
        Box::pin(async move {
            check_names(&names).map_err(CliError::into_message)?;
            let joined = self.joined().await?;
            let chosen = names.iter().map(|name| {
                let found = joined.iter().find(|device| device.name == *name);
                found.cloned().ok_or_else(|| format!("{} has left", sanitise(name)))
            });
            let devices = chosen.collect::<Result<Vec<_>, _>>()?;
            if devices.is_empty() {
                return Err("there is no device to measure".to_owned());
            }
            self.begin(&devices)
        })
    }

    fn stop(&self) {
        self.locked().cancel.stop();
    }

    fn end(&self) -> MeasurementFuture<'_, ()> {
        Box::pin(async {
            self.stop();
            let begun = std::time::Instant::now();
            while matches!(self.state(), MeasurementState::Measuring { .. }) && begun.elapsed() < STOP_TIMEOUT {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            if let MeasurementState::Modelling { run, .. } = self.state() {
                let folder = self.runs.join(run);
                eprint_message(&format!("the measurement is saved, and {}", continuing(&folder)));
            }
            let own = Arc::clone(&self.own);
            // Its end waits for a thread.
            let _ = spawn_blocking(move || drop(own.lock().unwrap_or_else(PoisonError::into_inner).take())).await;
        })
    }

    fn invitation(&self) -> MeasurementFuture<'_, Option<Invitation>> {
        Box::pin(async {
            let control = ControlClient::connect(&self.fleet).await.ok()?;
            let address = sanitise(control.welcome().urls.first()?);
            Some(Invitation {
                command: format!("netburn fleet join '{address}'"),
                code: qr::rows(&address),
                address,
            })
        })
    }

    fn invite(&self) -> MeasurementFuture<'_, Result<(), String>> {
        Box::pin(async {
            if self.invitation().await.is_some() {
                return Ok(());
            }
            let (fleet, listen, own) = (self.fleet.clone(), self.listen.clone(), Arc::clone(&self.own));
            let started = spawn_blocking(move || {
                let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
                if own.is_none() {
                    *own = Some(OwnController::start(&fleet, &listen, false).map_err(CliError::into_message)?);
                }
                Ok(())
            });
            started.await.map_err(|error| error.to_string())?
        })
    }

    fn state(&self) -> MeasurementState {
        self.locked().state.clone()
    }
}

/// A measurement in its own thread.
struct Job {
    environment: netburn_runner::Fleet,
    folder: PathBuf,
    schedule: Schedule,
    plan: Plan,
    last: Arc<Mutex<Last>>,
}

impl Job {
    fn run(self, cancel: Cancel) {
        let result = self.measured(cancel);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.state = result.unwrap_or_else(|why| MeasurementState::Failed {
            run: run_of(&last.state),
            text: why,
        });
    }

    fn measured(&self, cancel: Cancel) -> Result<MeasurementState, String> {
        let observer = |event: Event<'_>| self.observe(&event);
        let control = RunControl::new(cancel.clone(), &observer);
        let done = repeat(&self.plan, &self.environment, &self.folder, &control)
            .map_err(|error| CliError::from(error).into_message())?;
        keep_page(&done);
        if is_interrupted(&done) {
            return Err("the measurement was stopped, so there is no model of the network".to_owned());
        }
        if let Some(why) = ended_early(&done) {
            return Err(why);
        }
        let folder = done.run.path();
        let run = name_of(folder);
        self.set(MeasurementState::Modelling {
            run: run.clone(),
            models: 0,
        });
        let measurement = observed(folder).map_err(CliError::into_message)?;
        let progress = |models: usize| {
            self.set(MeasurementState::Modelling {
                run: run.clone(),
                models,
            });
        };
        // One processor is left to the controller.
        let threads = processors().saturating_sub(1).max(1);
        let result = fit::simulated(&measurement, fit::SEED, threads, &cancel, &progress);
        let Some(result) = result.map_err(CliError::into_message)? else {
            return Err(format!("stopped: the measurement is saved, and {}", continuing(folder)));
        };
        fit::write(&result, &folder.join(MODEL)).map_err(CliError::into_message)?;
        Ok(MeasurementState::Done {
            run,
            findings: Findings::new(&result).text(WIDTH),
            next: next(&result, folder),
        })
    }

    fn observe(&self, event: &Event<'_>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let run = run_of(&last.state);
        let state = match event {
            Event::Recording(_, folder) => measuring(Some(name_of(folder)), "the devices prepare".to_owned(), 0.0),
            Event::Waiting(text) => measuring(run, (*text).to_owned(), 0.0),
            Event::Tick(now) => match phases::at(&self.schedule, *now) {
                Some((_, text)) => measuring(run, text, self.part(*now)),
                None if *now < Instant::ZERO => measuring(run, "idle latency".to_owned(), 0.0),
                None => measuring(run, "the devices deliver their results".to_owned(), 1.0),
            },
            _ => return,
        };
        last.state = state;
    }

    /// Part of the schedule that has passed.
    fn part(&self, now: Instant) -> f64 {
        let passed = now.checked_since(Instant::ZERO).unwrap_or_default();
        (passed.as_secs_f64() / self.schedule.duration().as_secs_f64()).min(1.0)
    }

    fn set(&self, state: MeasurementState) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).state = state;
    }
}

impl Drop for Job {
    /// A measurement whose thread failed is not in progress.
    fn drop(&mut self) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if is_busy(&last.state) {
            last.state = MeasurementState::Failed {
                run: run_of(&last.state),
                text: "an error of netburn ended the measurement".to_owned(),
            };
        }
    }
}

const fn measuring(run: Option<String>, text: String, part: f64) -> MeasurementState {
    MeasurementState::Measuring { run, text, part }
}

const fn is_busy(state: &MeasurementState) -> bool {
    matches!(
        state,
        MeasurementState::Measuring { .. } | MeasurementState::Modelling { .. }
    )
}

fn run_of(state: &MeasurementState) -> Option<String> {
    match state {
        MeasurementState::Measuring { run, .. } | MeasurementState::Failed { run, .. } => run.clone(),
        MeasurementState::Modelling { run, .. } | MeasurementState::Done { run, .. } => Some(run.clone()),
        MeasurementState::None => None,
    }
}

/// Name of a run: that of its folder.
fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// A note as a sentence.
fn sentence(note: &str) -> String {
    let mut letters = note.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
