//! The forwarding thread: drives a [`Switch`] in real time.
//!
//! The thread sleeps until a file is readable or shortly before the next event, and then spins. The switch uses model
//! time: an event happens at its due time in the model, even if the thread runs late. Lateness therefore shifts single
//! deliveries and never accumulates.

mod forwarder;
mod pacing_schedule;
mod poll_moderator;

use crate::device::Device;
use crate::egress::Egress;
use crate::error::LabError;
use crate::refused_connections::{RefusalReply, RefusedConnection};
use crate::switch::{CapturedPacket, ForwardingCounters, Switch};
use netburn_interop::pcapng::Captures;
use netburn_lab_kernel::route::Route;
use netburn_medium::air::Transmission;
use netburn_network::Endpoint;
use netburn_platform::Monotonic;
use netburn_record::{EventKind, EventRow, LabHealth, Row};
use netburn_scenario::Plan;
use netburn_scenario::plan::Setting;
use netburn_units::{Duration, Instant};
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use forwarder::Forwarder;

/// The lab's side of one node.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) end: Endpoint,
    pub(crate) device: Device,
    /// Netlink socket (rtnetlink) in the node's namespace.
    pub(crate) route: Route,
    /// Interface index of the device in the namespace.
    pub(crate) index: u32,
    pub(crate) egress: Egress,
}

/// Command to the forwarding thread.
#[derive(Debug)]
pub(crate) enum EngineCommand {
    /// Starts the network.
    Start(Box<EngineStart>),
    /// Reply to a refused connection.
    Reply(RefusedConnection, RefusalReply),
    /// Changes a setting at run time.
    Set(Setting),
    /// Stops forwarding.
    Stop,
}

/// Parameters of the start of a network.
#[derive(Debug)]
pub(crate) struct EngineStart {
    pub(crate) switch: Switch,
    /// Clock reading at the network's time 0.
    pub(crate) zero: Monotonic,
    /// Receiver of captured packets.
    pub(crate) captures: Option<Sender<CaptureBatch>>,
    /// Receiver of refused connections.
    pub(crate) refusals: Option<Sender<RefusedConnection>>,
}

/// Packets and transmissions captured since the last batch.
pub(crate) type CaptureBatch = (Vec<CapturedPacket>, Vec<Transmission>);

/// Status that the forwarding thread publishes.
#[derive(Debug, Default)]
pub(crate) struct SharedStatus {
    pub(crate) rows: Vec<Row>,
    pub(crate) counters: ForwardingCounters,
    pub(crate) health: LabHealth,
    pub(crate) stations: Vec<crate::observe::StationSnapshot>,
    pub(crate) now: Option<Instant>,
    pub(crate) failed: Option<String>,
    /// True if captures are incomplete.
    pub(crate) captures_lost: bool,
    /// Warnings that have not been fetched, with the endpoint that they concern.
    pub(crate) warnings: Vec<(Option<Endpoint>, String)>,
}

impl SharedStatus {
    /// Adds an event to the record: the thread did not run for `late` until `now`.
    fn stood_still(&mut self, now: Instant, late: Duration) {
        self.rows.push(Row::Event(EventRow {
            station: None,
            workload: None,
            at: now - late,
            length: late.as_nanos(),
            kind: EventKind::Warning,
            detail: "the lab did not run: no packet was forwarded".into(),
        }));
    }

    /// Adds a warning and an event to the record: an endpoint's device has disappeared.
    fn lose(&mut self, end: Endpoint, at: Instant, error: &io::Error) {
        let text = format!("its network device can no longer be read ({error}); its packets are no longer forwarded");
        let station = match end {
            Endpoint::Server => None,
            Endpoint::Station(number) => Some(number),
        };
        self.rows.push(Row::Event(EventRow {
            station,
            workload: None,
            at,
            length: 0,
            kind: EventKind::Warning,
            detail: match station {
                Some(_) => text.clone(),
                None => format!("server: {text}"),
            }
            .into(),
        }));
        self.warnings.push((Some(end), text));
    }
}

/// Handle of the forwarding thread.
#[derive(Debug)]
pub(crate) struct Engine {
    commands: Sender<EngineCommand>,
    wake: UnixStream,
    status: Arc<Mutex<SharedStatus>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Engine {
    pub(crate) fn start(ports: Vec<Port>, plan: &Plan, status: Arc<Mutex<SharedStatus>>) -> Result<Engine, LabError> {
        let (commands, command_receiver) = channel();
        let (wake, wake_reader) = UnixStream::pair().map_err(LabError::Forward)?;
        wake.set_nonblocking(true).map_err(LabError::Forward)?;
        wake_reader.set_nonblocking(true).map_err(LabError::Forward)?;
        let mut forwarder = Forwarder::new(ports, plan, command_receiver, wake_reader, Arc::clone(&status))
            .map_err(LabError::Forward)?;
        let thread = std::thread::Builder::new().name("air".to_owned()).spawn(move || {
            if let Err(error) = forwarder.run() {
                tracing::debug!(%error, "forwarding has stopped");
                let mut status = forwarder.status();
                status
                    .warnings
                    .push((None, format!("packets are no longer forwarded: {error}")));
                status.failed = Some(error.to_string());
            }
        });
        Ok(Engine {
            commands,
            wake,
            status,
            thread: Mutex::new(Some(
                thread.map_err(|error| LabError::starting(error, LabError::Forward))?,
            )),
            writer: Mutex::new(None),
        })
    }

    /// Starts a thread that writes captures. Returns the sender for batches.
    pub(crate) fn write(&self, mut captures: Captures) -> io::Result<Sender<CaptureBatch>> {
        let (tell, seen) = channel::<CaptureBatch>();
        let status = Arc::clone(&self.status);
        let writer = std::thread::Builder::new().name("captures".to_owned()).spawn(move || {
            for (captured, air) in seen {
                if let Err(error) = write_captured(&mut captures, &captured, &air) {
                    let text = format!("can't write captures, which end here: {error}");
                    let mut status = lock(&status);
                    status.warnings.push((None, text));
                    status.captures_lost = true;
                    return;
                }
            }
        })?;
        *lock(&self.writer) = Some(writer);
        Ok(tell)
    }

    pub(crate) fn send(&self, command: EngineCommand) {
        // Sending fails only after the thread has ended; its status reports that.
        let _ = self.commands.send(command);
        let _ = (&self.wake).write(&[1]);
    }

    pub(crate) fn status(&self) -> MutexGuard<'_, SharedStatus> {
        lock(&self.status)
    }

    /// Stops forwarding. Afterwards the status and the captures are complete.
    pub(crate) fn stop(&self) {
        self.send(EngineCommand::Stop);
        // The writer thread ends after the forwarding thread has dropped its sender.
        for thread in [&self.thread, &self.writer] {
            let thread = lock(thread).take();
            if let Some(thread) = thread {
                let _ = thread.join();
            }
        }
    }
}

/// Locks a mutex. Poisoning is ignored: a panic leaves no value here half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Adds packets and transmissions and writes them to the files. If a file cannot be written, every file ends with its
/// last whole packet.
fn write_captured(captures: &mut Captures, captured: &[CapturedPacket], air: &[Transmission]) -> io::Result<()> {
    let taken = captured.iter().try_for_each(|tap| {
        let packet = tap.packet();
        captures.packet(tap.end, tap.at, &packet, packet.len() as u32, tap.inbound)
    });
    let taken = taken.and_then(|()| air.iter().try_for_each(|transmission| captures.air(transmission)));
    let flushed = captures.flush();
    taken.and(flushed)
}
