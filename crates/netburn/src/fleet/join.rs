//! `netburn fleet join`.

use super::{MAX_TOKEN_FILE, here, runtime, state};
use crate::args::{JoinArgs, LimitsArgs};
use crate::exit::{CliError, ExitStatus};
use crate::signals::Signals;
use crate::terminal::eprint_message;
use netburn_fleet_member::discovery;
use netburn_fleet_member::member::{Limits, Member, MemberError, MemberEvent, Settings};
use netburn_fleet_member::reachability::ServerPort;
use netburn_protocol::join_url::JoinUrl;
use netburn_protocol::messages::standing::{MAX_LABELS, MemberInfo};
use netburn_record::Role;
use netburn_report::sanitise::sanitise;
use netburn_run_control::spool::SpoolFolder;
use netburn_scenario::regular;
use std::collections::BTreeMap;
use std::path::Path;

/// `netburn fleet join`.
pub(crate) fn join(args: &JoinArgs) -> Result<ExitStatus, CliError> {
    if args.install {
        return super::install::install(args);
    }
    if args.uninstall {
        return super::install::uninstall();
    }
    let settings = settings(args)?;
    if args.check {
        return check(settings);
    }
    // Each operation in progress needs a connection of the server or a socket of the agent.
    let _ = netburn_platform::raise_open_files();
    runtime()?.block_on(async {
        let mut signals = Signals::new().map_err(|e| CliError::Failed(format!("can't listen for signals: {e}")))?;
        let name = settings.name.clone();
        let (mut was_member, mut away) = (false, None::<String>);
        let news = move |news: MemberEvent<'_>| match news {
            MemberEvent::Joined(fleet) => {
                (was_member, away) = (true, None);
                eprint_message(&format!("`{name}` is in the fleet `{}`", sanitise(fleet)));
            }
            // Printed once for all attempts with the same reason.
            MemberEvent::Disconnected(error) => {
                let reason = sanitise(&error.to_string());
                if away.as_ref() != Some(&reason) {
                    eprint_message(&if was_member {
                        format!("disconnected from the fleet: {reason}; reconnecting automatically")
                    } else {
                        format!("no connection to the controller yet: {reason}; trying again")
                    });
                    away = Some(reason);
                }
            }
            MemberEvent::RunStarted(run) => eprint_message(&format!("taking part in {run}")),
            MemberEvent::RunEnded(run, how) => eprint_message(&format!("{run}: {}", sanitise(how))),
            MemberEvent::Leaving(run) => {
                eprint_message(&format!("ending its part in {run}, and delivering its results"))
            }
            MemberEvent::Delivered(run) => eprint_message(&format!("the results of {run} were delivered")),
        };
        let member = Member::new(settings, news).map_err(|error| CliError::Usage(error.to_string()))?;
        match member.run(async { signals.next().await }).await {
            Ok(()) => Ok(ExitStatus::Success),
            Err(error @ (MemberError::Rejected(_) | MemberError::Unreachable { .. })) => {
                Err(CliError::Failed(sanitise(&error.to_string())))
            }
            Err(error) => Err(CliError::Usage(error.to_string())),
        }
    })
}

/// `netburn fleet join --check`: checks the settings of the member and its connection to the controller.
fn check(settings: Settings) -> Result<ExitStatus, CliError> {
    let fleet = settings.url.place.to_string();
    let member = Member::new(settings, |_| ()).map_err(|error| CliError::Usage(error.to_string()))?;
    match runtime()?.block_on(member.check()) {
        Ok(port) => {
            eprint_message(&format!(
                "{} is the controller of a fleet, and is reachable",
                sanitise(&fleet)
            ));
            if let Some(ServerPort::Unreachable { at, why }) = port {
                eprint_message(&format!(
                    "warning: TCP port {at} can't be reached ({why}), and runs use it; help: permit TCP and UDP port {} in \
                     the firewall of the controller's machine",
                    at.port()
                ));
            }
            Ok(ExitStatus::Success)
        }
        Err(error) => Err(CliError::Failed(sanitise(&error.to_string()))),
    }
}

/// The settings of the member from the arguments.
fn settings(args: &JoinArgs) -> Result<Settings, CliError> {
    let url = whole(args)?;
    let name = args.name.clone().unwrap_or_else(here);
    let labels: BTreeMap<_, _> = args.labels.iter().map(|l| (l.key.clone(), l.value.clone())).collect();
    if labels.len() > MAX_LABELS {
        return Err(CliError::Usage(format!(
            "too many labels: found {}, expected at most {MAX_LABELS}",
            labels.len()
        )));
    }
    if let Some(name) = &args.interface
        && let Some(others) = netburn_platform::interface::others_than(name)
    {
        return Err(CliError::Usage(format!(
            "--interface: unknown interface: found `{}`, expected one of {}",
            sanitise(name),
            others.join(", ")
        )));
    }
    let role = if args.serve { Role::Server } else { Role::Agent };
    let server = args.server.as_deref().map(str::parse).transpose();
    Ok(Settings {
        // One folder per member: members with a common folder would deliver the results of each other.
        spool: SpoolFolder::new(state()?.path().join("agents").join(&name)),
        url,
        about: MemberInfo::this_process(role, args.interface.clone(), labels),
        name,
        server: server.map_err(|why| CliError::Usage(format!("--server: {why}")))?,
        limits: limits(&args.limits),
    })
}

fn limits(args: &LimitsArgs) -> Limits {
    Limits {
        rate: args.max_rate,
        bytes: args.max_bytes,
        duration: args.max_duration,
        hours: args.hours,
    }
}

/// The address to join, with its token.
fn whole(args: &JoinArgs) -> Result<JoinUrl, CliError> {
    let url = match super::install::address(args).as_deref() {
        None => found()?,
        Some(url) => parsed(&match url.strip_prefix('@') {
            None => url.to_owned(),
            Some(path) => {
                let text = regular::read_input(Path::new(path), MAX_TOKEN_FILE);
                let text = text.map_err(|e| CliError::Usage(format!("{path}: {e}")))?;
                text.lines().next().unwrap_or_default().trim().to_owned()
            }
        })?,
    };
    match &args.token {
        None if url.token.is_none() => Err(CliError::Usage(format!(
            "the token is missing: enter `netburn fleet join {} --token TOKEN`; TOKEN is the part after the `#` in the \
             address that `netburn fleet serve` prints",
            sanitise(&url.place.to_string())
        ))),
        None => Ok(url),
        Some(token) => parsed(&format!("{}#{}", url.place, token.trim_start_matches('#'))),
    }
}

fn parsed(text: &str) -> Result<JoinUrl, CliError> {
    text.parse()
        .map_err(|error: netburn_protocol::join_url::ParseJoinUrlError| CliError::Usage(error.to_string()))
}

/// The one fleet on the local network.
fn found() -> Result<JoinUrl, CliError> {
    eprint_message("looking for a fleet on the local network");
    let found =
        discovery::find().map_err(|error| CliError::Failed(format!("can't search the local network: {error}")))?;
    let mut all = found
        .iter()
        .filter_map(|fleet| Some((sanitise(&fleet.fleet), fleet.urls.first()?.clone())));
    match (all.next(), all.count()) {
        (None, _) => Err(CliError::Failed(
            "no fleet found on the local network; pass the address that `netburn fleet serve` prints".to_owned(),
        )),
        (Some((_, url)), 0) => Ok(url),
        (Some(_), _) => {
            let each = found.iter().map(|fleet| {
                let first = fleet.urls.first().map_or_else(String::new, ToString::to_string);
                format!("\n  {}  {first}", sanitise(&fleet.fleet))
            });
            Err(CliError::Usage(format!(
                "there are several fleets here; give the address of one:{}",
                each.collect::<String>()
            )))
        }
    }
}
