//! `netburn serve`.

use clap::{Args, ValueEnum};
use netburn_traffic::server::{PORT, RpmClients, TLS_PORT};
use netburn_units::{BitRate, ByteSize, Duration};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

/// Start a server for the traffic of the stations
///
/// The server provides objects of any size, accepts uploads and echoes datagrams for probes. At /.well-known/netburn it
/// publishes a consent document, with its operator's name: it accepts load tests. Standard output shows the addresses,
/// one per line. The server runs until it is interrupted.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address for HTTP and datagrams; port 0 selects a free port [default: all addresses, port 4480]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub(crate) listen: Vec<Listen>,
    /// Address for HTTP over TLS [default: all addresses, port 4483, if there is a certificate]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub(crate) listen_tls: Vec<Listen>,
    /// Serve over TLS with a new self-signed certificate, and print its fingerprint
    #[arg(long)]
    pub(crate) tls: bool,
    /// Name in the new certificate [default: localhost and its addresses]
    #[arg(long, value_name = "NAME")]
    pub(crate) tls_name: Vec<String>,
    /// Certificate chain for TLS (PEM)
    #[arg(long, value_name = "FILE", requires = "key", conflicts_with = "tls_name")]
    pub(crate) cert: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Maximum total rate in each direction, such as "100 Mbit/s"
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<BitRate>,
    /// Congestion control of the connections, such as bbr [default: the system's]
    #[arg(long, value_name = "NAME")]
    pub(crate) cc: Option<String>,
    /// Don't echo datagrams
    #[arg(long)]
    pub(crate) no_datagrams: bool,
    /// Clients that may run responsiveness tests (RPM) over TLS [default: local]
    #[arg(long, value_name = "CLIENTS")]
    pub(crate) rpm: Option<Rpm>,
    /// Don't announce responsiveness tests on the local network (mDNS)
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Number of threads [default: number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Operator name to publish in the consent document
    #[arg(long, value_name = "TEXT", help_heading = "Consent")]
    pub(crate) operator: Option<String>,
    /// Reject load tests, and responsiveness tests
    #[arg(long, conflicts_with_all = ["operator", "rpm"], help_heading = "Consent")]
    pub(crate) no_consent: bool,
    /// Fleet whose members may send load tests: file that starts with its token, or its join address
    #[arg(
        long,
        value_name = "FILE|URL",
        conflicts_with = "no_consent",
        help_heading = "Consent"
    )]
    pub(crate) fleet: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Serve one run of the controller that started this process
    #[arg(long, hide = true)]
    pub(crate) join: bool,
}

/// Clients that may run responsiveness tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rpm {
    /// No client
    None,
    /// Clients with loopback, private or link-local addresses
    Local,
    /// All clients
    All,
}

impl From<Rpm> for RpmClients {
    fn from(rpm: Rpm) -> Self {
        match rpm {
            Rpm::None => RpmClients::None,
            Rpm::Local => RpmClients::Local,
            Rpm::All => RpmClients::All,
        }
    }
}

/// Limits of clients. Limits per client do not apply to clients on the loopback device.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Maximum number of connections [default: 16384]
    #[arg(long, value_name = "N")]
    pub(crate) connections: Option<usize>,
    /// Maximum number of connections per client [default: 1024]
    #[arg(long, value_name = "N")]
    pub(crate) connections_per_client: Option<usize>,
    /// Maximum requests per second and client [default: 5000]
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_client: Option<u32>,
    /// Maximum rate of one client in each direction [default: no limit]
    #[arg(long, value_name = "RATE")]
    pub(crate) rate_per_client: Option<BitRate>,
    /// Maximum size of an object in either direction, up to 16GiB [default: 16GiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) object: Option<ByteSize>,
    /// Maximum size of a request's header section [default: 16KiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) head: Option<ByteSize>,
    /// Timeout of a request's header section or a TLS handshake [default: 10s]
    #[arg(long, value_name = "TIME")]
    pub(crate) head_time: Option<Duration>,
    /// Timeout between requests of a connection [default: 75s]
    #[arg(long, value_name = "TIME")]
    pub(crate) idle_time: Option<Duration>,
    /// Timeout of a client that neither reads nor sends a byte [default: 30s]
    #[arg(long, value_name = "TIME")]
    pub(crate) stall_time: Option<Duration>,
    /// Maximum number of streams of one HTTP/2 connection [default: 512]
    #[arg(long, value_name = "N")]
    pub(crate) streams: Option<u32>,
    /// Maximum number of echoed datagrams per second and client [default: 2000]
    #[arg(long, value_name = "N")]
    pub(crate) probes_per_client: Option<u32>,
}

/// IP address with an optional port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listen {
    address: IpAddr,
    port: Option<u16>,
}

impl Listen {
    /// Socket address for HTTP without TLS.
    pub(crate) fn http(self) -> SocketAddr {
        SocketAddr::new(self.address, self.port.unwrap_or(PORT))
    }

    /// Socket address with a default port.
    pub(crate) fn with_default_port(self, port: u16) -> SocketAddr {
        SocketAddr::new(self.address, self.port.unwrap_or(port))
    }

    /// Socket address for HTTP over TLS.
    pub(crate) fn https(self) -> SocketAddr {
        SocketAddr::new(self.address, self.port.unwrap_or(TLS_PORT))
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
        if let Ok(address) = bare.parse() {
            return Ok(Listen { address, port: None });
        }
        match text.parse::<SocketAddr>() {
            Ok(at) => Ok(Listen {
                address: at.ip(),
                port: Some(at.port()),
            }),
            Err(_) => Err(format!(
                "invalid address: found `{text}`, expected e.g. `0.0.0.0:4480`, `127.0.0.1` or `[::1]:0`"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_parse_with_and_without_a_port() {
        let http = |text: &str| text.parse::<Listen>().unwrap().http().to_string();
        assert_eq!(http("127.0.0.1"), "127.0.0.1:4480");
        assert_eq!(http("0.0.0.0:80"), "0.0.0.0:80");
        assert_eq!(http("::1"), "[::1]:4480");
        assert_eq!(http("[::1]"), "[::1]:4480");
        assert_eq!(http("[::]:0"), "[::]:0");
        assert_eq!("::1".parse::<Listen>().unwrap().https().port(), 4483);
        for wrong in ["", "localhost", "1.2.3", "127.0.0.1:70000", "[::1"] {
            assert!(wrong.parse::<Listen>().is_err(), "{wrong}");
        }
    }
}
