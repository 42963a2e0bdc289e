//! Driver of a responsiveness test: runs its state machine over sockets, on one thread.
//!
//! `load`: connections with load. `probe`: probes.

mod load;
mod probe;

use super::options::Options;
use super::report::{Report, TestReport};
use super::site::{RpmError, Site};
use crate::client::h2::Session;
use crate::client::{Meter, Stream, tls};
use crate::clock::RunClock;
use crate::drive::CancelToken;
use netburn_platform::{Monotonic, Timer, cpu::ThreadId};
use netburn_scenario::plan::Http;
use netburn_units::{Duration, Instant, Seed};
use netburn_workload::Direction;
use netburn_workload::responsiveness::{Action, Config, ConnectionId, Interval, Machine};
use rustls::ClientConfig;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::task::{LocalSet, spawn_local};

/// Performs the tests of `options` against a site, one after the other. Calls `interval` after every interval, with the
/// directions of the test.
///
/// Cancelling `stop` ends the test, with a report of the results so far. All work runs on the thread that polls this
/// future; it should have no other tasks.
///
/// # Errors
/// [`RpmError::Parameter`], and [`RpmError::Machine`] when this machine provides no timer or no certificates. Errors of the
/// server during a test are in the report.
pub async fn run(
    options: &Options,
    site: &Site,
    stop: CancelToken,
    mut interval: impl FnMut(&[Direction], &Interval),
) -> Result<Report, RpmError> {
    // Every connection is a file.
    let _ = netburn_platform::raise_open_files();
    let mut tests = Vec::new();
    for (number, config) in options.tests()?.into_iter().enumerate() {
        let seed = options.seed.repeat(number as u64);
        let test = test(config, seed, site, stop.clone(), &mut interval).await?;
        let ended = test.failure.is_some() || stop.is_stopped();
        tests.push(test);
        if ended {
            break;
        }
    }
    Ok(Report::new(options, site, tests))
}

async fn test(
    config: Config,
    seed: Seed,
    site: &Site,
    stop: CancelToken,
    interval: &mut impl FnMut(&[Direction], &Interval),
) -> Result<TestReport, RpmError> {
    let directions = config.directions.clone();
    let shared = Shared::new(config, seed, site)?;
    // Its end closes all connections.
    let local = LocalSet::new();
    let cpu = local
        .run_until(drive(&shared, stop, |ended| interval(&directions, ended)))
        .await?;
    drop(local);
    let result = shared.machine.borrow().result();
    Ok(TestReport {
        directions,
        result,
        tls: shared.tls_version.get(),
        failure: shared.failure.take(),
        cpu,
    })
}

/// Drives the machine to its end. Returns the share of one processor that this thread has used.
async fn drive(
    shared: &Rc<Shared>,
    mut stop: CancelToken,
    mut interval: impl FnMut(&Interval),
) -> std::io::Result<f64> {
    let mut timer = Timer::new()?;
    let mut stopped = pin!(async move { stop.stopped().await });
    let mut is_stopped = false;
    let thread = ThreadId::current();
    let (begun, used) = (shared.clock.now(), thread.time().ok());
    loop {
        shared.with_machine(Machine::handle_timeout);
        while let Some(ended) = shared.next_interval() {
            interval(&ended);
        }
        let next = {
            let machine = shared.machine.borrow();
            if machine.is_finished() {
                break;
            }
            machine.poll_timeout().map(|wake| wake.at)
        };
        shared.wake.set(next);
        let wait = next.map_or(Duration::from_secs(1), |at| {
            at.checked_since(shared.clock.now()).unwrap_or(Duration::ZERO)
        });
        tokio::select! {
            biased;
            () = &mut stopped, if !is_stopped => {
                is_stopped = true;
                shared.with_machine(Machine::cancel);
            }
            () = timer.until(Monotonic::now() + wait) => {}
            () = shared.changed.notified() => {}
        }
    }
    let span = shared.clock.now().checked_since(begun).unwrap_or(Duration::ZERO);
    let busy = match (used, thread.time()) {
        (Some(before), Ok(after)) => after.saturating_sub(before),
        _ => Duration::ZERO,
    };
    Ok(busy.as_secs_f64() / span.as_secs_f64().max(1e-9))
}

/// State of a test that its tasks share.
struct Shared {
    machine: RefCell<Machine>,
    clock: RunClock,
    changed: Notify,
    /// Timeout for which the driver waits.
    wake: Cell<Option<Instant>>,
    site: Site,
    /// Host and port of the URLs.
    authority: String,
    tls: Arc<ClientConfig>,
    meter: Rc<Meter>,
    probe_timeout: std::time::Duration,
    sessions: RefCell<BTreeMap<ConnectionId, Session>>,
    /// Cause of the failure of a connection.
    failure: RefCell<Option<String>>,
    tls_version: Cell<Option<rustls::ProtocolVersion>>,
}

impl Shared {
    fn new(config: Config, seed: Seed, site: &Site) -> Result<Rc<Shared>, RpmError> {
        let trust = site.target.tls.as_ref().expect("the site was reached over TLS");
        // A resumed session has fewer round trips and no certificate.
        let tls = tls::without_resumption(&*tls::config(trust, Http::H2)?);
        let clock = RunClock::starting_now();
        let probe_timeout = std::time::Duration::from_nanos(config.probe_timeout.as_nanos());
        Ok(Rc::new(Shared {
            machine: RefCell::new(Machine::new(config, clock.now(), seed)?),
            clock,
            changed: Notify::new(),
            wake: Cell::new(None),
            authority: match site.urls.port {
                443 => site.urls.host.clone(),
                port => format!("{}:{port}", site.urls.host),
            },
            site: site.clone(),
            tls,
            meter: Rc::new(Meter::default()),
            probe_timeout,
            sessions: RefCell::default(),
            failure: RefCell::default(),
            tls_version: Cell::new(None),
        }))
    }

    /// Calls the machine, performs its actions, and wakes the driver if its timeout has changed.
    fn with_machine(self: &Rc<Self>, call: impl FnOnce(&mut Machine, Instant)) {
        let mut machine = self.machine.borrow_mut();
        call(&mut machine, self.clock.now());
        while let Some(action) = machine.poll_action() {
            self.perform(action);
        }
        if machine.is_finished() || machine.poll_timeout().map(|wake| wake.at) != self.wake.get() {
            self.changed.notify_one();
        }
    }

    fn perform(self: &Rc<Self>, action: Action) {
        match action {
            Action::Open { connection, load } => {
                spawn_local(load::run(Rc::clone(self), connection, load));
            }
            Action::Close(connection) => {
                self.sessions.borrow_mut().remove(&connection);
            }
            Action::Probe { probe, on } => {
                let session = on.map(|connection| self.sessions.borrow().get(&connection).cloned());
                spawn_local(probe::run(Rc::clone(self), probe, session));
            }
        }
    }

    fn next_interval(&self) -> Option<Interval> {
        self.machine.borrow_mut().poll_interval()
    }

    /// A connection is open.
    fn opened(self: &Rc<Self>, connection: ConnectionId, session: Session) {
        self.sessions.borrow_mut().insert(connection, session);
        self.with_machine(|machine, now| machine.handle_opened(now, connection));
    }

    /// A connection has failed.
    fn failed(self: &Rc<Self>, connection: ConnectionId, cause: String) {
        self.with_machine(|machine, now| {
            if !machine.is_finished() {
                machine.handle_failed(now, connection);
                if machine.is_finished() {
                    self.failure.borrow_mut().get_or_insert(cause);
                }
            }
        });
    }

    /// Returns the TLS configuration.
    fn tls(&self) -> &Arc<ClientConfig> {
        &self.tls
    }

    /// Stores the TLS version of a connection. Returns `false` if the server does not support HTTP/2.
    fn negotiated(&self, stream: &Stream) -> bool {
        let Stream::Tls(stream) = stream else { return false };
        let session = stream.get_ref().1;
        self.tls_version.set(session.protocol_version());
        session.alpn_protocol() == Some(b"h2")
    }
}
