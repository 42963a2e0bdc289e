//! The next hop of a packet, by the routing table of IPv4 (`/proc/net/route`, proc(5); GetIpForwardTable on Windows).

use std::io;
use std::net::Ipv4Addr;

/// Next hop towards an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextHop {
    /// Gateway; `None` for an address on a directly connected network, and on a link with one other end.
    pub gateway: Option<Ipv4Addr>,
    /// True for the default route.
    pub is_default: bool,
}

/// Returns the next hop towards `to`; `None` without a route. `interface`: only routes over this interface. The main table
/// is used: rules of policy routing are not.
///
/// # Errors
/// The error of reading the table; [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux and
/// Windows.
pub fn next_hop(to: Ipv4Addr, interface: Option<&str>) -> io::Result<Option<NextHop>> {
    Ok(find(&imp::routes()?, to, interface))
}

/// Usable route of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Route {
    destination: Ipv4Addr,
    mask: Ipv4Addr,
    gateway: Option<Ipv4Addr>,
    metric: u32,
    interface: String,
}

/// Returns the next hop by the routes: of the longest prefix, and then of the lowest metric.
fn find(routes: &[Route], to: Ipv4Addr, interface: Option<&str>) -> Option<NextHop> {
    let matching = routes.iter().filter(|route| {
        let over = interface.is_none_or(|wanted| route.interface == wanted);
        over && u32::from(to) & u32::from(route.mask) == u32::from(route.destination)
    });
    let best = matching.min_by_key(|route| (std::cmp::Reverse(u32::from(route.mask)), route.metric))?;
    Some(NextHop {
        gateway: best.gateway,
        is_default: best.mask.is_unspecified(),
    })
}

/// The usable routes of `/proc/net/route`.
#[cfg_attr(
    not(any(target_os = "linux", test)),
    expect(dead_code, reason = "only Linux has this table")
)]
fn parse(table: &str) -> Vec<Route> {
    const UP: u32 = 1;
    const GATEWAY: u32 = 2;
    const REJECT: u32 = 0x200;
    let route = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let hexadecimal = |place: usize| u32::from_str_radix(fields.get(place)?, 16).ok();
        let address = |place: usize| Some(Ipv4Addr::from(hexadecimal(place)?.to_ne_bytes()));
        let flags = hexadecimal(3)?;
        let route = Route {
            destination: address(1)?,
            mask: address(7)?,
            gateway: address(2).filter(|_| flags & GATEWAY != 0),
            metric: fields.get(6)?.parse().ok()?,
            interface: fields[0].to_owned(),
        };
        (flags & UP != 0 && flags & REJECT == 0).then_some(route)
    };
    table.lines().skip(1).filter_map(route).collect()
}

#[cfg_attr(target_os = "linux", path = "gateway/linux.rs")]
#[cfg_attr(windows, path = "gateway/windows.rs")]
#[cfg_attr(not(any(target_os = "linux", windows)), path = "gateway/portable.rs")]
mod imp;

#[cfg(test)]
mod tests {
    use super::*;

    /// A laptop with Ethernet and Wi-Fi. Addresses are in the byte order of the machine.
    fn table() -> String {
        let word = |address: &str| {
            let address: Ipv4Addr = address.parse().unwrap();
            format!("{:08X}", u32::from_ne_bytes(address.octets()))
        };
        let line = |interface: &str, to: &str, gateway: &str, flags: &str, metric: u32, mask: &str| {
            let (to, gateway, mask) = (word(to), word(gateway), word(mask));
            format!("{interface}\t{to}\t{gateway}\t{flags}\t0\t0\t{metric}\t{mask}\t0\t0\t0\n")
        };
        let mut table = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n".to_owned();
        table += &line("wlan0", "0.0.0.0", "192.168.1.1", "0003", 600, "0.0.0.0");
        table += &line("eth0", "0.0.0.0", "192.168.1.254", "0003", 100, "0.0.0.0");
        table += &line("eth0", "192.168.1.0", "0.0.0.0", "0001", 100, "255.255.255.0");
        table += &line("tun0", "198.18.0.0", "0.0.0.0", "0001", 0, "255.254.0.0");
        table += "broken\tline\n";
        table
    }

    #[test]
    fn the_longest_prefix_and_the_lowest_metric_decide() {
        let hop = |to: [u8; 4], interface| find(&parse(&table()), Ipv4Addr::from(to), interface);
        let gateway = |last: u8, is_default| {
            Some(NextHop {
                gateway: Some(Ipv4Addr::new(192, 168, 1, last)),
                is_default,
            })
        };
        assert_eq!(hop([203, 0, 113, 9], None), gateway(254, true));
        assert_eq!(hop([203, 0, 113, 9], Some("wlan0")), gateway(1, true));
        let on_link = Some(NextHop {
            gateway: None,
            is_default: false,
        });
        assert_eq!(hop([192, 168, 1, 5], None), on_link);
        assert_eq!(hop([198, 19, 0, 1], None), on_link);
        assert_eq!(hop([203, 0, 113, 9], Some("tun0")), None);
        assert_eq!(find(&parse(""), Ipv4Addr::LOCALHOST, None), None);
    }
}
