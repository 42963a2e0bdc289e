//! The commands of a lab, from their start to their end.

use super::output::Output;
use super::servers::Servers;
use super::view;
use crate::exit::CliError;
use crate::signals::{Asked, Signals};
use crate::terminal::eprint_message;
use netburn_lab::{Lab, LabError, LabProcess, ProcessExit, Program};
use netburn_network::Endpoint;
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
/// Who was asked to end has so long; then it is killed.
const GRACE: Duration = Duration::from_secs(3);
/// A command has so long until it listens at the port that others wait for.
const READY: Duration = Duration::from_secs(60);
/// It is looked so often whether it does.
const LOOK: Duration = Duration::from_millis(10);
/// Without a view it is looked so often whether there is something to be said.
const EVERY: Duration = Duration::from_millis(500);

/// A command, and where it runs.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) end: Endpoint,
    /// The station's name.
    pub(super) at: String,
    /// What it is called in its output: the station's name, with a number where there are several.
    pub(super) name: String,
    /// Nothing: a shell.
    pub(super) words: Vec<OsString>,
    /// Whether it ends with the others.
    pub(super) service: bool,
    /// The port at which it listens before the next is started.
    pub(super) ready: Option<u16>,
}

/// How a command went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Went {
    /// It was never started.
    NotStarted,
    /// It runs.
    Running,
    /// The command ended by itself, or another process ended it.
    Ended(ProcessExit),
    /// It was asked to end, with the others.
    Dismissed(ProcessExit),
}

impl Went {
    /// Its exit status, as shells say it; 0 where it doesn't count.
    pub(super) const fn status(self) -> u8 {
        match self {
            Went::Ended(ProcessExit::Status(status)) => status as u8,
            Went::Ended(ProcessExit::Signal(signal)) => 128_u8.wrapping_add(signal as u8),
            Went::Ended(ProcessExit::LabClosed) => 3,
            Went::NotStarted | Went::Running | Went::Dismissed(_) => 0,
        }
    }
}

/// What came of a session.
#[derive(Debug)]
pub(super) struct Outcome {
    /// How each command went, in their order.
    pub(super) went: Vec<Went>,
    /// The signal that ended netburn.
    pub(super) signal: Option<Asked>,
}

/// The commands while they run.
pub(super) struct Session<'a> {
    lab: &'a Arc<Lab>,
    commands: &'a [Command],
    output: &'a mut Output,
    /// Whether keys belong to the view.
    viewed: bool,
    guests: Vec<Option<LabProcess>>,
    went: Vec<Went>,
    /// The next to be started.
    next: usize,
    /// Until when the one before it has to listen at its port.
    ready_by: Option<Instant>,
    tell: UnboundedSender<(usize, ProcessExit)>,
    ends: UnboundedReceiver<(usize, ProcessExit)>,
    /// When those are killed that were asked to end.
    kill_at: Option<Instant>,
    signal: Option<Asked>,
    asked: u32,
}

impl<'a> Session<'a> {
    pub(super) fn new(lab: &'a Arc<Lab>, commands: &'a [Command], output: &'a mut Output, viewed: bool) -> Self {
        let (tell, ends) = unbounded_channel();
        Session {
            lab,
            commands,
            output,
            viewed,
            guests: commands.iter().map(|_| None).collect(),
            went: vec![Went::NotStarted; commands.len()],
            next: 0,
            ready_by: None,
            tell,
            ends,
            kill_at: None,
            signal: None,
            asked: 0,
        }
    }

    /// Runs the commands to their ends; with `stay` the lab stays open after them until netburn is interrupted.
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
                () = looked(view, self.lab, servers) => {}
            }
        }
        if stay && self.signal.is_none() {
            if !self.commands.is_empty() {
                eprint_message("the commands have ended; the lab stays open until it is interrupted");
            }
            loop {
                tokio::select! {
                    asked = signals.next_kind() => {
                        self.signal = asked.ends().then_some(asked);
                        break;
                    }
                    () = looked(view, self.lab, servers) => {}
                }
            }
        }
        Ok(Outcome {
            went: self.went,
            signal: self.signal,
        })
    }

    /// Starts what can be: each command once the one before it is ready.
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

    /// Whether the command that was started last listens where it is to.
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
            // As shells have it.
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

    /// A signal of the terminal's has reached the commands, too: they end, or not, as they see fit; asked again, they are killed.
    /// Signals that only netburn received are forwarded.
    fn handle_signal(&mut self, asked: Asked) {
        self.asked += 1;
        if asked.ends() {
            self.signal = self.signal.or(Some(asked));
            self.next = self.commands.len();
            self.ready_by = None;
        }
        if self.asked > 1 {
            return self.kill();
        }
        if asked.ends() {
            self.tell_all(asked.number());
            self.kill_at = Some(Instant::now() + GRACE);
        }
    }

    /// Asks services to end once the others have.
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
        // Nothing more can be done about them.
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

/// Draws the view, if there is one, and says what went wrong; returns after a while.
async fn looked(view: &mut Option<view::View>, lab: &Lab, servers: &mut Option<Servers>) {
    match view {
        Some(view) => view.look(lab).await,
        None => tokio::time::sleep(EVERY).await,
    }
    warn(lab);
    if let Some(text) = servers.as_mut().and_then(Servers::warning) {
        eprint_message(&format!("warning: {text}"));
    }
}

/// Says what went wrong in a lab since it was last said.
pub(super) fn warn(lab: &Lab) {
    for text in lab.take_warnings() {
        eprint_message(&format!("warning: {}", sanitise(&text)));
    }
}
