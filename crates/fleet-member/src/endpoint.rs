//! Connections of members and operators to a fleet's controller.

use netburn_protocol::join_url::{JoinUrl, Place, RUN};
use netburn_protocol::own_clock::to_std;
use netburn_protocol::transport::{Channel, ChannelError};
use netburn_scenario::plan::Http;
use netburn_traffic::client::{Trust, tls};
use netburn_units::Duration;
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// Time limit for connecting to a controller.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Address of a controller, and how its identity is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerEndpoint {
    place: Place,
    trust: Option<Trust>,
}

/// Addresses of a connection to a controller; `None` over a Unix socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketAddrs {
    /// Local address.
    pub ours: Option<SocketAddr>,
    /// Address of the controller.
    pub theirs: Option<SocketAddr>,
}

/// Error of connecting to a controller.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The connection failed.
    #[error("can't reach {place}: {source}")]
    Dial {
        /// Address of the controller.
        place: String,
        /// Cause.
        source: io::Error,
    },
    /// The address has no fingerprint.
    #[error(
        "the join address has no fingerprint (the part after the `.`), which verifies the controller; copy \
         all that `netburn fleet serve` prints"
    )]
    NoFingerprint,
    /// The peer is not a controller.
    #[error(
        "{place} is not a fleet controller, but another program, such as a web server; `netburn fleet serve` \
         prints the join address"
    )]
    NotAController {
        /// Address of the peer.
        place: String,
    },
    /// The controller does not serve this path.
    #[error("unknown path {path} at {place}")]
    UnknownPath {
        /// Address of the controller.
        place: String,
        /// Requested path.
        path: String,
    },
    /// The controller closed the connection, or the peer is not a controller.
    #[error("{place} is no fleet's controller, or knows no {path}: {source}")]
    Closed {
        /// Address of the peer.
        place: String,
        /// Requested path.
        path: String,
        /// Cause.
        source: ChannelError,
    },
}

impl ControllerEndpoint {
    /// Creates the endpoint of a join address. Without a fingerprint and TLS, it connects to loopback only.
    #[must_use]
    pub fn new(url: &JoinUrl) -> ControllerEndpoint {
        let tls = matches!(url.place, Place::Network { tls: true, .. });
        ControllerEndpoint {
            place: url.place.clone(),
            trust: match url.fingerprint {
                Some(fingerprint) => Some(Trust::Fingerprint(fingerprint)),
                None if tls => Some(Trust::SystemRoots),
                None => None,
            },
        }
    }

    /// Address of the controller.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Opens a channel at `path` for messages of at most `limit` bytes.
    ///
    /// # Errors
    /// [`ConnectError`] if there is no channel within [`CONNECT_TIMEOUT`].
    pub async fn open(&self, path: &str, limit: usize) -> Result<(Channel, SocketAddrs), ConnectError> {
        let place = || self.place.to_string();
        let dial = |source| ConnectError::Dial { place: place(), source };
        let opened = timeout(to_std(CONNECT_TIMEOUT), self.connect(path, limit)).await;
        opened.unwrap_or_else(|_| Err(dial(io::Error::other(format!("no answer for {CONNECT_TIMEOUT}")))))
    }

    async fn connect(&self, path: &str, limit: usize) -> Result<(Channel, SocketAddrs), ConnectError> {
        let place = || self.place.to_string();
        let dial = |source| ConnectError::Dial { place: place(), source };
        let closed = |source| match source {
            ChannelError::Answered(404) if path.starts_with(RUN) => ConnectError::UnknownPath {
                place: place(),
                path: path.to_owned(),
            },
            ChannelError::Answered(_) => ConnectError::NotAController { place: place() },
            source => ConnectError::Closed {
                place: place(),
                path: path.to_owned(),
                source,
            },
        };
        let (host, port) = match &self.place {
            #[cfg(unix)]
            Place::Unix(socket) => {
                let stream = tokio::net::UnixStream::connect(socket).await.map_err(dial)?;
                let channel = Channel::open(stream, &format!("ws://controller{path}"), limit).await;
                return Ok((channel.map_err(closed)?, SocketAddrs::default()));
            }
            #[cfg(not(unix))]
            Place::Unix(_) => return Err(dial(io::ErrorKind::Unsupported.into())),
            Place::Network { host, port, .. } => (host.as_str(), *port),
        };
        let stream = TcpStream::connect((host, port)).await.map_err(dial)?;
        stream.set_nodelay(true).map_err(dial)?;
        let addresses = SocketAddrs {
            ours: stream.local_addr().ok(),
            theirs: stream.peer_addr().ok(),
        };
        let authority = if host.contains(':') {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        };
        let url = format!("ws://{authority}{path}");
        let Some(trust) = &self.trust else {
            if !addresses.theirs.is_some_and(|at| at.ip().to_canonical().is_loopback()) {
                return Err(ConnectError::NoFingerprint);
            }
            let channel = Channel::open(stream, &url, limit).await.map_err(closed)?;
            return Ok((channel, addresses));
        };
        let config = tls::config(trust, Http::H1).map_err(dial)?;
        let name = tls::server_name(host).map_err(dial)?;
        let stream = TlsConnector::from(config).connect(name, stream).await;
        let stream = stream.map_err(|source| {
            if is_tls(&source) {
                dial(source)
            } else {
                ConnectError::NotAController { place: place() }
            }
        })?;
        let channel = Channel::open(stream, &url, limit).await.map_err(closed)?;
        Ok((channel, addresses))
    }
}

/// Returns whether an error occurred within TLS. Otherwise the peer does not use TLS.
fn is_tls(error: &io::Error) -> bool {
    use tokio_rustls::rustls::{Error, InvalidMessage};
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    !matches!(inner, Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)))
}
