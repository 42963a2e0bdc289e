//! Finding a fleet on the local network: DNS-SD over multicast DNS (RFC 6763, RFC 6762), the service
//! `_netburn._tcp`.
//!
//! What is announced is the fleet's name, the port and the addresses; no token, and no fingerprint: whoever could
//! announce a wrong controller could announce its fingerprint, too.

use crate::hub::Controller;
use crate::join_url::{JoinUrl, Place};
use crate::own_clock::to_std;
use mdns_sd::{ServiceDaemon, ServiceEvent, ServiceInfo};
use netburn_units::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// The service's type.
pub const SERVICE: &str = "_netburn._tcp.local.";
/// How long answers to a question on the network are waited for.
pub const LISTEN: Duration = Duration::from_secs(2);

/// A fleet that is announced for as long as this lives.
pub struct Announcement {
    daemon: ServiceDaemon,
    name: String,
}

/// Why nothing is announced or found.
pub type DiscoveryError = mdns_sd::Error;

/// A fleet that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is called.
    pub fleet: String,
    /// Where it may be reached, without a token; the likeliest first.
    pub urls: Vec<JoinUrl>,
}

/// Announces a controller; `None`: it listens where no network leads.
///
/// # Errors
/// When the network can't be spoken to.
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
    // A name of its own, so that the machine's own responder and this one don't dispute one.
    let host = format!("netburn-{}.local.", fleet.to_ascii_lowercase());
    let service = ServiceInfo::new(SERVICE, fleet, &host, addresses, port, &[("v", "1")][..])?;
    let name = service.get_fullname().to_owned();
    daemon.register(service)?;
    Ok(Announcement { daemon, name })
}

impl Drop for Announcement {
    fn drop(&mut self) {
        // So that it is forgotten before its time is up; nobody waits for it.
        let _ = self.daemon.unregister(&self.name);
        let _ = self.daemon.shutdown();
    }
}

/// Asks the local network for fleets, and waits [`LISTEN`] for answers. Blocks.
///
/// # Errors
/// When the network can't be spoken to.
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
