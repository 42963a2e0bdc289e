//! The devices of a measurement: how they join, and waiting for them.

use super::{check_count, consent, extent, planned};
use crate::args::MeasureArgs;
use crate::errors::unfound;
use crate::exit::CliError;
use crate::fleet::{OwnController, members_text, runtime, show_code, state};
use crate::signals;
use crate::terminal::{eprint_message, eprint_question};
use netburn_fit::schedule::{Device, Schedule};
use netburn_fleet_controller::assign::probe_targets;
use netburn_fleet_controller::control_client::{ControlClient, ControlError};
use netburn_fleet_controller::fleet_run::{Participants, WaitError, Waiting, wait_for_members};
use netburn_fleet_controller::hub::State;
use netburn_fleet_controller::hub::control::{ControlWelcome, MemberStatus};
use netburn_protocol::own_clock::to_std;
use netburn_record::Role;
use netburn_report::sanitise::sanitise;
use netburn_runner::{Cancel, RunError};
use netburn_units::Duration;
use netburn_workload::ProbeTarget;
use std::io::{BufRead, IsTerminal};
use tokio::sync::{mpsc, watch};

/// A controller that devices can join.
pub(super) struct Gathering {
    state: State,
    /// `None`: another process of this user is the controller.
    _own: Option<OwnController>,
}

impl Gathering {
    /// Uses the controller of this user, or starts one. Shows how devices join.
    pub(super) fn open(args: &MeasureArgs) -> Result<Self, CliError> {
        if args.stations.is_empty() && args.devices.is_none() && !std::io::stdin().is_terminal() {
            return Err(CliError::Usage(
                "standard input is no terminal, so netburn does not know when all devices have joined\nhelp: give the names of \
                 the devices, or their number with --devices"
                    .to_owned(),
            ));
        }
        let state = state()?;
        let (welcome, own) = match welcome(&state)? {
            Err(ControlError::None) => {
                let own = OwnController::start(&state, &args.listen, args.quiet)?;
                (self::welcome(&state)?.map_err(unfound)?, Some(own))
            }
            running => (running.map_err(unfound)?, None),
        };
        let best = welcome.urls.first().map(|url| sanitise(url)).unwrap_or_default();
        if own.is_some() {
            show_code(&best);
            eprint_message(&format!(
                "Join with each device that you use at home. With a phone, scan the code, or open this address:\n  {best}\nOn a \
                 laptop or board:\n  netburn fleet join '{best}'"
            ));
        } else {
            eprint_message(&format!(
                "the controller of the fleet `{}` is running; devices join with\n  {best}",
                sanitise(&welcome.fleet)
            ));
        }
        Ok(Gathering { state, _own: own })
    }

    /// Waits for the devices of the measurement. A signal ends this.
    pub(super) fn devices(&self, args: &MeasureArgs) -> Result<Vec<Device>, CliError> {
        let cancel = Cancel::default();
        let canceller = cancel.clone();
        signals::handle(move || canceller.stop())?;
        runtime()?.block_on(async {
            tokio::select! {
                devices = self.awaited(args) => devices,
                () = cancel.stopped() => Err(CliError::Failed("interrupted: nothing was measured".to_owned())),
            }
        })
    }

    async fn awaited(&self, args: &MeasureArgs) -> Result<Vec<Device>, CliError> {
        let mut input = Input::default();
        let names = if args.stations.is_empty() {
            self.joined(args, &mut input).await?
        } else {
            args.stations.clone()
        };
        // Any device can run this plan. What each of them can do is known when all are there.
        let any = names.iter().map(|name| device(name, &[ProbeTarget::Server]));
        let (_, plan) = planned(&any.collect::<Vec<_>>())?;
        let wait = Waiting {
            missing: args.wait,
            all: true,
            queue: false,
        };
        let show = |text: &str| eprint_message(&sanitise(text));
        let found = wait_for_members(&self.state, &plan, args.server.as_deref(), wait, show).await;
        let Participants { abouts, .. } = found.map_err(|error| match error {
            WaitError::NoMembers(why) => CliError::Failed(format!("no device joined within {}: {why}", args.wait)),
            WaitError::Missing(why) => CliError::Failed(format!(
                "not all devices joined within {}: {why}; nothing was measured",
                args.wait
            )),
            error => RunError::from(error).into(),
        })?;
        let targets = |about: &Option<_>| about.as_ref().map_or(&[][..], |about| probe_targets(about));
        let devices = names.iter().zip(&abouts);
        let devices: Vec<Device> = devices.map(|(name, about)| device(name, targets(about))).collect();
        let (schedule, plan) = planned(&devices)?;
        // Before Enter, this was shown.
        if args.devices.is_some() || !args.stations.is_empty() {
            eprint_message(&format!("measuring: it {}", extent(&schedule, &plan)));
        }
        if !args.yes {
            confirmed(&schedule, &mut input).await?;
        }
        Ok(devices)
    }

    /// Names of the devices that have joined when the user presses Enter, or when there are enough of them.
    async fn joined(&self, args: &MeasureArgs, input: &mut Input) -> Result<Vec<String>, CliError> {
        let mut control = ControlClient::connect(&self.state).await.map_err(unfound)?;
        let present = control.members().await.map_err(unfound)?;
        let (sender, members) = watch::channel(present);
        // The connection is read by one task only, because a cancelled read can lose a part of a message.
        let read = async {
            loop {
                match control.next_members().await {
                    Ok(changed) => sender.send_replace(changed),
                    Err(error) => return error,
                };
            }
        };
        let server = args.server.as_deref();
        let chosen = async {
            match args.devices {
                None => entered(members, server, input).await,
                Some(count) => within(args.wait, count, counted(members, server, count.into())).await,
            }
        };
        tokio::select! {
            error = read => Err(unfound(error)),
            chosen = chosen => chosen,
        }
    }
}

/// First reply of this user's controller.
fn welcome(state: &State) -> Result<Result<ControlWelcome, ControlError>, CliError> {
    let control = runtime()?.block_on(ControlClient::connect(state));
    Ok(control.map(|control| control.welcome().clone()))
}

pub(super) fn device(name: &str, probes: &[ProbeTarget]) -> Device {
    Device {
        name: name.to_owned(),
        probes: probes.to_vec(),
    }
}

/// The names of `count` devices; an error if they have not joined within this time.
async fn within(
    time: Duration,
    count: u8,
    names: impl Future<Output = Result<Vec<String>, CliError>>,
) -> Result<Vec<String>, CliError> {
    let few = |_| match count {
        1 => CliError::Failed(format!("no device joined within {time}; nothing was measured")),
        _ => CliError::Failed(format!(
            "fewer than {count} devices joined within {time}; nothing was measured"
        )),
    };
    tokio::time::timeout(to_std(time), names).await.map_err(few)?
}

/// Waits until `count` devices have joined.
async fn counted(
    mut members: watch::Receiver<Vec<MemberStatus>>,
    server: Option<&str>,
    count: usize,
) -> Result<Vec<String>, CliError> {
    let mut shown = Shown::default();
    loop {
        let present = agents(&members.borrow_and_update(), server);
        shown.update(&present);
        if present.len() >= count {
            return names(&present);
        }
        if shown.is_first() {
            eprint_message(&format!("waiting for {}", devices(count)));
        }
        if members.changed().await.is_err() {
            return Err(lost());
        }
    }
}

/// Waits until the user presses Enter.
async fn entered(
    mut members: watch::Receiver<Vec<MemberStatus>>,
    server: Option<&str>,
    input: &mut Input,
) -> Result<Vec<String>, CliError> {
    let mut shown = Shown::default();
    loop {
        let present = agents(&members.borrow_and_update(), server);
        let is_news = shown.update(&present);
        if present.is_empty() {
            if shown.is_first() {
                eprint_message("waiting for devices; press Enter when all have joined");
            }
        } else if is_news {
            eprint_message(&format!("{}; press Enter when all have joined", offer(&present)?));
        }
        tokio::select! {
            changed = members.changed() => changed.map_err(|_| lost())?,
            line = input.line() => match line {
                None => return Err(CliError::Failed("interrupted: nothing was measured".to_owned())),
                Some(_) if present.is_empty() => eprint_message("no device has joined yet"),
                Some(_) => return names(&present),
            },
        }
    }
}

/// Count, time and data of a measurement with these devices.
fn offer(present: &[MemberStatus]) -> Result<String, CliError> {
    let count = devices(present.len());
    if check_count(present.len()).is_err() {
        return Ok(format!("{count}, which is too many"));
    }
    let known = present
        .iter()
        .map(|member| device(&member.name, probe_targets(&member.about)));
    let (schedule, plan) = planned(&known.collect::<Vec<_>>())?;
    Ok(format!("{count}: it {}", extent(&schedule, &plan)))
}

fn devices(count: usize) -> String {
    match count {
        1 => "1 device".to_owned(),
        _ => format!("{count} devices"),
    }
}

fn names(present: &[MemberStatus]) -> Result<Vec<String>, CliError> {
    check_count(present.len())?;
    Ok(present.iter().map(|member| member.name.clone()).collect())
}

/// The members that can be stations.
pub(super) fn agents(members: &[MemberStatus], server: Option<&str>) -> Vec<MemberStatus> {
    let is_agent = |member: &&MemberStatus| member.about.role == Role::Agent && Some(member.name.as_str()) != server;
    members.iter().filter(is_agent).cloned().collect()
}

fn lost() -> CliError {
    CliError::Failed("the connection to the fleet's controller is lost; nothing was measured".to_owned())
}

/// Devices that were shown, to show the changes only.
#[derive(Default)]
struct Shown {
    names: Vec<String>,
    updates: usize,
}

impl Shown {
    /// Prints the devices that joined and left. Returns whether there are any.
    fn update(&mut self, present: &[MemberStatus]) -> bool {
        self.updates += 1;
        let (lines, names) = changes(&self.names, present);
        lines.iter().for_each(|line| eprint_message(line));
        self.names = names;
        !lines.is_empty()
    }

    fn is_first(&self) -> bool {
        self.updates == 1
    }
}

/// Lines for devices that joined and left since these were present, and the names of the present ones.
fn changes(before: &[String], present: &[MemberStatus]) -> (Vec<String>, Vec<String>) {
    let names: Vec<String> = present.iter().map(|member| member.name.clone()).collect();
    let left = before.iter().filter(|name| !names.contains(name));
    let mut lines: Vec<String> = left.map(|name| format!("- {}", sanitise(name))).collect();
    let joined = present.iter().filter(|member| !before.contains(&member.name));
    lines.extend(joined.map(|member| format!("+ {}", members_text(std::slice::from_ref(member)).trim_end())));
    (lines, names)
}

/// Asks for confirmation of a large volume.
async fn confirmed(schedule: &Schedule, input: &mut Input) -> Result<(), CliError> {
    let Some(volume) = consent::question(schedule) else {
        return Ok(());
    };
    if !std::io::stdin().is_terminal() {
        return Err(consent::unattended(&volume));
    }
    eprint_question(&format!("{volume} Continue? [y/N]"));
    match input.line().await {
        Some(answer) if consent::is_yes(&answer) => Ok(()),
        _ => Err(CliError::Usage("not confirmed: nothing was sent".to_owned())),
    }
}

/// The lines that the user enters. Only this reads standard input, from the first line that is awaited on.
#[derive(Default)]
struct Input(Option<mpsc::UnboundedReceiver<String>>);

impl Input {
    /// The next line; `None` at the end of the input.
    async fn line(&mut self) -> Option<String> {
        self.0.get_or_insert_with(lines).recv().await
    }
}

/// A message for each line that the user enters. It ends at the end of the input.
fn lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    // It ends with the process, because a read of a terminal can't be cancelled.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_protocol::messages::standing::MemberInfo;

    fn member(name: &str, role: Role) -> MemberStatus {
        MemberStatus {
            name: name.to_owned(),
            about: MemberInfo::this_process(role, None, [].into()),
            version: String::new(),
            address: None,
            run: None,
            until: None,
            pending_results: Vec::new(),
        }
    }

    #[test]
    fn servers_are_no_devices() {
        let members = [
            member("laptop", Role::Agent),
            member("nas", Role::Server),
            member("box", Role::Agent),
        ];
        let found = |server| -> Vec<String> { agents(&members, server).into_iter().map(|one| one.name).collect() };
        assert_eq!(found(None), ["laptop", "box"]);
        assert_eq!(found(Some("box")), ["laptop"]);
    }

    #[test]
    fn changes_of_the_devices_are_shown_once() {
        let (laptop, phone) = (member("laptop", Role::Agent), member("phone", Role::Agent));
        let (lines, before) = changes(&[], std::slice::from_ref(&laptop));
        assert!(lines.len() == 1 && lines[0].starts_with("+ laptop"), "{lines:?}");
        let (lines, before) = changes(&before, &[laptop, phone.clone()]);
        assert!(lines.len() == 1 && lines[0].starts_with("+ phone"), "{lines:?}");
        let (lines, before) = changes(&before, std::slice::from_ref(&phone));
        assert_eq!(lines, ["- laptop"]);
        assert!(changes(&before, &[phone]).0.is_empty());
    }

    #[tokio::test]
    async fn a_measurement_begins_when_there_are_enough_devices() {
        let (sender, members) = watch::channel(vec![member("nas", Role::Server), member("laptop", Role::Agent)]);
        let enough = tokio::spawn(counted(members, None, 2));
        sender.send_replace(vec![member("laptop", Role::Agent), member("phone", Role::Agent)]);
        assert_eq!(enough.await.unwrap().unwrap(), ["laptop", "phone"]);
        let (sender, members) = watch::channel(Vec::new());
        let enough = tokio::spawn(counted(members, None, 1));
        drop(sender);
        assert!(matches!(enough.await.unwrap(), Err(CliError::Failed(_))));
    }
}
