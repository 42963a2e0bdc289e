//! A modelled packet's headers as they would be on a wire: IPv4 (RFC 791), TCP (RFC 9293) with its options, UDP (RFC 768).
//!
//! Sequence numbers begin at 0 for the SYN. The payload is zeros and not captured; checksums are those of such packets.
//! The model gives every segment 52 bytes of headers. A SYN has the options that hosts send, and so is 8 bytes longer
//! here.

use netburn_medium::packet::Ecn;
use netburn_network::checksum::{add, pseudo, sum};
use netburn_tcp::Segment;
use netburn_tcp::segment::Flags;
use std::net::Ipv4Addr;

/// Window scale factor, as a shift count (RFC 7323 §2).
const SCALE: u8 = 10;

/// A modelled packet.
#[derive(Debug, Clone, Copy)]
pub struct ModelPacket<'a> {
    /// Source address.
    pub from: Ipv4Addr,
    /// Destination address.
    pub to: Ipv4Addr,
    /// Source port and destination port.
    pub ports: [u16; 2],
    /// Length as an IPv4 packet in bytes.
    pub length: u32,
    /// DSCP, 0 to 63.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// The TCP segment; `None` for a UDP datagram.
    pub segment: Option<&'a Segment>,
}

/// The headers of a packet.
#[must_use]
pub fn header(packet: &ModelPacket<'_>) -> Vec<u8> {
    let (protocol, mut transport) = match packet.segment {
        Some(segment) => (6, tcp(segment, packet.ports)),
        None => (17, udp(packet.length, packet.ports)),
    };
    let length = packet.length.max(20 + transport.len() as u32) as u16;
    let ecn = match packet.ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    };
    let mut ip = vec![0x45, packet.dscp << 2 | ecn];
    ip.extend(length.to_be_bytes());
    // Not to be fragmented; 64 hops.
    ip.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    ip.extend(packet.from.octets());
    ip.extend(packet.to.octets());
    let checksum = !sum(&ip);
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    let pseudo = pseudo(packet.from.into(), packet.to.into(), protocol, u32::from(length) - 20);
    let checksum = !add(pseudo, sum(&transport));
    let place = if protocol == 6 { 16 } else { 6 };
    transport[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
    ip.extend(transport);
    ip
}

fn tcp(segment: &Segment, ports: [u16; 2]) -> Vec<u8> {
    let flags = segment.flags;
    let syn = flags.contains(Flags::SYN);
    // A SYN uses a sequence number on the wire and none in the model.
    let sequence = match (syn, flags.contains(Flags::PROBE)) {
        (true, _) => 0,
        (_, true) => segment.seq,
        _ => segment.seq + 1,
    };
    let acknowledged = if flags.contains(Flags::ACK) { segment.ack + 1 } else { 0 };
    let window = if syn { segment.window } else { segment.window >> SCALE };
    let bits = [
        (Flags::FIN, 0x01),
        (Flags::SYN, 0x02),
        (Flags::RST, 0x04),
        (Flags::ACK, 0x10),
        (Flags::ECE, 0x40),
        (Flags::CWR, 0x80),
    ];
    let bits: u8 = bits
        .iter()
        .filter(|(flag, _)| flags.contains(*flag))
        .map(|(_, bit)| bit)
        .sum();
    let options = options(segment, syn);
    let mut header = Vec::with_capacity(60);
    header.extend(ports[0].to_be_bytes());
    header.extend(ports[1].to_be_bytes());
    header.extend((sequence as u32).to_be_bytes());
    header.extend((acknowledged as u32).to_be_bytes());
    header.extend([((20 + options.len()) as u8 / 4) << 4, bits]);
    header.extend((window.min(0xffff) as u16).to_be_bytes());
    header.extend([0; 4]);
    header.extend(options);
    header
}

/// TCP options: timestamps on every segment, SACK blocks if there are any, and the options of a
/// SYN.
fn options(segment: &Segment, syn: bool) -> Vec<u8> {
    let mut options = Vec::with_capacity(40);
    if syn {
        options.extend([2, 4]);
        options.extend((segment.mss.min(0xffff) as u16).to_be_bytes());
        options.extend([4, 2]);
    } else {
        options.extend([1, 1]);
    }
    options.extend([8, 10]);
    options.extend((segment.timestamp as u32).to_be_bytes());
    let echo = if segment.flags.contains(Flags::ACK) {
        segment.echo
    } else {
        0
    };
    options.extend((echo as u32).to_be_bytes());
    if syn {
        options.extend([1, 3, 3, SCALE]);
    }
    let blocks = segment.sack.as_slice();
    if !blocks.is_empty() {
        options.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            options.extend((block.start as u32).wrapping_add(1).to_be_bytes());
            options.extend((block.end as u32).wrapping_add(1).to_be_bytes());
        }
    }
    options
}

fn udp(length: u32, ports: [u16; 2]) -> Vec<u8> {
    let length = (length - 20) as u16;
    [
        ports[0].to_be_bytes(),
        ports[1].to_be_bytes(),
        length.to_be_bytes(),
        [0; 2],
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_has_the_length_in_its_header() {
        let packet = ModelPacket {
            from: Ipv4Addr::new(198, 18, 1, 0),
            to: Ipv4Addr::new(198, 18, 0, 1),
            ports: [5000, 4480],
            length: 92,
            dscp: 48,
            ecn: Ecn::NotEct,
            segment: None,
        };
        let bytes = header(&packet);
        assert_eq!(bytes.len(), 28);
        assert_eq!(bytes[..4], [0x45, 48 << 2, 0, 92]);
        assert_eq!(bytes[12..20], [198, 18, 1, 0, 198, 18, 0, 1]);
        assert_eq!(bytes[20..26], [0x13, 0x88, 0x11, 0x80, 0, 72]);
        assert_eq!(!sum(&bytes[..20]), 0, "the checksum of a header with its checksum is 0");
    }
}
