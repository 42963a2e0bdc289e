//! `netburn lab`: programs at the stations of a modelled network.

mod hand;
mod show;

use crate::args::{GroundArg, LabArgs};
use crate::exit::{Ended, Stop};
use crate::plan;
use crate::runtime;
use crate::signals::Signals;
use crate::terminal::say;
use netburn_lab::{Begin, Ended as GuestEnded, Guest, Lab, LabError, Program};
use netburn_linux::Monotonic;
use netburn_network::Endpoint;
use netburn_record::gate::{DEFAULT_STANDSTILL_LIMIT, lab_reasons};
use netburn_report::plain::sanitise;
use netburn_scenario::Plan;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{self, Command};
use std::sync::Arc;
use std::time::Duration;

/// The whole life of a lab's helper process.
pub(crate) fn helper() -> i32 {
    netburn_lab::init::main()
}

pub(crate) use show::keep_terminal;

/// Opens a lab for a plan.
pub(crate) fn open(plan: &Plan) -> Result<Lab, Stop> {
    permitted(plan).map_err(|why| Stop::Wrong(format!("no lab: {why}. `--on simulate` models the same without it")))
}

/// Opens a lab for a plan where the machine permits it; else what is missing, and what would help.
pub(crate) fn permitted(plan: &Plan) -> Result<Lab, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.arg("lab-init");
    let lab = Lab::open(plan, command).map_err(|error| explained(&error))?;
    say(&format!("stations have {}", lab.device()));
    for note in lab.notes() {
        say(&format!("note: {}", sanitise(note)));
    }
    Ok(lab)
}

/// Why there is no lab, and what would help.
fn explained(error: &LabError) -> String {
    let hint = match error {
        LabError::Refused { what, error }
            if what.contains("TUN") && error.kind() == io::ErrorKind::PermissionDenied =>
        {
            "this user may not open /dev/net/tun; `sudo chmod 0666 /dev/net/tun` permits it until the next boot"
        }
        LabError::Refused { what, .. } if what.contains("TUN") => {
            "there is no /dev/net/tun: `sudo modprobe tun`, or for a container `--device /dev/net/tun`"
        }
        LabError::Refused { what, .. } if what.contains("namespaces") => {
            "this machine permits no user namespaces to this user; `netburn doctor` says what would"
        }
        LabError::Refused { what, .. } if what.contains("congestion") => {
            "the kernel lacks that congestion control; `sudo modprobe tcp_NAME` may load it"
        }
        _ => return error.to_string(),
    };
    format!("{error} ({hint})")
}

/// `netburn lab SCENARIO`.
pub(crate) fn lab(args: &LabArgs) -> Result<Ended, Stop> {
    let commands = args.commands().map_err(Stop::Wrong)?;
    let plan::Resolved { plan, notes, .. } = plan::resolved(&args.changes, Some(GroundArg::Lab))?;
    for note in notes {
        say(&format!("note: {}", sanitise(&note)));
    }
    let first = plan
        .stations
        .first()
        .map(|station| station.name.clone())
        .unwrap_or_default();
    say(&format!(
        "{}: a modelled access point with this machine's kernel TCP; nothing of your own Wi-Fi",
        plan.name
    ));
    let lab = Arc::new(open(&plan)?);
    let ends: Vec<(Endpoint, String, Vec<OsString>)> = commands
        .into_iter()
        .map(|at| {
            let name = at.name.unwrap_or_else(|| first.clone());
            let name = called(&lab, name);
            let end = lab.end(&name).map_err(|error| Stop::Wrong(error.to_string()))?;
            Ok((end, name, at.command))
        })
        .collect::<Result<_, Stop>>()?;
    let begin = Begin {
        captures: args.pcap.as_deref(),
        ..Begin::default()
    };
    lab.begin_with(Monotonic::now(), begin)
        .map_err(|error| Stop::Wrong(error.to_string()))?;
    let _servers = servers(&lab, &ends)?;
    say(&format!("from another terminal: {} -- sh", lab.entry(ends[0].0)));
    let runtime = runtime::on(1)?;
    let status = runtime.block_on(attend(&lab, &plan, args, ends));
    runtime.shutdown_background();
    lab.stop();
    warn(&lab);
    for reason in lab_reasons(&lab.health(), DEFAULT_STANDSTILL_LIMIT) {
        say(&format!("doubtful: {reason}"));
    }
    match status? {
        0 => Ok(Ended::Ran),
        status => {
            // The program's own, which is what was asked for.
            drop(lab);
            process::exit(status);
        }
    }
}

/// The station of that name; else the first of those that are numbered under it: `fast` is `fast-1`.
fn called(lab: &Lab, name: String) -> String {
    let names = lab.names();
    let numbered = |of: &&&str| of.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('-'));
    match names.iter().find(numbered) {
        Some(first) if name != "server" && !names.contains(&name.as_str()) => (*first).to_owned(),
        _ => name,
    }
}

/// Runs the commands to their ends; the first status that is not 0.
async fn attend(
    lab: &Arc<Lab>,
    plan: &Plan,
    args: &LabArgs,
    ends: Vec<(Endpoint, String, Vec<OsString>)>,
) -> Result<i32, Stop> {
    let mut signals = Signals::new().map_err(|error| Stop::NotMeasured(error.to_string()))?;
    let mut view = args.serve.then(|| show::View::open(plan));
    let mut guests: Vec<Arc<Guest>> = Vec::new();
    let alone = args.serve && ends.iter().all(|(_, _, command)| command.is_empty());
    if !alone {
        for (end, name, command) in &ends {
            guests.push(Arc::new(start(lab, *end, name, command, args.serve)?));
        }
    }
    let waiting = guests.clone();
    let all = tokio::task::spawn_blocking(move || waiting.iter().map(|guest| guest.wait()).collect::<Vec<_>>());
    let mut all = std::pin::pin!(all);
    let mut asked = 0;
    let ended = loop {
        tokio::select! {
            ended = &mut all, if !alone => break ended.map_err(|error| Stop::NotMeasured(error.to_string()))?,
            // The terminal has told the commands, too: they end, or not, as they see fit; asked again, they are ended.
            () = signals.next() => {
                asked += 1;
                if alone {
                    break Vec::new();
                }
                if asked > 1 {
                    guests.iter().for_each(|guest| guest.signal(9));
                }
            }
            () = looked(&mut view, lab) => {}
        }
    };
    if args.serve && !alone {
        say("the commands have ended; the lab stays open until it is interrupted");
        loop {
            tokio::select! {
                () = signals.next() => break,
                () = looked(&mut view, lab) => {}
            }
        }
    }
    let status = ended.iter().map(|ended| match ended {
        GuestEnded::Status(status) => *status as i32,
        // As shells say it.
        GuestEnded::Signal(signal) => 128 + *signal as i32,
        GuestEnded::WithLab => 3,
    });
    Ok(status.into_iter().find(|status| *status != 0).unwrap_or(0))
}

/// Draws the view, if there is one, and says what went wrong; returns after a while.
async fn looked(view: &mut Option<show::View>, lab: &Lab) {
    match view {
        Some(view) => view.look(lab).await,
        None => tokio::time::sleep(Duration::from_millis(500)).await,
    }
    warn(lab);
}

fn warn(lab: &Lab) {
    for text in lab.take_warnings() {
        say(&format!("warning: {}", sanitise(&text)));
    }
}

/// `viewed`: keys belong to the view.
fn start(lab: &Lab, end: Endpoint, name: &str, command: &[OsString], viewed: bool) -> Result<Guest, Stop> {
    let shell = || std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let arguments = match command {
        [] => vec![shell()],
        command => command.to_vec(),
    };
    let ours = |stream: io::Result<OwnedFd>| stream.map_err(|error| Stop::NotMeasured(error.to_string()));
    let program = Program {
        arguments,
        environment: vec![("NETBURN_STATION".into(), name.into())],
        files: [
            match viewed {
                true => ours(File::open("/dev/null").map(OwnedFd::from))?,
                false => ours(io::stdin().as_fd().try_clone_to_owned())?,
            },
            ours(io::stdout().as_fd().try_clone_to_owned())?,
            ours(io::stderr().as_fd().try_clone_to_owned())?,
        ],
        own_group: false,
    };
    lab.spawn(end, program).map_err(|error| Stop::Wrong(error.to_string()))
}

/// What answers at the server: `netburn serve` at port 80, and iperf3 for its clients.
fn servers(lab: &Lab, ends: &[(Endpoint, String, Vec<OsString>)]) -> Result<Vec<Guest>, Stop> {
    let wrong = |error: io::Error| Stop::NotMeasured(error.to_string());
    let program = std::env::current_exe().map_err(wrong)?;
    let nothing = |write: bool| {
        File::options()
            .read(!write)
            .write(write)
            .open("/dev/null")
            .map(OwnedFd::from)
    };
    let quiet = |arguments: Vec<OsString>| -> Result<Program, Stop> {
        Ok(Program {
            arguments,
            environment: Vec::new(),
            files: [
                nothing(false).map_err(wrong)?,
                nothing(true).map_err(wrong)?,
                nothing(true).map_err(wrong)?,
            ],
            own_group: true,
        })
    };
    let taken = |name: &str| {
        ends.iter()
            .any(|(end, _, command)| *end == Endpoint::Server && command.iter().any(|word| word == name))
    };
    let mut servers = Vec::new();
    if !taken("80") {
        let words = ["serve", "--listen", "0.0.0.0:80", "--listen", "[::]:80"].map(OsString::from);
        let all = std::iter::once(program.into_os_string()).chain(words).collect();
        servers.push(
            lab.spawn(Endpoint::Server, quiet(all)?)
                .map_err(|error| Stop::Wrong(error.to_string()))?,
        );
    }
    let calls = |command: &[OsString]| command.first().is_some_and(|word| word == "iperf3");
    if ends
        .iter()
        .any(|(end, _, command)| *end != Endpoint::Server && calls(command))
        && !taken("iperf3")
    {
        // Where it isn't installed, the client says so.
        if let Ok(guest) = lab.spawn(Endpoint::Server, quiet(["iperf3", "-s"].map(OsString::from).to_vec())?) {
            servers.push(guest);
        }
    }
    servers.iter().for_each(listening);
    Ok(servers)
}

/// Gives a server the time to listen.
fn listening(guest: &Guest) {
    let until = std::time::Instant::now() + std::time::Duration::from_millis(300);
    while guest.ended().is_none() && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
