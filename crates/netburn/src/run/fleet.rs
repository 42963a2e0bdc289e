//! `run --on fleet`: choice of the members, and confirmation of the volume.

use crate::args::RunArgs;
use crate::exit::CliError;
use crate::fleet::{state, unfound};
use crate::terminal::eprint_message;
use netburn_fleet::fleet_run::{self, Participants, WaitError, Waiting, run_fleet, wait_for_members};
use netburn_fleet::hub::State;
use netburn_report::sanitise::sanitise;
use netburn_run_control::spool::is_run;
use netburn_run_control::{ControllerError, Options, Outcome};
use netburn_scenario::{Environment, Plan, decimal};
use netburn_units::{BitRate, ByteSize, Duration, Seed};
use std::cell::Cell;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Volume from which netburn asks for confirmation.
const CONFIRM_THRESHOLD: ByteSize = ByteSize::from_bytes(10_000_000_000);
/// Assumed rate if nothing limits it, for an estimate: faster than most links at home.
const WIRE: BitRate = BitRate::from_mbps(10_000);

/// The fleet that executes the runs.
pub(super) struct FleetTarget {
    state: State,
    server: Option<String>,
    wait: Duration,
    /// An agent has already taken part: a further run waits for its turn.
    begun: Cell<bool>,
}

impl FleetTarget {
    pub(super) fn new(args: &RunArgs) -> Result<FleetTarget, CliError> {
        Ok(FleetTarget {
            state: state()?,
            server: args.server.clone(),
            wait: args.wait,
            begun: Cell::new(false),
        })
    }

    /// Chooses the agents and prints their names.
    pub(super) async fn wait_for_members(&self, plan: &Plan) -> Result<Participants, CliError> {
        let wait = Waiting {
            missing: self.wait,
            queue: self.begun.get(),
        };
        let gathered = wait_for_members(&self.state, plan, self.server.as_deref(), wait, |text| {
            eprint_message(&sanitise(text))
        })
        .await;
        let cast = gathered.map_err(|error| match error {
            WaitError::Control(error) => unfound(error),
            error => CliError::Failed(error.to_string()),
        })?;
        self.begun.set(true);
        let stations = plan.stations.iter().zip(&cast.assignment.members);
        let each = stations.filter_map(|(station, member)| {
            let member = member.as_ref()?;
            Some(if *member == station.name {
                member.clone()
            } else {
                format!("{} is {member}", station.name)
            })
        });
        eprint_message(&format!("stations: {}", each.collect::<Vec<_>>().join(", ")));
        Ok(cast)
    }

    /// Executes one run and records it to `folder`.
    pub(super) async fn run(
        &self,
        plan: &Plan,
        cast: Participants,
        folder: &Path,
        options: Options<'_>,
    ) -> Result<Outcome, ControllerError> {
        let Options {
            launcher,
            sinks,
            watch,
            stop,
        } = options;
        // An absolute path, so that late results do not depend on the controller's working directory.
        let folder = std::path::absolute(folder).map_err(ControllerError::Storage)?;
        let options = fleet_run::Options {
            state: self.state.clone(),
            run: run_name(&folder, plan.seed, SystemTime::now()),
            folder,
            participants: cast,
            launcher,
            sinks,
            watch,
            stop,
        };
        run_fleet(plan, options).await
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
    // `runs` says nothing; the folder of repeats does.
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

/// Description of the run before it starts.
pub(super) fn beginning(plan: &Plan) -> String {
    format!(
        "on the fleet: real devices over the real air; over your network it may move {}",
        most(plan)
    )
}

/// Upper bound of the volume of traffic, as text.
fn most(plan: &Plan) -> String {
    match plan.bytes_expected(Environment::Fleet).max {
        Some(most) => format!("up to {}", decimal(most)),
        None => format!(
            "whatever goes through: nothing in the scenario bounds it, at {WIRE} up to {}",
            decimal(estimate(plan))
        ),
    }
}

/// Upper bound of the volume if the server has a link like the fastest at home.
fn estimate(plan: &Plan) -> ByteSize {
    let mut wired = plan.clone();
    let rate = &mut wired.server.link.rate;
    *rate = Some(rate.map_or(WIRE, |rate| rate.min(WIRE)));
    wired
        .bytes_expected(Environment::Fleet)
        .max
        .unwrap_or(ByteSize::from_bytes(u64::MAX))
}

/// Asks for confirmation of a large volume.
pub(super) fn confirm_volume(plan: &Plan, yes: bool) -> Result<(), CliError> {
    if yes || estimate(plan) <= CONFIRM_THRESHOLD {
        return Ok(());
    }
    let much = format!("this may move {}", most(plan));
    if !io::stdin().is_terminal() {
        return Err(CliError::Usage(format!("{much}; with --yes it does")));
    }
    eprint!("{much}. Go on? [y/N] ");
    let _ = io::stderr().flush();
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    if read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes") {
        Ok(())
    } else {
        Err(CliError::Usage("not run".to_owned()))
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

    #[test]
    fn ten_gigabytes_are_asked_about() {
        let plan = |text: &str| {
            let document = netburn_scenario::Document::from_toml("t.toml", text).unwrap();
            document.resolve_for(Environment::Fleet).unwrap().0
        };
        let call = plan("duration = \"60 s\"\n[station.a]\nworkload = \"voip\"\n");
        assert!(confirm_volume(&call, false).is_ok());
        // 10 s and the drain of 5 s at 10 Gbit/s: 18.75 GB.
        let greedy = plan("duration = \"10 s\"\n[station.a]\nworkload = \"download\"\n");
        assert!(confirm_volume(&greedy, true).is_ok());
        let said = beginning(&greedy);
        assert!(
            said.contains("nothing in the scenario bounds it, at 10 Gbit/s up to 18."),
            "{said}"
        );
        assert!(estimate(&greedy) > CONFIRM_THRESHOLD);
    }
}
