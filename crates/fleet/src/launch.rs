//! How participants are started.

use crate::join::{Join, VARIABLE};
use netburn_record::Role;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::{self, Command, ExitStatus, Stdio};

/// Starts participants: on this machine, in a lab's namespaces, on other machines.
pub trait Launcher {
    /// Starts one that will join as `join` says.
    ///
    /// # Errors
    /// When it can't be started.
    fn spawn(&mut self, join: &Join) -> io::Result<Box<dyn Child>>;

    /// Where the server that it starts is reached, when that is over a network of its own, whose rates are that network's. `None`: on
    /// loopback, capped as the plan says.
    fn server(&self) -> Option<IpAddr> {
        None
    }
}

/// A participant that was started. It ends by itself when it loses its controller; one that is dropped is ended by
/// force.
pub trait Child: Send {
    /// Its process id, where it has one on this machine.
    fn id(&self) -> Option<u32>;

    /// How it ended, for people; `None` while it is there.
    fn ended(&mut self) -> Option<String>;

    /// Ends it by force, and waits until it has.
    fn kill(&mut self);

    /// The socket over which it will speak, where it was started with one. There is one only once.
    #[cfg(unix)]
    fn control(&mut self) -> Option<std::os::unix::net::UnixStream> {
        None
    }
}

/// Processes on this machine, of one program: with the argument `agent`, or `serve --join`, and where to join in the
/// environment ([`VARIABLE`]).
///
/// They end with the *thread* that starts them, at the latest: use one that outlives the round.
#[derive(Debug, Clone)]
pub struct ThisMachine {
    /// The program.
    pub program: PathBuf,
}

impl Launcher for ThisMachine {
    fn spawn(&mut self, join: &Join) -> io::Result<Box<dyn Child>> {
        let arguments: &[&str] = match join.role {
            Role::Agent => &["agent"],
            Role::Server => &["serve", "--join"],
        };
        let join = Join {
            parent: Some(process::id()),
            ..join.clone()
        };
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env(VARIABLE, join.to_text())
            // What they have to say they say to the controller, or to the reader as a log.
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        // An interrupt from the terminal goes to its whole process group. The controller heeds it; the participants
        // must live to bring home what they have.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn()?;
        Ok(Box::new(Process { child, ended: None }))
    }
}

/// A child process.
struct Process {
    child: process::Child,
    ended: Option<String>,
}

impl Child for Process {
    fn id(&self) -> Option<u32> {
        Some(self.child.id())
    }

    fn ended(&mut self) -> Option<String> {
        if self.ended.is_none() {
            self.ended = match self.child.try_wait() {
                Ok(status) => status.map(describe),
                Err(error) => Some(error.to_string()),
            };
        }
        self.ended.clone()
    }

    fn kill(&mut self) {
        if self.ended().is_none() {
            // Both fail only for a process that is gone.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How a process ended, for people.
fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("killed by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => "for an unknown reason".to_owned(),
    }
}
