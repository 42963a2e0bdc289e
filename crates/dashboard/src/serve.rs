//! HTTP server for the dashboard on its own port.

use crate::auth::Hosts;
use crate::measurement::Measurements;
use crate::routes::Dashboard;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use netburn_protocol::token::Token;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Default port. Not assigned by IANA.
pub const PORT: u16 = 4486;

/// Maximum number of simultaneous connections.
const MAX_CONNECTIONS: usize = 512;
/// Timeout for the header of a request, and for an idle connection.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum length of the header of a request, in bytes. A longer header closes the connection.
const MAX_HEADER: usize = 16 << 10;
/// Delay after a failed `accept`.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// Settings of a server.
#[derive(Debug)]
pub struct Config {
    /// Directory of the runs.
    pub dir: PathBuf,
    /// Listening address. Default: port [`PORT`] on the loopback interface.
    pub listen: SocketAddr,
    /// Further host names of the server.
    pub names: Vec<String>,
    /// The measurements that the page can start.
    pub measurements: Option<Arc<dyn Measurements>>,
    /// True if requests from this machine need the key too. Other users of the machine could send them.
    pub needs_key: bool,
}

/// Listening server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    key: Option<Token>,
    dashboard: Dashboard,
}

impl Config {
    /// Default settings for the runs of `dir`.
    #[must_use]
    pub fn new(dir: PathBuf) -> Config {
        Config {
            dir,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
            names: Vec::new(),
            measurements: None,
            needs_key: false,
        }
    }
}

impl Server {
    /// Opens the listening socket. On an address other than loopback, and with measurements, requests need a key, which is new
    /// for each server. Needs a Tokio runtime.
    ///
    /// # Errors
    /// If the socket cannot listen at the address.
    pub async fn bind(config: Config) -> io::Result<Server> {
        let listener = TcpListener::bind(config.listen).await?;
        let address = listener.local_addr()?;
        let is_open = address.ip().to_canonical().is_loopback() && config.measurements.is_none() && !config.needs_key;
        let key = if is_open { None } else { Some(Token::random()?) };
        let names: Vec<&str> = config.names.iter().map(String::as_str).collect();
        let hosts = Hosts::new(&[address], &names);
        let access = key.as_ref().map(|key| (Token::known(key.reveal()), address.port()));
        let dashboard = Dashboard::new(&config.dir, hosts, access);
        let dashboard = match config.measurements {
            Some(measurements) => dashboard.with_measurements(measurements),
            None => dashboard,
        };
        Ok(Server {
            dashboard,
            listener,
            address,
            key,
        })
    }

    /// Listening address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// URL for a browser that reaches this machine as `host`, with the key.
    #[must_use]
    pub fn url(&self, host: &str) -> String {
        url("http", host, self.address.port(), self.key.as_ref())
    }

    /// URL for a browser on this machine: the listening address, or loopback for an unspecified address.
    #[must_use]
    pub fn local_url(&self) -> String {
        let ip = match self.address.ip() {
            ip if ip.is_unspecified() => IpAddr::from(Ipv4Addr::LOCALHOST),
            ip => ip,
        };
        self.url(&ip.to_string())
    }

    /// Serves requests until `stop` completes.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server {
            listener, dashboard, ..
        } = self;
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut connections = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        // A connection above the limit is closed.
                        if let Ok(permit) = Arc::clone(&permits).try_acquire_owned() {
                            let dashboard = dashboard.clone();
                            connections.spawn(async move {
                                serve_connection(stream, dashboard).await;
                                drop(permit);
                            });
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        tokio::time::sleep(ACCEPT_BACKOFF).await;
                    }
                },
            }
        }
    }
}

/// URL of the dashboard. The key is in the fragment, which a browser does not send to the server.
#[must_use]
pub fn url(scheme: &str, host: &str, port: u16, key: Option<&Token>) -> String {
    let host = match host.parse() {
        Ok(IpAddr::V6(ip)) => format!("[{ip}]"),
        _ => host.to_owned(),
    };
    let key = key.map(|key| format!("#key={}", key.reveal())).unwrap_or_default();
    format!("{scheme}://{host}:{port}/runs/{key}")
}

async fn serve_connection(stream: TcpStream, dashboard: Dashboard) {
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let dashboard = dashboard.clone();
        async move { Ok::<_, Infallible>(dashboard.reply(request, false).await.0) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADER)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection failed");
    }
}
