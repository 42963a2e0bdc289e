//! IP addresses of a plan's endpoints, in captures and in the lab.
//!
//! IPv4 addresses are in 198.18.0.0/15, which is reserved for benchmarking and is not routed (RFC 2544, RFC 6890).
//! IPv6 addresses are unique local addresses (RFC 4193).

use netburn_network::Endpoint;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Maximum number of stations that can have an address.
pub const MAX_STATIONS: usize = 60_000;

/// IPv4 address of the virtual router. ICMP errors for addresses without a node come from it.
pub const ROUTER_V4: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 254);
/// IPv4 address of the first hop beyond the virtual router.
pub const LINE_END_V4: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 253);
/// IPv6 address of the virtual router.
pub const ROUTER_V6: Ipv6Addr = Ipv6Addr::new(0xfd6e, 0x6574, 0x6275, 0x726e, 0, 0, 0, 0xfe);

/// Returns the router's address of the same family as `like`.
#[must_use]
pub const fn router(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => IpAddr::V4(ROUTER_V4),
        IpAddr::V6(_) => IpAddr::V6(ROUTER_V6),
    }
}

/// Returns whether an address belongs to the lab's networks or is link-local.
#[must_use]
pub fn is_inside(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.octets()[0] == 198 && address.octets()[1] & 0xfe == 18 || address.is_link_local()
        }
        IpAddr::V6(address) => {
            address.segments()[..4] == [0xfd6e, 0x6574, 0x6275, 0x726e] || address.is_unicast_link_local()
        }
    }
}

/// Returns the IPv4 address of an endpoint: 198.18.0.1 for the server, 198.18.1.0 for the first station.
#[must_use]
pub fn v4(of: Endpoint) -> Ipv4Addr {
    let number = match of {
        Endpoint::Server => 1,
        Endpoint::Station(station) => 256 + u32::from(station),
    };
    Ipv4Addr::from(u32::from(Ipv4Addr::new(198, 18, 0, 0)) + number)
}

/// Returns the IPv6 address of an endpoint.
#[must_use]
pub fn v6(of: Endpoint) -> Ipv6Addr {
    let [_, _, high, low] = v4(of).octets();
    // The prefix is "netburn" in ASCII.
    let number = u16::from(high) << 8 | u16::from(low);
    Ipv6Addr::new(0xfd6e, 0x6574, 0x6275, 0x726e, 0, 0, 0, number)
}

/// Returns the endpoint that has an address, in a lab of `stations` stations.
#[must_use]
pub fn owner(address: IpAddr, stations: usize) -> Option<Endpoint> {
    let number = match address {
        IpAddr::V4(address) => u32::from(address).checked_sub(u32::from(Ipv4Addr::new(198, 18, 0, 0)))?,
        IpAddr::V6(address) => {
            let (prefix, number) = (address.segments(), address.segments()[7]);
            (prefix[..7] == [0xfd6e, 0x6574, 0x6275, 0x726e, 0, 0, 0]).then_some(u32::from(number))?
        }
    };
    match number {
        1 => Some(Endpoint::Server),
        256.. if ((number - 256) as usize) < stations => Some(Endpoint::Station((number - 256) as u16)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_the_lab_are_recognised() {
        for inside in [
            "198.18.1.77",
            "198.19.255.255",
            "169.254.3.4",
            "fd6e:6574:6275:726e::77",
            "fe80::1",
        ] {
            assert!(is_inside(inside.parse().unwrap()), "{inside}");
        }
        for outside in [
            "198.17.255.255",
            "198.20.0.0",
            "1.1.1.1",
            "127.0.0.1",
            "fd6e:6574::1",
            "2001:db8::1",
        ] {
            assert!(!is_inside(outside.parse().unwrap()), "{outside}");
        }
        for router in [IpAddr::V4(ROUTER_V4), IpAddr::V4(LINE_END_V4), IpAddr::V6(ROUTER_V6)] {
            assert!(is_inside(router) && owner(router, MAX_STATIONS).is_none());
        }
    }

    #[test]
    fn an_address_belongs_to_its_endpoint() {
        for end in [Endpoint::Server, Endpoint::Station(0), Endpoint::Station(300)] {
            assert_eq!(owner(IpAddr::V4(v4(end)), 301), Some(end));
            assert_eq!(owner(IpAddr::V6(v6(end)), 301), Some(end));
        }
        assert_eq!(v4(Endpoint::Station(0)), Ipv4Addr::new(198, 18, 1, 0));
        assert_eq!(owner(IpAddr::V4(v4(Endpoint::Station(5))), 5), None);
        for unknown in [
            "198.18.0.0",
            "198.18.0.2",
            "10.0.0.1",
            "224.0.0.1",
            "fd00::1",
            "::1",
            "255.255.255.255",
        ] {
            assert_eq!(owner(unknown.parse().unwrap(), 9), None, "{unknown}");
        }
    }
}
