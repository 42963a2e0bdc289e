//! A lab: nodes, the network between them, and programs that run at them.

use crate::backpressure::Backpressure;
use crate::device::Device;
use crate::device_kind::DeviceKind;
use crate::engine::{CaptureBatch, Engine, EngineCommand, EngineStart, SharedStatus, lock};
use crate::error::LabError;
use crate::helper::ProcessEvents;
use crate::host::StationHost;
use crate::nodes::Nodes;
use crate::observe::StationSnapshot;
use crate::options::Options;
use crate::program::{ProcessExit, Program};
use crate::refused_connections::{RefusalReply, RefusedConnection};
use crate::switch::{ForwardingCounters, Switch};
use netburn_interop::pcapng::Captures;
use netburn_network::Endpoint;
use netburn_platform::Monotonic;
use netburn_record::{LabHealth, Row, Stopped};
use netburn_scenario::Plan;
use netburn_scenario::plan::Setting;
use netburn_units::Instant;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

/// A lab: nodes, the network between them, and programs that run at them. Namespaces and programs end when this value
/// is dropped or this process exits, even if it is killed.
#[derive(Debug)]
pub struct Lab {
    // Dropped before the hosts, because its files are the nodes' devices.
    engine: Engine,
    /// The server's host first, then the stations'.
    hosts: Vec<Arc<dyn StationHost>>,
    process_events: Arc<ProcessEvents>,
    /// Number of the next program.
    next: AtomicU32,
    /// Started programs by number: endpoint and name.
    started: Mutex<BTreeMap<u32, (Endpoint, String)>>,
    plan: Plan,
    notes: Vec<String>,
    device: DeviceKind,
    backpressure: Backpressure,
    segments_udp: bool,
}

/// Options for starting a lab's network.
#[derive(Debug, Default)]
pub struct StartOptions<'a> {
    /// Directory for captures of all endpoints and of the channel: `server.pcapng`, `station-NAME.pcapng`,
    /// `air.pcapng`. They are complete once the lab is stopped or dropped.
    pub captures: Option<&'a Path>,
    /// Receiver of the connections that the server's kernel refuses. Each needs a [reply](Lab::reply).
    pub refusals: Option<Sender<RefusedConnection>>,
}

/// A program that runs at a node. It is killed when this handle is dropped.
#[derive(Debug)]
pub struct LabProcess {
    id: u32,
    host: Arc<dyn StationHost>,
    process_events: Arc<ProcessEvents>,
}

impl Lab {
    /// Opens a lab for a plan with default options. `helper` must run [`init::main`](crate::init::main) in its own
    /// process.
    ///
    /// # Errors
    /// [`LabError`] when the system lacks a feature or permission, or the plan's network is invalid.
    pub fn open(plan: &Plan, helper: Command) -> Result<Lab, LabError> {
        Self::open_with(plan, helper, &Options::default())
    }

    /// Opens a lab with these options.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_with(plan: &Plan, helper: Command, options: &Options) -> Result<Lab, LabError> {
        let status = Arc::new(Mutex::new(SharedStatus::default()));
        let warn = {
            let status = Arc::clone(&status);
            move |text| lock(&status).warnings.push((None, text))
        };
        let nodes = Nodes::make(plan, helper, options, warn)?;
        tracing::info!(
            stations = plan.stations.len(),
            device = %nodes.device,
            backpressure = ?nodes.backpressure,
            user_namespace = nodes.in_user_namespace,
            "the lab is open"
        );
        Ok(Lab {
            engine: Engine::start(nodes.ports, plan, status)?,
            hosts: nodes.hosts,
            process_events: nodes.process_events,
            next: AtomicU32::new(0),
            started: Mutex::default(),
            plan: plan.clone(),
            notes: nodes.notes,
            device: nodes.device,
            backpressure: nodes.backpressure,
            segments_udp: nodes.segments_udp,
        })
    }

    /// Returns notes about features that this system does not support, for users.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the kind of the nodes' devices.
    #[must_use]
    pub const fn device(&self) -> DeviceKind {
        self.device
    }

    /// Returns whether kernels leave the segmentation of datagrams to the lab (UDP_SEGMENT, USO). Otherwise they
    /// segment datagrams themselves.
    #[must_use]
    pub const fn segments_udp(&self) -> bool {
        self.segments_udp
    }

    /// Returns the mechanism that limits how many packets stations hand over. TCP Small Queues depend on it.
    #[must_use]
    pub const fn backpressure(&self) -> Backpressure {
        self.backpressure
    }

    /// Starts forwarding and the network's time, whose time 0 is `zero`. No packet is forwarded before.
    ///
    /// # Errors
    /// [`LabError::Network`] when the plan's network is invalid.
    pub fn start(&self, zero: Monotonic) -> Result<(), LabError> {
        self.start_with(zero, StartOptions::default())
    }

    /// Starts forwarding with these options.
    ///
    /// # Errors
    /// The errors of [`start`](Self::start), and [`LabError::Capture`] when captures cannot be written.
    pub fn start_with(&self, zero: Monotonic, start: StartOptions<'_>) -> Result<(), LabError> {
        let captures = start.captures.map(|folder| self.capture(zero, folder));
        let before = zero.saturating_since(Monotonic::now());
        let plan = Plan {
            baseline: before,
            ..self.plan.clone()
        };
        let mut switch = Switch::new(&plan)?;
        switch.set_framing(Device::framing(self.device));
        if self.segments_udp {
            switch.coalesce_datagrams();
        }
        self.engine.send(EngineCommand::Start(Box::new(EngineStart {
            switch,
            zero,
            captures: captures.transpose().map_err(LabError::Capture)?,
            refusals: start.refusals,
        })));
        Ok(())
    }

    fn capture(&self, zero: Monotonic, folder: &Path) -> io::Result<Sender<CaptureBatch>> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let offset = since.as_nanos() as i64 - Monotonic::now().as_nanos() + zero.as_nanos();
        self.engine.write(Captures::create(folder, &self.names(), offset)?)
    }

    /// Replies to a connection received from [`StartOptions::refusals`].
    pub fn reply(&self, connection: RefusedConnection, reply: RefusalReply) {
        self.engine.send(EngineCommand::Reply(connection, reply));
    }

    /// Returns whether a process listens at a TCP port of an endpoint.
    ///
    /// # Errors
    /// [`LabError::Operation`] when the sockets cannot be read, [`LabError::HelperExited`].
    pub fn listens(&self, at: Endpoint, port: u16) -> Result<bool, LabError> {
        self.host(at).listens(port)
    }

    /// Returns the name of the program that opened a connection: its file name, up to 15 characters; `None` if it has
    /// exited.
    #[must_use]
    pub fn client_program(&self, connection: RefusedConnection) -> Option<String> {
        let host = self.host(Endpoint::Station(connection.station));
        host.client_program(connection.from, connection.port)
    }

    /// Returns the names of the programs at an endpoint, in no particular order.
    #[must_use]
    pub fn programs(&self, at: Endpoint) -> Vec<String> {
        self.host(at).programs()
    }

    /// Returns whether captures were requested and are incomplete.
    #[must_use]
    pub fn captures_lost(&self) -> bool {
        self.engine.status().captures_lost
    }

    /// Changes a setting now.
    pub fn set(&self, setting: Setting) {
        self.engine.send(EngineCommand::Set(setting));
    }

    /// Returns the stations' names in the order of the plan.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.plan.stations.iter().map(|station| station.name.as_str()).collect()
    }

    /// Returns the endpoint with this name: `server`, or a station's name.
    ///
    /// # Errors
    /// [`LabError::UnknownNode`].
    pub fn endpoint(&self, name: &str) -> Result<Endpoint, LabError> {
        let station = self.plan.stations.iter().position(|station| station.name == name);
        match station {
            Some(station) => Ok(Endpoint::Station(station as u16)),
            None if name == "server" => Ok(Endpoint::Server),
            None => {
                let all: Vec<&str> = self.plan.stations.iter().map(|station| station.name.as_str()).collect();
                Err(LabError::UnknownNode(
                    name.to_owned(),
                    format!("server, {}", all.join(", ")),
                ))
            }
        }
    }

    /// Runs a program at an endpoint.
    ///
    /// # Errors
    /// [`LabError::Program`] when it cannot be started, [`LabError::HelperExited`].
    pub fn spawn(&self, at: Endpoint, program: Program) -> Result<LabProcess, LabError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let name = program.arguments.first();
        let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let host = Arc::clone(self.host(at));
        host.spawn(id, self.name(at), &program).map_err(|error| match error {
            LabError::Operation { error, .. } => LabError::Program {
                name: name.clone(),
                error,
            },
            other => other,
        })?;
        tracing::info!(program = name, at = self.name(at), "a program was started");
        lock(&self.started).insert(id, (at, name));
        Ok(LabProcess {
            id,
            host,
            process_events: Arc::clone(&self.process_events),
        })
    }

    /// Returns a shell command with which other processes of this machine can enter an endpoint's namespaces.
    #[must_use]
    pub fn nsenter_command(&self, at: Endpoint) -> String {
        self.host(at).enter_command()
    }

    /// Returns the rows since the last call: channel, links, changes.
    #[must_use]
    pub fn take_rows(&self) -> Vec<Row> {
        std::mem::take(&mut self.engine.status().rows)
    }

    /// Returns the stations' statistics of the last 100 ms, and the network's time.
    #[must_use]
    pub fn snapshots(&self) -> (Option<Instant>, Vec<StationSnapshot>) {
        let status = self.engine.status();
        (status.now, status.stations.clone())
    }

    /// Returns the forwarding counters, at most 100 ms old.
    #[must_use]
    pub fn counters(&self) -> ForwardingCounters {
        self.engine.status().counters.clone()
    }

    /// Returns the lab's report on its own work, at most 1 s old. It is final once the lab has been
    /// [stopped](Self::stop).
    #[must_use]
    pub fn health(&self) -> LabHealth {
        let mut health = self.engine.status().health.clone();
        let started = lock(&self.started);
        let stopped = self.process_events.stops().into_iter().filter_map(|(id, long)| {
            let (at, program) = started.get(&id)?;
            Some(Stopped {
                station: self.name(*at).to_owned(),
                program: program.clone(),
                us: long.as_nanos() as f64 / 1e3,
            })
        });
        health.stopped = stopped.collect();
        let rejected = self.counters().rejected.into_iter();
        health.not_carried = rejected.map(|(why, count)| (why.name().to_owned(), count)).collect();
        health.helper_us_max = self.process_events.silence().as_nanos() as f64 / 1e3;
        health
    }

    fn host(&self, at: Endpoint) -> &Arc<dyn StationHost> {
        &self.hosts[match at {
            Endpoint::Server => 0,
            Endpoint::Station(station) => usize::from(station) + 1,
        }]
    }

    /// Returns the name of an endpoint.
    fn name(&self, at: Endpoint) -> &str {
        match at {
            Endpoint::Station(number) => &self.plan.stations[usize::from(number)].name,
            Endpoint::Server => "server",
        }
    }

    /// Returns the warnings for users since the last call, one sentence each.
    #[must_use]
    pub fn take_warnings(&self) -> Vec<String> {
        let warnings = std::mem::take(&mut self.engine.status().warnings);
        let texts = warnings.into_iter().map(|(end, text)| match end {
            Some(end) => format!("{}: {text}", self.name(end)),
            None => text,
        });
        texts.collect()
    }

    /// Returns the names of the nodes whose device was taken down or removed since the last call. After
    /// [`stop`](Self::stop), all devices are removed.
    #[must_use]
    pub fn interfaces_down(&self) -> Vec<&str> {
        let ends = std::iter::once(Endpoint::Server).chain((0..).map(Endpoint::Station));
        let down = self.hosts.iter().zip(ends).filter(|(host, _)| {
            host.is_interface_down().unwrap_or_else(|error| {
                tracing::debug!(%error, "can't read link events");
                false
            })
        });
        down.map(|(_, end)| self.name(end)).collect()
    }

    /// Stops forwarding and completes the captures.
    pub fn stop(&self) {
        self.engine.stop();
    }

    /// Returns the error that ended forwarding, if any.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        self.engine.status().failed.clone()
    }
}

impl LabProcess {
    /// Returns how the program exited; `None` while it runs.
    #[must_use]
    pub fn ended(&self) -> Option<ProcessExit> {
        self.process_events.end_of(self.id)
    }

    /// Waits until the program exits.
    pub fn wait(&self) -> ProcessExit {
        self.process_events.wait_for_end(self.id)
    }

    /// Calls `tell` when the program exits, or immediately if it has exited.
    pub fn when_ended(&self, tell: impl FnOnce(ProcessExit) + Send + 'static) {
        self.process_events.when_ended(self.id, Box::new(tell));
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: i32) {
        self.host.signal(self.id, signal);
    }
}

impl Drop for LabProcess {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.signal(9);
        }
    }
}
