//! `run --on fleet`: the members, and confirmation of the volume.

use crate::args::{Observed, RunArgs};
use crate::exit::CliError;
use crate::fleet::{check_controller, state};
use crate::terminal::eprint_question;
use netburn_fleet_controller::fleet_run::Participants;
use netburn_runner::Fleet;
use netburn_scenario::{Environment, Plan, decimal};
use netburn_units::{BitRate, ByteSize};
use std::io::{self, BufRead, IsTerminal};
use std::path::Path;

/// Volume from which netburn asks for confirmation.
const CONFIRM_THRESHOLD: ByteSize = ByteSize::from_bytes(10_000_000_000);
/// Assumed rate if nothing limits it, for an estimate: faster than most links at home.
const WIRE: BitRate = BitRate::from_mbps(10_000);

/// The environment fleet with the options of the command line.
pub(super) fn environment(program: &Path, args: &RunArgs) -> Result<Fleet, CliError> {
    let fleet = Fleet::new(program, state()?, args.server.clone(), args.wait);
    let Observed {
        access_points,
        ssh_config,
    } = args.observed.clone();
    Ok(fleet.observing(access_points, ssh_config))
}

/// Sentence with the member of each station.
pub(super) fn members(plan: &Plan, participants: &Participants) -> String {
    let stations = plan.stations.iter().zip(&participants.assignment.members);
    let each = stations.filter_map(|(station, member)| {
        let member = member.as_ref()?;
        Some(if *member == station.name {
            member.clone()
        } else {
            format!("{} is {member}", station.name)
        })
    });
    format!("stations: {}", each.collect::<Vec<_>>().join(", "))
}

/// Description of the run before it starts.
pub(super) fn beginning(plan: &Plan) -> String {
    format!(
        "on the fleet: real devices and your own network; the run may send {}",
        most(plan)
    )
}

/// Upper bound of the volume of traffic, as text.
fn most(plan: &Plan) -> String {
    match plan.bytes_expected(Environment::Fleet).max {
        Some(most) => format!("up to {}", decimal(most)),
        None => format!(
            "up to {} at {WIRE}, because the scenario sets no limit",
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

/// Asks for confirmation of a large volume. Checks first that a controller is running, because there is no run without it.
pub(super) fn confirm_volume(plan: &Plan, yes: bool) -> Result<(), CliError> {
    if yes || estimate(plan) <= CONFIRM_THRESHOLD {
        return Ok(());
    }
    check_controller()?;
    let volume = volume(plan);
    if !io::stdin().is_terminal() {
        return Err(CliError::Usage(format!(
            "{volume} To run it without a question, add --yes."
        )));
    }
    eprint_question(&format!("{volume} Continue? [y/N]"));
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    if read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes") {
        Ok(())
    } else {
        Err(CliError::Usage("not confirmed: nothing was sent".to_owned()))
    }
}

/// The volume, and the option that limits it.
fn volume(plan: &Plan) -> String {
    format!(
        "The run may send {}. To limit its rate, add --set server.link.rate=\"200 Mbit/s\".",
        most(plan)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_gigabytes_need_confirmation() {
        let plan = |text: &str| {
            let document = netburn_scenario::Document::from_toml("t.toml", text).unwrap();
            document.resolve_for(Environment::Fleet).unwrap().0
        };
        let call = plan("duration = \"60 s\"\n[station.a]\nworkload = \"voip\"\n");
        assert!(confirm_volume(&call, false).is_ok());
        // 10 s and the drain of 5 s at 10 Gbit/s: 18.75 GB.
        let greedy = plan("duration = \"10 s\"\n[station.a]\nworkload = \"download\"\n");
        assert!(confirm_volume(&greedy, true).is_ok());
        let asked = volume(&greedy);
        assert!(
            asked.starts_with("The run may send up to 18.") && asked.contains(" GB at 10 Gbit/s, because the scenario"),
            "{asked}"
        );
        assert!(asked.contains("--set server.link.rate="), "{asked}");
        assert!(estimate(&greedy) > CONFIRM_THRESHOLD);
    }
}
