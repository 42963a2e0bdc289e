//! State that all tasks of one driver share: scheduler, connections, and the processing of events.
//!
//! An event may start a task ([`job`], [`probe`], [`hop_probe`], [`call`]), and tasks report events: together they are one unit.

pub(super) mod call;
pub(super) mod dscp;
pub(super) mod hop_probe;
mod job;
pub(super) mod probe;

use super::load::Load;
use super::sample::{SampledConnection, Sampler};
use crate::client::h2::Session;
use crate::client::{Meter, Socket, Stream, Target, tls};
use crate::clock::RunClock;
use netburn_driver::Scheduler;
use netburn_record::row::baseline_target;
use netburn_record::{EventKind, EventRow, RecordedWorkload, Row};
use netburn_units::{BitRate, Instant};
use netburn_workload::responsiveness::Part;
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
    pub(super) links: Vec<Link>,
    /// Counter and rate limit of all connections.
    pub(super) meter: Rc<Meter>,
    /// Rate limit, if there is one.
    pub(super) limit: Option<BitRate>,
    pub(super) sampler: Rc<RefCell<Sampler>>,
    /// Time until which the main loop sleeps.
    pub(super) asleep_until: Cell<Instant>,
    /// Wakes the main loop when an earlier timeout is set or all loads are settled.
    pub(super) changed: Notify,
}

/// Connections of one load to its server.
pub(super) struct Link {
    pub(super) target: Arc<Target>,
    /// Congestion control that this system rejects. Connections use the default instead.
    rejected_cc: Option<String>,
    pub(super) authority: String,
    /// True if the load waits for its turn under a rate limit: bulk transfers, and the baseline.
    pub(super) yields: bool,
    /// True if the load probes a host on the way to the server.
    is_to_hop: bool,
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
    pub(super) probe_socket: RefCell<Option<Rc<probe::ProbeSocket>>>,
    pub(super) hop_socket: RefCell<Option<Rc<hop_probe::HopSocket>>>,
    pub(super) call_socket: RefCell<Option<Rc<call::CallSocket>>>,
    /// Running requests, with the number of the HTTP/2 connection that each shares.
    jobs: RefCell<BTreeMap<RequestId, (AbortHandle, u32)>>,
}

/// An HTTP/2 connection that requests share; `None` before it is opened. The lock is held while it is opened.
pub(super) type SharedSession = tokio::sync::Mutex<Option<(Session, SampledConnection)>>;

/// An open connection and its sampling.
pub(super) struct IdleConnection {
    pub(super) watched: SampledConnection,
    pub(super) stream: Stream,
}

impl Shared {
    pub(super) fn new(loads: Vec<Load>, clock: RunClock) -> Rc<Self> {
        // Consecutive loads with the same target share a TLS configuration, which contains session tickets.
        let links: Vec<Link> = loads.iter().map(Link::new).collect();
        let limit = loads.iter().filter_map(|load| load.target.limit).min();
        let total = loads.iter().find_map(|load| load.target.total.clone());
        let places: Vec<_> = loads.iter().map(|load| load.station).collect();
        let watched = loads.into_iter();
        let watched = watched.map(|load| RecordedWorkload::new(load.station, load.workload, load.machine));
        let mut scheduler = Scheduler::new(watched.collect());
        let rejected = links.iter().zip(places);
        let rejected = rejected.filter_map(|(link, station)| Some((station, link.rejected_cc.as_deref()?)));
        for (station, name) in rejected.collect::<BTreeSet<_>>() {
            scheduler.put(rejection(clock.now(), station, name));
        }
        Rc::new(Shared {
            clock,
            scheduler: RefCell::new(scheduler),
            links,
            meter: Rc::new(Meter::new(clock, limit, total)),
            limit,
            sampler: Rc::default(),
            asleep_until: Cell::new(Instant::from_nanos(i64::MIN)),
            changed: Notify::new(),
        })
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
            let link = &self.links[index];
            match action {
                Action::Begin(request) => {
                    let job = spawn_local(job::run(Rc::clone(self), index, request));
                    let running = (job.abort_handle(), link.session_number(&request));
                    link.jobs.borrow_mut().insert(request.id, running);
                }
                Action::Send { id, size, .. } if link.is_to_hop => hop_probe::send(self, index, id, size),
                Action::Send { id, size, .. } => probe::send(self, index, id, size),
                Action::SendOneWay { id, direction, .. } => call::send(self, index, id, direction),
                Action::Cancel(id) => {
                    if let Some((job, session)) = self.forget(index, id) {
                        job.abort();
                        // A self probe that timed out does not end the load of its connection.
                        if !(link.has_probes && Part::from_sequence(id.operation) == Part::Own) {
                            link.distrust_session(session);
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
        self.links[index].jobs.borrow_mut().remove(&id)
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

impl Link {
    fn new(load: &Load) -> Self {
        let (target, config) = (&load.target, load.machine.config());
        let has_probes = config.kind().has_handshake_times;
        let rejected_cc = target.cc.clone().filter(|name| is_rejected(target, name));
        Link {
            yields: config.kind().has_own_connections || baseline_target(load.workload).is_some(),
            has_own_connections: config.kind().has_own_connections,
            has_probes,
            is_to_hop: config.target().is_some_and(|target| target != ProbeTarget::Server),
            authority: target.authority(),
            tls: target.tls.as_ref().map(|trust| {
                let config = tls::config(trust, target.http)?;
                // A resumed session has fewer bytes and no certificate.
                Ok(if has_probes {
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
            probe_socket: RefCell::default(),
            hop_socket: RefCell::default(),
            call_socket: RefCell::default(),
            jobs: RefCell::default(),
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
