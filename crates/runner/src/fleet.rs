//! Runs on a fleet: real devices on a real network.

use crate::agents::{AccessPoints, RecordingSink, run_agents, wait};
use crate::control::{Event, RunControl};
use crate::environment::{PreparedRun, RunEnvironment};
use crate::error::RunError;
use netburn_access_point::{Addresses, Target};
use netburn_fleet_controller::fleet_run::{self, Participants, Waiting, run_fleet, wait_for_members};
use netburn_fleet_controller::hub::State;
use netburn_fleet_controller::hub::control::ObservedAccessPoints;
use netburn_protocol::messages::is_run;
use netburn_record::{RunStatus, Sink};
use netburn_run_control::{ControllerError, Options, ThisMachine};
use netburn_scenario::{Environment, Plan};
use netburn_units::{Duration, Seed};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The environment fleet: the members that are registered with this user's controller.
#[derive(Debug)]
pub struct Fleet {
    program: PathBuf,
    state: State,
    server: Option<String>,
    wait: Duration,
    /// A run needs all members.
    all: bool,
    /// Access points that are observed during each run.
    observed: Vec<Target>,
    /// Configuration file of the SSH client; `None`: the user's.
    ssh_config: Option<PathBuf>,
    /// A run had members: a further run waits until they are free.
    begun: AtomicBool,
}

impl Fleet {
    /// `program` is the executable of netburn, which must have the command `serve --join`. `state` is the state directory of the
    /// controller. `server` is the member that is the server; `None`: this machine. `wait` is the time to wait for missing members.
    #[must_use]
    pub fn new(program: &Path, state: State, server: Option<String>, wait: Duration) -> Self {
        Fleet {
            program: program.to_owned(),
            state,
            server,
            wait,
            all: false,
            observed: Vec::new(),
            ssh_config: None,
            begun: AtomicBool::new(false),
        }
    }

    /// The same fleet, whose runs observe these access points. `ssh_config` is a configuration file for the SSH client
    /// instead of the user's.
    #[must_use]
    pub fn observing(self, observed: Vec<Target>, ssh_config: Option<PathBuf>) -> Self {
        Fleet {
            observed,
            ssh_config,
            ..self
        }
    }

    /// The same fleet, whose runs do not start without a member for each station, and end early if one leaves.
    #[must_use]
    pub fn requiring_all(self) -> Self {
        Fleet { all: true, ..self }
    }

    /// Access points that a run observes: those of this fleet, or else those of its controller, and those of the plan with
    /// other names.
    fn observed(
        &self,
        plan: &Plan,
        controller: &ObservedAccessPoints,
    ) -> Result<(Vec<Target>, Option<PathBuf>), RunError> {
        let (mut targets, config) = if self.observed.is_empty() {
            let parsed = controller.access_points.iter().map(|text| text.parse::<Target>());
            let targets = parsed.collect::<Result<Vec<_>, _>>();
            let targets = targets.map_err(|error| RunError::NotMeasured(error.to_string()))?;
            (targets, controller.ssh_config.clone())
        } else {
            (self.observed.clone(), self.ssh_config.clone())
        };
        for ap in &plan.aps {
            if let Some(destination) = &ap.observe
                && targets.iter().all(|target| target.name != ap.name)
            {
                targets.push(Target {
                    name: ap.name.clone(),
                    destination: destination.clone(),
                });
            }
        }
        Ok((targets, config))
    }
}

impl RunEnvironment for Fleet {
    fn kind(&self) -> Environment {
        Environment::Fleet
    }

    /// Chooses the members, and waits for those that are missing.
    fn prepare<'a>(&'a self, plan: &'a Plan, control: &RunControl<'_>) -> Result<Box<dyn PreparedRun + 'a>, RunError> {
        let waiting = Waiting {
            missing: self.wait,
            all: self.all,
            queue: self.begun.load(Ordering::Relaxed),
        };
        let members = wait_for_members(&self.state, plan, self.server.as_deref(), waiting, |text| {
            control.report(Event::Waiting(text));
        });
        let participants = wait(async {
            tokio::select! {
                participants = members => Ok(participants?),
                () = control.cancel().stopped() => Err(RunError::Interrupted),
            }
        })?;
        self.begun.store(true, Ordering::Relaxed);
        control.report(Event::Members(plan, &participants));
        Ok(Box::new(RunOnFleet {
            fleet: self,
            plan,
            participants,
        }))
    }
}

/// A run whose members are known.
struct RunOnFleet<'a> {
    fleet: &'a Fleet,
    plan: &'a Plan,
    participants: Participants,
}

impl PreparedRun for RunOnFleet<'_> {
    fn run(
        self: Box<Self>,
        folder: Option<&Path>,
        sink: &mut (dyn Sink + Send),
        control: &RunControl<'_>,
    ) -> Result<RunStatus, RunError> {
        let RunOnFleet {
            fleet,
            plan,
            participants,
        } = *self;
        let Some(folder) = folder else {
            let text = "a run on the fleet needs a folder, for results that arrive late";
            return Err(RunError::NotMeasured(text.to_owned()));
        };
        let (observed, ssh_config) = fleet.observed(plan, &participants.observed)?;
        let stations = participants.addresses.iter().zip(0_u16..);
        let addresses = Addresses::new(stations.filter_map(|(address, station)| Some(((*address)?, station))));
        let mut launcher = ThisMachine {
            program: fleet.program.clone(),
        };
        let run = async |options: Options<'_>| {
            // An absolute path, so that late results do not depend on the controller's working directory.
            let folder = std::path::absolute(folder).map_err(ControllerError::Storage)?;
            let options = fleet_run::Options {
                state: fleet.state.clone(),
                run: run_name(&folder, plan.seed, SystemTime::now()),
                folder,
                participants,
                launcher: options.launcher,
                rows: options.rows,
                observer: options.observer,
                stop: options.stop,
                all: fleet.all,
            };
            run_fleet(plan, options).await.map_err(|error| match error {
                ControllerError::Storage(error) => ControllerError::Storage(io::Error::other(format!(
                    "{error}; the agents keep their results, and deliver them when there is space"
                ))),
                other => other,
            })
        };
        if observed.is_empty() {
            return run_agents(&mut launcher, RecordingSink::new(sink), control, run);
        }
        let observed = AccessPoints::start(&observed, ssh_config, &addresses);
        observed.await_logins(control.cancel(), &|text| control.report(Event::Warning(text)));
        run_agents(&mut launcher, RecordingSink::observing(sink, &observed), control, run)
    }
}

/// Name of a run in the fleet: the last two names of its folder, and its start in milliseconds of Unix time. The time makes
/// the name unique, even if a folder is removed and created again.
fn run_name(folder: &Path, seed: Seed, now: SystemTime) -> String {
    let began = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
    let parts = folder
        .components()
        .rev()
        .take(2)
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    let mut parts: Vec<String> = parts.collect();
    // The folder name `runs` identifies no run. The folder of a run set does.
    if parts.get(1).is_some_and(|parent| parent == "runs") {
        parts.truncate(1);
    }
    parts.reverse();
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
            c
        } else {
            '-'
        }
    };
    let name: String = parts.join("_").chars().map(plain).collect();
    let tail: String = name
        .chars()
        .rev()
        .take(100)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    if is_run(&tail) {
        format!("{tail}-{began:x}")
    } else {
        format!("run-{}-{began:x}", seed.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_called_as_its_folder_and_its_beginning() {
        let began = UNIX_EPOCH + std::time::Duration::from_millis(0x1234);
        let name = |path: &str| run_name(Path::new(path), Seed(7), began);
        assert_eq!(
            name("/ada/runs/2026-11-21T18-30-00Z-four-uses"),
            "2026-11-21T18-30-00Z-four-uses-1234"
        );
        assert_eq!(name("/ada/out/1"), "out_1-1234");
        assert_eq!(name("/ada/my run"), "ada_my-run-1234");
        assert!(is_run(&name(&format!("/{}", "é".repeat(300)))));
    }
}
