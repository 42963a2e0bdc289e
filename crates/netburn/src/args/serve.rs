//! `serve`.

use clap::Args;
use netburn_traffic::server::{PORT, TLS_PORT};
use netburn_units::{BitRate, ByteSize, Duration};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

/// Serve the traffic that stations ask for.
///
/// It serves objects of any size, a sink, and an echo for probes. It consents to being burned, in its operator's name, at /.well-known/netburn. The addresses it listens at go to
/// standard output, one a line. It serves until it is interrupted.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where to listen for HTTP and datagrams; port 0 takes a free one [default: every address, port 4480]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub(crate) listen: Vec<Listen>,
    /// Where to listen for HTTP over TLS [default: every address, port 4483, once there is a certificate]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub(crate) listen_tls: Vec<Listen>,
    /// Serve over TLS too, with a certificate made now; its fingerprint is said
    #[arg(long)]
    pub(crate) tls: bool,
    /// A name for the certificate that is made [default: localhost and its addresses]
    #[arg(long, value_name = "NAME")]
    pub(crate) tls_name: Vec<String>,
    /// Serve over TLS with this certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "key", conflicts_with = "tls_name")]
    pub(crate) cert: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// The most to move each way, all clients together, such as "100 Mbit/s"
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<BitRate>,
    /// Congestion control of the connections, such as bbr [default: the system's]
    #[arg(long, value_name = "NAME")]
    pub(crate) cc: Option<String>,
    /// Don't echo datagrams
    #[arg(long)]
    pub(crate) no_datagrams: bool,
    /// Threads that serve [default: one per processor]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// In whose name this server agrees to be burned
    #[arg(long, value_name = "TEXT", help_heading = "Consent")]
    pub(crate) operator: Option<String>,
    /// Don't agree to be burned
    #[arg(long, conflicts_with = "operator", help_heading = "Consent")]
    pub(crate) no_consent: bool,
    /// Consent to be burned by this fleet's members: a file that begins with its token, or the address to join it
    #[arg(
        long,
        value_name = "FILE|URL",
        conflicts_with = "no_consent",
        help_heading = "Consent"
    )]
    pub(crate) fleet: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Serve one run, for the controller that started this
    #[arg(long, hide = true)]
    pub(crate) join: bool,
}

/// What clients are held to. Those per client don't hold for clients over loopback.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Connections at once, in all [default: 16384]
    #[arg(long, value_name = "N")]
    pub(crate) connections: Option<usize>,
    /// Connections at once per client [default: 1024]
    #[arg(long, value_name = "N")]
    pub(crate) connections_per_client: Option<usize>,
    /// Requests per second and client [default: 5000]
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_client: Option<u32>,
    /// The most that one client moves each way [default: no limit]
    #[arg(long, value_name = "RATE")]
    pub(crate) rate_per_client: Option<BitRate>,
    /// The largest object either way [default: 16GiB, and no more]
    #[arg(long, value_name = "SIZE")]
    pub(crate) object: Option<ByteSize>,
    /// The longest head of a request [default: 16KiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) head: Option<ByteSize>,
    /// The longest time for a request's head or a TLS handshake [default: 10s]
    #[arg(long, value_name = "TIME")]
    pub(crate) head_time: Option<Duration>,
    /// The longest time between requests of a connection [default: 75s]
    #[arg(long, value_name = "TIME")]
    pub(crate) idle_time: Option<Duration>,
    /// The longest time in which a client neither takes nor sends a byte [default: 30s]
    #[arg(long, value_name = "TIME")]
    pub(crate) stall_time: Option<Duration>,
    /// Streams at once on one HTTP/2 connection [default: 128]
    #[arg(long, value_name = "N")]
    pub(crate) streams: Option<u32>,
    /// Datagrams echoed per second and client [default: 2000]
    #[arg(long, value_name = "N")]
    pub(crate) probes_per_client: Option<u32>,
}

/// An address, perhaps with a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listen {
    address: IpAddr,
    port: Option<u16>,
}

impl Listen {
    /// For cleartext.
    pub(crate) fn http(self) -> SocketAddr {
        SocketAddr::new(self.address, self.port.unwrap_or(PORT))
    }

    /// With this port where none is said.
    pub(crate) fn at(self, port: u16) -> SocketAddr {
        SocketAddr::new(self.address, self.port.unwrap_or(port))
    }

    /// For TLS.
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
            Err(_) => Err("write it as `0.0.0.0:4480`, `127.0.0.1` or `[::1]:0`".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_with_and_without_a_port() {
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
