//! Selection of the members for a run, and waiting for them.

use super::Participants;
use crate::assign::{Assignment, assign};
use crate::control_client::{ControlClient, ControlError};
use crate::hub::State;
use crate::hub::control::{ControlWelcome, MemberStatus};
use netburn_protocol::own_clock::to_std;
use netburn_record::{Role, UnixTime};
use netburn_scenario::Plan;
use netburn_units::Duration;
use std::collections::BTreeSet;
use tokio::time::Instant;

/// Time limits for waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// Time limit for missing members.
    pub missing: Duration,
    /// True to fail after this time, false to start without the missing members.
    pub all: bool,
    /// True to wait without limit for members that are in another run. Otherwise the limit for missing
    /// members applies, and the wait ends at once if the other run is known to take longer.
    pub queue: bool,
}

/// Error of selecting members.
#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    /// No controller is running, or it does not answer.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// No station has a member.
    #[error("no devices available: {0}")]
    NoMembers(String),
    /// All members are required, and some are missing.
    #[error("not all devices are available: {0}")]
    Missing(String),
    /// The requested server is not connected.
    #[error("the server {0} is not connected")]
    ServerMissing(String),
    /// Members are in another run.
    #[error("{0}. Simultaneous runs disturb each other: wait for its end (--wait with a longer time), or end it")]
    Busy(String),
}

/// Selects a member for each station of `plan`, and waits for members that are missing or in another run.
/// Stations without a member after that time are missing in the run, unless all are required. Calls `say` with the state of waiting.
///
/// # Errors
/// [`WaitError`] if no controller answers, no member is connected, the requested server or a required member is missing,
/// or a member is in another run for longer.
pub async fn wait_for_members(
    state: &State,
    plan: &Plan,
    server: Option<&str>,
    wait: Waiting,
    mut say: impl FnMut(&str),
) -> Result<Participants, WaitError> {
    let mut control = ControlClient::connect(state).await?;
    let until = Instant::now() + to_std(wait.missing);
    let mut reported = Vec::new();
    let mut members: Vec<MemberStatus> = control.members().await?;
    loop {
        let selection = Selection::new(plan, server, &members);
        let left = until.saturating_duration_since(Instant::now());
        if !wait.queue {
            selection.check_busy(left)?;
        }
        if selection.busy.is_empty() && (selection.missing.is_empty() || left.is_zero()) {
            let participants = selection.participants(control.welcome())?;
            if wait.all && !selection.missing.is_empty() {
                return Err(WaitError::Missing(selection.missing.join("; ")));
            }
            for note in selection.notes() {
                say(&note);
            }
            return Ok(participants);
        }
        // The remaining time changes at each update; the set of awaited members does not.
        let awaited = selection.awaited();
        if awaited != reported {
            reported = awaited;
            let limit = if wait.queue && !selection.busy.is_empty() {
                String::new()
            } else {
                format!(" up to {}", wait.missing)
            };
            let missing = selection.missing.iter().cloned();
            let line: Vec<String> = missing.chain(occupied(&selection.busy)).collect();
            say(&format!("waiting{limit}: {}", line.join("; ")));
        }
        tokio::select! {
            changed = control.next_members() => members = changed?,
            () = tokio::time::sleep_until(until), if !left.is_zero() => {}
        }
    }
}

/// Members for a run, among those that are connected at one time.
struct Selection<'a> {
    members: &'a [MemberStatus],
    server: Option<&'a str>,
    assignment: Assignment,
    /// Missing members: their stations, and what is required.
    missing: Vec<String>,
    /// Selected members that are in another run.
    busy: Vec<&'a MemberStatus>,
}

impl<'a> Selection<'a> {
    fn new(plan: &Plan, server: Option<&'a str>, members: &'a [MemberStatus]) -> Selection<'a> {
        let is_server = |member: &MemberStatus| Some(member.name.as_str()) == server;
        let agents: Vec<MemberStatus> = members.iter().filter(|member| !is_server(member)).cloned().collect();
        let assignment = assign(plan, &agents);
        let selected =
            |member: &MemberStatus| is_server(member) || assignment.members.contains(&Some(member.name.clone()));
        let busy = members.iter().filter(|member| member.run.is_some() && selected(member));
        let mut selection = Selection {
            members,
            server,
            busy: busy.collect(),
            missing: assignment.missing(plan).iter().map(ToString::to_string).collect(),
            assignment,
        };
        if let Some(name) = selection.missing_server() {
            let missing = format!("the run waits for the server {name} (`netburn fleet join … --serve`)");
            selection.missing.insert(0, missing);
        }
        selection
    }

    /// The requested server, if it is not connected.
    fn missing_server(&self) -> Option<&'a str> {
        let serves = |name: &str| {
            let mut members = self.members.iter();
            members.any(|member| member.name == name && member.about.role == Role::Server)
        };
        self.server.filter(|name| !serves(name))
    }

    /// Checks whether the members in another run may be free within the time `left`.
    fn check_busy(&self, left: std::time::Duration) -> Result<(), WaitError> {
        let longer = |member: &&MemberStatus| remaining(member).is_some_and(|more| to_std(more) > left);
        if !self.busy.is_empty() && (left.is_zero() || self.busy.iter().any(longer)) {
            return Err(WaitError::Busy(occupied(&self.busy).join("; ")));
        }
        Ok(())
    }

    fn participants(&self, welcome: &ControlWelcome) -> Result<Participants, WaitError> {
        if let Some(name) = self.missing_server() {
            return Err(WaitError::ServerMissing(name.to_owned()));
        }
        if self.assignment.parts().is_empty() {
            return Err(WaitError::NoMembers(self.missing.join("; ")));
        }
        let member = |name: &Option<String>| {
            let name = name.as_ref()?;
            self.members.iter().find(|member| member.name == *name)
        };
        let chosen = || self.assignment.members.iter().map(member);
        Ok(Participants {
            abouts: chosen().map(|member| Some(member?.about.clone())).collect(),
            addresses: chosen().map(|member| member?.address).collect(),
            assignment: self.assignment.clone(),
            server: self.server.map(str::to_owned),
            observed: welcome.observed.clone(),
            token: welcome.token.clone(),
            loopback_only: welcome.loopback_only,
        })
    }

    /// Notes for the operator before the start.
    fn notes(&self) -> Vec<String> {
        let missing = self.missing.join("; ");
        let missing = (!missing.is_empty()).then(|| format!("starting without: {missing}"));
        let others: BTreeSet<&String> = self.members.iter().filter_map(|member| member.run.as_ref()).collect();
        let others = others
            .into_iter()
            .map(|run| format!("the run {run} is active on other members: both share the airtime"));
        missing.into_iter().chain(others).collect()
    }

    /// Missing and busy members, without their remaining times.
    fn awaited(&self) -> Vec<String> {
        let busy = self.busy.iter().map(|member| member.name.clone());
        self.missing.iter().cloned().chain(busy).collect()
    }
}

/// Remaining time of a member in another run, if known.
fn remaining(member: &MemberStatus) -> Option<Duration> {
    let until = member.until.filter(|until| *until > 0)?;
    Some(Duration::from_secs(until.saturating_sub(unix_seconds())))
}

/// Lists the runs that occupy these members, with their remaining time.
fn occupied(busy: &[&MemberStatus]) -> Vec<String> {
    let each = busy.iter().map(|member| {
        let (name, run) = (&member.name, member.run.as_deref().unwrap_or_default());
        match remaining(member).filter(|more| !more.is_zero()) {
            Some(more) => format!("{name} is in the run {run}, for about {more} more"),
            None => format!("{name} is in the run {run}"),
        }
    });
    each.collect()
}

/// Current wall-clock time, in seconds of Unix time.
pub(super) fn unix_seconds() -> u64 {
    u64::try_from(UnixTime::now().0 / 1_000_000_000).unwrap_or(0)
}
