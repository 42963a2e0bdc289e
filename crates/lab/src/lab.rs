//! A lab: nodes, the network between them, and programs at them.

use crate::address;
use crate::capture::Captures;
use crate::engine::{Engine, Order, Port, Seen};
use crate::error::LabError;
use crate::helper::{Ends, Helper};
use crate::init::message::{Answer, NodeWanted, Request, RunWanted};
use crate::lateness::LabHealth;
use crate::observe::StationLook;
use crate::program::{Ended, Program};
use crate::switch::{Counted, Switch};
use crate::wishes;
use netburn_linux::Monotonic;
use netburn_linux::route::Route;
use netburn_network::Endpoint;
use netburn_record::Row;
use netburn_scenario::Plan;
use netburn_scenario::plan::Setting;
use netburn_units::Instant;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// A lab: nodes, the network between them, and programs at them. All of it ends when it is dropped, or this process does, however
/// that comes.
#[derive(Debug)]
pub struct Lab {
    // Before the helper: its files are the nodes' devices.
    engine: Engine,
    shared: Arc<Shared>,
    plan: Plan,
    namespaces: Vec<OwnedFd>,
    notes: Vec<String>,
    user: bool,
}

#[derive(Debug)]
struct Shared {
    helper: Mutex<Helper>,
    next: AtomicU32,
}

impl Shared {
    fn helper(&self) -> MutexGuard<'_, Helper> {
        self.helper.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program that runs at a node. Dropped, it is killed.
#[derive(Debug)]
pub struct Guest {
    id: u32,
    shared: Arc<Shared>,
    ends: Arc<Ends>,
}

impl Lab {
    /// Opens a lab for a plan. `helper` runs [`init::main`](crate::init::main) in a process of its own.
    ///
    /// # Errors
    /// When the machine doesn't permit it, or the plan's network can't be.
    pub fn open(plan: &Plan, helper: Command) -> Result<Lab, LabError> {
        if plan.stations.len() > address::MOST_STATIONS {
            return Err(LabError::TooMany(plan.stations.len()));
        }
        Switch::new(plan)?;
        let (mut helper, user, mut notes) = Helper::start(helper)?;
        if let Err(error) = helper.ask(&Request::Names(names(plan)), &[]) {
            notes.push(format!("names don't resolve: {error}"));
        }
        let usual = wishes::usual_control();
        notes.extend(usual.note.clone());
        notes.extend(wishes::unmet(plan));
        let control = |named: Option<&str>| named.unwrap_or(&usual.name).to_owned();
        let mut wanted = vec![(
            Endpoint::Server,
            "eth0",
            control(plan.server.cc.as_ref().map(|cc| cc.name())),
            0,
            false,
        )];
        for (station, number) in plan.stations.iter().zip(0..) {
            let cap = station
                .tsq
                .and_then(|tsq| tsq.settings())
                .and_then(|settings| settings.cap);
            let cap = cap.map_or(0, |cap| u32::try_from(cap.as_bytes()).unwrap_or(u32::MAX));
            // Without small queues a kernel hands over what it likes.
            let bucket = station.tsq.is_none_or(|tsq| tsq.settings().is_some());
            wanted.push((
                Endpoint::Station(number),
                "wlan0",
                control(station.cc.as_ref().map(|cc| cc.name())),
                cap,
                bucket,
            ));
        }
        let (mut ports, mut namespaces) = (Vec::new(), Vec::new());
        for (end, interface, control, output_limit, bucket) in wanted {
            let request = Request::Node(NodeWanted {
                interface: interface.to_owned(),
                v4: address::v4(end),
                v6: address::v6(end),
                control,
                output_limit,
                bucket,
                pair: false,
            });
            let (Answer::Node(made), files) = helper.ask(&request, &[])? else {
                return Err(LabError::Gone("it answers something else".to_owned()));
            };
            let Ok([device, namespace, route, raw]) = <[OwnedFd; 4]>::try_from(files) else {
                return Err(LabError::Gone("it does not give what it made".to_owned()));
            };
            for note in made.notes {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
            namespaces.push(namespace);
            ports.push(Port {
                end,
                device: File::from(device),
                route: Route::from(route),
                raw,
                index: made.index,
                bucket: made.bucket,
            });
        }
        Ok(Lab {
            engine: Engine::start(ports, plan)?,
            shared: Arc::new(Shared {
                helper: Mutex::new(helper),
                next: AtomicU32::new(0),
            }),
            plan: plan.clone(),
            namespaces,
            notes,
            user,
        })
    }

    /// What the machine doesn't let it do, for people.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Begins to carry packets, and the network's time with it: its time 0 is `zero`. Until then nothing is carried.
    ///
    /// # Errors
    /// When the plan's network can't be.
    pub fn begin(&self, zero: Monotonic) -> Result<(), LabError> {
        self.begin_and(zero, None)
    }

    /// The same, keeping what every end sends and receives, and the air, in `folder`: `server.pcapng`, `station-NAME.pcapng`,
    /// `air.pcapng`. They are whole once this lab is dropped.
    ///
    /// # Errors
    /// As for [`begin`](Self::begin), and when the files can't be made.
    pub fn begin_capturing(&self, zero: Monotonic, folder: &Path) -> Result<(), LabError> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let offset = since.as_nanos() as i64 - Monotonic::now().as_nanos() + zero.as_nanos();
        let captures = Captures::create(folder, &self.names(), offset).map_err(LabError::Capture)?;
        let seen = self.engine.write(captures).map_err(LabError::Capture)?;
        self.begin_and(zero, Some(seen))
    }

    fn begin_and(&self, zero: Monotonic, seen: Option<Sender<Seen>>) -> Result<(), LabError> {
        let before = zero.saturating_since(Monotonic::now());
        let plan = Plan {
            baseline: before,
            ..self.plan.clone()
        };
        let switch = Switch::new(&plan)?;
        self.engine.order(Order::Begin(Box::new(switch), zero, seen));
        Ok(())
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
            LabError::Refused { what, error } => LabError::Refused {
                what: format!("{what} {}", name.unwrap_or_default()),
                error,
            },
            other => other,
        })?;
        let ends = Arc::clone(helper.ends());
        drop(helper);
        Ok(Guest {
            id,
            shared: Arc::clone(&self.shared),
            ends,
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

    /// What is to be said of its own work, up to the last second.
    #[must_use]
    pub fn health(&self) -> LabHealth {
        self.engine.shown().health.clone()
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
        self.ends.of(self.id)
    }

    /// Waits until it has ended.
    pub fn wait(&self) -> Ended {
        self.ends.wait(self.id)
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

/// The lines of /etc/hosts.
fn names(plan: &Plan) -> String {
    let mut lines = String::from("127.0.0.1 localhost\n::1 localhost ip6-localhost\n");
    let stations = plan
        .stations
        .iter()
        .zip(0..)
        .map(|(station, number)| (station.name.as_str(), Endpoint::Station(number)));
    for (name, end) in std::iter::once(("server", Endpoint::Server)).chain(stations) {
        lines.push_str(&format!("{} {name}\n{} {name}\n", address::v4(end), address::v6(end)));
    }
    lines
}
