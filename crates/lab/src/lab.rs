//! A lab: nodes, the network between them, and programs at them.

use crate::calls::{Call, Reply};
use crate::capture::Captures;
use crate::device::Device;
use crate::engine::{Beginning, Engine, Order, Seen, Shown, lock};
use crate::error::LabError;
use crate::helper::{Heard, Helper};
use crate::hold::Hold;
use crate::init::message::{Answer, Request, RunWanted};
use crate::nodes::Nodes;
use crate::observe::StationLook;
use crate::options::{DeviceKind, Options};
use crate::present;
use crate::program::{Ended, Program};
use crate::switch::{Counted, Switch};
use netburn_linux::Monotonic;
use netburn_linux::links::Links;
use netburn_network::Endpoint;
use netburn_record::{LabHealth, Row, Stopped};
use netburn_scenario::Plan;
use netburn_scenario::plan::Setting;
use netburn_units::Instant;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

/// A lab: nodes, the network between them, and programs at them. All of it ends when it is dropped, or this process does, however
/// that comes.
#[derive(Debug)]
pub struct Lab {
    // Before the helper: its files are the nodes' devices.
    engine: Engine,
    shared: Arc<Shared>,
    heard: Arc<Heard>,
    plan: Plan,
    namespaces: Vec<OwnedFd>,
    /// Of each node, the server's first: whether its device, by its number, went down.
    links: Vec<(Links, u32)>,
    notes: Vec<String>,
    user: bool,
    device: DeviceKind,
    hold: Hold,
    segments_udp: bool,
    /// The soft limit of open files that programs get.
    open_files: u32,
}

#[derive(Debug)]
struct Shared {
    helper: Mutex<Helper>,
    next: AtomicU32,
    /// The programs that were started: at which end, and by what name.
    started: Mutex<BTreeMap<u32, (Endpoint, String)>>,
}

impl Shared {
    fn helper(&self) -> MutexGuard<'_, Helper> {
        lock(&self.helper)
    }
}

/// How a lab's network begins.
#[derive(Debug, Default)]
pub struct Begin<'a> {
    /// Keeps what every end sends and receives, and the air, in this folder: `server.pcapng`, `station-NAME.pcapng`, `air.pcapng`.
    /// They are whole once the lab has stopped or is dropped.
    pub captures: Option<&'a Path>,
    /// Gets the connections that the server's kernel refuses; each wants a [reply](Lab::reply).
    pub calls: Option<Sender<Call>>,
}

/// A program that runs at a node. Dropped, it is killed.
#[derive(Debug)]
pub struct Guest {
    id: u32,
    shared: Arc<Shared>,
    heard: Arc<Heard>,
}

impl Lab {
    /// Opens a lab for a plan. `helper` runs [`init::main`](crate::init::main) in a process of its own.
    ///
    /// # Errors
    /// When the machine doesn't permit it, or the plan's network can't be.
    pub fn open(plan: &Plan, helper: Command) -> Result<Lab, LabError> {
        Self::open_with(plan, helper, &Options::default())
    }

    /// The same, with nodes made as `options` say.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_with(plan: &Plan, helper: Command, options: &Options) -> Result<Lab, LabError> {
        let shown = Arc::new(Mutex::new(Shown::default()));
        let warn = {
            let shown = Arc::clone(&shown);
            move |text| lock(&shown).warnings.push((None, text))
        };
        let nodes = Nodes::make(plan, helper, options, warn)?;
        tracing::info!(
            stations = plan.stations.len(),
            device = %nodes.device,
            hold = ?nodes.hold,
            user_namespace = nodes.user,
            "the lab is open"
        );
        Ok(Lab {
            engine: Engine::start(nodes.ports, plan, shown)?,
            heard: Arc::clone(nodes.helper.heard()),
            shared: Arc::new(Shared {
                helper: Mutex::new(nodes.helper),
                next: AtomicU32::new(0),
                started: Mutex::default(),
            }),
            plan: plan.clone(),
            namespaces: nodes.namespaces,
            links: nodes.links,
            notes: nodes.notes,
            user: nodes.user,
            device: nodes.device,
            hold: nodes.hold,
            segments_udp: nodes.segments_udp,
            open_files: nodes.open_files,
        })
    }

    /// What the machine doesn't let it do, for people.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What its nodes' devices are.
    #[must_use]
    pub const fn device(&self) -> DeviceKind {
        self.device
    }

    /// Whether kernels leave the segmentation of datagrams to the lab (UDP_SEGMENT, USO): else they do it themselves.
    #[must_use]
    pub const fn segments_udp(&self) -> bool {
        self.segments_udp
    }

    /// How its stations' kernels are kept from handing over all that they have, so that TCP Small Queues work.
    #[must_use]
    pub const fn hold(&self) -> Hold {
        self.hold
    }

    /// Begins to carry packets, and the network's time with it: its time 0 is `zero`. Until then nothing is carried.
    ///
    /// # Errors
    /// When the plan's network can't be.
    pub fn begin(&self, zero: Monotonic) -> Result<(), LabError> {
        self.begin_with(zero, Begin::default())
    }

    /// The same, with what `begin` says.
    ///
    /// # Errors
    /// As for [`begin`](Self::begin), and when captures can't be written.
    pub fn begin_with(&self, zero: Monotonic, begin: Begin<'_>) -> Result<(), LabError> {
        let captures = begin.captures.map(|folder| self.capture(zero, folder));
        let before = zero.saturating_since(Monotonic::now());
        let plan = Plan {
            baseline: before,
            ..self.plan.clone()
        };
        let mut switch = Switch::new(&plan)?;
        switch.set_framing(Device::framing(self.device));
        if self.segments_udp {
            switch.join_datagrams();
        }
        self.engine.order(Order::Begin(Box::new(Beginning {
            switch,
            zero,
            captures: captures.transpose().map_err(LabError::Capture)?,
            calls: begin.calls,
        })));
        Ok(())
    }

    fn capture(&self, zero: Monotonic, folder: &Path) -> io::Result<Sender<Seen>> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let offset = since.as_nanos() as i64 - Monotonic::now().as_nanos() + zero.as_nanos();
        self.engine.write(Captures::create(folder, &self.names(), offset)?)
    }

    /// Replies to a call, which [`Begin::calls`] brought.
    pub fn reply(&self, call: Call, reply: Reply) {
        self.engine.order(Order::Reply(call, reply));
    }

    /// Whether something listens at a TCP port of an end.
    ///
    /// # Errors
    /// When the helper can't tell.
    pub fn listens(&self, at: Endpoint, port: u16) -> Result<bool, LabError> {
        let request = Request::Listens(node(at) as u32, u32::from(port));
        match self.shared.helper().ask(&request, &[])? {
            (Answer::Listens(listens), _) => Ok(listens),
            _ => Err(LabError::Gone("it answers something else".to_owned())),
        }
    }

    /// The name of the program that a call is of: its file name, up to 15 characters. `None` when it is gone.
    #[must_use]
    pub fn caller(&self, call: Call) -> Option<String> {
        let namespace = self.namespaces[node(Endpoint::Station(call.station))].as_fd();
        present::caller(namespace, call.from, call.port)
    }

    /// The names of the programs at an end, in no order.
    #[must_use]
    pub fn programs(&self, at: Endpoint) -> Vec<String> {
        present::names(self.namespaces[node(at)].as_fd())
    }

    /// Whether captures were asked for and are not whole.
    #[must_use]
    pub fn captures_lost(&self) -> bool {
        self.engine.shown().captures_lost
    }

    /// Changes a setting by hand, now.
    pub fn set(&self, setting: Setting) {
        self.engine.order(Order::Set(setting));
    }

    /// The stations' names, in the plan's order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.plan.stations.iter().map(|station| station.name.as_str()).collect()
    }

    /// The end of that name: `server`, or a station's.
    ///
    /// # Errors
    /// When there is none.
    pub fn end(&self, name: &str) -> Result<Endpoint, LabError> {
        let station = self.plan.stations.iter().position(|station| station.name == name);
        match station {
            Some(station) => Ok(Endpoint::Station(station as u16)),
            None if name == "server" => Ok(Endpoint::Server),
            None => {
                let all: Vec<&str> = self.plan.stations.iter().map(|station| station.name.as_str()).collect();
                Err(LabError::NoNode(name.to_owned(), format!("server, {}", all.join(", "))))
            }
        }
    }

    /// Runs a program at an end.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn spawn(&self, at: Endpoint, program: Program) -> Result<Guest, LabError> {
        let id = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let name = program
            .arguments
            .first()
            .map(|name| name.to_string_lossy().into_owned());
        let bytes = |text: &OsString| text.as_bytes().to_vec();
        let request = Request::Run(RunWanted {
            id,
            node: node(at) as u32,
            own_group: program.own_group,
            host_name: self.name(at).to_owned(),
            open_files: self.open_files,
            arguments: program.arguments.iter().map(bytes).collect(),
            environment: program
                .environment
                .iter()
                .map(|(name, value)| (bytes(name), bytes(value)))
                .collect(),
        });
        let files = [
            program.files[0].as_fd(),
            program.files[1].as_fd(),
            program.files[2].as_fd(),
        ];
        let mut helper = self.shared.helper();
        helper.ask(&request, &files).map_err(|error| match error {
            LabError::Refused { error, .. } => LabError::Program {
                name: name.clone().unwrap_or_default(),
                error,
            },
            other => other,
        })?;
        drop(helper);
        let name = name.unwrap_or_default();
        tracing::info!(program = name, at = self.name(at), "a program was started");
        lock(&self.shared.started).insert(id, (at, name));
        Ok(Guest {
            id,
            shared: Arc::clone(&self.shared),
            heard: Arc::clone(&self.heard),
        })
    }

    /// A command line with which somebody else on this machine enters an end.
    #[must_use]
    pub fn entry(&self, at: Endpoint) -> String {
        let (helper, here) = (self.shared.helper().id(), std::process::id());
        let network = self.namespaces[node(at)].as_raw_fd();
        let user = if self.user {
            format!("--preserve-credentials --user=/proc/{helper}/ns/user ")
        } else {
            String::new()
        };
        format!(
            "nsenter {user}--mount=/proc/{helper}/ns/mnt \
             --pid=/proc/{helper}/ns/pid_for_children --net=/proc/{here}/fd/{network}"
        )
    }

    /// Rows since the last call: the air, links, changes.
    #[must_use]
    pub fn take_rows(&self) -> Vec<Row> {
        std::mem::take(&mut self.engine.shown().rows)
    }

    /// The stations over the last tenth of a second, and the network's time.
    #[must_use]
    pub fn looks(&self) -> (Option<Instant>, Vec<StationLook>) {
        let shown = self.engine.shown();
        (shown.now, shown.stations.clone())
    }

    /// What was carried, up to the last tenth of a second.
    #[must_use]
    pub fn counted(&self) -> Counted {
        self.engine.shown().counted.clone()
    }

    /// The report on its own work, up to the last second; up to its end once it has [stopped](Self::stop).
    #[must_use]
    pub fn health(&self) -> LabHealth {
        let mut health = self.engine.shown().health.clone();
        let started = lock(&self.shared.started);
        let stopped = self.heard.stops().into_iter().filter_map(|(id, long)| {
            let (at, program) = started.get(&id)?;
            Some(Stopped {
                station: self.name(*at).to_owned(),
                program: program.clone(),
                us: long.as_nanos() as f64 / 1e3,
            })
        });
        health.stopped = stopped.collect();
        let refused = self.counted().refused.into_iter();
        health.not_carried = refused.map(|(why, count)| (why.name().to_owned(), count)).collect();
        health.helper_us_max = self.heard.silence().as_nanos() as f64 / 1e3;
        health
    }

    /// The name of an end.
    fn name(&self, at: Endpoint) -> &str {
        match at {
            Endpoint::Station(number) => &self.plan.stations[usize::from(number)].name,
            Endpoint::Server => "server",
        }
    }

    /// What went wrong since the last call and people should know, a sentence each.
    #[must_use]
    pub fn take_warnings(&self) -> Vec<String> {
        let warnings = std::mem::take(&mut self.engine.shown().warnings);
        let said = warnings.into_iter().map(|(end, text)| match end {
            Some(end) => format!("{}: {text}", self.name(end)),
            None => text,
        });
        said.collect()
    }

    /// The nodes whose own device was taken down, or removed, since the last call, by name. Once it is [stopped](Self::stop), all
    /// are removed.
    #[must_use]
    pub fn taken_down(&self) -> Vec<&str> {
        let ends = std::iter::once(Endpoint::Server).chain((0..).map(Endpoint::Station));
        let down = self.links.iter().zip(ends).filter(|((links, index), _)| {
            links.went_down(*index).unwrap_or_else(|error| {
                tracing::debug!(%error, "whether a device went down is not known");
                false
            })
        });
        down.map(|(_, end)| self.name(end)).collect()
    }

    /// Carries nothing more, and has the captures whole.
    pub fn stop(&self) {
        self.engine.stop();
    }

    /// Why packets are no longer carried.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        self.engine.shown().failed.clone()
    }
}

impl Guest {
    /// How it ended; `None` while it runs.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.heard.end_of(self.id)
    }

    /// Waits until it has ended.
    pub fn wait(&self) -> Ended {
        self.heard.wait_for_end(self.id)
    }

    /// Calls `tell` when it has ended, at once where it has.
    pub fn when_ended(&self, tell: impl FnOnce(Ended) + Send + 'static) {
        self.heard.when_ended(self.id, Box::new(tell));
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: i32) {
        // It fails only when the helper is gone, and everything with it.
        let _ = self
            .shared
            .helper()
            .tell(&Request::Signal(self.id, signal.unsigned_abs()), &[]);
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.signal(9);
        }
    }
}

fn node(at: Endpoint) -> usize {
    match at {
        Endpoint::Server => 0,
        Endpoint::Station(station) => usize::from(station) + 1,
    }
}
