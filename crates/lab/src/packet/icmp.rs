//! Destination unreachable messages of the virtual router (RFC 792, RFC 4443).

use super::header::VnetHeader;
use super::ip::IpPacketInfo;
use crate::address;
use netburn_network::{Reflector, checksum};
use std::net::{IpAddr, Ipv4Addr};

pub(super) const ICMP: u8 = 1;
const ICMP6: u8 = 58;
/// ICMP and ICMPv6 types of an echo request.
pub(super) const ECHO: u8 = 8;
const ECHO6: u8 = 128;
/// Maximum number of quoted bytes. With headers, the message is shorter than the 576 bytes of RFC 1812, 4.3.2.3.
const QUOTED: usize = 512;

/// Reason of a destination unreachable message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreachable {
    /// The address is outside the lab's networks.
    Network,
    /// The address is in the lab's networks, but no node has it.
    Host,
}

/// Returns the host that answers an echo request to the router or to the first hop beyond it, or that discards a request
/// with a TTL of 1 or 2 (time exceeded, RFC 792); `None` for other packets. `packet` begins with the IP header.
#[must_use]
pub fn reflector(packet: &[u8], info: &IpPacketInfo) -> Option<Reflector> {
    let is_request = info.protocol == ICMP && !info.fragment && packet.get(info.transport) == Some(&ECHO);
    if !is_request || !info.source.is_ipv4() {
        return None;
    }
    match (info.destination, packet.get(8)) {
        (IpAddr::V4(address::ROUTER_V4), _) | (_, Some(1)) => Some(Reflector::AccessPoint),
        (IpAddr::V4(address::LINE_END_V4), _) | (_, Some(2)) => Some(Reflector::LineEnd),
        _ => None,
    }
}

/// Returns the message to the sender of `packet`, as a frame from `router`. `None` where RFC 1122, 3.2.2 forbids one:
/// for ICMP messages other than echo requests, and for all but the first fragment.
#[must_use]
pub fn unreachable(packet: &[u8], info: &IpPacketInfo, router: IpAddr, why: Unreachable) -> Option<Vec<u8>> {
    let about = packet.get(info.transport).copied();
    let answered = match info.protocol {
        ICMP => about == Some(ECHO),
        ICMP6 => about == Some(ECHO6),
        _ => true,
    };
    if !answered || info.is_later_fragment(packet) {
        return None;
    }
    match (router, info.source) {
        (IpAddr::V4(router), IpAddr::V4(to)) => {
            let code = if why == Unreachable::Network { 0 } else { 1 };
            Some(message_v4((3, code), router, to, packet))
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let mut frame = VnetHeader::default().bytes().to_vec();
            let begin = frame.len();
            let mut message = message((1, if why == Unreachable::Network { 0 } else { 3 }), packet);
            let pseudo = checksum::pseudo(router, info.source, ICMP6, message.len() as u32);
            let sum = !checksum::add(pseudo, checksum::sum(&message));
            message[2..4].copy_from_slice(&sum.to_be_bytes());
            frame.extend([0x60, 0, 0, 0, 0, 0, ICMP6, 64]);
            frame[begin + 4..begin + 6].copy_from_slice(&(message.len() as u16).to_be_bytes());
            frame.extend(from.octets());
            frame.extend(to.octets());
            frame.extend(message);
            Some(frame)
        }
        _ => None,
    }
}

/// Returns an error message of this type and code about `packet`, as a frame.
pub(super) fn message_v4(kind: (u8, u8), from: Ipv4Addr, to: Ipv4Addr, packet: &[u8]) -> Vec<u8> {
    let mut message = message(kind, packet);
    let sum = !checksum::sum(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut frame = VnetHeader::default().bytes().to_vec();
    let begin = frame.len();
    // Precedence internetwork control, as RFC 1812 requires.
    frame.extend([0x45, 0xc0, 0, 0, 0, 0, 0, 0, 64, ICMP, 0, 0]);
    let length = (20 + message.len()) as u16;
    frame[begin + 2..begin + 4].copy_from_slice(&length.to_be_bytes());
    frame.extend(from.octets());
    frame.extend(to.octets());
    let sum = !checksum::sum(&frame[begin..]);
    frame[begin + 10..begin + 12].copy_from_slice(&sum.to_be_bytes());
    frame.extend(message);
    frame
}

/// Type and code, then the checksum, four unused bytes, and the beginning of the packet.
fn message((kind, code): (u8, u8), packet: &[u8]) -> Vec<u8> {
    let mut message = vec![kind, code, 0, 0, 0, 0, 0, 0];
    message.extend_from_slice(&packet[..packet.len().min(QUOTED)]);
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address;
    use crate::fuzz::{datagram, stream};
    use crate::packet::header::LENGTH;
    use netburn_network::Endpoint;

    fn packet(frame: &[u8]) -> (IpPacketInfo, Vec<u8>) {
        let packet = frame[LENGTH..].to_vec();
        (IpPacketInfo::parse(&packet).unwrap(), packet)
    }

    #[test]
    fn the_message_quotes_the_beginning_of_the_datagram() {
        let (info, about) = packet(&datagram(Endpoint::Station(0), Endpoint::Server, 900));
        let frame = unreachable(&about, &info, address::ROUTER_V4.into(), Unreachable::Network).unwrap();
        let (said, message) = packet(&frame);
        assert_eq!(
            (said.source, said.destination),
            (address::ROUTER_V4.into(), info.source)
        );
        assert_eq!(said.protocol, ICMP);
        // Destination unreachable, network (RFC 792); both checksums are valid.
        assert_eq!(message[20..22], [3, 0]);
        assert_eq!(message[28..], about[..512]);
        assert_eq!(checksum::sum(&message[..20]), 0xffff);
        assert_eq!(checksum::sum(&message[20..]), 0xffff);
    }

    #[test]
    fn ipv6_has_its_own_message() {
        let (info, about) = packet(&stream(Endpoint::Station(0), Endpoint::Server, 1, 100, 1448, true));
        let frame = unreachable(&about, &info, address::ROUTER_V6.into(), Unreachable::Host).unwrap();
        let (said, message) = packet(&frame);
        assert_eq!((said.protocol, said.destination), (ICMP6, info.source));
        // Destination unreachable, address (RFC 4443, 3.1).
        assert_eq!(message[40..42], [1, 3]);
        let pseudo = checksum::pseudo(said.source, said.destination, ICMP6, message.len() as u32 - 40);
        assert_eq!(checksum::add(pseudo, checksum::sum(&message[40..])), 0xffff);
    }

    #[test]
    fn icmp_errors_and_later_fragments_cause_no_message() {
        let (info, mut about) = packet(&datagram(Endpoint::Station(0), Endpoint::Server, 20));
        let router = address::ROUTER_V4.into();
        let said = |about: &[u8], info: IpPacketInfo| unreachable(about, &info, router, Unreachable::Host).is_some();
        let icmp = IpPacketInfo { protocol: ICMP, ..info };
        about[20] = ECHO;
        assert!(said(&about, icmp));
        for other in [0, 3, 5, 11] {
            about[20] = other;
            assert!(!said(&about, icmp));
        }
        let fragment = IpPacketInfo { fragment: true, ..info };
        // More fragments with offset 0, then the fragment at offset 8.
        about[6..8].copy_from_slice(&[0x20, 0]);
        assert!(said(&about, fragment));
        about[6..8].copy_from_slice(&[0x20, 1]);
        assert!(!said(&about, fragment));
    }
}
