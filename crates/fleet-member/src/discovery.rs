//! Discovery of a fleet on the local network: DNS-SD over multicast DNS (RFC 6763, RFC 6762), service
//! `_netburn._tcp`. Also the announcement of a server of responsiveness tests, service `_nq._tcp`.
//!
//! The announcement of a fleet contains the fleet's name, the port and the addresses. It contains neither the token
//! nor the fingerprint: a false announcement could contain a false fingerprint, too.

use crate::addresses;
use mdns_sd::{ServiceDaemon, ServiceEvent, ServiceInfo};
use netburn_protocol::join_url::{JoinUrl, Place};
use netburn_protocol::own_clock::to_std;
use netburn_units::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

/// Service type.
pub const SERVICE: &str = "_netburn._tcp.local.";
/// Service type of a server of responsiveness tests (draft-ietf-ippm-responsiveness-09). Its port is that of HTTP over
/// TLS.
pub const RESPONSIVENESS_SERVICE: &str = "_nq._tcp.local.";
/// Maximum length of a DNS label in bytes (RFC 1035 §2.3.4).
const MAX_LABEL: usize = 63;
/// Time for which answers are awaited.
pub const LISTEN: Duration = Duration::from_secs(2);

/// Announcement of a service; withdrawn on drop.
pub struct Announcement {
    daemon: ServiceDaemon,
    name: String,
}

/// Error of announcing or browsing.
pub type DiscoveryError = mdns_sd::Error;

/// A discovered fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Name of the fleet.
    pub fleet: String,
    /// Join addresses without a token, best first.
    pub urls: Vec<JoinUrl>,
}

/// Announces a controller with these join addresses, which listens at `port`; `None` if it listens on loopback only.
///
/// # Errors
/// If multicast DNS is not available.
pub fn announce(fleet: &str, urls: &[JoinUrl], port: u16) -> Result<Option<Announcement>, DiscoveryError> {
    let near = |url: &JoinUrl| match &url.place {
        Place::Network { host, .. } => host.parse::<IpAddr>().ok().filter(|ip| !ip.is_loopback()),
        Place::Unix(_) => None,
    };
    let addresses: BTreeSet<IpAddr> = urls.iter().filter_map(near).collect();
    if addresses.is_empty() || port == 0 {
        return Ok(None);
    }
    announce_at(fleet, &addresses.into_iter().collect::<Vec<_>>(), port).map(Some)
}

fn announce_at(fleet: &str, addresses: &[IpAddr], port: u16) -> Result<Announcement, DiscoveryError> {
    let daemon = ServiceDaemon::new()?;
    // A separate host name avoids a conflict with the machine's own responder.
    let host = format!("netburn-{}.local.", fleet.to_ascii_lowercase());
    let service = ServiceInfo::new(SERVICE, fleet, &host, addresses, port, &[("v", "1")][..])?;
    register(daemon, service)
}

fn register(daemon: ServiceDaemon, service: ServiceInfo) -> Result<Announcement, DiscoveryError> {
    let name = service.get_fullname().to_owned();
    daemon.register(service)?;
    Ok(Announcement { daemon, name })
}

/// Announces a server of responsiveness tests with listeners at `listen`, all with the same port. `machine` is the name of
/// this machine. Returns `None` if the server listens on loopback only.
///
/// # Errors
/// If multicast DNS is not available.
pub fn announce_responsiveness(machine: &str, listen: &[SocketAddr]) -> Result<Option<Announcement>, DiscoveryError> {
    let Some(port) = listen.first().map(SocketAddr::port) else {
        return Ok(None);
    };
    let mut addresses = addresses::of_listeners(listen);
    addresses.retain(|ip| !ip.is_loopback() && !ip.is_unspecified());
    if addresses.is_empty() {
        return Ok(None);
    }
    register(ServiceDaemon::new()?, responsiveness(machine, &addresses, port)?).map(Some)
}

fn responsiveness(machine: &str, addresses: &[IpAddr], port: u16) -> Result<ServiceInfo, DiscoveryError> {
    let label = label(machine);
    let host = format!("netburn-rpm-{label}.local.");
    let instance = format!("netburn on {label}");
    let no_text: &[(&str, &str)] = &[];
    ServiceInfo::new(RESPONSIVENESS_SERVICE, &instance, &host, addresses, port, no_text)
}

/// Returns the first part of a host name, as a part of a DNS label: letters, digits and hyphens.
fn label(machine: &str) -> String {
    let first = machine.split('.').next().unwrap_or_default();
    let valid = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    // The longest prefix is `netburn-rpm-`.
    let room = MAX_LABEL - "netburn-rpm-".len();
    let text: String = first.chars().take(room).map(valid).collect();
    match text.trim_matches('-') {
        "" => "server".to_owned(),
        text => text.to_owned(),
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        // Withdraws the announcement. The result does not matter.
        let _ = self.daemon.unregister(&self.name);
        let _ = self.daemon.shutdown();
    }
}

/// Browses the local network for fleets, for [`LISTEN`]. Blocks.
///
/// # Errors
/// If multicast DNS is not available.
pub fn find() -> Result<Vec<Found>, DiscoveryError> {
    let daemon = ServiceDaemon::new()?;
    let found = find_with(&daemon);
    let _ = daemon.shutdown();
    found
}

fn find_with(daemon: &ServiceDaemon) -> Result<Vec<Found>, DiscoveryError> {
    let answers = daemon.browse(SERVICE)?;
    let until = std::time::Instant::now() + to_std(LISTEN);
    let mut found = BTreeMap::new();
    while let Ok(event) = answers.recv_deadline(until) {
        if let ServiceEvent::ServiceResolved(service) = event {
            let fleet = service.get_fullname().strip_suffix(SERVICE).unwrap_or_default();
            let fleet = fleet.trim_end_matches('.').to_owned();
            let mut addresses: Vec<IpAddr> = service.get_addresses().iter().map(|ip| ip.to_ip_addr()).collect();
            addresses.sort();
            let url = |ip: &IpAddr| JoinUrl {
                place: Place::Network {
                    host: ip.to_string(),
                    port: service.get_port(),
                    tls: false,
                },
                token: None,
                fingerprint: None,
            };
            let urls = addresses.iter().map(url).collect();
            found.insert(fleet.clone(), Found { fleet, urls });
        }
    }
    Ok(found.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_s_name_becomes_a_label() {
        for (name, expected) in [
            ("desk", "desk"),
            ("Desk.home.arpa", "desk"),
            ("büro pc", "b-ro-pc"),
            ("-x-", "x"),
            ("", "server"),
            ("…", "server"),
        ] {
            assert_eq!(label(name), expected, "{name}");
        }
        // `netburn-rpm-` has 12 of the 63 bytes.
        assert_eq!(label(&"x".repeat(100)).len(), 51);
    }

    #[test]
    fn a_server_of_responsiveness_tests_is_announced_with_its_addresses() {
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        let service = responsiveness("desk", &[address], 4483).unwrap();
        assert_eq!(service.get_fullname(), "netburn on desk._nq._tcp.local.");
        assert_eq!(service.get_hostname(), "netburn-rpm-desk.local.");
        assert_eq!(service.get_port(), 4483);
        assert_eq!(service.get_properties().len(), 0);
    }

    #[test]
    fn a_server_on_loopback_is_not_announced() {
        let listen = ["127.0.0.1:4483", "[::1]:4483"].map(|at| at.parse().unwrap());
        assert!(announce_responsiveness("desk", &listen).unwrap().is_none());
        assert!(announce_responsiveness("desk", &[]).unwrap().is_none());
    }
}
