//! Replacement of a TCP or UDP port, with an incremental update of the checksum (RFC 1624).

use super::header::NEEDS_CHECKSUM;
use super::ip::{IpPacketInfo, TCP, UDP, word};
use netburn_network::checksum;

/// One of a packet's two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortField {
    /// Source port.
    Source,
    /// Destination port.
    Destination,
}

/// Returns the source and destination port of TCP and UDP, also of a first fragment.
#[must_use]
pub fn ports(packet: &[u8], info: &IpPacketInfo) -> Option<(u16, u16)> {
    if !matches!(info.protocol, TCP | UDP) || info.is_later_fragment(packet) {
        return None;
    }
    let port = |at| word(packet, info.transport + at).ok();
    Some((port(0)?, port(2)?))
}

/// Replaces a port of a TCP or UDP packet. Other packets stay unchanged. `flags` are those of its
/// [`VnetHeader`](super::VnetHeader): a partial checksum does not cover the ports yet.
pub fn replace(packet: &mut [u8], flags: u8, info: &IpPacketInfo, which: PortField, port: u16) {
    let place = match which {
        PortField::Source => info.transport,
        PortField::Destination => info.transport + 2,
    };
    let sum = info.transport + if info.protocol == TCP { 16 } else { 6 };
    if ports(packet, info).is_none() || packet.len() < sum + 2 {
        return;
    }
    let (Ok(before), Ok(old)) = (word(packet, place), word(packet, sum)) else {
        return;
    };
    packet[place..place + 2].copy_from_slice(&port.to_be_bytes());
    // A datagram without a checksum (RFC 768) stays without one.
    let absent = info.protocol == UDP && old == 0;
    if flags & NEEDS_CHECKSUM != 0 || absent {
        return;
    }
    let mut new = checksum::updated(old, before, port);
    if info.protocol == UDP && new == 0 {
        new = 0xffff;
    }
    packet[sum..sum + 2].copy_from_slice(&new.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::{Burst, VnetHeader};
    use super::*;
    use crate::fuzz::{datagram, stream};
    use netburn_network::Endpoint;
    use proptest::prelude::*;

    fn is_right(packet: &[u8], info: &IpPacketInfo) -> bool {
        let body = &packet[info.transport..];
        let pseudo = checksum::pseudo(info.source, info.destination, info.protocol, body.len() as u32);
        checksum::add(pseudo, checksum::sum(body)) == 0xffff
    }

    proptest! {
        #[test]
        fn a_complete_checksum_stays_valid(port in any::<u16>(), sequence in any::<u32>(), payload in 1_usize..900, v6 in any::<bool>(), source in any::<bool>()) {
            let frame = stream(Endpoint::Station(0), Endpoint::Server, sequence, payload, 1448, v6);
            let burst = std::sync::Arc::new(Burst::read(&frame).unwrap());
            let mut packet = burst.segments().next().unwrap().packet();
            let before = IpPacketInfo::parse(&packet).unwrap();
            prop_assert!(is_right(&packet, &before));
            let which = if source { PortField::Source } else { PortField::Destination };
            replace(&mut packet, 0, &before, which, port);
            let after = IpPacketInfo::parse(&packet).unwrap();
            let expected = if source { (port, before.ports.1) } else { (before.ports.0, port) };
            prop_assert_eq!(after.ports, expected);
            prop_assert!(is_right(&packet, &after));
        }
    }

    #[test]
    fn absent_and_partial_checksums_stay_unchanged() {
        let frame = datagram(Endpoint::Station(0), Endpoint::Server, 9);
        let mut packet = frame[super::super::header::LENGTH..].to_vec();
        let info = IpPacketInfo::parse(&packet).unwrap();
        replace(&mut packet, 0, &info, PortField::Destination, 4711);
        assert_eq!(
            (IpPacketInfo::parse(&packet).unwrap().ports.1, &packet[26..28]),
            (4711, &[0, 0][..])
        );
        let frame = stream(Endpoint::Station(0), Endpoint::Server, 1, 9, 1448, false);
        let (header, packet) = VnetHeader::read(&frame).unwrap();
        let (mut packet, before) = (packet.to_vec(), packet[36..38].to_vec());
        let info = IpPacketInfo::parse(&packet).unwrap();
        replace(&mut packet, header.flags, &info, PortField::Source, 4711);
        assert_eq!(
            (IpPacketInfo::parse(&packet).unwrap().ports.0, &packet[36..38]),
            (4711, &before[..])
        );
    }

    #[test]
    fn packets_without_ports_stay_unchanged() {
        let frame = datagram(Endpoint::Station(0), Endpoint::Server, 9);
        let before = frame[super::super::header::LENGTH..].to_vec();
        let info = IpPacketInfo::parse(&before).unwrap();
        for other in [
            IpPacketInfo { protocol: 1, ..info },
            IpPacketInfo {
                transport: before.len(),
                ..info
            },
        ] {
            let mut packet = before.clone();
            replace(&mut packet, 0, &other, PortField::Source, 4711);
            assert_eq!(packet, before);
        }
    }

    #[test]
    fn only_the_first_fragment_has_ports() {
        let frame = datagram(Endpoint::Station(0), Endpoint::Server, 40);
        for (offset, has_ports) in [([0x20, 0], true), ([0, 5], false), ([0x20, 5], false)] {
            let mut packet = frame[super::super::header::LENGTH..].to_vec();
            packet[6..8].copy_from_slice(&offset);
            let info = IpPacketInfo::parse(&packet).unwrap();
            assert!(info.fragment);
            replace(&mut packet, 0, &info, PortField::Destination, 4711);
            let port = u16::from_be_bytes([packet[22], packet[23]]);
            assert_eq!((port == 4711, ports(&packet, &info).is_some()), (has_ports, has_ports));
        }
    }
}
