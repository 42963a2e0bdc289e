//! Starting of agents and servers.

use crate::join::{Join, VARIABLE};
use netburn_protocol::own_clock::to_std;
use netburn_record::Role;
use netburn_units::Duration;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::{self, Command, ExitStatus, Stdio};

/// Time for child processes to end by themselves after the run.
pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// Starts agents and servers: on this machine, in a lab's namespaces, or on other machines.
pub trait Launcher {
    /// Starts a process that connects as described by `join`.
    ///
    /// # Errors
    /// If the process can't be started.
    fn spawn(&mut self, join: &Join) -> io::Result<Box<dyn Child>>;

    /// Address of the server if it has a network of its own, which limits the rate. `None`: on loopback,
    /// with the plan's rate.
    fn server(&self) -> Option<IpAddr> {
        None
    }
}

/// A started agent or server. It ends by itself when it loses its controller. Dropping it kills it.
pub trait Child: Send {
    /// Process ID, if it runs on this machine.
    fn id(&self) -> Option<u32>;

    /// Human-readable description of its end; `None` while it runs.
    fn ended(&mut self) -> Option<String>;

    /// Kills the process and waits for its end.
    fn kill(&mut self);

    /// Socket that the process uses for the controller, if it was started with one. Returned once.
    fn control(&mut self) -> Option<ControlStream> {
        None
    }
}

/// The controller's end of a socket that a child process inherited.
#[cfg(unix)]
pub type ControlStream = std::os::unix::net::UnixStream;
/// Has no values, because this system has no Unix sockets.
#[cfg(not(unix))]
#[derive(Debug)]
pub enum ControlStream {}

/// Starts processes of one program on this machine: with the argument `agent`, or `serve --join`, and the
/// connection parameters in the environment ([`VARIABLE`]).
///
/// The processes end at the latest with the *thread* that starts them. Use a thread that lives longer than
/// the run.
#[derive(Debug, Clone)]
pub struct ThisMachine {
    /// Path of the program.
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
            // They send results to the controller, and log to standard error.
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        // An interrupt from the terminal goes to the whole process group. The controller handles it; agents
        // must stay alive to deliver their rows.
        netburn_platform::process::separate(&mut command);
        let child = command.spawn()?;
        Ok(Box::new(Process { child, ended: None }))
    }
}

/// Waits for child processes to end, then kills the rest.
pub async fn terminate(mut children: Vec<Option<Box<dyn Child>>>, wait: Duration) {
    let leaving = std::time::Instant::now() + to_std(wait);
    while std::time::Instant::now() < leaving {
        for place in &mut children {
            if place.as_mut().is_some_and(|child| child.ended().is_some()) {
                *place = None;
            }
        }
        if children.iter().all(Option::is_none) {
            break;
        }
        tokio::time::sleep(to_std(Duration::from_millis(10))).await;
    }
    // Dropping a child kills it.
    drop(children);
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
            // Both fail only if the process has ended.
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

/// Description of the end of a process.
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
