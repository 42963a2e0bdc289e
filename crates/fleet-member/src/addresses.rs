//! Addresses at which other devices can reach this machine.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

/// Address of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
struct InterfaceAddress {
    interface: String,
    ip: IpAddr,
}

/// Addresses that reach a listener at `listen`, best first. Never empty.
#[must_use]
pub fn of_listeners(listen: &[SocketAddr]) -> Vec<IpAddr> {
    let own = if_addrs::get_if_addrs().unwrap_or_default();
    let own = own.into_iter().map(|interface| InterfaceAddress {
        ip: interface.ip(),
        interface: interface.name,
    });
    sorted(listen, own.collect(), default_source())
}

/// Best address that reaches a listener at `listen`.
#[must_use]
pub fn advertised(listen: &[SocketAddr]) -> IpAddr {
    of_listeners(listen)[0]
}

/// Addresses of the other IP version at the interface that has `ours`, without link-local ones. Where there are many, as
/// temporary addresses (RFC 8981), the order is that of their numbers.
pub(crate) fn beside(ours: IpAddr) -> Vec<IpAddr> {
    let own = if_addrs::get_if_addrs().unwrap_or_default();
    let own = own.into_iter().map(|interface| InterfaceAddress {
        ip: interface.ip(),
        interface: interface.name,
    });
    beside_of(ours, &own.collect::<Vec<_>>())
}

fn beside_of(ours: IpAddr, own: &[InterfaceAddress]) -> Vec<IpAddr> {
    let at = own.iter().find(|address| address.ip == ours);
    let same = own
        .iter()
        .filter(|address| at.is_some_and(|at| at.interface == address.interface));
    let mut found: Vec<IpAddr> = same
        .map(|address| address.ip)
        .filter(|ip| ip.is_ipv4() != ours.is_ipv4())
        .filter(|ip| match ip {
            IpAddr::V4(v4) => !v4.is_link_local(),
            IpAddr::V6(v6) => !v6.is_unicast_link_local(),
        })
        .collect();
    found.sort();
    found
}

/// Source address of this machine's default route. Sends nothing.
fn default_source() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // A documentation address (RFC 5737) and the discard port. Connecting a UDP socket only looks up the
    // route.
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip())
}

fn sorted(listen: &[SocketAddr], own: Vec<InterfaceAddress>, out: Option<IpAddr>) -> Vec<IpAddr> {
    let any = |v4: bool| listen.iter().any(|at| at.ip().is_unspecified() && at.is_ipv4() == v4);
    let mut found: Vec<(u8, IpAddr)> = Vec::new();
    for at in listen.iter().filter(|at| !at.ip().is_unspecified()) {
        found.push((0, at.ip()));
    }
    for InterfaceAddress { interface, ip } in own {
        // Interfaces for containers and virtual machines.
        let inner = ["docker", "br-", "veth", "virbr", "vmnet", "lxc", "podman", "cni"];
        let rank = match ip {
            _ if ip.is_loopback() || ip.is_unspecified() => continue,
            _ if !any(ip.is_ipv4()) => continue,
            _ if Some(ip) == out => 1,
            _ if inner.iter().any(|name| interface.starts_with(name)) => 5,
            IpAddr::V4(v4) if v4.is_link_local() => 6,
            IpAddr::V4(v4) if v4.is_private() => 2,
            IpAddr::V4(_) => 3,
            // fe80::/10 needs a scope, which differs between devices.
            IpAddr::V6(v6) if v6.is_unicast_link_local() => continue,
            IpAddr::V6(_) => 4,
        };
        found.push((rank, ip));
    }
    found.sort();
    found.dedup();
    if found.is_empty() {
        vec![Ipv4Addr::LOCALHOST.into()]
    } else {
        found.into_iter().map(|(_, ip)| ip).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ips(listen: &[&str], own: &[(&str, &str)], out: Option<&str>) -> Vec<String> {
        let listen: Vec<_> = listen.iter().map(|at| at.parse().unwrap()).collect();
        let own = own.iter().map(|(interface, ip)| InterfaceAddress {
            interface: (*interface).to_owned(),
            ip: ip.parse().unwrap(),
        });
        let found = sorted(&listen, own.collect(), out.map(|ip| ip.parse().unwrap()));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_other_ip_version_is_that_of_the_same_interface() {
        let own = [
            ("eth0", "203.0.113.9"),
            ("eth0", "2001:db8::9"),
            ("wlan0", "192.168.1.5"),
            ("wlan0", "fe80::1"),
            ("wlan0", "fd00::6"),
            ("wlan0", "fd00::5"),
        ];
        let own = own.map(|(interface, ip)| InterfaceAddress {
            interface: interface.to_owned(),
            ip: ip.parse().unwrap(),
        });
        let beside = |ours: &str| -> Vec<String> {
            let found = beside_of(ours.parse().unwrap(), &own);
            found.iter().map(ToString::to_string).collect()
        };
        assert_eq!(beside("192.168.1.5"), ["fd00::5", "fd00::6"]);
        assert_eq!(beside("fd00::5"), ["192.168.1.5"]);
        assert_eq!(beside("198.51.100.1"), [""; 0]);
    }

    #[test]
    fn the_best_address_is_first() {
        let own = [
            ("lo", "127.0.0.1"),
            ("docker0", "172.17.0.1"),
            ("eth0", "203.0.113.9"),
            ("wlan0", "192.168.1.5"),
            ("usb0", "10.0.0.1"),
            ("wlan0", "fe80::1"),
            ("wlan0", "fd00::5"),
        ];
        let both = ["0.0.0.0:4484", "[::]:4484"];
        let all = ips(&both, &own, Some("192.168.1.5"));
        assert_eq!(all, ["192.168.1.5", "10.0.0.1", "203.0.113.9", "fd00::5", "172.17.0.1"]);
        assert_eq!(ips(&["[::]:1"], &own, None), ["fd00::5"]);
        assert_eq!(ips(&["192.168.1.5:1"], &own, None), ["192.168.1.5"]);
        assert_eq!(ips(&["127.0.0.1:1"], &own, None), ["127.0.0.1"]);
        assert_eq!(ips(&both, &[], None), ["127.0.0.1"]);
    }
}
