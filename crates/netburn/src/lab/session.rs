//! Execution of the commands of a lab.

use super::output::Output;
use super::view;
use crate::exit::CliError;
use crate::signals::{Asked, Signals};
use crate::terminal::eprint_message;
use netburn_lab::servers::Servers;
use netburn_lab::{Lab, LabError, LabProcess, ProcessExit, Program};
use netburn_network::Endpoint;
use netburn_record::{Detail, Row};
use netburn_report::sanitise::sanitise;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;
/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(3);
/// Time until a command must listen at the port that other commands wait for.
const READY: Duration = Duration::from_secs(60);
/// Interval between checks whether it listens.
const LOOK: Duration = Duration::from_millis(10);
/// Time in which the same signal belongs to the first: `timeout` signals its child, then its process group.
const SAME: Duration = Duration::from_millis(200);
/// Interval between checks for warnings if there is no view.
const EVERY: Duration = Duration::from_millis(500);

/// A command and its station.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) end: Endpoint,
    /// Name of the station.
    pub(super) at: String,
    /// Prefix of its output: the name of the station, with a number if the station has several commands.
    pub(super) name: String,
    /// Empty for a shell.
    pub(super) words: Vec<OsString>,
    /// A service: it is ended after the other commands.
    pub(super) service: bool,
    /// TCP port at which it must listen before the next command starts.
    pub(super) ready: Option<u16>,
}

/// State of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Went {
    /// The command was never started.
    NotStarted,
    /// The command runs.
    Running,
    /// The command ended by itself, or another process ended it.
    Ended(ProcessExit),
    /// netburn sent SIGTERM to the command.
    Dismissed(ProcessExit),
}

impl Went {
    /// Exit status as in a shell (128 + signal); 0 if it does not count.
    pub(super) const fn status(self) -> u8 {
        match self {
            Went::Ended(ProcessExit::Status(status)) => status as u8,
            Went::Ended(ProcessExit::Signal(signal)) => 128_u8.wrapping_add(signal as u8),
            Went::Ended(ProcessExit::LabClosed) => 3,
            Went::NotStarted | Went::Running | Went::Dismissed(_) => 0,
        }
    }
}

/// Result of a session.
#[derive(Debug)]
pub(super) struct Outcome {
    /// State of each command, in their order.
    pub(super) went: Vec<Went>,
    /// The signal that ended netburn.
    pub(super) signal: Option<Asked>,
}

/// The running commands.
pub(super) struct Session<'a> {
    lab: &'a Arc<Lab>,
    commands: &'a [Command],
    output: &'a mut Output,
    /// The view reads the keys of the terminal.
    viewed: bool,
    /// Events of the stations' links are printed.
    reports: bool,
    guests: Vec<Option<LabProcess>>,
    went: Vec<Went>,
    /// Index of the next command to start.
    next: usize,
    /// Deadline for the previous command to listen at its port.
    ready_by: Option<Instant>,
    tell: UnboundedSender<(usize, ProcessExit)>,
    ends: UnboundedReceiver<(usize, ProcessExit)>,
    /// Time of SIGKILL for the commands that got SIGTERM.
    kill_at: Option<Instant>,
    signal: Option<Asked>,
    /// The first signal, and its time.
    asked: Option<(Asked, Instant)>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        lab: &'a Arc<Lab>,
        commands: &'a [Command],
        output: &'a mut Output,
        viewed: bool,
        reports: bool,
    ) -> Self {
        let (tell, ends) = unbounded_channel();
        Session {
            lab,
            commands,
            output,
            viewed,
            reports,
            guests: commands.iter().map(|_| None).collect(),
            went: vec![Went::NotStarted; commands.len()],
            next: 0,
            ready_by: None,
            tell,
            ends,
            kill_at: None,
            signal: None,
            asked: None,
        }
    }

    /// Runs the commands until they end. With `stay` the lab then remains open until netburn is interrupted.
    pub(super) async fn run(
        mut self,
        view: &mut Option<view::View>,
        servers: &mut Option<Servers>,
        stay: bool,
    ) -> Result<Outcome, CliError> {
        let mut signals = Signals::new().map_err(|error| CliError::Failed(error.to_string()))?;
        loop {
            self.start()?;
            self.dismiss();
            if self.is_over() {
                break;
            }
            let kill = self.kill_at;
            tokio::select! {
                Some((number, how)) = self.ends.recv() => self.handle_end(number, how),
                asked = signals.next_kind() => self.handle_signal(asked),
                () = until(kill) => self.kill(),
                () = tokio::time::sleep(LOOK), if self.ready_by.is_some() => {}
                () = looked(view, self.lab, servers, self.reports) => {}
            }
        }
        if stay && self.signal.is_none() {
            if !self.commands.is_empty() {
                eprint_message("the commands have ended; the lab stays open until it is interrupted");
            }
            loop {
                tokio::select! {
                    asked = signals.next_kind() => {
                        // An interrupt is the usual end.
                        self.signal = (asked.number() != Asked::Interrupt.number()).then_some(asked);
                        break;
                    }
                    () = looked(view, self.lab, servers, self.reports) => {}
                }
            }
        }
        Ok(Outcome {
            went: self.went,
            signal: self.signal,
        })
    }

    /// Starts each command once the previous one is ready.
    fn start(&mut self) -> Result<(), CliError> {
        while self.next < self.commands.len() && self.is_ready()? {
            let command = &self.commands[self.next];
            let guest = self.spawn(command)?;
            self.went[self.next] = Went::Running;
            let (number, tell) = (self.next, self.tell.clone());
            // The receiver is closed once the session has ended.
            guest.when_ended(move |how| {
                let _ = tell.send((number, how));
            });
            self.guests[number] = Some(guest);
            self.ready_by = command.ready.map(|_| Instant::now() + READY);
            self.next += 1;
        }
        Ok(())
    }

    /// Returns `true` if the last started command listens at its port, or has none.
    fn is_ready(&mut self) -> Result<bool, CliError> {
        let Some(by) = self.ready_by else { return Ok(true) };
        let before = self.next - 1;
        let command = &self.commands[before];
        let port = command.ready.unwrap_or_default();
        let listens = self.lab.listens(command.end, port);
        if listens.map_err(|error| CliError::Failed(error.to_string()))? {
            self.ready_by = None;
            return Ok(true);
        }
        if let Went::Ended(_) = self.went[before] {
            let why = format!(
                "the command at {} ended before it listened at port {port}",
                command.name
            );
            return Err(CliError::Command(self.went[before].status().max(1), why));
        }
        if Instant::now() >= by {
            return Err(CliError::Failed(format!(
                "the command at {} does not listen at port {port} after {} s",
                command.name,
                READY.as_secs()
            )));
        }
        Ok(false)
    }

    fn spawn(&mut self, command: &Command) -> Result<LabProcess, CliError> {
        let failed = |error: io::Error| CliError::Failed(error.to_string());
        let shell = || std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
        let input = if self.viewed {
            File::open("/dev/null").map(OwnedFd::from)
        } else {
            io::stdin().as_fd().try_clone_to_owned()
        };
        let [output, errors] = self.output.streams(&command.name).map_err(failed)?;
        let program = Program {
            arguments: match &command.words[..] {
                [] => vec![shell()],
                words => words.to_vec(),
            },
            environment: vec![("NETBURN_STATION".into(), command.at.clone().into())],
            files: [input.map_err(failed)?, output, errors],
            own_group: false,
        };
        self.lab.spawn(command.end, program).map_err(|error| match &error {
            // The exit statuses of shells.
            LabError::Program { error: why, .. } if why.kind() == io::ErrorKind::NotFound => {
                CliError::Command(127, error.to_string())
            }
            LabError::Program { .. } => CliError::Command(126, error.to_string()),
            _ => CliError::Failed(error.to_string()),
        })
    }

    fn handle_end(&mut self, number: usize, how: ProcessExit) {
        let dismissed = self.commands[number].service && self.kill_at.is_some();
        self.went[number] = if dismissed {
            Went::Dismissed(how)
        } else {
            Went::Ended(how)
        };
    }

    /// A signal of the terminal also reaches the commands, which may ignore it. The second signal kills them.
    /// Signals that only netburn received are forwarded.
    fn handle_signal(&mut self, asked: Asked) {
        let now = Instant::now();
        let is_first = self.asked.is_none();
        let (first, since) = *self.asked.get_or_insert((asked, now));
        if !is_first && first == asked && now < since + SAME {
            return;
        }
        if asked.ends() {
            self.signal = self.signal.or(Some(asked));
            self.next = self.commands.len();
            self.ready_by = None;
        }
        if !is_first {
            return self.kill();
        }
        if asked.ends() {
            self.tell_all(asked.number());
            self.kill_at = Some(now + GRACE);
        }
    }

    /// Ends the services once the other commands have ended.
    fn dismiss(&mut self) {
        let working = |(command, went): (&Command, &Went)| !command.service && *went == Went::Running;
        let waiting = self.next < self.commands.len() || self.commands.iter().zip(&self.went).any(working);
        if !waiting && self.kill_at.is_none() {
            self.tell_all(SIGTERM);
            self.kill_at = Some(Instant::now() + GRACE);
        }
    }

    fn is_over(&self) -> bool {
        self.next == self.commands.len() && self.went.iter().all(|went| *went != Went::Running)
    }

    fn kill(&mut self) {
        self.tell_all(SIGKILL);
        // There is no stronger signal.
        self.kill_at = Some(Instant::now() + Duration::from_secs(86_400));
    }

    fn tell_all(&self, signal: i32) {
        for (guest, went) in self.guests.iter().zip(&self.went) {
            if let (Some(guest), Went::Running) = (guest, went) {
                guest.signal(signal);
            }
        }
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Draws the view, if there is one, and prints new warnings. With `reports` it also prints the events of the stations'
/// links. Returns after an interval.
async fn looked(view: &mut Option<view::View>, lab: &Lab, servers: &mut Option<Servers>, reports: bool) {
    match view {
        Some(view) => view.look(lab).await,
        None => tokio::time::sleep(EVERY).await,
    }
    warn(lab);
    if reports {
        report(lab);
    }
    if let Some(text) = servers.as_mut().and_then(Servers::warning) {
        eprint_message(&format!("warning: {text}"));
    }
}

/// Prints the new events of the stations' links, such as moves between access points.
fn report(lab: &Lab) {
    let names = lab.names();
    for row in lab.take_rows() {
        let Row::Event(event) = row else { continue };
        let station = event.station.and_then(|station| names.get(usize::from(station)));
        if let (Detail::Link(link), Some(name)) = (&event.detail, station) {
            let at = event.at.as_secs_f64();
            eprint_message(&format!("{at:.1} s, {name}: {}", link.text));
        }
    }
}

/// Prints the new warnings of a lab.
pub(super) fn warn(lab: &Lab) {
    for text in lab.take_warnings() {
        eprint_message(&format!("warning: {}", sanitise(&text)));
    }
}
