//! The page on a port of its own.

use crate::door::Hosts;
use crate::house::Dashboard;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use netburn_fleet::controller::Token;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Where it is by default. Not assigned by IANA.
pub const PORT: u16 = 4486;

/// The most connections at once.
const MOST: usize = 512;
/// How long the head of a request may take, and how long a connection may be silent.
const HEAD: Duration = Duration::from_secs(30);
/// The longest head of a request, in bytes; more ends the connection.
const MAX_HEAD: usize = 16 << 10;
/// After a connection could not be accepted.
const BREATH: Duration = Duration::from_millis(100);

/// A server's settings.
#[derive(Debug)]
pub struct Config {
    /// Where the runs are.
    pub dir: PathBuf,
    /// Where it listens. Default: port [`PORT`] of loopback.
    pub listen: SocketAddr,
    /// Other names that it is asked by.
    pub names: Vec<String>,
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    at: SocketAddr,
    key: Option<Token>,
    house: Dashboard,
}

impl Config {
    /// The usual settings for the runs of a directory.
    #[must_use]
    pub fn new(dir: PathBuf) -> Config {
        Config {
            dir,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
            names: Vec::new(),
        }
    }
}

impl Server {
    /// Opens the socket. Beyond loopback there is a key, new each time, and nobody is told anything without it. Within a
    /// runtime.
    ///
    /// # Errors
    /// When the address can't be had.
    pub async fn bind(config: Config) -> io::Result<Server> {
        let listener = TcpListener::bind(config.listen).await?;
        let at = listener.local_addr()?;
        let key = match at.ip().to_canonical().is_loopback() {
            true => None,
            false => Some(Token::random()?),
        };
        let names: Vec<&str> = config.names.iter().map(String::as_str).collect();
        let hosts = Hosts::new(&[at], &names);
        let lock = key.as_ref().map(|key| (Token::known(key.reveal()), at.port()));
        Ok(Server {
            house: Dashboard::new(&config.dir, hosts, lock),
            listener,
            at,
            key,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.at
    }

    /// The address for a browser on a machine that finds this one as `host`, with the key.
    #[must_use]
    pub fn url(&self, host: &str) -> String {
        url("http", host, self.at.port(), self.key.as_ref())
    }

    /// The likeliest address for a browser: as it listens, or over loopback where it listens everywhere.
    #[must_use]
    pub fn near_url(&self) -> String {
        let ip = match self.at.ip() {
            ip if ip.is_unspecified() => IpAddr::from(Ipv4Addr::LOCALHOST),
            ip => ip,
        };
        self.url(&ip.to_string())
    }

    /// Serves until `stop` is done.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server { listener, house, .. } = self;
        let places = Arc::new(Semaphore::new(MOST));
        let mut visits = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(_) = visits.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        // Who finds no place is sent away rather than kept waiting.
                        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
                            let house = house.clone();
                            visits.spawn(async move {
                                visit(stream, house).await;
                                drop(place);
                            });
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(BREATH).await;
                    }
                },
            }
        }
    }
}

/// Where a browser finds the page: with the key behind the `#`, which no request holds.
#[must_use]
pub fn url(scheme: &str, host: &str, port: u16, key: Option<&Token>) -> String {
    let host = match host.parse() {
        Ok(IpAddr::V6(ip)) => format!("[{ip}]"),
        _ => host.to_owned(),
    };
    let key = key.map(|key| format!("#key={}", key.reveal())).unwrap_or_default();
    format!("{scheme}://{host}:{port}/runs/{key}")
}

async fn visit(stream: TcpStream, house: Dashboard) {
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let house = house.clone();
        async move { Ok::<_, Infallible>(house.reply(request, false).await.0) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended");
    }
}
