//! `netburn lab --control`: another program starts programs in the lab, changes keys of its scenario and reads its counters.
//!
//! Standard input is a Unix socket with message boundaries (SOCK_SEQPACKET). The lab ends when the other end is closed.

mod counters;
mod message;

use super::session::warn;
use crate::exit::CliError;
use crate::signals::{Asked, Signals};
use crate::terminal::eprint_message;
use counters::Counters;
use message::{Call, Failure, Request, reply};
use netburn_lab::servers::Servers;
use netburn_lab::{Lab, LabError, LabProcess, ProcessExit, Program, address, scm_rights};
use netburn_network::Endpoint;
use netburn_record::{Detail, QualityIssue, Row};
use netburn_report::sanitise::sanitise;
use netburn_scenario::Document;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::time::{MissedTickBehavior, interval};

/// Interval between reads of the lab's rows and warnings.
const EVERY: Duration = Duration::from_millis(100);

/// Requests that wait. Further ones wait in the socket.
const WAITING: usize = 16;

/// Nodes of one message. The names of 100 nodes and their addresses are less than 20 kB, a fifth of the longest message.
const NODES_PER_MESSAGE: usize = 100;

/// A message and its files.
type Message = (Vec<u8>, Vec<OwnedFd>);

/// The controlling program.
#[derive(Debug)]
pub(super) struct Controller {
    socket: OwnedFd,
}

impl Controller {
    /// The program at the other end of standard input.
    pub(super) fn from_stdin() -> Result<Self, CliError> {
        let socket = io::stdin().as_fd().try_clone_to_owned();
        let socket = socket.map_err(|error| CliError::Failed(error.to_string()))?;
        Ok(Controller { socket })
    }

    /// Describes the open lab: first its nodes, several in each message, then everything else.
    pub(super) fn opened(&self, lab: &Lab, scenario: &str) -> Result<(), CliError> {
        let ends = std::iter::once(("server", Endpoint::Server));
        let stations = lab.names().into_iter().zip((0..).map(Endpoint::Station));
        let nodes: Vec<(&str, Endpoint)> = ends.chain(stations).collect();
        let described = nodes.chunks(NODES_PER_MESSAGE).map(|nodes| {
            let nodes = nodes.iter().map(|(name, end)| {
                let addresses = [address::v4(*end).to_string(), address::v6(*end).to_string()];
                ((*name).to_owned(), json!({ "addresses": addresses }))
            });
            json!({ "event": "nodes", "nodes": nodes.collect::<Map<_, _>>() })
        });
        let open = json!({
            "event": "open",
            "version": env!("CARGO_PKG_VERSION"),
            "scenario": scenario,
            "notes": lab.notes(),
        });
        let sent = described.chain([open]).try_for_each(|event| self.send(&event));
        sent.map_err(|error| {
            CliError::Usage(format!(
                "--control: standard input is not a Unix socket with message boundaries (SOCK_SEQPACKET): {error}"
            ))
        })
    }

    /// Reports the end of the lab, and the reasons for which its measurements are unreliable.
    pub(super) fn closed(&self, reasons: &[QualityIssue]) {
        let texts: Vec<String> = reasons.iter().map(ToString::to_string).collect();
        // The other end may be closed.
        let _ = self.send(&json!({ "event": "closed", "reliable": reasons.is_empty(), "reasons": texts }));
    }

    fn send(&self, message: &Value) -> io::Result<()> {
        scm_rights::send(&self.socket, message.to_string().as_bytes(), &[])
    }

    /// Receives messages on a thread of its own until the other end is closed.
    fn receive(&self) -> io::Result<Receiver<io::Result<Message>>> {
        let (tell, messages) = channel(WAITING);
        let socket = self.socket.try_clone()?;
        std::thread::Builder::new()
            .name("control".to_owned())
            .spawn(move || receive_loop(&socket, &tell))?;
        Ok(messages)
    }
}

fn receive_loop(socket: &OwnedFd, tell: &Sender<io::Result<Message>>) {
    loop {
        let received = scm_rights::receive(socket);
        match &received {
            Ok((bytes, _)) if bytes.is_empty() => return,
            // The message was too long. The next one may be valid.
            Err(error) if error.kind() != io::ErrorKind::InvalidData => return,
            _ => {}
        }
        if tell.blocking_send(received).is_err() {
            return;
        }
    }
}

/// A lab under control.
pub(super) struct Session<'a> {
    lab: &'a Arc<Lab>,
    document: &'a Document,
    controller: &'a Controller,
    processes: BTreeMap<u64, LabProcess>,
    next: u64,
    counters: Counters,
    tell: UnboundedSender<(u64, ProcessExit)>,
    ends: UnboundedReceiver<(u64, ProcessExit)>,
}

impl<'a> Session<'a> {
    pub(super) fn new(lab: &'a Arc<Lab>, document: &'a Document, controller: &'a Controller) -> Self {
        let (tell, ends) = unbounded_channel();
        Session {
            lab,
            document,
            controller,
            processes: BTreeMap::new(),
            next: 1,
            counters: Counters::new(&lab.names()),
            tell,
            ends,
        }
    }

    /// Serves requests until the other end is closed, or a signal ends this process. Then all programs are killed.
    pub(super) async fn run(mut self, servers: &mut Option<Servers>) -> Result<Option<Asked>, CliError> {
        let failed = |error: io::Error| CliError::Failed(error.to_string());
        let mut signals = Signals::new().map_err(failed)?;
        let mut messages = self.controller.receive().map_err(failed)?;
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                received = messages.recv() => {
                    let Some(received) = received else { return Ok(None) };
                    if self.handle(received).is_break() {
                        return Ok(None);
                    }
                }
                Some((process, how)) = self.ends.recv() => self.handle_end(process, how),
                asked = signals.next_kind() => return Ok(Some(asked)),
                _ = ticks.tick() => self.look(servers),
            }
        }
    }

    /// Handles a request, and replies. A reply that can't be sent ends the session.
    fn handle(&mut self, received: io::Result<Message>) -> ControlFlow<()> {
        let read = match received {
            Ok((bytes, files)) => Request::read(&bytes).map(|request| (request, files)),
            Err(error) => Err((None, Failure::new(error))),
        };
        let (id, result) = match read {
            Ok((
                Request {
                    call: Call::Close {}, ..
                },
                _,
            )) => return ControlFlow::Break(()),
            Ok((request, files)) => (Some(request.id), self.perform(request.call, files)),
            Err((id, failure)) => (id, Err(failure)),
        };
        let sent = match self.controller.send(&reply(id, result)) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                let failure = Failure::new("the reply is too long; request the counters of fewer stations");
                self.controller.send(&reply(id, Err(failure)))
            }
            sent => sent,
        };
        match sent {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    fn perform(&mut self, call: Call, files: Vec<OwnedFd>) -> Result<Value, Failure> {
        match call {
            Call::Run {
                at,
                arguments,
                environment,
            } => self.start(&at, &arguments, &environment, files),
            Call::Signal { process, number } => match self.processes.get(&process) {
                Some(guest) => {
                    guest.signal(number);
                    Ok(json!({}))
                }
                None => Err(Failure::new(format!("no program has the number {process}"))),
            },
            Call::Set { changes } => {
                let settings = self.document.changes(&Call::texts(&changes)).map_err(Failure::new)?;
                for setting in settings {
                    self.lab.set(setting);
                }
                Ok(json!({}))
            }
            Call::Stations { names } => {
                self.read_rows();
                let (now, snapshots) = self.lab.snapshots();
                Ok(self.counters.json(&names, now, &snapshots))
            }
            Call::Listens { at, port } => {
                let end = self.lab.endpoint(&at).map_err(Failure::new)?;
                let listens = self.lab.listens(end, port).map_err(Failure::new)?;
                Ok(json!({ "listens": listens }))
            }
            Call::Close {} => Ok(json!({})),
        }
    }

    fn start(
        &mut self,
        at: &str,
        arguments: &[String],
        environment: &BTreeMap<String, String>,
        files: Vec<OwnedFd>,
    ) -> Result<Value, Failure> {
        let end = self.lab.endpoint(at).map_err(Failure::new)?;
        if arguments.is_empty() {
            return Err(Failure::new("missing program: `arguments` is empty"));
        }
        let files = <[OwnedFd; 3]>::try_from(files).map_err(|files| {
            Failure::new(format!(
                "found {} files, expected standard input, output and error",
                files.len()
            ))
        })?;
        let own = [("NETBURN_STATION".into(), at.into())];
        let given = environment.iter().map(|(name, value)| (name.into(), value.into()));
        let program = Program {
            arguments: arguments.iter().map(Into::into).collect(),
            environment: own.into_iter().chain(given).collect(),
            files,
            // Signals of the terminal are for the controlling program.
            own_group: true,
        };
        let guest = self.lab.spawn(end, program).map_err(|error| Failure {
            text: error.to_string(),
            errno: match &error {
                LabError::Program { error, .. } => error.raw_os_error(),
                _ => None,
            },
        })?;
        let (process, tell) = (self.next, self.tell.clone());
        self.next += 1;
        guest.when_ended(move |how| {
            // The receiver is closed once the session has ended.
            let _ = tell.send((process, how));
        });
        self.processes.insert(process, guest);
        Ok(json!({ "process": process }))
    }

    fn handle_end(&mut self, process: u64, how: ProcessExit) {
        self.processes.remove(&process);
        let (status, signal) = match how {
            ProcessExit::Status(status) => (Some(status), None),
            ProcessExit::Signal(signal) => (None, Some(signal)),
            ProcessExit::LabClosed => (None, None),
        };
        // A closed end is noticed by the receiving thread.
        let _ = self.controller.send(&json!({
            "event": "ended", "process": process, "status": status, "signal": signal,
        }));
    }

    /// Adds the new rows to the counters, and reports events of the stations' links.
    fn read_rows(&mut self) {
        let rows = self.lab.take_rows();
        self.counters.add(&rows);
        let names = self.lab.names();
        for row in rows {
            let Row::Event(event) = row else { continue };
            let station = event.station.and_then(|station| names.get(usize::from(station)));
            if let (Detail::Link(link), Some(name)) = (&event.detail, station) {
                let _ = self.controller.send(&json!({
                    "event": "link", "at_s": event.at.as_secs_f64(), "station": name, "text": link.text,
                }));
            }
        }
    }

    fn look(&mut self, servers: &mut Option<Servers>) {
        self.read_rows();
        warn(self.lab);
        if let Some(text) = servers.as_mut().and_then(Servers::warning) {
            eprint_message(&format!("warning: {}", sanitise(&text)));
        }
    }
}
