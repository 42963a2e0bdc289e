//! `netburn watch`.

use super::fetch::in_unit;
use super::serve::Listen;
use clap::Args;
use netburn_units::{BitRate, ByteSize, Duration};
use std::path::PathBuf;
use std::str::FromStr;

/// Monitor the network of this computer for days
///
/// netburn sends a probe per second to the router, to the first hop beyond it and to the server. DIR gets one record per
/// hour, and week.html with a map of the last seven days. Without --server, only the router is probed. netburn runs until
/// it is interrupted. Pings need a system that permits them; see the manual.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Folder of the records; one watch at a time uses it
    #[arg(default_value = "watch")]
    pub(crate) dir: PathBuf,
    /// Server: HOST receives pings; HOST:PORT is a `netburn serve`, which also answers loads
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) server: Option<WatchServer>,
    /// Goal for the round trip to the server
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = in_unit::<Duration>("ms"))]
    pub(crate) goal: Duration,
    /// Maximum size of all records; the oldest hours are deleted first [default: 2GB; 16MB if DIR is in memory (tmpfs)]
    #[arg(long, value_name = "SIZE")]
    pub(crate) keep: Option<ByteSize>,
    /// Interface to use, such as wlan0 [default: the route decides]
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,
    /// Write week.html of the folder again and exit, without probes
    #[arg(long, conflicts_with_all = ["server", "load", "alert", "metrics", "install", "uninstall"])]
    pub(crate) page: bool,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) alerts: AlertArgs,
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
    /// Length of a record, for tests
    #[arg(long, value_name = "TIME", default_value = "1h", hide = true)]
    pub(crate) period: Duration,
}

/// Short load in each hour.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadArgs {
    /// Download, then upload for this time in each whole hour, 1s to 60s [default: no load]
    #[arg(long, value_name = "TIME", requires = "server", value_parser = in_unit::<Duration>("s"))]
    pub(crate) load: Option<Duration>,
    /// Maximum rate of the load in each direction
    #[arg(long, value_name = "RATE", requires = "load", value_parser = in_unit::<BitRate>("Mbit/s"))]
    pub(crate) load_rate: Option<BitRate>,
    /// Confirm that you may send load to the server
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Alerts and metrics.
#[derive(Debug, Args)]
#[command(next_help_heading = "Alerts and metrics")]
pub(crate) struct AlertArgs {
    /// Rule, such as "server p95 > 100 ms for 5 min" or "cause line-down"; repeatable
    #[arg(long, value_name = "RULE")]
    pub(crate) alert: Vec<String>,
    /// Command to run, by the shell, when an alert starts or ends; NETBURN_ALERT_… describes the alert [env:
    /// NETBURN_WATCH_EXEC]
    #[arg(long, value_name = "COMMAND", requires = "alert")]
    pub(crate) exec: Option<String>,
    /// URL to which a JSON document is sent when an alert starts or ends [env: NETBURN_WATCH_WEBHOOK]
    #[arg(long, value_name = "URL", requires = "alert")]
    pub(crate) webhook: Option<netburn_traffic::fetch::Url>,
    /// Address for metrics at /metrics (OpenMetrics) [default: none]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<Listen>,
}

/// The watch as a service.
#[derive(Debug, Args)]
#[command(next_help_heading = "Service")]
pub(crate) struct ServiceArgs {
    /// Install a service with these options, which starts with this computer
    #[arg(long)]
    pub(crate) install: bool,
    /// Remove the service
    #[arg(long, conflicts_with = "install")]
    pub(crate) uninstall: bool,
}

/// Server of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WatchServer {
    /// Name or address, without brackets.
    pub(crate) host: String,
    /// Port of `netburn serve`; `None`: the host receives pings.
    pub(crate) port: Option<u16>,
}

impl FromStr for WatchServer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| {
            Err(format!(
                "{why}, expected a host, or the host and port of `netburn serve`"
            ))
        };
        let rest = text.trim().strip_prefix("http://").unwrap_or(text.trim());
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains("://") || rest.contains('/') {
            return wrong("found a URL");
        }
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, _)) if host.contains(':') && !host.ends_with(']') => (rest, None),
            Some((host, port)) => match port.parse::<u16>() {
                Ok(port) if port > 0 => (host, Some(port)),
                _ => return wrong(&format!("found the port `{port}`")),
            },
            None => (rest, None),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || host.starts_with('-') || host.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return wrong("found no host");
        }
        Ok(WatchServer {
            host: host.to_owned(),
            port,
        })
    }
}

impl std::fmt::Display for WatchServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.port {
            None => f.write_str(&self.host),
            Some(port) if self.host.contains(':') => write!(f, "[{}]:{port}", self.host),
            Some(port) => write!(f, "{}:{port}", self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_selects_a_netburn_server() {
        let parsed = |text: &str| text.parse::<WatchServer>().map(|server| (server.host, server.port));
        let host = |name: &str, port| Ok((name.to_owned(), port));
        assert_eq!(parsed("example.net"), host("example.net", None));
        assert_eq!(parsed("example.net:4480"), host("example.net", Some(4480)));
        assert_eq!(parsed("http://192.0.2.1:4480/"), host("192.0.2.1", Some(4480)));
        assert_eq!(parsed("2001:db8::1"), host("2001:db8::1", None));
        assert_eq!(parsed("[2001:db8::1]:4480"), host("2001:db8::1", Some(4480)));
        for wrong in ["", "https://a", "a:0", "a:x", "a/b", "-c", "a b", ":4480"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
