//! A run with a controller, a server and agents in real time: the common part of lab, local and fleet.

mod access_points;
mod recording;

pub(crate) use access_points::AccessPoints;
pub(crate) use recording::{ModelledNetwork, RecordingSink};

use crate::control::{Event, RunControl};
use crate::error::RunError;
use netburn_platform::Monotonic;
use netburn_record::RunStatus;
use netburn_run_control::{ControllerError, Launcher, Options, Outcome, Phase, ProgressObserver, with_writer};
use netburn_units::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// Executes a run that `run` starts with its options. Runs on this thread, because the processes of some launchers end with the
/// thread that started them. A second thread passes the rows to `recording`.
pub(crate) fn run_agents(
    launcher: &mut dyn Launcher,
    mut recording: RecordingSink<'_>,
    control: &RunControl<'_>,
    run: impl AsyncFnOnce(Options<'_>) -> Result<Outcome, ControllerError>,
) -> Result<RunStatus, RunError> {
    let (lab, observed) = (recording.lab(), recording.observed());
    let outcome = with_writer(&mut [&mut recording], |rows| {
        wait(async {
            let (stop, stopped) = watch::channel(false);
            let options = Options {
                launcher,
                rows,
                observer: &mut RunObserver { control, lab, observed },
                stop: stopped,
            };
            let mut running = std::pin::pin!(run(options));
            loop {
                let stopping = *stop.borrow();
                tokio::select! {
                    outcome = &mut running => return Ok(outcome),
                    () = control.cancel().stopped(), if !stopping => {
                        stop.send_replace(true);
                    }
                    () = control.cancel().aborted() => return Err(RunError::Aborted { folder: None }),
                }
            }
        })
    })?;
    recording.check_interfaces();
    if let Some(lab) = lab {
        // The self-check of the lab is complete from here on.
        lab.stop();
        report_warnings(lab, control);
    }
    recording.finish().map_err(|error| RunError::storage(&error))?;
    match outcome {
        Ok(outcome) if outcome.interrupted => Ok(RunStatus::Interrupted),
        Ok(outcome) => Ok(outcome.left.map_or(RunStatus::Complete, RunStatus::Failed)),
        Err(ControllerError::Storage(error)) => Err(RunError::storage(&error)),
        Err(error) => Ok(RunStatus::Failed(error.to_string())),
    }
}

/// Executes asynchronous work on this thread. Blocking work that it leaves does not delay the return.
pub(crate) fn wait<T>(work: impl Future<Output = Result<T, RunError>>) -> Result<T, RunError> {
    let runtime = runtime()?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    done
}

fn runtime() -> Result<Runtime, RunError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| RunError::NotMeasured(format!("no runtime: {error}")))
}

/// Forwards progress, and starts the network of the lab with the baseline of the run.
struct RunObserver<'a> {
    control: &'a RunControl<'a>,
    lab: Option<&'a dyn ModelledNetwork>,
    observed: Option<&'a AccessPoints>,
}

impl ProgressObserver for RunObserver<'_> {
    fn phase(&mut self, phase: Phase, left: Duration) {
        self.control.report(Event::Phase(phase, left));
    }

    fn started(&mut self, now: Instant) {
        if let Some(observed) = self.observed {
            observed.begin(now);
        }
        let Some(lab) = self.lab else { return };
        let zero = Monotonic::from_nanos(Monotonic::now().as_nanos() - now.as_nanos());
        if let Err(error) = lab.start(zero) {
            self.warn(&error);
        }
    }

    fn tick(&mut self, now: Instant) {
        if let Some(lab) = self.lab {
            report_warnings(lab, self.control);
        }
        for text in self.observed.map(AccessPoints::take_warnings).unwrap_or_default() {
            self.warn(&text);
        }
        self.control.report(Event::Tick(now));
    }

    fn warn(&mut self, text: &str) {
        self.control.report(Event::Warning(text));
    }
}

/// Reports the new warnings of a lab.
fn report_warnings(lab: &dyn ModelledNetwork, control: &RunControl<'_>) {
    for text in lab.take_warnings() {
        control.report(Event::LabWarning(&text));
    }
}
