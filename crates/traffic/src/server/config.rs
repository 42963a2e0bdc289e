//! Configuration of a server.

use crate::consent::fleet::FleetKey;
use crate::datagram::EchoLimits;
use crate::tls::Identity;
use netburn_units::{BitRate, ByteSize, Duration};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;

/// Port of cleartext HTTP and of datagrams. Not assigned by IANA.
pub const PORT: u16 = 4480;
/// Port of HTTP over TLS. Not assigned by IANA.
pub const TLS_PORT: u16 = 4483;
/// Further ports of cleartext HTTP, for browsers that measure in a fleet. Not assigned by IANA.
pub const BROWSER_PORTS: RangeInclusive<u16> = 4489..=4495;

/// Configuration of a server.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Name in its [`Health`](netburn_record::Health). Default "server".
    pub name: String,
    /// Addresses for cleartext HTTP, and with the same port numbers for datagrams. Port 0 selects a free port, which is
    /// the same for different IP addresses. Default: port [`PORT`] of all IPv4 and IPv6 addresses. An IPv6 wildcard is skipped on machines without IPv6, unless it is
    /// the only address.
    pub listen: Vec<SocketAddr>,
    /// Addresses for HTTP over TLS, used with an identity. Default: port [`TLS_PORT`] of all addresses.
    pub listen_tls: Vec<SocketAddr>,
    /// Further TCP ports for cleartext HTTP, at the IP addresses of `listen` and without datagrams. A port in use is
    /// replaced by a free one. Default: none.
    pub more_ports: Vec<u16>,
    /// TLS identity. Default `None`: no TLS.
    pub tls: Option<Identity>,
    /// Rate limit in each direction, over all clients. Default `None`: unlimited.
    pub rate: Option<BitRate>,
    /// Congestion control of connections; `None`: the system's default.
    pub cc: Option<String>,
    /// True if datagrams are echoed (the default).
    pub datagrams: bool,
    /// Limits of clients.
    pub limits: Limits,
    /// Consent to load tests.
    pub consent: Terms,
    /// Clients that may use the endpoints of responsiveness tests. The endpoints need a TLS identity, and objects of at
    /// least [`RPM_OBJECT`]. Default: none.
    pub rpm: RpmClients,
    /// Fleet to which the server proves its membership. Default `None`.
    pub fleet: Option<FleetKey>,
    /// Number of stations whose content is counted: those of the present run. Default 0.
    pub stations: usize,
    /// Number of threads. Default `None`: one per processor.
    pub threads: Option<NonZeroUsize>,
}

/// Clients that may use the endpoints of responsiveness tests (RPM). Such clients do not read the consent document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RpmClients {
    /// No client.
    #[default]
    None,
    /// Clients with loopback, private or link-local addresses.
    Local,
    /// All clients.
    All,
}

/// Consent of a server to load tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// True if the server consents (the default).
    pub consents: bool,
    /// Operator: a line of plain text.
    pub operator: String,
}

/// Limits of a server's clients. Limits per client count an IPv4 address or an IPv6 /64 as one client. They do not
/// apply to clients on the same machine (loopback), where all stations share one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Simultaneous connections in total. Default 16,384. Above: status 503 and close.
    pub connections: usize,
    /// Simultaneous connections per client. Default 1,024. Above: status 429 and close.
    pub connections_per_client: usize,
    /// Requests per second and client, with bursts of the same number. Default 5,000. Above: status 429.
    pub requests_per_client: u32,
    /// Rate limit per client in each direction. Default `None`.
    pub rate_per_client: Option<BitRate>,
    /// Maximum length of a request's head. Default 16 KiB; at least 1 KiB. Above: status 414 or 431.
    pub head: ByteSize,
    /// Timeout from the first byte of a request to the end of its head, and of a TLS handshake. Default 10 s. Then:
    /// status 408 and close.
    pub head_time: Duration,
    /// Idle timeout between requests. Default 75 s.
    pub idle_time: Duration,
    /// Timeout without progress: no byte accepted by the client, or sent of a request's body. Default 30 s.
    pub stall_time: Duration,
    /// Maximum size of an object in each direction. Default and maximum 16 GiB.
    pub object: ByteSize,
    /// Simultaneous streams of an HTTP/2 connection. Default 512: a responsiveness test sends 100 probes per second
    /// on few connections.
    pub streams: u32,
    /// Limits of datagrams.
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
            more_ports: Vec::new(),
            tls: None,
            rate: None,
            cc: None,
            datagrams: true,
            limits: Limits::default(),
            consent: Terms::default(),
            rpm: RpmClients::None,
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
            operator: "the user who started netburn serve".to_owned(),
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
            streams: 512,
            datagrams: EchoLimits::default(),
        }
    }
}

/// Minimum of [`Limits::object`] for responsiveness tests: the draft's size of the large object.
pub const RPM_OBJECT: ByteSize = ByteSize::from_gib(8);

/// Maximum size of an object, regardless of the limits.
pub const MAX_OBJECT: ByteSize = ByteSize::from_gib(16);
