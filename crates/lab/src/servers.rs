//! Servers that the lab starts by itself: `netburn serve` at port 80, and iperf3.
//!
//! iperf3 serves one test at a time, and two stations are the first thing that many users try. So each station gets an
//! iperf3 server of its own. The lab starts it when the server's kernel first refuses one of the station's connections.
//! The connection must come from a program called iperf3, or go to iperf3's own port. That server listens at a port of
//! its own, which answers the station in place of the one that it called. A server that you start at the port itself
//! takes precedence.

use crate::error::LabError;
use crate::program::{ProcessExit, Program};
use crate::refused_connections::{RefusalReply, RefusedConnection};
use crate::{Lab, LabProcess};
use netburn_network::Endpoint;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// iperf3's own port.
const IPERF3: u16 = 5201;
/// The first port at which an iperf3 server listens that was started for a station. Clients take theirs from 32768 on
/// (net.ipv4.ip_local_port_range).
const FIRST: u16 = 20_000;
/// Number of ports to try.
const PORTS: u16 = 10_000;
/// Time until a started server must listen.
const STARTING: Duration = Duration::from_secs(5);
/// Time until a server that another process starts must listen.
const OTHERS_STARTING: Duration = Duration::from_secs(1);
/// Interval between checks whether a server listens.
const LOOK: Duration = Duration::from_millis(5);

/// Error of the start of servers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServersError {
    /// The server can't be started in the lab.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The system rejects a file or a thread.
    #[error("can't start the lab's servers: {0}")]
    System(#[source] io::Error),
}

impl From<io::Error> for ServersError {
    fn from(error: io::Error) -> Self {
        // The conversion of the other errors is never used.
        match error.kind() {
            io::ErrorKind::WouldBlock => ServersError::Lab(LabError::starting(error, LabError::Start)),
            _ => ServersError::System(error),
        }
    }
}

/// The servers of a lab.
#[derive(Debug)]
pub struct Servers {
    http: Option<LabProcess>,
    /// Last line that the server printed to standard error.
    last_line: LastLine,
    calls: JoinHandle<()>,
}

impl Servers {
    /// Starts `netburn serve`, whose executable is `program`, and the thread that handles calls. Both call `warn` with warnings
    /// for users.
    ///
    /// # Errors
    /// The server or the thread can't be started.
    pub fn start(
        lab: &Arc<Lab>,
        program: &Path,
        calls: Receiver<RefusedConnection>,
        warn: impl Fn(&str) + Send + 'static,
    ) -> Result<Servers, ServersError> {
        let words = ["serve", "--listen", "0.0.0.0:80", "--listen", "[::]:80"].map(OsString::from);
        let all = std::iter::once(program.as_os_str().to_owned()).chain(words).collect();
        let (last_line, errors) = LastLine::of_pipe()?;
        let mut server = quiet(all)?;
        server.files[2] = errors;
        let http = lab.spawn(Endpoint::Server, server)?;
        if !listens_soon(lab, &http, 80) {
            warn(&last_line.after("netburn's server does not listen at port 80".to_owned()));
        }
        let answering = Answering {
            lab: Arc::clone(lab),
            started: Vec::new(),
            next: FIRST,
            missing: false,
            warn: Box::new(warn),
        };
        let thread = std::thread::Builder::new().name("calls".to_owned());
        let thread = thread.spawn(move || answering.answer(&calls))?;
        Ok(Servers {
            http: Some(http),
            last_line,
            calls: thread,
        })
    }

    /// Warning, once, that the server at port 80 has ended.
    pub fn warning(&mut self) -> Option<String> {
        let ended = self.http.as_ref()?.ended()?;
        self.http = None;
        let text = match ended {
            ProcessExit::Status(status) => format!("netburn's server at port 80 has ended with status {status}"),
            ProcessExit::Signal(signal) => format!("netburn's server at port 80 was killed by signal {signal}"),
            ProcessExit::LabClosed => return None,
        };
        Some(self.last_line.after(text))
    }

    /// Ends the servers. The lab has stopped, so there are no more calls.
    pub fn finish(self) {
        let _ = self.calls.join();
    }
}

/// Last line that a program has printed.
#[derive(Debug, Clone, Default)]
struct LastLine(Arc<Mutex<String>>);

/// Maximum length in bytes of a line that is kept.
const MAX_LINE: u64 = 1024;

impl LastLine {
    /// Returns the line, and the file to which the program prints. The thread that reads it ends with the program.
    fn of_pipe() -> io::Result<(LastLine, OwnedFd)> {
        let (reader, writer) = io::pipe()?;
        let last_line = LastLine::default();
        let thread = std::thread::Builder::new().name("server".to_owned());
        thread.spawn({
            let last_line = last_line.clone();
            move || last_line.read(BufReader::new(reader))
        })?;
        Ok((last_line, writer.into()))
    }

    fn read(&self, mut from: impl BufRead) {
        let mut line = Vec::new();
        while from
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)
            .is_ok_and(|count| count > 0)
        {
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            if !text.is_empty() {
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
            }
            line.clear();
        }
    }

    /// Appends the line, if there is one, to a warning.
    fn after(&self, text: String) -> String {
        let line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if line.is_empty() {
            text
        } else {
            format!("{text}: {line}")
        }
    }
}

/// A program with /dev/null as standard input, output and error.
fn quiet(arguments: Vec<OsString>) -> io::Result<Program> {
    let nothing = |write: bool| File::options().read(!write).write(write).open("/dev/null");
    Ok(Program {
        arguments,
        environment: Vec::new(),
        files: [nothing(false)?, nothing(true)?, nothing(true)?].map(OwnedFd::from),
        own_group: true,
    })
}

/// Waits until a server listens at its port. Returns `false` if it ends or the time is over.
fn listens_soon(lab: &Lab, server: &LabProcess, port: u16) -> bool {
    until(STARTING, || {
        if server.ended().is_some() {
            return Some(false);
        }
        listens(lab, port).then_some(true)
    })
    .unwrap_or(false)
}

fn listens(lab: &Lab, port: u16) -> bool {
    lab.listens(Endpoint::Server, port).unwrap_or(false)
}

/// Polls until there is an answer, at most for the given time.
fn until<T>(long: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        match look() {
            None if began.elapsed() < long => std::thread::sleep(LOOK),
            answer => return answer,
        }
    }
}

/// Handles calls.
struct Answering {
    lab: Arc<Lab>,
    /// The started iperf3 servers.
    started: Vec<LabProcess>,
    /// Port of the next iperf3 server.
    next: u16,
    /// iperf3 is missing, which is reported once.
    missing: bool,
    warn: Box<dyn Fn(&str) + Send>,
}

impl Answering {
    /// Handles calls until the channel is closed.
    fn answer(mut self, calls: &Receiver<RefusedConnection>) {
        for call in calls {
            let reply = self.reply(call);
            tracing::info!(?call, ?reply, "a connection was refused");
            self.lab.reply(call, reply);
        }
    }

    fn reply(&mut self, call: RefusedConnection) -> RefusalReply {
        let caller = self.lab.client_program(call);
        if call.port != IPERF3 && !caller.is_some_and(|name| is_iperf3(&name)) {
            return RefusalReply::Reject;
        }
        self.started.retain(|server| server.ended().is_none());
        let here = self.lab.programs(Endpoint::Server);
        let others = here.iter().filter(|name| is_iperf3(name)).count() > self.started.len();
        let patience = if others { OTHERS_STARTING } else { Duration::ZERO };
        if until(patience, || listens(&self.lab, call.port).then_some(())).is_some() {
            return RefusalReply::Retry;
        }
        match self.start() {
            Some(port) => RefusalReply::Redirect(port),
            None => RefusalReply::Reject,
        }
    }

    /// Starts an iperf3 server. Returns its port.
    fn start(&mut self) -> Option<u16> {
        // Another server may use the port.
        for _ in 0..3 {
            let port = self.next;
            self.next = FIRST + (self.next + 1 - FIRST) % PORTS;
            let words = ["iperf3", "-s", "-p", &port.to_string()].map(OsString::from).to_vec();
            let server = match self.lab.spawn(Endpoint::Server, quiet(words).ok()?) {
                Ok(server) => server,
                Err(LabError::Program { error, .. }) => {
                    if !self.missing {
                        self.missing = true;
                        (self.warn)(&format!(
                            "no iperf3 answers at the server, because it can't be started: {error}"
                        ));
                    }
                    return None;
                }
                // The lab ends.
                Err(_) => return None,
            };
            if listens_soon(&self.lab, &server, port) {
                self.started.push(server);
                return Some(port);
            }
        }
        None
    }
}

/// Returns `true` if the name of a program is that of iperf3: `iperf3`, `iperf3-static`.
fn is_iperf3(name: &str) -> bool {
    name.starts_with("iperf3")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_explains_a_warning() {
        let line = LastLine::default();
        assert_eq!(line.after("it ended".to_owned()), "it ended");
        line.read(&b"netburn serve: port 80\nerror: Cannot allocate memory\n\n"[..]);
        assert_eq!(
            line.after("it ended".to_owned()),
            "it ended: error: Cannot allocate memory"
        );
        line.read(&[b'x'; 5000][..]);
        assert_eq!(line.after(String::new()).len(), 2 + 5000 % 1024);
    }
}
