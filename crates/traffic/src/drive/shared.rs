//! What all tasks of one driver share: the core, each load's connections, and the way from an event to what follows.

use super::load::Load;
use super::sample::{SampledConnection, Sampler};
use super::scheduler::Scheduler;
use super::{job, probe};
use crate::client::h2::Session;
use crate::client::{Meter, Socket, Stream, Target, tls};
use crate::clock::RunClock;
use netburn_record::row::BASELINE;
use netburn_record::{EventKind, EventRow, Row};
use netburn_units::{BitRate, Instant};
use netburn_workload::{Action, Kind, RequestId, Workload};
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
    /// What all connections move, and how fast this host lets itself move it.
    pub(super) meter: Rc<Meter>,
    /// The bound on the rate, if there is one.
    pub(super) limit: Option<BitRate>,
    pub(super) sampler: Rc<RefCell<Sampler>>,
    /// What the main loop sleeps until.
    pub(super) asleep_until: Cell<Instant>,
    /// Wakes the main loop when something falls due earlier, or all is settled.
    pub(super) changed: Notify,
}

/// One load's way to its server.
pub(super) struct Link {
    pub(super) target: Arc<Target>,
    /// The congestion control that this system refuses: connections have the system's own.
    refused_cc: Option<String>,
    pub(super) authority: String,
    /// Whether it waits for its turn where the rate is bounded: its workload takes all that goes through, or measures the
    /// idle network.
    pub(super) yields: bool,
    /// How TLS is made; what was wrong with that makes every dial fail.
    pub(super) tls: Option<io::Result<Arc<ClientConfig>>>,
    /// Idle kept connections.
    pub(super) kept: RefCell<BTreeMap<u32, Kept>>,
    /// The one HTTP/2 connection that kept requests share.
    pub(super) session: tokio::sync::Mutex<Option<(Session, SampledConnection)>>,
    /// The socket that probes use.
    pub(super) probe_socket: RefCell<Option<Rc<probe::ProbeSocket>>>,
    /// Requests under way.
    jobs: RefCell<BTreeMap<RequestId, AbortHandle>>,
}

/// A connection that stays open, and the look at it.
pub(super) struct Kept {
    pub(super) watched: SampledConnection,
    pub(super) stream: Stream,
}

impl Shared {
    pub(super) fn new(loads: Vec<Load>, clock: RunClock) -> Rc<Self> {
        // Loads of one target share their TLS configuration where they are neighbours: it holds session tickets.
        let links: Vec<Link> = loads.iter().map(Link::new).collect();
        let limit = loads.iter().filter_map(|load| load.target.limit).min();
        let total = loads.iter().find_map(|load| load.target.total.clone());
        let places: Vec<_> = loads.iter().map(|load| load.station).collect();
        let mut scheduler = Scheduler::new(loads);
        let refused = links.iter().zip(places);
        let refused = refused.filter_map(|(link, station)| Some((station, link.refused_cc.as_deref()?)));
        for (station, name) in refused.collect::<BTreeSet<_>>() {
            scheduler.put(refusal(clock.now(), station, name));
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

    /// Something happened to one load's machine: tells it, and does what follows from it and from what has fallen due.
    pub(super) fn event(self: &Rc<Self>, index: usize, input: impl FnOnce(&mut Workload, Instant)) {
        let now = self.clock.now();
        {
            let mut scheduler = self.scheduler.borrow_mut();
            scheduler.handle(index, now, |machine| input(machine, now));
            scheduler.handle_timeout(now);
        }
        self.act();
    }

    /// As [`event`](Self::event), with the core itself.
    pub(super) fn with_scheduler(self: &Rc<Self>, input: impl FnOnce(&mut Scheduler, Instant)) {
        let now = self.clock.now();
        {
            let mut scheduler = self.scheduler.borrow_mut();
            input(&mut scheduler, now);
            scheduler.handle_timeout(now);
        }
        self.act();
    }

    /// Does what the core wants done.
    pub(super) fn act(self: &Rc<Self>) {
        loop {
            let next = self.scheduler.borrow_mut().poll_action();
            let Some((index, action)) = next else { break };
            let link = &self.links[index];
            match action {
                Action::Begin(request) => {
                    let job = spawn_local(job::run(Rc::clone(self), index, request));
                    link.jobs.borrow_mut().insert(request.id, job.abort_handle());
                }
                Action::Send { id, size, .. } => probe::send(self, index, id, size),
                Action::Cancel(id) => {
                    if let Some(job) = self.forget(index, id) {
                        job.abort();
                        link.distrust_session();
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

    /// A request is under way no more.
    pub(super) fn forget(&self, index: usize, id: RequestId) -> Option<AbortHandle> {
        self.links[index].jobs.borrow_mut().remove(&id)
    }

    /// Begins to look at a connection.
    pub(super) fn watch(&self, index: usize, socket: &Socket) -> SampledConnection {
        Sampler::watch(&self.sampler, index, socket, self.clock.now())
    }
}

/// Whether this system refuses connections of that congestion control.
fn is_refused(target: &Target, name: &str) -> bool {
    let socket = match target.address.is_ipv4() {
        true => TcpSocket::new_v4(),
        false => TcpSocket::new_v6(),
    };
    // Without a socket every dial fails, and says why.
    socket.is_ok_and(|socket| netburn_linux::set_congestion_control(&socket, name).is_err())
}

fn refusal(at: Instant, station: u16, name: &str) -> Row {
    Row::Event(EventRow {
        station: Some(station),
        workload: None,
        at,
        length: 0,
        kind: EventKind::Warning,
        text: format!(
            "this system refuses the congestion control `{name}`: what the station sends has the system's own"
        ),
    })
}

impl Link {
    fn new(load: &Load) -> Self {
        let target = &load.target;
        let refused_cc = target.cc.clone().filter(|name| is_refused(target, name));
        Link {
            yields: matches!(load.machine.config().kind, Kind::Download | Kind::Upload) || load.workload == BASELINE,
            authority: target.authority(),
            tls: target.tls.as_ref().map(|trust| tls::config(trust, target.http)),
            target: match &refused_cc {
                Some(_) => Arc::new(Target {
                    cc: None,
                    ..(**target).clone()
                }),
                None => Arc::clone(target),
            },
            refused_cc,
            kept: RefCell::default(),
            session: tokio::sync::Mutex::new(None),
            probe_socket: RefCell::default(),
            jobs: RefCell::default(),
        }
    }

    /// A request was given up: an HTTP/2 connection may be dead without anybody saying so, and takes no more of them.
    /// Those on it go on.
    fn distrust_session(&self) {
        // Whoever holds the lock is dialling another one.
        if let Ok(mut session) = self.session.try_lock() {
            *session = None;
        }
    }

    /// The TLS configuration, if any.
    pub(super) fn tls(&self) -> io::Result<Option<&Arc<ClientConfig>>> {
        match &self.tls {
            None => Ok(None),
            Some(Ok(config)) => Ok(Some(config)),
            Some(Err(error)) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }
}
