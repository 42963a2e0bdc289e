//! What a server is told.

use crate::consent::fleet::FleetKey;
use crate::datagram::EchoLimits;
use crate::tls::Identity;
use netburn_units::{BitRate, ByteSize, Duration};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroUsize;

/// The port of HTTP in cleartext, and of datagrams. Not assigned by IANA.
pub const PORT: u16 = 4480;
/// The port of HTTP over TLS. Not assigned by IANA.
pub const TLS_PORT: u16 = 4483;

/// A server's settings.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// What it is called in its [`Health`](netburn_record::Health). Default "server".
    pub name: String,
    /// Where it listens for cleartext HTTP, and on the same port numbers for datagrams; port 0 takes a free one.
    /// Default: port [`PORT`] of every IPv4 and IPv6 address. An IPv6 wildcard is left out where the machine has no
    /// IPv6, unless it is alone.
    pub listen: Vec<SocketAddr>,
    /// Where it listens for HTTP over TLS, if it has an identity. Default: port [`TLS_PORT`] of every address.
    pub listen_tls: Vec<SocketAddr>,
    /// Who it is over TLS. Default `None`: no TLS.
    pub tls: Option<Identity>,
    /// The most it moves, each way, all clients together. Default `None`: what the machine can.
    pub rate: Option<BitRate>,
    /// Congestion control of its connections; `None`: the system's.
    pub cc: Option<String>,
    /// Whether it echoes datagrams. Default true.
    pub datagrams: bool,
    /// What it holds its clients to.
    pub limits: Limits,
    /// What its consent says.
    pub consent: Terms,
    /// The fleet that it consents to, besides. Default `None`.
    pub fleet: Option<FleetKey>,
    /// How many stations it counts content for: those of the run that it serves. Default 0.
    pub stations: usize,
    /// How many threads serve. Default `None`: one per processor.
    pub threads: Option<NonZeroUsize>,
}

/// In whose name a server agrees to be burned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Whether it does. Default true: `netburn serve` is there for it.
    pub consents: bool,
    /// Who says so: a line of plain text. Default "whoever started netburn serve here".
    pub operator: String,
}

/// What a server holds its clients to. Those per client count an IPv4 address or an IPv6 /64 as one, and don't hold
/// for clients on the same machine (loopback), where all stations share one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once, in all. Default 16,384. Beyond: 503 and closed.
    pub connections: usize,
    /// Connections at once per client. Default 1,024. Beyond: 429 and closed.
    pub connections_per_client: usize,
    /// Requests per second and client, as many at once. Default 5,000. Beyond: 429.
    pub requests_per_client: u32,
    /// The most that one client moves, each way. Default `None`.
    pub rate_per_client: Option<BitRate>,
    /// The head of a request, in all. Default 16 KiB; at least 1 KiB. Beyond: 414 or 431.
    pub head: ByteSize,
    /// From the first byte of a request to the last of its head, and for a TLS handshake. Default 10 s. Beyond: 408
    /// and closed.
    pub head_time: Duration,
    /// Between requests. Default 75 s.
    pub idle_time: Duration,
    /// Without a byte that the client takes or, where it has a body to send, sends. Default 30 s.
    pub stall_time: Duration,
    /// The largest object either way. Default 16 GiB, and no more.
    pub object: ByteSize,
    /// Streams at once on one HTTP/2 connection. Default 128.
    pub streams: u32,
    /// Datagrams.
    pub datagrams: EchoLimits,
}

impl Default for ServerConfig {
    fn default() -> Self {
        let everywhere = |port| {
            [IpAddr::from(Ipv4Addr::UNSPECIFIED), IpAddr::from(Ipv6Addr::UNSPECIFIED)]
                .map(|ip| SocketAddr::new(ip, port))
                .to_vec()
        };
        Self {
            name: "server".to_owned(),
            listen: everywhere(PORT),
            listen_tls: everywhere(TLS_PORT),
            tls: None,
            rate: None,
            cc: None,
            datagrams: true,
            limits: Limits::default(),
            consent: Terms::default(),
            fleet: None,
            stations: 0,
            threads: None,
        }
    }
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            consents: true,
            operator: "whoever started netburn serve here".to_owned(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 16_384,
            connections_per_client: 1_024,
            requests_per_client: 5_000,
            rate_per_client: None,
            head: ByteSize::from_kib(16),
            head_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(75),
            stall_time: Duration::from_secs(30),
            object: MAX_OBJECT,
            streams: 128,
            datagrams: EchoLimits::default(),
        }
    }
}

/// No object is larger, whatever the limits say.
pub const MAX_OBJECT: ByteSize = ByteSize::from_gib(16);
