//! Discovery of a fleet on the local network: DNS-SD over multicast DNS (RFC 6763, RFC 6762), service
//! `_netburn._tcp`.
//!
//! The announcement contains the fleet's name, the port and the addresses. It contains neither the token
//! nor the fingerprint: a false announcement could contain a false fingerprint, too.

use crate::hub::Controller;
use mdns_sd::{ServiceDaemon, ServiceEvent, ServiceInfo};
use netburn_protocol::join_url::{JoinUrl, Place};
use netburn_protocol::own_clock::to_std;
use netburn_units::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Service type.
pub const SERVICE: &str = "_netburn._tcp.local.";
/// Time for which answers are awaited.
pub const LISTEN: Duration = Duration::from_secs(2);

/// Announcement of a fleet; withdrawn on drop.
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

/// Announces a controller; `None` if it listens on loopback only.
///
/// # Errors
/// If multicast DNS is not available.
pub fn announce(fleet: &str, controller: &Controller) -> Result<Option<Announcement>, DiscoveryError> {
    let near = |url: &JoinUrl| match &url.place {
        Place::Network { host, .. } => host.parse::<IpAddr>().ok().filter(|ip| !ip.is_loopback()),
        Place::Unix(_) => None,
    };
    let addresses: BTreeSet<IpAddr> = controller.urls().iter().filter_map(near).collect();
    let port = controller.addresses().first().map_or(0, std::net::SocketAddr::port);
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
    let name = service.get_fullname().to_owned();
    daemon.register(service)?;
    Ok(Announcement { daemon, name })
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
