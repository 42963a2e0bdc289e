//! The traffic server: HTTP and datagrams for measurements.
//!
//! [`Server::bind`] opens the sockets. [`Server::run`] serves on its own threads until it is shut down. A
//! [`ServerHandle`] returns statistics during and after the run.

mod accept;
mod admission;
mod channel_offer;
mod channels;
mod config;
mod congestion_control;
mod connection;
mod connection_context;
mod date;
mod echo;
mod flow;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod handle;
mod http1;
mod http2;
mod listen;
mod range;
mod registry;
mod request;
mod response;
mod route;
mod rpm;
mod socket;
mod socket_dscp;
mod station_bytes;
mod stats;
mod timed_stream;
mod timer_queue;
mod worker;
mod worker_state;

pub use config::{BROWSER_PORTS, Limits, MAX_OBJECT, PORT, RPM_OBJECT, RpmClients, ServerConfig, TLS_PORT, Terms};
pub use congestion_control::has_congestion_control;
pub use handle::ServerHandle;
pub use listen::with_port;
pub use registry::Connection;

use crate::consent::{Consent, PerClient};
use crate::content::Content;
use crate::datagram::Echo;
use crate::load_monitor::LoadMonitor;
use crate::pace::VirtualLink;
use admission::Admission;
use channels::Channels;
use ring::rand::{SecureRandom, SystemRandom};
use route::Site;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot, watch};
use worker::{DatagramSocket, Sockets, Start};
use worker_state::{Shared, Workers};

/// Interval at which the number of open connections is sampled.
const LOAD_SAMPLES: std::time::Duration = std::time::Duration::from_secs(1);

/// A server with open sockets.
pub struct Server {
    addresses: Addresses,
    handle: ServerHandle,
    shared: Arc<Shared>,
    sockets: Sockets,
}

/// Addresses of a server, with the assigned ports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Addresses {
    /// Cleartext HTTP.
    pub http: Vec<SocketAddr>,
    /// HTTP over TLS.
    pub https: Vec<SocketAddr>,
    /// Datagrams.
    pub datagrams: Vec<SocketAddr>,
    /// Further ports of cleartext HTTP, at the IP addresses of `http`.
    pub more_ports: Vec<u16>,
}

/// Error of starting a server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A socket cannot be opened.
    #[error("can't listen at {address}: {reason}")]
    Listen {
        /// Address.
        address: SocketAddr,
        /// Cause.
        reason: std::io::Error,
    },
    /// There is no address to listen at.
    #[error("missing address to listen at")]
    Nowhere,
    /// The operator's name is invalid.
    #[error(transparent)]
    Operator(#[from] crate::consent::ConsentError),
    /// The operating system returned another error.
    #[error("can't start the server: {0}")]
    Machine(#[from] std::io::Error),
}

impl Server {
    /// Opens the sockets.
    ///
    /// # Errors
    /// [`ServerError`] when a socket cannot be opened or the configuration is invalid.
    pub async fn bind(config: ServerConfig) -> Result<Self, ServerError> {
        let limits = Limits {
            object: config.limits.object.min(MAX_OBJECT),
            ..config.limits.clone()
        };
        let mut sockets = Sockets::default();
        let channels = Channels::new(&config)?;
        let mut addresses = Addresses::default();
        for (listener, datagrams) in listen::open(&config.listen, config.datagrams)? {
            addresses.http.push(listener.local_addr()?);
            sockets.listeners.push((listener, false));
            if let Some(socket) = datagrams {
                addresses.datagrams.push(socket.local_addr()?);
                sockets.datagrams.push(DatagramSocket {
                    socket,
                    echo: Echo::new(&random_key()?, limits.datagrams),
                    channels: channels.as_ref().map(Channels::server),
                });
            }
        }
        let ips: Vec<SocketAddr> = addresses.http.clone();
        for port in &config.more_ports {
            let listeners = listen::open_port(&ips, *port)?;
            addresses.more_ports.push(listeners[0].local_addr()?.port());
            sockets
                .listeners
                .extend(listeners.into_iter().map(|listener| (listener, false)));
        }
        if config.tls.is_some() {
            for (listener, _) in listen::open(&config.listen_tls, false)? {
                addresses.https.push(listener.local_addr()?);
                sockets.listeners.push((listener, true));
            }
        }
        if sockets.listeners.is_empty() {
            return Err(ServerError::Nowhere);
        }
        let threads = config.threads.map_or_else(processors, NonZeroUsize::get);
        let link = |rate| Arc::new(Mutex::new(VirtualLink::new(rate)));
        let shared = Arc::new(Shared {
            site: site(&config, &limits, &addresses, channels)?,
            content: Content::get()?,
            tls: config.tls.as_ref().map(|identity| identity.server_config().into()),
            cc: config.cc,
            controls: congestion_control::AvailableControls::new(),
            links: config.rate.map(|rate| (link(rate), link(rate))),
            admission: Admission::new(limits.clone()),
            registry: registry::Registry::default(),
            watching: tokio::sync::watch::Sender::new(false),
            stats: (0..threads).map(|_| Arc::default()).collect(),
            tally: station_bytes::StationBytes::new(config.stations),
            limits,
        });
        let handle = ServerHandle::new(config.name, Arc::clone(&shared));
        Ok(Self {
            addresses,
            handle,
            shared,
            sockets,
        })
    }

    /// Returns the addresses.
    #[must_use]
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Returns a handle for statistics.
    #[must_use]
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// Serves until `shutdown` is ready, then closes all connections.
    ///
    /// # Errors
    /// [`ServerError::Machine`] when its threads cannot be started.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) -> Result<(), ServerError> {
        // Every connection is a file.
        let _ = netburn_platform::raise_open_files();
        // The workers stop in any case: by the value, or when the sender is dropped.
        let (stop, stopped) = watch::channel(false);
        let count = self.shared.stats.len();
        let (inboxes, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::unbounded_channel()).unzip();
        let workers = Workers {
            inboxes,
            shared: Arc::clone(&self.shared),
        };
        let (ended, mut ends) = mpsc::unbounded_channel();
        let (mut threads, mut ids) = (Vec::new(), Vec::new());
        for (number, inbox) in receivers.into_iter().enumerate() {
            let (started, starting) = oneshot::channel();
            let start = Start {
                number,
                workers: workers.clone(),
                inbox,
                // The first worker accepts connections for all.
                sockets: std::mem::take(&mut self.sockets),
                stop: stopped.clone(),
                started,
                ended: ended.clone(),
            };
            threads.push(start.spawn()?);
            if let Ok(id) = starting.await {
                ids.push(id);
            }
        }
        drop((ended, workers));
        if ids.len() == count {
            self.handle.begun(ids);
            tokio::select! {
                () = shutdown => {}
                // A worker that ends by itself has failed; its error is returned below.
                _ = ends.recv() => {}
                () = release_memory(&self.shared.admission) => {}
            }
            self.handle.ending();
        }
        let _ = stop.send(true);
        // The channel closes when the last worker has ended.
        while ends.recv().await.is_some() {}
        for thread in threads {
            thread
                .join()
                .map_err(|_| io::Error::other("a thread of the server panicked"))??;
        }
        Ok(())
    }
}

/// Returns free memory to the system after each flood of connections. Never ends.
async fn release_memory(admission: &Admission) {
    let mut load_monitor = LoadMonitor::default();
    let mut ticks = tokio::time::interval(LOAD_SAMPLES);
    loop {
        ticks.tick().await;
        if load_monitor.sample(admission.take_peak()) {
            // The call may take long, because it examines the whole heap.
            let _ = tokio::task::spawn_blocking(netburn_platform::release_free_memory).await;
        }
    }
}

/// Returns the content of the server.
fn site(
    config: &ServerConfig,
    limits: &Limits,
    addresses: &Addresses,
    channels: Option<Channels>,
) -> Result<Site, ServerError> {
    let mut consent = Consent::new(&config.consent.operator, limits.object)?;
    consent.consents = config.consent.consents;
    consent.datagram_port = addresses.datagrams.first().map(SocketAddr::port);
    consent.rate_bps = config.rate.map(netburn_units::BitRate::as_bps);
    consent.per_client = PerClient {
        connections: Some(limits.connections_per_client as u64),
        requests_per_second: Some(limits.requests_per_client),
        rate_bps: limits.rate_per_client.map(netburn_units::BitRate::as_bps),
    };
    let channels = channels
        .zip(consent.datagram_port)
        .map(|(channels, port)| channels.offers(port));
    let rpm = addresses
        .https
        .first()
        .and_then(|address| rpm::Endpoints::new(config.rpm, address.port(), limits.object));
    let nq = match &rpm {
        Some(_) => format!(
            "GET  {:27} URLs for responsiveness tests (RPM), as JSON\n",
            rpm::CONFIGURATION[0]
        ),
        None => String::new(),
    };
    let page = format!(
        "This is netburn {version}, a server that moves bytes to measure networks with.\n\n\
         GET  /bytes/SIZE            SIZE bytes, as in /bytes/128KiB or /bytes/1000000, at most {most}\n\
         POST /sink                  takes a body, counts it and drops it\n\
         GET  {path}   who agrees to this, and the limits\n\
         {nq}\n\
         Operator: {operator}\n",
        version = consent.version,
        most = limits.object,
        path = crate::consent::PATH,
        operator = consent.operator,
    );
    Ok(Site {
        consent: consent.to_json().into(),
        fleet: config.fleet.clone().map(|key| (key, consent)),
        channels,
        page: page.into(),
        rpm,
        object: limits.object.as_bytes(),
    })
}

fn random_key() -> io::Result<[u8; 32]> {
    let mut key = [0; 32];
    let filled = SystemRandom::new().fill(&mut key);
    filled.map_err(|_| io::Error::other("the system provides no random numbers"))?;
    Ok(key)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}
