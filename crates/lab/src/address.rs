//! Who has which address.
//!
//! IPv4 addresses are of 198.18.0.0/15, which is set aside for tests of networks (RFC 2544, RFC 6890) and routed nowhere; IPv6
//! addresses are unique local ones (RFC 4193).

use netburn_network::Endpoint;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The most stations that have an address.
pub const MOST_STATIONS: usize = 60_000;

/// The IPv4 address of an end: the server's is 198.18.0.1, the first station's 198.18.1.0.
#[must_use]
pub fn v4(of: Endpoint) -> Ipv4Addr {
    let number = match of {
        Endpoint::Server => 1,
        Endpoint::Station(station) => 256 + u32::from(station),
    };
    Ipv4Addr::from(u32::from(Ipv4Addr::new(198, 18, 0, 0)) + number)
}

/// The IPv6 address of an end.
#[must_use]
pub fn v6(of: Endpoint) -> Ipv6Addr {
    let [_, _, high, low] = v4(of).octets();
    // The prefix spells netburn.
    let number = u16::from(high) << 8 | u16::from(low);
    Ipv6Addr::new(0xfd6e, 0x6574, 0x6275, 0x726e, 0, 0, 0, number)
}

/// Whose address it is, where there are `stations`.
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
    fn an_address_belongs_to_whom_it_was_given() {
        for end in [Endpoint::Server, Endpoint::Station(0), Endpoint::Station(300)] {
            assert_eq!(owner(IpAddr::V4(v4(end)), 301), Some(end));
            assert_eq!(owner(IpAddr::V6(v6(end)), 301), Some(end));
        }
        assert_eq!(v4(Endpoint::Station(0)), Ipv4Addr::new(198, 18, 1, 0));
        assert_eq!(owner(IpAddr::V4(v4(Endpoint::Station(5))), 5), None);
        for nobody in [
            "198.18.0.0",
            "198.18.0.2",
            "10.0.0.1",
            "224.0.0.1",
            "fd00::1",
            "::1",
            "255.255.255.255",
        ] {
            assert_eq!(owner(nobody.parse().unwrap(), 9), None, "{nobody}");
        }
    }
}
