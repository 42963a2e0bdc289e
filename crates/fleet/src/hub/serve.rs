//! Sockets and timers around a [`Hub`].

mod accept;
mod driver;
mod router;

use super::admission::{Accepted, Authenticated, Metered, PeerAddr, PendingConnections, PendingSlot, open};
use super::admission_limit::{Aftermath, Crowd, Ticket};
use super::control::{ControlRequest, MAX_CONTROL_MESSAGE, MemberStatus};
use super::http::{self, ConnectionHandler, Endpoint};
use super::http_handler::HttpHandler;
use super::machine::{ConnectionKind, Hub, Output, PeerInfo, Setup};
use super::rejections::{RejectionLog, RejectionSummary};
use super::state::{ControllerInfo, State, StateError, StateLock};
use super::{addresses, proxy};
use crate::clock::Stamp;
use crate::controller::{ConnectionId, Token};
use crate::duplex;
use crate::join_url::{self, JoinUrl};
use crate::late::{JobResult, LateCollector};
use crate::own_clock::{OwnClock, to_std};
use crate::protocol::standing::{FromMember, MAX_FROM_MEMBER, PendingResults};
use crate::protocol::{Malformed, Message};
use crate::transport::Channel;
use accept::{accept_local, accept_tcp, acceptor, listen, private_socket};
use driver::{Event, HubDriver, Outgoing};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use netburn_record::UnixTime;
use netburn_traffic::tls::Identity;
use netburn_units::Duration;
use router::Router;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{sleep_until, timeout};
use tokio_rustls::TlsAcceptor;

/// The most messages that wait to be handled: with the longest message, 64 MiB.
const EVENTS: usize = 64;
/// The most messages that wait to be sent over one connection; one that takes none is lost.
const OUTGOING: usize = 256;
/// What somebody may say before it is known who it is, in bytes.
const UNKNOWN: usize = 64 << 10;
/// The most participants at once that are passed on.
const MAX_PROXIED: usize = 8192;
/// How long goodbyes may take.
const GOODBYE: Duration = Duration::from_secs(1);
/// How often late results are synced.
const SYNC: Duration = Duration::from_secs(1);
/// After a connection could not be accepted.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// A controller's settings.
#[derive(Debug)]
pub struct Config {
    /// What it keeps, and where.
    pub state: State,
    /// Where it listens. Default: port [`join_url::PORT`] of every address.
    pub listen: Vec<SocketAddr>,
    /// What the fleet is called.
    pub fleet: String,
    /// What is printed for others to reach this machine by; `None`: its addresses.
    pub host: Option<String>,
    /// A certificate that the devices' systems trust: then browsers come over TLS, too. `None`: one made here, for
    /// agents alone.
    pub certificate: Option<Identity>,
}

/// Why there is no controller.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// What is kept can't be.
    #[error(transparent)]
    State(#[from] StateError),
    /// A socket can't be opened.
    #[error("can't listen at {at}: {source}")]
    Listen {
        /// Where.
        at: String,
        /// Why.
        source: io::Error,
    },
}

/// What those who watch a controller are told.
#[derive(Debug)]
pub enum News<'a> {
    /// A member has joined.
    Joined(&'a MemberStatus),
    /// The member of this name is gone.
    Left(&'a str),
    /// Somebody was not let in, or not heeded: who, and why. Of many from one address, the first.
    Rejected(&'a str, &'a str),
    /// So many more were not let in from one address.
    MoreRejected(RejectionSummary),
    /// There is a new token, and these are the addresses to join; and a new key to the runs.
    Revoked(&'a [JoinUrl], Token),
}

/// A controller that listens.
pub struct Controller {
    lock: StateLock,
    late_results: LateCollector,
    config: Config,
    identity: Identity,
    listeners: Vec<TcpListener>,
    #[cfg(unix)]
    unix: tokio::net::UnixListener,
    token: Token,
    secret: Token,
    addresses: Vec<SocketAddr>,
    http_handler: Option<Arc<dyn HttpHandler>>,
}

impl Config {
    /// The usual settings for a fleet of this name.
    #[must_use]
    pub fn new(state: State, fleet: String) -> Config {
        let everywhere = [IpAddr::from(Ipv4Addr::UNSPECIFIED), Ipv6Addr::UNSPECIFIED.into()];
        Config {
            state,
            listen: everywhere.map(|ip| SocketAddr::new(ip, join_url::PORT)).to_vec(),
            fleet,
            host: None,
            certificate: None,
        }
    }
}

impl Controller {
    /// Opens the sockets, and tells this user's other commands where they are. Within a runtime.
    ///
    /// # Errors
    /// When there is a controller of this user already, or a file or socket can't be had.
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
            // One port for all that leave it open.
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
                // A machine without IPv6.
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
        #[cfg(unix)]
        let unix = {
            // The lock is ours: what is there is of a controller that was killed.
            let _ = std::fs::remove_file(&socket);
            private_socket(&socket).map_err(|source| ServeError::Listen {
                at: socket.display().to_string(),
                source,
            })?
        };
        let secret = Token::random().map_err(|source| ServeError::Listen {
            at: socket.display().to_string(),
            source,
        })?;
        let near = addresses
            .iter()
            .find(|at| at.ip().is_unspecified() || at.ip().is_loopback());
        lock.announce(&ControllerInfo {
            process: std::process::id(),
            socket: cfg!(unix).then_some(socket),
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
            config,
            identity,
            listeners,
            #[cfg(unix)]
            unix,
            token,
            secret,
            addresses,
            http_handler: None,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// SHA-256 of its certificate.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.identity.fingerprint()
    }

    /// Where to join over the network, the likeliest first.
    #[must_use]
    pub fn urls(&self) -> Vec<JoinUrl> {
        urls(&self.config, &self.addresses, &self.identity, self.token.reveal())
    }

    /// What lets somebody in who asks for the runs: kept like the fleet's token, and told to nobody who joins.
    ///
    /// # Errors
    /// When it can't be read or made.
    pub fn runs_token(&self) -> Result<Token, StateError> {
        Ok(Token::known(&self.lock.runs_token()?))
    }

    /// From now on `http_handler` answers below [`RUNS_PREFIX`](super::RUNS_PREFIX).
    pub fn set_http_handler(&mut self, http_handler: Arc<dyn HttpHandler>) {
        self.http_handler = Some(http_handler);
    }

    /// Where to join on this machine.
    #[must_use]
    pub fn local_url(&self) -> JoinUrl {
        JoinUrl {
            place: join_url::Place::Unix(self.lock.socket()),
            token: Some(self.token.reveal().to_owned()),
            fingerprint: None,
        }
    }

    /// Serves until `stop` is done. `news` is told who is here whenever that changes.
    pub async fn run(self, stop: impl Future<Output = ()>, mut news: impl FnMut(News<'_>)) {
        let Controller {
            lock,
            late_results,
            config,
            identity,
            listeners,
            #[cfg(unix)]
            unix,
            token,
            secret,
            addresses,
            http_handler,
        } = self;
        let join = |token: &str| urls(&config, &addresses, &identity, token);
        let setup = Setup {
            fleet: config.fleet.clone(),
            version: VERSION.to_owned(),
            urls: join(token.reveal()).iter().map(ToString::to_string).collect(),
            token,
            secret,
            loopback_only: addresses.iter().all(|at| at.ip().is_loopback()),
        };
        let secure = match (&config.certificate, &config.host) {
            (Some(_), Some(host)) => Some(format!("https://{host}:{}", addresses[0].port())),
            _ => None,
        };
        let (tell, mut events) = mpsc::channel(EVENTS);
        let router = Arc::new(Router {
            secure,
            http_handler,
            runs: Mutex::default(),
            next: AtomicU64::new(0),
            proxied: Arc::new(Semaphore::new(MAX_PROXIED)),
            tell,
            clock: OwnClock::new(),
            admission_limit: Crowd::new(),
        });
        let mut acceptors = tokio::task::JoinSet::new();
        let pending = PendingConnections::default();
        for listener in listeners {
            let tls = acceptor(&identity);
            acceptors.spawn(accept_tcp(listener, tls, pending.clone(), Arc::clone(&router)));
        }
        #[cfg(unix)]
        acceptors.spawn(accept_local(unix, pending.clone(), Arc::clone(&router)));
        let mut driver = HubDriver {
            hub: Hub::new(setup),
            late_results,
            outgoing: BTreeMap::new(),
            clock: router.clock,
            router,
            aftermath: Aftermath::default(),
        };
        let (mut rejections, mut stop) = (RejectionLog::default(), std::pin::pin!(stop));
        let mut sync = driver.clock.now().after(SYNC);
        loop {
            while let Some(output) = driver.hub.poll_output() {
                match output {
                    // Who has to be kept out may have had either.
                    Output::NewToken(operator) => match lock.new_tokens() {
                        Ok((token, runs)) => {
                            let urls = join(&token);
                            let texts = urls.iter().map(ToString::to_string).collect();
                            driver.hub.handle_token(driver.clock.now(), Token::known(&token), texts);
                            news(News::Revoked(&urls, Token::known(&runs)));
                        }
                        Err(error) => driver.hub.handle_no_token(operator, error.to_string()),
                    },
                    Output::Refused(peer, address, rejection) => {
                        if rejections.handle(driver.clock.now(), address) {
                            tracing::info!(peer, %rejection, "refused");
                            if rejection.is_for_operator() {
                                news(News::Rejected(&peer, &rejection.to_string()));
                            }
                        }
                    }
                    Output::Joined(name) => {
                        if let Some(member) = driver.hub.member(&name) {
                            news(News::Joined(&member));
                        }
                    }
                    output => {
                        if let Output::Gone(name) = &output {
                            news(News::Left(name));
                        }
                        driver.apply(output);
                    }
                }
            }
            let wake = driver.hub.poll_timeout().map_or(sync, |(at, _)| at.min(sync));
            let wake = driver.clock.when(wake).unwrap_or_else(std::time::Instant::now);
            tokio::select! {
                event = events.recv() => {
                    let mut event = event;
                    for _ in 0..EVENTS {
                        let Some(what) = event else { break };
                        driver.handle(what);
                        event = events.try_recv().ok();
                    }
                }
                () = sleep_until(wake.into()) => {}
                () = &mut stop => break,
            }
            let now = driver.clock.now();
            if sync <= now {
                sync = now.after(SYNC);
                driver.sync_late_results();
                while let Some(more) = rejections.poll(now) {
                    tracing::info!(count = more.count, from = ?more.from, "more were refused");
                    news(News::MoreRejected(more));
                }
            }
            if driver.hub.poll_timeout().is_some_and(|(at, _)| at <= now) {
                driver.hub.handle_timeout(now);
            }
        }
        acceptors.abort_all();
        driver.disconnect_all(&mut events).await;
        drop(lock);
    }
}

/// What it calls itself.
const VERSION: &str = concat!("netburn ", env!("CARGO_PKG_VERSION"));

/// Where to join, the likeliest first.
fn urls(config: &Config, addresses: &[SocketAddr], identity: &Identity, token: &str) -> Vec<JoinUrl> {
    let port = addresses.first().map_or(join_url::PORT, SocketAddr::port);
    let hosts = match &config.host {
        Some(host) => vec![host.trim_matches(['[', ']']).to_owned()],
        None => addresses::of(addresses).iter().map(ToString::to_string).collect(),
    };
    let url = |host| JoinUrl {
        place: join_url::Place::Network {
            host,
            port,
            tls: config.certificate.is_some(),
        },
        token: Some(token.to_owned()),
        fingerprint: config.certificate.is_none().then(|| identity.fingerprint()),
    };
    hosts.into_iter().map(url).collect()
}
