//! Sockets and timers of a [`Hub`].

mod accept;
mod driver;
#[cfg_attr(unix, path = "serve/local/unix.rs")]
#[cfg_attr(not(unix), path = "serve/local/portable.rs")]
mod local;
mod router;
mod storage;

use super::admission::{Accepted, Authenticated, Metered, PeerAddr, PendingConnections, PendingSlot, open};
use super::admission_limit::{AdmissionLimit, Ticket};
use super::control::{ControlRequest, MAX_CONTROL_MESSAGE, MemberStatus, ObservedAccessPoints};
use super::http::{self, ConnectionHandler, Endpoint};
use super::http_handler::HttpHandler;
use super::machine::{ConnectionKind, Hub, Output, PeerInfo, Setup, is_for_operator};
use super::proxy;
use super::rejections::{RejectionLog, RejectionSummary};
use super::state::{ControllerInfo, State, StateError, StateLock};
use crate::late::{JobResult, LateCollector};
use accept::{accept_local, accept_tcp, acceptor, listen};
use driver::{Event, HubDriver, Outgoing};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use local::LocalListener;
use netburn_fleet_member::addresses;
use netburn_protocol::clock::Stamp;
use netburn_protocol::duplex;
use netburn_protocol::join_url::{self, JoinUrl};
use netburn_protocol::messages::standing::{FromMember, MAX_FROM_MEMBER, PendingResults};
use netburn_protocol::messages::{Malformed, Message, Rejection};
use netburn_protocol::own_clock::{OwnClock, to_std};
use netburn_protocol::token::Token;
use netburn_protocol::transport::Channel;
use netburn_record::UnixTime;
use netburn_run_control::controller::ConnectionId;
use netburn_run_control::disk_queue::disk_queue;
use netburn_run_control::timer::Timer;
use netburn_traffic::load_monitor::LoadMonitor;
use netburn_traffic::tls::Identity;
use netburn_units::Duration;
use router::Router;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use storage::{Reply, Storage};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};
use tokio_rustls::TlsAcceptor;

/// Maximum number of queued events: with messages of maximum length, 64 MiB.
const MAX_EVENTS: usize = 64;
/// Maximum number of queued messages per connection. If the queue is full, the connection closes.
const MAX_OUTGOING: usize = 256;
/// Maximum number of bytes from a peer before it authenticates.
const MAX_UNAUTHENTICATED_BYTES: usize = 64 << 10;
/// Maximum number of proxied connections.
const MAX_PROXIED: usize = 8192;
/// Time limit for sending the last messages.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval of syncing late results.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
/// Delay after a failed accept.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// Settings of a controller.
#[derive(Debug)]
pub struct Config {
    /// State directory.
    pub state: State,
    /// Listening addresses. Default: port [`join_url::PORT`] of every address.
    pub listen: Vec<SocketAddr>,
    /// Name of the fleet.
    pub fleet: String,
    /// Host in the printed addresses; `None`: this machine's addresses.
    pub host: Option<String>,
    /// Certificate that the devices' systems trust, so that browsers can use TLS. `None`: a generated one,
    /// for agents only.
    pub certificate: Option<Identity>,
    /// Access points that runs observe.
    pub observed: ObservedAccessPoints,
}

/// Error of starting a controller.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The state directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A socket can't be opened.
    #[error("can't listen at {at}: {source}")]
    Listen {
        /// Address of the socket.
        at: String,
        /// Cause.
        source: io::Error,
    },
}

/// Event of a controller, for its user interface.
#[derive(Debug)]
pub enum ControllerEvent<'a> {
    /// A member registered.
    Joined(&'a MemberStatus),
    /// The member of this name disconnected.
    Left(&'a str),
    /// A connection or message was rejected: the sender and the reason. Only the first of many from one
    /// address.
    Rejected(&'a str, &'a str),
    /// Number of further rejections from one address.
    MoreRejected(RejectionSummary),
    /// New join addresses, and a new token for the dashboard.
    Revoked(&'a [JoinUrl], Token),
}

/// A controller with open sockets.
pub struct Controller {
    lock: StateLock,
    late_results: LateCollector,
    site: Site,
    listeners: Vec<TcpListener>,
    local: LocalListener,
    token: Token,
    secret: Token,
    http_handler: Option<Arc<dyn HttpHandler>>,
}

impl Config {
    /// Default settings for a fleet of this name.
    #[must_use]
    pub fn new(state: State, fleet: String) -> Config {
        let everywhere = [IpAddr::from(Ipv4Addr::UNSPECIFIED), Ipv6Addr::UNSPECIFIED.into()];
        Config {
            state,
            listen: everywhere.map(|ip| SocketAddr::new(ip, join_url::PORT)).to_vec(),
            fleet,
            host: None,
            certificate: None,
            observed: ObservedAccessPoints::default(),
        }
    }
}

impl Controller {
    /// Opens the sockets and writes their addresses for this user's other commands. Must be called within a
    /// runtime.
    ///
    /// # Errors
    /// [`ServeError`] if a controller of this user is running, or a file or socket can't be opened.
    pub fn bind(config: Config) -> Result<Controller, ServeError> {
        let lock = config.state.lock()?;
        let token = Token::known(&lock.token()?);
        let late = lock.state().path().join("late");
        let late_results = LateCollector::open(&late).map_err(|source| StateError::Io { path: late, source })?;
        let identity = match &config.certificate {
            Some(given) => given.clone(),
            None => lock.identity()?,
        };
        let mut listeners = Vec::new();
        let mut addresses: Vec<SocketAddr> = Vec::new();
        for &at in &config.listen {
            // All listeners without a port share one.
            let port = match at.port() {
                0 => addresses.first().map_or(0, SocketAddr::port),
                port => port,
            };
            let at = SocketAddr::new(at.ip(), port);
            match listen(at) {
                Ok(listener) => {
                    addresses.push(listener.local_addr().unwrap_or(at));
                    listeners.push(listener);
                }
                // This machine has no IPv6.
                Err(error)
                    if at.ip() == Ipv6Addr::UNSPECIFIED
                        && !addresses.is_empty()
                        && error.kind() != io::ErrorKind::AddrInUse => {}
                Err(source) => {
                    let at = at.to_string();
                    return Err(ServeError::Listen { at, source });
                }
            }
        }
        let socket = lock.socket();
        // The lock is held, so an existing socket belongs to a killed controller.
        let local = LocalListener::bind(&socket).map_err(|source| ServeError::Listen {
            at: socket.display().to_string(),
            source,
        })?;
        let secret = Token::random().map_err(|source| ServeError::Listen {
            at: socket.display().to_string(),
            source,
        })?;
        let near = addresses
            .iter()
            .find(|at| at.ip().is_unspecified() || at.ip().is_loopback());
        lock.announce(&ControllerInfo {
            process: std::process::id(),
            socket: LocalListener::EXISTS.then_some(socket),
            loopback: near.map(|at| match at.ip() {
                IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::from((Ipv4Addr::LOCALHOST, at.port())),
                IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::from((Ipv6Addr::LOCALHOST, at.port())),
                _ => *at,
            }),
            secret: secret.reveal().to_owned(),
        })?;
        Ok(Controller {
            lock,
            late_results,
            site: Site {
                config,
                identity,
                addresses,
            },
            listeners,
            local,
            token,
            secret,
            http_handler: None,
        })
    }

    /// Listening addresses.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.site.addresses
    }

    /// SHA-256 of the certificate.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.site.identity.fingerprint()
    }

    /// Join addresses for the network, best first.
    #[must_use]
    pub fn urls(&self) -> Vec<JoinUrl> {
        self.site.urls(self.token.reveal())
    }

    /// Token of the dashboard. It is stored like the fleet's token, and members do not receive it.
    ///
    /// # Errors
    /// If it can't be read or created.
    pub fn runs_token(&self) -> Result<Token, StateError> {
        Ok(Token::known(&self.lock.runs_token()?))
    }

    /// Sets the handler of the routes below [`RUNS_PREFIX`](super::RUNS_PREFIX).
    pub fn set_http_handler(&mut self, http_handler: Arc<dyn HttpHandler>) {
        self.http_handler = Some(http_handler);
    }

    /// Join address on this machine.
    #[must_use]
    pub fn local_url(&self) -> JoinUrl {
        if !LocalListener::EXISTS {
            return self.site.url(Ipv4Addr::LOCALHOST.to_string(), self.token.reveal());
        }
        JoinUrl {
            place: join_url::Place::Unix(self.lock.socket()),
            token: Some(self.token.reveal().to_owned()),
            fingerprint: None,
        }
    }

    /// Serves until `stop` completes. Calls `on_event` for each event.
    pub async fn run(self, stop: impl Future<Output = ()>, on_event: impl FnMut(ControllerEvent<'_>)) {
        let mut serving = self.start(on_event);
        let mut stop = std::pin::pin!(stop);
        loop {
            serving.execute_outputs();
            let wake = serving.wake();
            tokio::select! {
                event = serving.events.recv() => serving.handle_events(event),
                reply = serving.driver.storage.reply() => {
                    serving.handle_reply(reply.expect("the storage thread ends after its queue"));
                }
                () = sleep_until(wake.into()) => {}
                () = &mut stop => break,
            }
            serving.run_timers();
        }
        serving.end().await;
    }

    /// Starts the storage thread and the tasks that accept connections.
    fn start<F: FnMut(ControllerEvent<'_>)>(self, on_event: F) -> Serving<F> {
        let Controller {
            lock,
            late_results,
            site,
            listeners,
            local,
            token,
            secret,
            http_handler,
        } = self;
        let setup = Setup {
            fleet: site.config.fleet.clone(),
            version: VERSION.to_owned(),
            urls: site.urls(token.reveal()).iter().map(ToString::to_string).collect(),
            token,
            secret,
            observed: site.config.observed.clone(),
            loopback_only: site.addresses.iter().all(|at| at.ip().is_loopback()),
        };
        let (event_sender, events) = mpsc::channel(MAX_EVENTS);
        let (storage_queue, storage_thread) = disk_queue(storage::MAX_WAITING_ROWS);
        let storage = Storage { lock, late_results };
        tokio::task::spawn_blocking(move || storage.run(storage_thread));
        let router = Arc::new(Router {
            secure: site.secure(),
            http_handler,
            runs: Mutex::default(),
            next: AtomicU64::new(0),
            proxied: Arc::new(Semaphore::new(MAX_PROXIED)),
            event_sender,
            clock: OwnClock::new(),
            admission_limit: AdmissionLimit::new(),
            storage_slots: storage_queue.slots(),
        });
        let mut acceptors = JoinSet::new();
        let pending = PendingConnections::default();
        for listener in listeners {
            let tls = acceptor(&site.identity);
            acceptors.spawn(accept_tcp(listener, tls, pending.clone(), Arc::clone(&router)));
        }
        acceptors.spawn(accept_local(local, pending.clone(), Arc::clone(&router)));
        let driver = HubDriver {
            hub: Hub::new(setup),
            storage: storage_queue,
            slots: Vec::new(),
            departures: BTreeMap::new(),
            syncing: false,
            outgoing: BTreeMap::new(),
            clock: router.clock,
            router,
            load_monitor: LoadMonitor::default(),
        };
        Serving {
            driver,
            events,
            acceptors,
            site,
            rejections: RejectionLog::default(),
            sync: Timer::new(SYNC_INTERVAL),
            on_event,
        }
    }
}

/// A controller that serves.
struct Serving<F> {
    driver: HubDriver,
    events: mpsc::Receiver<Event>,
    acceptors: JoinSet<()>,
    site: Site,
    rejections: RejectionLog,
    /// Syncs late results, and reports rejections.
    sync: Timer,
    on_event: F,
}

impl<F: FnMut(ControllerEvent<'_>)> Serving<F> {
    /// Executes the outputs of the hub.
    fn execute_outputs(&mut self) {
        while let Some(output) = self.driver.hub.poll_output() {
            match output {
                Output::Rejected(peer, address, rejection) => self.report_rejection(&peer, address, &rejection),
                Output::Joined(name) => {
                    if let Some(member) = self.driver.hub.member(&name) {
                        (self.on_event)(ControllerEvent::Joined(&member));
                    }
                }
                output => {
                    if let Output::Gone(name) = &output {
                        (self.on_event)(ControllerEvent::Left(name));
                    }
                    self.driver.apply(output);
                }
            }
        }
        // Those of rejected messages.
        self.driver.slots.clear();
    }

    fn report_rejection(&mut self, peer: &str, address: Option<IpAddr>, rejection: &Rejection) {
        if self.rejections.handle(self.driver.clock.now(), address) {
            tracing::info!(peer, %rejection, "rejected");
            if is_for_operator(rejection) {
                (self.on_event)(ControllerEvent::Rejected(peer, &rejection.to_string()));
            }
        }
    }

    /// Time of the next timer.
    fn wake(&self) -> Instant {
        let hub = self.driver.hub.poll_timeout();
        let hub = hub.map(|(at, _)| self.driver.clock.when(at).unwrap_or_else(Instant::now));
        hub.map_or(self.sync.due(), |at| at.min(self.sync.due()))
    }

    /// Handles this event and those behind it in the queue.
    fn handle_events(&mut self, mut event: Option<Event>) {
        for _ in 0..MAX_EVENTS {
            let Some(what) = event else { break };
            self.driver.handle(what);
            event = self.events.try_recv().ok();
        }
    }

    fn handle_reply(&mut self, reply: Reply) {
        match reply {
            // Revocation replaces both tokens, because either may be compromised.
            Reply::NewTokens(_, Ok((token, runs))) => {
                let urls = self.site.urls(&token);
                let texts = urls.iter().map(ToString::to_string).collect();
                let now = self.driver.clock.now();
                self.driver.hub.handle_token(now, Token::known(&token), texts);
                (self.on_event)(ControllerEvent::Revoked(&urls, Token::known(&runs)));
            }
            Reply::NewTokens(operator, Err(error)) => {
                self.driver.hub.handle_no_token(operator, error.to_string());
            }
            reply => self.driver.handle_reply(reply),
        }
    }

    /// Handles the timers that have expired.
    fn run_timers(&mut self) {
        let now = self.driver.clock.now();
        if self.sync.poll(Instant::now()) {
            self.driver.sync_late_results();
            while let Some(more) = self.rejections.poll(now) {
                tracing::info!(count = more.count, from = ?more.from, "more rejections");
                (self.on_event)(ControllerEvent::MoreRejected(more));
            }
        }
        if self.driver.hub.poll_timeout().is_some_and(|(at, _)| at <= now) {
            self.driver.hub.handle_timeout(now);
        }
    }

    /// Closes all connections. Messages are not answered any more, but what was received is stored.
    async fn end(mut self) {
        self.acceptors.abort_all();
        self.driver.disconnect_all(&mut self.events).await;
        self.driver.storage.finish().await;
    }
}

/// Name and version of this program.
const VERSION: &str = concat!("netburn ", env!("CARGO_PKG_VERSION"));

/// Addresses of a controller.
struct Site {
    config: Config,
    identity: Identity,
    /// Listening addresses.
    addresses: Vec<SocketAddr>,
}

impl Site {
    /// Join addresses, best first.
    fn urls(&self, token: &str) -> Vec<JoinUrl> {
        let hosts = match &self.config.host {
            Some(host) => vec![host.trim_matches(['[', ']']).to_owned()],
            None => addresses::of_listeners(&self.addresses)
                .iter()
                .map(ToString::to_string)
                .collect(),
        };
        hosts.into_iter().map(|host| self.url(host, token)).collect()
    }

    /// Join address at this name or IP address.
    fn url(&self, host: String, token: &str) -> JoinUrl {
        let certificate = &self.config.certificate;
        JoinUrl {
            place: join_url::Place::Network {
                host,
                port: self.addresses.first().map_or(join_url::PORT, SocketAddr::port),
                tls: certificate.is_some(),
            },
            token: Some(token.to_owned()),
            fingerprint: certificate.is_none().then(|| self.identity.fingerprint()),
        }
    }

    /// HTTPS origin to which browsers are redirected, if any.
    fn secure(&self) -> Option<String> {
        let host = self
            .config
            .host
            .as_ref()
            .filter(|_| self.config.certificate.is_some())?;
        Some(format!("https://{host}:{}", self.addresses[0].port()))
    }
}
