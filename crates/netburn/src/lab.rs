//! `netburn lab`: programs at the stations of a modelled network.

mod control;
mod output;
mod record;
mod session;
mod view;

use crate::args::{CommandArgs, LabArgs};
use crate::exit::{CliError, ExitStatus};
use crate::lab_opening;
use crate::plan;
use crate::program::program;
use crate::runtime;
use crate::terminal::eprint_message;
use control::Controller;
use netburn_lab::packet::RejectReason;
use netburn_lab::servers::{Servers, ServersError};
use netburn_lab::{ForwardingCounters, Lab, LabError, RefusedConnection, StartOptions};
use netburn_network::Endpoint;
use netburn_platform::Monotonic;
use netburn_record::make_folder;
use netburn_record::self_check::{DEFAULT_STANDSTILL_LIMIT, lab_reasons};
use netburn_scenario::{Environment, Plan};
use output::Output;
use session::{Command, Outcome, Session, warn};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

/// Main function of the helper process of a lab.
pub(crate) fn helper() -> i32 {
    netburn_lab::init::main()
}

pub(crate) use view::keep_terminal;

/// `netburn lab SCENARIO`.
pub(crate) fn lab(args: &LabArgs) -> Result<ExitStatus, CliError> {
    let wanted = args.commands().map_err(CliError::Usage)?;
    // The notes are about workloads, which do not run here.
    let scenario = plan::changed(&args.changes())?;
    let (plan, _) = plan::resolved(&scenario, Environment::Lab)?;
    let controller = args.control.then(Controller::from_stdin).transpose()?;
    let mut commands = commands(&plan, wanted)?;
    let entered = commands[0].end;
    let stays = args.serve || args.control;
    if stays && commands.iter().all(|command| command.words.is_empty()) {
        commands.clear();
    }
    if !args.quiet {
        eprint_message(&format!(
            "{}: a modelled access point with this machine's kernel TCP; nothing of your own Wi-Fi",
            plan.name
        ));
    }
    let lab = Arc::new(lab_opening::open(&plan)?);
    if !args.quiet {
        lab_opening::announce(&lab);
    }
    let folders = Folders::make(args)?;
    let (tell, calls) = channel();
    let begin = StartOptions {
        captures: folders.captures.as_deref(),
        refusals: (!args.no_servers).then_some(tell),
    };
    lab.start_with(Monotonic::now(), begin).map_err(start_error)?;
    let mut servers = if args.no_servers {
        None
    } else {
        Some(start_servers(&lab, calls)?)
    };
    if !args.quiet && !args.control {
        let (name, command) = (name_of(&plan, entered), lab.nsenter_command(entered));
        eprint_message(&format!("at {name}, from another terminal: {command} -- sh"));
    }
    let incomplete_record =
        |error: io::Error| CliError::Failed(format!("what the commands print can't be kept: {error}"));
    let mut output = Output::new(commands.len(), folders.log.as_deref()).map_err(incomplete_record)?;
    let runtime = runtime::on(1)?;
    let outcome = runtime.block_on(async {
        if let Some(controller) = &controller {
            controller.opened(&lab, &plan.name)?;
            let signal = control::Session::new(&lab, &scenario, controller)
                .run(&mut servers)
                .await?;
            return Ok(Outcome {
                went: Vec::new(),
                signal,
            });
        }
        let session = Session::new(&lab, &commands, &mut output, args.serve, !args.serve && !args.quiet);
        let mut view = args.serve.then(|| view::View::open(&plan));
        session.run(&mut view, &mut servers, args.serve).await
    });
    runtime.shutdown_background();
    lab.stop();
    warn(&lab);
    let (health, counted, captures_lost) = (lab.health(), lab.counters(), lab.captures_lost());
    // The remaining processes end with the lab. Then all output is forwarded.
    if let Some(servers) = servers {
        servers.finish();
    }
    drop(lab);
    output.finish();
    let outcome = outcome?;
    if let Some(text) = not_carried(&counted).filter(|_| !args.quiet) {
        eprint_message(&text);
    }
    let reasons = lab_reasons(&health, DEFAULT_STANDSTILL_LIMIT);
    if let Some(controller) = &controller {
        controller.closed(&reasons);
    }
    for reason in &reasons {
        eprint_message(&format!("warning: results may be unreliable: {reason}"));
    }
    if let Some(folder) = &folders.log {
        record::keep(folder, &commands, &outcome, &health, &reasons).map_err(incomplete_record)?;
    }
    Ok(ended(&outcome, args.check && !reasons.is_empty(), captures_lost))
}

fn start_error(error: LabError) -> CliError {
    match error {
        LabError::Capture(_) => CliError::Failed(error.to_string()),
        error => CliError::Usage(error.to_string()),
    }
}

fn start_servers(lab: &Arc<Lab>, calls: Receiver<RefusedConnection>) -> Result<Servers, CliError> {
    let warn = |text: &str| eprint_message(&format!("warning: {text}"));
    Servers::start(lab, &program()?, calls, warn).map_err(|error| match error {
        ServersError::Lab(error @ LabError::ProcessLimit(_)) => lab_opening::no_lab(&error),
        error => CliError::Failed(error.to_string()),
    })
}

/// Folders of a lab, which contain nothing of an earlier one.
struct Folders {
    captures: Option<PathBuf>,
    log: Option<PathBuf>,
}

impl Folders {
    fn make(args: &LabArgs) -> Result<Folders, CliError> {
        let captures = args.pcap.as_deref().map(unused).transpose()?;
        let log = match &args.log {
            Some(folder) if args.pcap.as_ref() == Some(folder) => captures.clone(),
            folder => folder.as_deref().map(unused).transpose()?,
        };
        Ok(Folders { captures, log })
    }
}

/// Makes a folder. If there is one that is not empty, makes the next free one of `DIR-2`, `DIR-3`, …, as for runs.
fn unused(wanted: &Path) -> Result<PathBuf, CliError> {
    let made = make_folder(wanted).map_err(|error| CliError::Failed(error.to_string()))?;
    if made != wanted {
        eprint_message(&format!(
            "note: {} is not empty; the results go to {}",
            wanted.display(),
            made.display()
        ));
    }
    Ok(made)
}

/// Exit status: of the signal; else, if requested, of a failed self-check; else of the commands; else of lost packets.
fn ended(outcome: &Outcome, unreliable: bool, lost: bool) -> ExitStatus {
    let statuses = outcome.went.iter().map(|went| went.status());
    match outcome.signal {
        Some(asked) => ExitStatus::Signal(asked.number() as u8),
        None if unreliable => ExitStatus::NotMeasured,
        None => match statuses.into_iter().find(|status| *status != 0) {
            Some(status) => ExitStatus::Command(status),
            None if lost => ExitStatus::NotMeasured,
            None => ExitStatus::Success,
        },
    }
}

/// The commands with their stations, which exist.
fn commands(plan: &Plan, wanted: Vec<CommandArgs>) -> Result<Vec<Command>, CliError> {
    let mut count: BTreeMap<String, u32> = BTreeMap::new();
    let each = wanted.into_iter().map(|args| {
        let end = end(plan, args.at.as_deref())?;
        let at = name_of(plan, end).to_owned();
        let number = count.entry(at.clone()).or_default();
        *number += 1;
        Ok(Command {
            end,
            name: match *number {
                1 => at.clone(),
                more => format!("{at}#{more}"),
            },
            at,
            words: args.command,
            service: args.service,
            ready: args.ready,
        })
    });
    each.collect()
}

/// The endpoint with that name. Else the first of the numbered stations with that name: `fast` is `fast-1`. Without a
/// name, the first station.
fn end(plan: &Plan, name: Option<&str>) -> Result<Endpoint, CliError> {
    let names = || plan.stations.iter().map(|station| station.name.as_str());
    let Some(name) = name else {
        return Ok(Endpoint::Station(0));
    };
    if name == "server" {
        return Ok(Endpoint::Server);
    }
    let numbered = |of: &str| of.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
    let station = names().position(|of| of == name).or_else(|| names().position(numbered));
    station.map(|station| Endpoint::Station(station as u16)).ok_or_else(|| {
        let all: Vec<&str> = names().collect();
        CliError::Usage(LabError::UnknownNode(name.to_owned(), format!("server, {}", all.join(", "))).to_string())
    })
}

fn name_of(plan: &Plan, end: Endpoint) -> &str {
    match end {
        Endpoint::Station(station) => &plan.stations[usize::from(station)].name,
        Endpoint::Server => "server",
    }
}

/// Line about packets that the lab did not carry; `None` if the kernels sent all of them by themselves.
fn not_carried(counted: &ForwardingCounters) -> Option<String> {
    let told = counted
        .rejected
        .iter()
        .filter(|(why, _)| **why != RejectReason::Discovery);
    let each: Vec<String> = told.map(|(why, count)| format!("{count} {}", why.describe())).collect();
    (!each.is_empty()).then(|| format!("packets not carried: {}", each.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::Asked;
    use netburn_lab::ProcessExit;
    use session::Went;

    fn plan() -> Plan {
        let station =
            |name: &str| format!("[station.{name}]\njoins = \"a.5g\"\nsignal = \"-50 dBm\"\nworkload = \"probe\"\n");
        let text = format!(
            "[ap.a.radio.5g]\n{}{}{}",
            station("slow"),
            station("fast-1"),
            station("fast-2")
        );
        let document = netburn_scenario::Document::from_toml("t.toml", &text).unwrap();
        document.resolve().unwrap()
    }

    #[test]
    fn ends_are_found_by_name_and_number() {
        let plan = plan();
        let found = |name| end(&plan, name).ok();
        assert_eq!(found(None), Some(Endpoint::Station(0)));
        assert_eq!(found(Some("server")), Some(Endpoint::Server));
        assert_eq!(found(Some("fast")), Some(Endpoint::Station(1)));
        assert_eq!(found(Some("fast-2")), Some(Endpoint::Station(2)));
        let Err(CliError::Usage(why)) = end(&plan, Some("fas")) else {
            panic!("there is none");
        };
        assert!(why.contains("server, slow, fast-1, fast-2"), "{why}");
    }

    #[test]
    fn several_commands_at_one_station_have_numbers() {
        let wanted = |at: &str| CommandArgs {
            at: Some(at.to_owned()),
            service: false,
            ready: None,
            command: vec!["ls".into()],
        };
        let all = commands(&plan(), vec![wanted("slow"), wanted("fast"), wanted("slow")]).unwrap();
        let names: Vec<&str> = all.iter().map(|command| command.name.as_str()).collect();
        assert_eq!(names, ["slow", "fast-1", "slow#2"]);
    }

    #[test]
    fn packets_that_are_not_forwarded_are_one_line() {
        let mut counted = ForwardingCounters::default();
        counted.rejected.insert(RejectReason::Discovery, 9);
        assert_eq!(not_carried(&counted), None);
        counted.rejected.insert(RejectReason::Multicast, 3);
        counted.rejected.insert(RejectReason::TooLong, 2);
        assert_eq!(
            not_carried(&counted).unwrap(),
            "packets not carried: 2 longer than 2304 bytes, 3 multicast"
        );
    }

    #[test]
    fn every_case_has_its_status() {
        let of = |went: &[Went], signal| Outcome {
            went: went.to_vec(),
            signal,
        };
        let (fine, seven) = (Went::Ended(ProcessExit::Status(0)), Went::Ended(ProcessExit::Status(7)));
        let (killed, dismissed) = (
            Went::Ended(ProcessExit::Signal(9)),
            Went::Dismissed(ProcessExit::Signal(15)),
        );
        for (went, signal, unreliable, lost, expected) in [
            (&[fine, dismissed][..], None, false, false, ExitStatus::Success),
            (&[fine, seven, killed], None, false, false, ExitStatus::Command(7)),
            (&[killed, seven], None, false, true, ExitStatus::Command(137)),
            (&[fine], None, false, true, ExitStatus::NotMeasured),
            (&[seven], None, true, false, ExitStatus::NotMeasured),
            (&[seven], Some(Asked::Terminate), true, true, ExitStatus::Signal(15)),
            (&[fine], Some(Asked::Hangup), false, false, ExitStatus::Signal(1)),
            (&[], None, false, false, ExitStatus::Success),
        ] {
            assert_eq!(ended(&of(went, signal), unreliable, lost), expected, "{went:?}");
        }
    }
}
