//! A TCP or UDP port in place of another, with the checksum right (RFC 1624).

use super::checksum;
use super::header::NEEDS_CHECKSUM;
use super::ip::{Facts, TCP, UDP, word};

/// Which port of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The sender's.
    Source,
    /// The receiver's.
    Destination,
}

/// The ports of TCP and UDP, source and destination; of a first fragment too.
#[must_use]
pub fn ports(packet: &[u8], facts: &Facts) -> Option<(u16, u16)> {
    if !matches!(facts.protocol, TCP | UDP) || facts.is_later_fragment(packet) {
        return None;
    }
    let port = |at| word(packet, facts.transport + at).ok();
    Some((port(0)?, port(2)?))
}

/// Puts another port into a packet of TCP or UDP; what has no ports stays as it is. `flags` are those of its
/// [`VnetHeader`](super::VnetHeader): a checksum that is still to be completed doesn't cover the ports yet.
pub fn replace(packet: &mut [u8], flags: u8, facts: &Facts, which: Which, port: u16) {
    let place = match which {
        Which::Source => facts.transport,
        Which::Destination => facts.transport + 2,
    };
    let sum = facts.transport + if facts.protocol == TCP { 16 } else { 6 };
    if ports(packet, facts).is_none() || packet.len() < sum + 2 {
        return;
    }
    let (Ok(before), Ok(old)) = (word(packet, place), word(packet, sum)) else {
        return;
    };
    packet[place..place + 2].copy_from_slice(&port.to_be_bytes());
    // A datagram without a checksum (RFC 768) stays without.
    let absent = facts.protocol == UDP && old == 0;
    if flags & NEEDS_CHECKSUM != 0 || absent {
        return;
    }
    let mut new = checksum::updated(old, before, port);
    if facts.protocol == UDP && new == 0 {
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

    fn is_right(packet: &[u8], facts: &Facts) -> bool {
        let body = &packet[facts.transport..];
        let pseudo = checksum::pseudo(facts.source, facts.destination, facts.protocol, body.len() as u32);
        checksum::add(pseudo, checksum::sum(body)) == 0xffff
    }

    proptest! {
        #[test]
        fn a_complete_checksum_stays_right(port in any::<u16>(), sequence in any::<u32>(), payload in 1_usize..900, v6 in any::<bool>(), source in any::<bool>()) {
            let frame = stream(Endpoint::Station(0), Endpoint::Server, sequence, payload, 1448, v6);
            let burst = std::sync::Arc::new(Burst::read(&frame).unwrap());
            let mut packet = burst.segments().next().unwrap().packet();
            let before = Facts::of(&packet).unwrap();
            prop_assert!(is_right(&packet, &before));
            let which = if source { Which::Source } else { Which::Destination };
            replace(&mut packet, 0, &before, which, port);
            let after = Facts::of(&packet).unwrap();
            let expected = if source { (port, before.ports.1) } else { (before.ports.0, port) };
            prop_assert_eq!(after.ports, expected);
            prop_assert!(is_right(&packet, &after));
        }
    }

    #[test]
    fn a_checksum_that_is_not_there_or_not_complete_stays() {
        let frame = datagram(Endpoint::Station(0), Endpoint::Server, 9);
        let mut packet = frame[super::super::header::LENGTH..].to_vec();
        let facts = Facts::of(&packet).unwrap();
        replace(&mut packet, 0, &facts, Which::Destination, 4711);
        assert_eq!(
            (Facts::of(&packet).unwrap().ports.1, &packet[26..28]),
            (4711, &[0, 0][..])
        );
        let frame = stream(Endpoint::Station(0), Endpoint::Server, 1, 9, 1448, false);
        let (header, packet) = VnetHeader::read(&frame).unwrap();
        let (mut packet, before) = (packet.to_vec(), packet[36..38].to_vec());
        let facts = Facts::of(&packet).unwrap();
        replace(&mut packet, header.flags, &facts, Which::Source, 4711);
        assert_eq!(
            (Facts::of(&packet).unwrap().ports.0, &packet[36..38]),
            (4711, &before[..])
        );
    }

    #[test]
    fn what_has_no_ports_stays() {
        let frame = datagram(Endpoint::Station(0), Endpoint::Server, 9);
        let before = frame[super::super::header::LENGTH..].to_vec();
        let facts = Facts::of(&before).unwrap();
        for other in [
            Facts { protocol: 1, ..facts },
            Facts {
                transport: before.len(),
                ..facts
            },
        ] {
            let mut packet = before.clone();
            replace(&mut packet, 0, &other, Which::Source, 4711);
            assert_eq!(packet, before);
        }
    }

    #[test]
    fn of_a_datagram_in_fragments_the_first_has_the_ports() {
        let frame = datagram(Endpoint::Station(0), Endpoint::Server, 40);
        for (offset, has_ports) in [([0x20, 0], true), ([0, 5], false), ([0x20, 5], false)] {
            let mut packet = frame[super::super::header::LENGTH..].to_vec();
            packet[6..8].copy_from_slice(&offset);
            let facts = Facts::of(&packet).unwrap();
            assert!(facts.fragment);
            replace(&mut packet, 0, &facts, Which::Destination, 4711);
            let port = u16::from_be_bytes([packet[22], packet[23]]);
            assert_eq!((port == 4711, ports(&packet, &facts).is_some()), (has_ports, has_ports));
        }
    }
}
