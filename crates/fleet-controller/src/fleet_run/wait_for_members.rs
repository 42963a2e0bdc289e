//! Selection of the members for a run, and waiting for them.

use super::Participants;
use crate::assign::assign;
use crate::control_client::{ControlClient, ControlError};
use crate::hub::State;
use crate::hub::control::MemberStatus;
use netburn_protocol::own_clock::to_std;
use netburn_record::{Role, UnixTime};
use netburn_scenario::Plan;
use netburn_units::Duration;
use std::collections::BTreeSet;
use tokio::time::Instant;

/// Time limits for waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// Time limit for missing members. Afterwards the run starts without them.
    pub missing: Duration,
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
    /// The requested server is not connected.
    #[error("the server {0} is not connected")]
    ServerMissing(String),
    /// Members are in another run.
    #[error("{0}. Simultaneous runs disturb each other: wait for its end (--wait with a longer time), or end it")]
    Busy(String),
}

/// Selects a member for each station of `plan`, and waits for members that are missing or in another run.
/// Stations without a member after that time are missing in the run. Calls `say` with the state of waiting.
///
/// # Errors
/// [`WaitError`] if no controller answers, no member is connected, the requested server is missing, or a
/// member is in another run for longer.
pub async fn wait_for_members(
    state: &State,
    plan: &Plan,
    server: Option<&str>,
    wait: Waiting,
    mut say: impl FnMut(&str),
) -> Result<Participants, WaitError> {
    let mut control = ControlClient::connect(state).await?;
    let (token, loopback_only) = (control.welcome().token.clone(), control.welcome().loopback_only);
    let until = Instant::now() + to_std(wait.missing);
    let mut reported = Vec::new();
    let mut members: Vec<MemberStatus> = control.members().await?;
    loop {
        let connected: Vec<MemberStatus> = members
            .iter()
            .filter(|member| Some(member.name.as_str()) != server)
            .cloned()
            .collect();
        let assignment = assign(plan, &connected);
        let mut missing: Vec<String> = assignment.missing(plan).iter().map(ToString::to_string).collect();
        let serves = |name: &str| members.iter().any(|m| m.name == name && m.about.role == Role::Server);
        if let Some(name) = server.filter(|name| !serves(name)) {
            missing.insert(
                0,
                format!("the run waits for the server {name} (`netburn fleet join … --serve`)"),
            );
        }
        let wanted = |member: &&MemberStatus| {
            let name = Some(&member.name);
            member.run.is_some()
                && (server == name.map(String::as_str) || assignment.members.iter().any(|m| m.as_ref() == name))
        };
        let busy: Vec<&MemberStatus> = members.iter().filter(wanted).collect();
        let left = until.saturating_duration_since(Instant::now());
        if !busy.is_empty() && !wait.queue {
            let longer = |member: &&MemberStatus| remaining(member).is_some_and(|more| to_std(more) > left);
            if left.is_zero() || busy.iter().any(longer) {
                return Err(WaitError::Busy(occupied(&busy).join("; ")));
            }
        }
        if busy.is_empty() && (missing.is_empty() || left.is_zero()) {
            if let Some(name) = server.filter(|name| !serves(name)) {
                return Err(WaitError::ServerMissing(name.to_owned()));
            }
            if assignment.parts().is_empty() {
                return Err(WaitError::NoMembers(missing.join("; ")));
            }
            if !missing.is_empty() {
                say(&format!("starting without: {}", missing.join("; ")));
            }
            let others: BTreeSet<&String> = members.iter().filter_map(|member| member.run.as_ref()).collect();
            for run in others {
                say(&format!(
                    "the run {run} is active on other members: both share the airtime"
                ));
            }
            let about = |name: &String| {
                connected
                    .iter()
                    .find(|member| member.name == *name)
                    .map(|m| m.about.clone())
            };
            return Ok(Participants {
                abouts: assignment.members.iter().map(|name| about(name.as_ref()?)).collect(),
                assignment,
                server: server.map(str::to_owned),
                token,
                loopback_only,
            });
        }
        // The remaining time changes at each update; the set of awaited members does not.
        let who: Vec<String> = missing
            .iter()
            .cloned()
            .chain(busy.iter().map(|m| m.name.clone()))
            .collect();
        if who != reported {
            reported = who;
            let line: Vec<String> = missing.into_iter().chain(occupied(&busy)).collect();
            let limit = if wait.queue && !busy.is_empty() {
                String::new()
            } else {
                format!(" up to {}", wait.missing)
            };
            say(&format!("waiting{limit}: {}", line.join("; ")));
        }
        tokio::select! {
            news = control.next_members() => members = news?,
            () = tokio::time::sleep_until(until), if !left.is_zero() => {}
        }
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
