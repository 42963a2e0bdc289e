//! A server and the options of connections to it.

use super::Total;
use netburn_scenario::plan::Http;
use netburn_units::{BitRate, ByteSize};
use std::net::SocketAddr;

/// A server as one station uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Address.
    pub address: SocketAddr,
    /// UDP port of the probe echo; `None` for the address's port number.
    pub datagram_port: Option<u16>,
    /// True if probes of the server are ICMP echo requests, for a host without a netburn server. It needs an IPv4 address.
    pub pings: bool,
    /// Name in the `Host` field, in `:authority` and in the certificate. Without a port.
    pub host: String,
    /// HTTP version. HTTP/2 without TLS uses prior knowledge (RFC 9113 §3.3).
    pub http: Http,
    /// Accepted certificates; `None` for cleartext.
    pub tls: Option<Trust>,
    /// Interface to which connections are bound (`SO_BINDTODEVICE`); `None`: the route decides.
    pub interface: Option<String>,
    /// Congestion control of connections (`TCP_CONGESTION`); `None`: the system's default.
    pub cc: Option<String>,
    /// Congestion control that a netburn server should use for responses; `None`: the server's default.
    pub answers_cc: Option<String>,
    /// Rate limit of this host in each direction, over all loads of a drive. Bulk transfers
    /// ([`Kind::Download`](netburn_workload::Kind), `Upload`) wait for their turn; paced workloads have priority.
    pub limit: Option<BitRate>,
    /// Counters of moved bytes.
    pub total: Option<Total>,
    /// Requested resource.
    pub resource: Resource,
    /// True if requests of [`Resource::Netburn`] contain their station (`?station=3`), for a server that counts by
    /// station.
    pub labelled: bool,
}

/// Resource to request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Resource {
    /// `GET /bytes/SIZE` and `POST /sink` with the sizes of the workload. A response of another size is a failure.
    #[default]
    Netburn,
    /// `GET` of this path and query, of any size.
    Get(String),
    /// `HEAD` of this path and query.
    Head(String),
    /// `POST` of this many bytes to this path and query.
    Post(String, ByteSize),
    /// Objects of a server for responsiveness tests, over HTTP/2. Probes fetch the small one, and load is without end.
    Responsiveness(Box<ResponsivenessObjects>),
}

/// Objects of a server for responsiveness tests. Paths have their queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponsivenessObjects {
    /// `:authority` of the requests.
    pub authority: String,
    /// Path of the object of one byte.
    pub small: String,
    /// Path of the large object.
    pub large: String,
    /// Path of uploads.
    pub upload: String,
}

/// Accepted certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Certificates that the system's roots trust, with the host's name.
    SystemRoots,
    /// The certificate with this SHA-256 of its DER encoding.
    Fingerprint([u8; 32]),
    /// Any certificate.
    Any,
}

impl Target {
    /// Creates a target for a netburn server at `address`, with cleartext HTTP/1.1 and the address as its name.
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        Target {
            address,
            datagram_port: None,
            pings: false,
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

    /// Returns the address for probes.
    #[must_use]
    pub fn datagrams(&self) -> SocketAddr {
        SocketAddr::new(self.address.ip(), self.datagram_port.unwrap_or(self.address.port()))
    }

    /// Returns the `Host` field or `:authority`: the host, and the port if it is not the scheme's default (80, 443).
    #[must_use]
    pub fn authority(&self) -> String {
        let usual = if self.tls.is_some() { 443 } else { 80 };
        match self.address.port() {
            port if port == usual => self.host.clone(),
            port => format!("{}:{port}", self.host),
        }
    }
}
