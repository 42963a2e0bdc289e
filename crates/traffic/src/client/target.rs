//! What a client speaks to, and how.

use super::Total;
use netburn_scenario::plan::Http;
use netburn_units::{BitRate, ByteSize};
use std::net::SocketAddr;

/// A server as one station sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where it listens.
    pub address: SocketAddr,
    /// The UDP port that echoes probes; `None`: the same number as the address's.
    pub datagram_port: Option<u16>,
    /// What it is called: the `Host` field, `:authority`, and the name in its certificate. Without a port.
    pub host: String,
    /// The HTTP version it is spoken to in. HTTP/2 without TLS begins with prior knowledge (RFC 9113 §3.3).
    pub http: Http,
    /// Whose certificate will do; `None`: cleartext.
    pub tls: Option<Trust>,
    /// The interface that connections are bound to (`SO_BINDTODEVICE`); `None`: the route decides.
    pub interface: Option<String>,
    /// Congestion control of the connections (`TCP_CONGESTION`); `None`: the system's.
    pub cc: Option<String>,
    /// The congestion control that a netburn server is asked to answer with; `None`: the server's own.
    pub answers_cc: Option<String>,
    /// The most that this host lets itself move, each way, all loads of a drive together: what takes all that goes through
    /// ([`Kind::Download`](netburn_workload::Kind), `Upload`) waits for its turn, and what has its own pace goes first.
    pub limit: Option<BitRate>,
    /// Counts what is moved, if anybody wants to know.
    pub total: Option<Total>,
    /// What is asked for.
    pub resource: Resource,
    /// Whether requests of [`Resource::Netburn`] name their station (`?station=3`), for a server that counts by station.
    pub labelled: bool,
}

/// What is asked of a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Resource {
    /// `GET /bytes/SIZE` and `POST /sink`, of the sizes that the workload asks for. An answer of another size is a
    /// failure.
    #[default]
    Netburn,
    /// `GET` of this path and query, whatever its size.
    Get(String),
    /// `HEAD` of this path and query.
    Head(String),
    /// `POST` of so many bytes to this path and query.
    Post(String, ByteSize),
}

/// Whose certificate will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// One that the system's roots vouch for, with the host's name in it.
    SystemRoots,
    /// The one whose SHA-256 over its DER form is this.
    Fingerprint([u8; 32]),
    /// Any at all.
    Any,
}

impl Target {
    /// A netburn server at `address`, spoken to in cleartext HTTP/1.1, called by its address.
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        Target {
            address,
            datagram_port: None,
            host: match address {
                SocketAddr::V4(v4) => v4.ip().to_string(),
                SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
            },
            http: Http::H1,
            tls: None,
            interface: None,
            cc: None,
            answers_cc: None,
            limit: None,
            total: None,
            resource: Resource::Netburn,
            labelled: false,
        }
    }

    /// Where probes go.
    #[must_use]
    pub fn datagrams(&self) -> SocketAddr {
        SocketAddr::new(self.address.ip(), self.datagram_port.unwrap_or(self.address.port()))
    }

    /// The `Host` field or `:authority`: the host, and the port where it isn't the scheme's own (80, 443).
    #[must_use]
    pub fn authority(&self) -> String {
        let usual = if self.tls.is_some() { 443 } else { 80 };
        match self.address.port() {
            port if port == usual => self.host.clone(),
            port => format!("{}:{port}", self.host),
        }
    }
}
