//! State that all tasks of one driver share: scheduler, connections, and the processing of events.
//!
//! An event may start a task ([`job`], [`probe`], [`hop_probe`], [`call`]), and tasks report events: together they are one unit.
//! [`datagrams`]: the sockets of probes and calls.

mod call;
mod datagrams;
pub(super) mod dscp;
mod hop_probe;
mod job;
pub(super) mod probe;

use super::load::Load;
use super::sample::{SampledConnection, Sampler};
use crate::client::h2::Session;
use crate::client::{Meter, Resource, Socket, Stream, Target, tls};
use crate::clock::RunClock;
use crate::datagram::Arrivals;
use netburn_driver::Scheduler;
use netburn_platform::socket::SENDS_DSCP;
use netburn_record::row::baseline_target;
use netburn_record::{EventKind, EventRow, RecordedWorkload, Row};
use netburn_units::{BitRate, Instant};
use netburn_workload::kinds::responsiveness::Part;
use netburn_workload::{Action, Connection, ProbeTarget, Request, RequestId, Workload};
use rustls::ClientConfig;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use tokio::net::TcpSocket;
use tokio::sync::Notify;
use tokio::task::{AbortHandle, spawn_local};

pub(super) struct Shared {
    pub(super) clock: RunClock,
    pub(super) scheduler: RefCell<Scheduler>,
    pub(super) loads: Vec<LoadSockets>,
    /// Counter and rate limit of all connections.
    pub(super) meter: Rc<Meter>,
    /// Rate limit, if there is one.
    pub(super) limit: Option<BitRate>,
    pub(super) sampler: Rc<RefCell<Sampler>>,
    /// Cause of the first failure on a load connection of `responsiveness`.
    pub(super) load_failure: RefCell<Option<String>>,
    /// Time until which the main loop sleeps.
    pub(super) asleep_until: Cell<Instant>,
    /// Wakes the main loop when an earlier timeout is set or all loads are settled.
    pub(super) changed: Notify,
}

/// Connections of one load to its server.
pub(super) struct LoadSockets {
    pub(super) target: Arc<Target>,
    /// Congestion control that this system rejects. Connections use the default instead.
    rejected_cc: Option<String>,
    pub(super) authority: String,
    /// True if the load waits for its turn under a rate limit: bulk transfers, and the baseline.
    pub(super) yields: bool,
    /// TLS configuration, or the error that makes every connection fail.
    pub(super) tls: Option<io::Result<Arc<ClientConfig>>>,
    /// Idle connections for reuse.
    pub(super) kept: RefCell<BTreeMap<u32, IdleConnection>>,
    /// HTTP/2 connections that requests share. Each stream of a bulk transfer has one, another workload has number 0.
    sessions: RefCell<BTreeMap<u32, Rc<SharedSession>>>,
    /// True if each persistent connection has its own HTTP/2 connection.
    has_own_connections: bool,
    /// True for `responsiveness`.
    pub(super) has_probes: bool,
    /// Socket of a load whose operations are packets; `None` if it can't be opened.
    packets: RefCell<Option<PacketSocket>>,
    /// Running requests, with the number of the HTTP/2 connection that each shares.
    jobs: RefCell<BTreeMap<RequestId, (AbortHandle, u32)>>,
}

/// Socket of probes or of a call.
#[derive(Clone)]
enum PacketSocket {
    Probe(Rc<probe::ProbeSocket>),
    Hop(Rc<hop_probe::HopSocket>),
    Call(Rc<call::CallSocket>),
}

/// An HTTP/2 connection that requests share; `None` before it is opened. The lock is held while it is opened.
pub(super) type SharedSession = tokio::sync::Mutex<Option<(Session, SampledConnection)>>;

/// An open connection and its sampling.
pub(super) struct IdleConnection {
    pub(super) sampled: SampledConnection,
    pub(super) stream: Stream,
}

impl Shared {
    pub(super) fn new(loads: Vec<Load>, clock: RunClock) -> Rc<Self> {
        // Consecutive loads with the same target share a TLS configuration, which contains session tickets.
        let sockets: Vec<LoadSockets> = loads.iter().map(LoadSockets::new).collect();
        let limit = loads.iter().filter_map(|load| load.target.limit).min();
        let total = loads.iter().find_map(|load| load.target.total.clone());
        let places: Vec<_> = loads.iter().map(|load| load.station).collect();
        let recorded = loads
            .into_iter()
            .map(|load| RecordedWorkload::new(load.station, load.workload, load.machine));
        let mut scheduler = Scheduler::new(recorded.collect());
        let rejected = sockets.iter().zip(places);
        let rejected = rejected.filter_map(|(load, station)| Some((station, load.rejected_cc.as_deref()?)));
        for (station, name) in rejected.collect::<BTreeSet<_>>() {
            scheduler.put(rejection(clock.now(), station, name));
        }
        for station in unmarked(&scheduler, sockets.len()) {
            scheduler.put(unmarked_warning(clock.now(), station));
        }
        Rc::new(Shared {
            clock,
            scheduler: RefCell::new(scheduler),
            loads: sockets,
            meter: Rc::new(Meter::new(clock, limit, total)),
            limit,
            sampler: Rc::default(),
            load_failure: RefCell::default(),
            asleep_until: Cell::new(Instant::from_nanos(i64::MIN)),
            changed: Notify::new(),
        })
    }

    /// Opens the sockets of all loads whose operations are packets, so that handshakes are complete when the first packet is
    /// due.
    pub(super) fn open_packet_sockets(self: &Rc<Self>) {
        for (index, load) in self.loads.iter().enumerate() {
            let (target, plan) = {
                let scheduler = self.scheduler.borrow();
                (scheduler.config(index).target(), scheduler.call_plan(index))
            };
            let opened = match (plan, target) {
                (Some(plan), _) => call::open(self, index, plan).map(PacketSocket::Call),
                (None, Some(ProbeTarget::Server)) if !load.target.pings => {
                    probe::open(self, index).map(PacketSocket::Probe)
                }
                (None, Some(hop)) => hop_probe::open(self, index, hop).map(PacketSocket::Hop),
                (None, None) => None,
            };
            *load.packets.borrow_mut() = opened;
        }
    }

    /// Passes an event to one load's workload, handles due timeouts, and runs the resulting actions.
    pub(super) fn event(self: &Rc<Self>, index: usize, input: impl FnOnce(&mut Workload, Instant)) {
        let now = self.clock.now();
        {
            let mut scheduler = self.scheduler.borrow_mut();
            scheduler.handle(index, now, |machine| input(machine, now));
            scheduler.handle_timeout(now);
        }
        self.act();
    }

    /// As [`event`](Self::event), with the scheduler as argument.
    pub(super) fn with_scheduler(self: &Rc<Self>, input: impl FnOnce(&mut Scheduler, Instant)) {
        let now = self.clock.now();
        {
            let mut scheduler = self.scheduler.borrow_mut();
            input(&mut scheduler, now);
            scheduler.handle_timeout(now);
        }
        self.act();
    }

    /// Runs the scheduler's actions.
    pub(super) fn act(self: &Rc<Self>) {
        loop {
            let next = self.scheduler.borrow_mut().poll_action();
            let Some((index, action)) = next else { break };
            let load = &self.loads[index];
            match action {
                Action::Begin(request) => {
                    let job = spawn_local(job::run(Rc::clone(self), index, request));
                    let running = (job.abort_handle(), load.session_number(&request));
                    load.jobs.borrow_mut().insert(request.id, running);
                }
                Action::Send { id, size, .. } => {
                    let sent = match &*load.packets.borrow() {
                        Some(PacketSocket::Probe(socket)) => probe::send(socket, self.clock.now(), id, size),
                        Some(PacketSocket::Hop(socket)) => socket.send(id.operation, size),
                        Some(PacketSocket::Call(_)) | None => false,
                    };
                    // A probe that cannot be sent is never answered, and times out.
                    if !sent {
                        self.scheduler.borrow_mut().handle_unsent();
                    }
                }
                Action::SendOneWay { id, direction, .. } => call::send(self, index, id, direction),
                Action::Cancel(id) => {
                    if let Some((job, session)) = self.forget(index, id) {
                        job.abort();
                        // A self probe that timed out does not end the load of its connection.
                        if !(load.has_probes && Part::from_sequence(id.operation) == Part::Own) {
                            load.distrust_session(session);
                        }
                    }
                }
            }
        }
        let scheduler = self.scheduler.borrow();
        let earlier = scheduler.poll_timeout().is_some_and(|at| at < self.asleep_until.get());
        if earlier || scheduler.is_settled() {
            self.changed.notify_one();
        }
    }

    /// A request has ended.
    pub(super) fn forget(&self, index: usize, id: RequestId) -> Option<(AbortHandle, u32)> {
        self.loads[index].jobs.borrow_mut().remove(&id)
    }

    /// Starts sampling a connection.
    pub(super) fn watch(&self, index: usize, socket: &Socket) -> SampledConnection {
        Sampler::watch(&self.sampler, index, socket, self.clock.now())
    }
}

/// Returns whether this system rejects a congestion control.
fn is_rejected(target: &Target, name: &str) -> bool {
    let socket = if target.address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    };
    // Without a socket every connection fails with its own error.
    socket.is_ok_and(|socket| netburn_platform::set_congestion_control(&socket, name).is_err())
}

fn rejection(at: Instant, station: u16, name: &str) -> Row {
    Row::Event(EventRow {
        station: Some(station),
        workload: None,
        at,
        length: 0,
        kind: EventKind::Warning,
        detail: format!("this system rejects the congestion control `{name}`: the station uses the system's default")
            .into(),
    })
}

/// Stations whose scenario marks packets, on a system that does not send the marks.
fn unmarked(scheduler: &Scheduler, loads: usize) -> BTreeSet<u16> {
    let marking = |index: &usize| !SENDS_DSCP && scheduler.config(*index).marking().dscp != 0;
    (0..loads)
        .filter(marking)
        .map(|index| scheduler.place(index).0)
        .collect()
}

fn unmarked_warning(at: Instant, station: u16) -> Row {
    Row::Event(EventRow {
        station: Some(station),
        workload: None,
        at,
        length: 0,
        kind: EventKind::Warning,
        detail: "this system does not send the DSCP of a program: the station's packets are unmarked"
            .to_owned()
            .into(),
    })
}

impl LoadSockets {
    fn new(load: &Load) -> Self {
        let (target, config) = (&load.target, load.machine.config());
        let has_probes = config.kind().has_self_probes;
        let times_handshakes = config.kind().has_handshake_times;
        let rejected_cc = target.cc.clone().filter(|name| is_rejected(target, name));
        LoadSockets {
            yields: config.kind().has_own_connections || baseline_target(load.workload).is_some(),
            has_own_connections: config.kind().has_own_connections,
            has_probes,
            authority: match &target.resource {
                Resource::Responsiveness(objects) => objects.authority.clone(),
                _ => target.authority(),
            },
            tls: target.tls.as_ref().map(|trust| {
                let config = tls::config(trust, target.http)?;
                // A resumed session has fewer bytes and no certificate.
                Ok(if times_handshakes {
                    tls::without_resumption(&config)
                } else {
                    config
                })
            }),
            target: match &rejected_cc {
                Some(_) => Arc::new(Target {
                    cc: None,
                    ..(**target).clone()
                }),
                None => Arc::clone(target),
            },
            rejected_cc,
            kept: RefCell::default(),
            sessions: RefCell::default(),
            packets: RefCell::default(),
            jobs: RefCell::default(),
        }
    }

    /// Returns the packets by the DSCP with which they arrived; `None` if it is unknown or there are no packets.
    fn arrivals(&self) -> Option<Arrivals> {
        match &*self.packets.borrow() {
            Some(PacketSocket::Probe(socket)) => Some(socket.arrivals()),
            Some(PacketSocket::Call(socket)) => Some(socket.arrivals()),
            Some(PacketSocket::Hop(_)) | None => None,
        }
    }

    /// Number of the HTTP/2 connection of a request on a persistent connection.
    fn session_number(&self, request: &Request) -> u32 {
        match request.connection {
            Connection::Kept(slot) if self.has_own_connections => slot,
            Connection::Kept(_) | Connection::New => 0,
        }
    }

    /// HTTP/2 connection of a request on a persistent connection.
    pub(super) fn session(&self, request: &Request) -> Rc<SharedSession> {
        let number = self.session_number(request);
        Rc::clone(self.sessions.borrow_mut().entry(number).or_default())
    }

    /// A request was cancelled: its HTTP/2 connection may be dead without an error, so new requests use another one.
    /// The other streams continue.
    fn distrust_session(&self, number: u32) {
        let sessions = self.sessions.borrow();
        // The lock is held while another connection is opened.
        if let Some(mut session) = sessions.get(&number).and_then(|session| session.try_lock().ok()) {
            *session = None;
        }
    }

    /// Returns the TLS configuration, if any.
    pub(super) fn tls(&self) -> io::Result<Option<&Arc<ClientConfig>>> {
        match &self.tls {
            None => Ok(None),
            Some(Ok(config)) => Ok(Some(config)),
            Some(Err(error)) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }
}
