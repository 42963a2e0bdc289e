//! Sockets and timers around a [`Hub`].

mod doorway;
mod house;
mod rooms;

use super::annex::Annex;
use super::crowd::{Aftermath, Crowd, Ticket};
use super::denials::{Denials, More};
use super::doors::{From, Known, Metered, Place, Porch, Visit, open};
use super::http::{self, House, Opening};
use super::machine::{Hub, Line, Output, Setup, Way};
use super::owner::{FromOwner, MAX_OWNER, Present};
use super::state::{Claim, State, StateError, Whereabouts};
use super::{pass, places};
use crate::clock::Stamp;
use crate::controller::{ConnectionId, Token};
use crate::conversation;
use crate::join_url::{self, JoinUrl};
use crate::late::{Desk, Done};
use crate::own_clock::{OwnClock, std};
use crate::protocol::standing::{FromMember, MAX_FROM_MEMBER, Waiting};
use crate::protocol::{Malformed, Message};
use crate::transport::Channel;
use doorway::{acceptor, listen, private_socket, receive, receive_near};
use house::{Event, Outgoing, Run};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use netburn_record::UnixTime;
use netburn_traffic::tls::Identity;
use netburn_units::Duration;
use rooms::Rooms;
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
const MAX_PASSED: usize = 8192;
/// How long goodbyes may take.
const GOODBYE: Duration = Duration::from_secs(1);
/// How often late results are synced.
const SYNC: Duration = Duration::from_secs(1);
/// After a connection could not be accepted.
const BREATH: Duration = Duration::from_millis(100);

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
    Joined(&'a Present),
    /// The member of this name is gone.
    Left(&'a str),
    /// Somebody was not let in, or not heeded: who, and why. Of many from one address, the first.
    Denied(&'a str, &'a str),
    /// So many more were not let in from one address.
    MoreDenied(More),
    /// There is a new token, and these are the addresses to join; and a new key to the runs.
    Revoked(&'a [JoinUrl], Token),
}

/// A controller that listens.
pub struct Controller {
    claim: Claim,
    desk: Desk,
    config: Config,
    identity: Identity,
    listeners: Vec<TcpListener>,
    #[cfg(unix)]
    unix: tokio::net::UnixListener,
    token: Token,
    secret: Token,
    addresses: Vec<SocketAddr>,
    annex: Option<Arc<dyn Annex>>,
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
        let claim = config.state.claim()?;
        let token = Token::known(&claim.token()?);
        let late = claim.state().path().join("late");
        let desk = Desk::open(&late).map_err(|source| StateError::Io { path: late, source })?;
        let identity = match &config.certificate {
            Some(given) => given.clone(),
            None => claim.identity()?,
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
        let socket = claim.socket();
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
        claim.announce(&Whereabouts {
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
            claim,
            desk,
            config,
            identity,
            listeners,
            #[cfg(unix)]
            unix,
            token,
            secret,
            addresses,
            annex: None,
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
        Ok(Token::known(&self.claim.runs_token()?))
    }

    /// From now on `annex` answers below [`ANNEX`](super::ANNEX).
    pub fn set_annex(&mut self, annex: Arc<dyn Annex>) {
        self.annex = Some(annex);
    }

    /// Where to join on this machine.
    #[must_use]
    pub fn near_url(&self) -> JoinUrl {
        JoinUrl {
            place: join_url::Place::Unix(self.claim.socket()),
            token: Some(self.token.reveal().to_owned()),
            fingerprint: None,
        }
    }

    /// Serves until `stop` is done. `news` is told who is here whenever that changes.
    pub async fn run(self, stop: impl Future<Output = ()>, mut news: impl FnMut(News<'_>)) {
        let Controller {
            claim,
            desk,
            config,
            identity,
            listeners,
            #[cfg(unix)]
            unix,
            token,
            secret,
            addresses,
            annex,
        } = self;
        let join = |token: &str| urls(&config, &addresses, &identity, token);
        let setup = Setup {
            fleet: config.fleet.clone(),
            version: VERSION.to_owned(),
            urls: join(token.reveal()).iter().map(ToString::to_string).collect(),
            token,
            secret,
            near_only: addresses.iter().all(|at| at.ip().is_loopback()),
        };
        let secure = match (&config.certificate, &config.host) {
            (Some(_), Some(host)) => Some(format!("https://{host}:{}", addresses[0].port())),
            _ => None,
        };
        let (tell, mut events) = mpsc::channel(EVENTS);
        let rooms = Arc::new(Rooms {
            secure,
            annex,
            runs: Mutex::default(),
            next: AtomicU64::new(0),
            passed: Arc::new(Semaphore::new(MAX_PASSED)),
            tell,
            clock: OwnClock::new(),
            crowd: Crowd::new(),
        });
        let mut doormen = tokio::task::JoinSet::new();
        let porch = Porch::default();
        for listener in listeners {
            let tls = acceptor(&identity);
            doormen.spawn(receive(listener, tls, porch.clone(), Arc::clone(&rooms)));
        }
        #[cfg(unix)]
        doormen.spawn(receive_near(unix, porch.clone(), Arc::clone(&rooms)));
        let mut house = Run {
            hub: Hub::new(setup),
            desk,
            outgoing: BTreeMap::new(),
            clock: rooms.clock,
            rooms,
            aftermath: Aftermath::default(),
        };
        let (mut denials, mut stop) = (Denials::default(), std::pin::pin!(stop));
        let mut sync = house.clock.now().after(SYNC);
        loop {
            while let Some(output) = house.hub.poll_output() {
                match output {
                    // Who has to be kept out may have had either.
                    Output::NewToken(owner) => match claim.new_tokens() {
                        Ok((token, runs)) => {
                            let urls = join(&token);
                            let texts = urls.iter().map(ToString::to_string).collect();
                            house.hub.handle_token(house.clock.now(), Token::known(&token), texts);
                            news(News::Revoked(&urls, Token::known(&runs)));
                        }
                        Err(error) => house.hub.handle_no_token(owner, error.to_string()),
                    },
                    Output::Refused(who, address, denial) => {
                        if denials.handle(house.clock.now(), address) {
                            tracing::info!(who, %denial, "refused");
                            if denial.is_for_people() {
                                news(News::Denied(&who, &denial.to_string()));
                            }
                        }
                    }
                    Output::Joined(name) => {
                        if let Some(member) = house.hub.member(&name) {
                            news(News::Joined(&member));
                        }
                    }
                    output => {
                        if let Output::Gone(name) = &output {
                            news(News::Left(name));
                        }
                        house.carry_out(output);
                    }
                }
            }
            let wake = house.hub.poll_timeout().map_or(sync, |(at, _)| at.min(sync));
            let wake = house.clock.when(wake).unwrap_or_else(std::time::Instant::now);
            tokio::select! {
                event = events.recv() => {
                    let mut event = event;
                    for _ in 0..EVENTS {
                        let Some(what) = event else { break };
                        house.handle(what);
                        event = events.try_recv().ok();
                    }
                }
                () = sleep_until(wake.into()) => {}
                () = &mut stop => break,
            }
            let now = house.clock.now();
            if sync <= now {
                sync = now.after(SYNC);
                house.keep();
                while let Some(more) = denials.poll(now) {
                    tracing::info!(count = more.count, from = ?more.from, "more were refused");
                    news(News::MoreDenied(more));
                }
            }
            if house.hub.poll_timeout().is_some_and(|(at, _)| at <= now) {
                house.hub.handle_timeout(now);
            }
        }
        doormen.abort_all();
        house.say_goodbye(&mut events).await;
        drop(claim);
    }
}

/// What it calls itself.
const VERSION: &str = concat!("netburn ", env!("CARGO_PKG_VERSION"));

/// Where to join, the likeliest first.
fn urls(config: &Config, addresses: &[SocketAddr], identity: &Identity, token: &str) -> Vec<JoinUrl> {
    let port = addresses.first().map_or(join_url::PORT, SocketAddr::port);
    let hosts = match &config.host {
        Some(host) => vec![host.trim_matches(['[', ']']).to_owned()],
        None => places::of(addresses).iter().map(ToString::to_string).collect(),
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
