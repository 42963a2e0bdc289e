//! Properties of an IP packet (RFC 791, RFC 8200) that determine its destination and its flow.

use netburn_medium::packet::Ecn;
use netburn_units::DscpMapping;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Protocol number of TCP.
pub const TCP: u8 = 6;
/// Protocol number of UDP.
pub const UDP: u8 = 17;

/// Bit of a [flow](IpPacketInfo::flow) that is set for TCP.
const TCP_FLOW: u32 = 1 << 31;

/// Properties of an IP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpPacketInfo {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Protocol of the payload, behind IPv6 extension headers.
    pub protocol: u8,
    /// Offset of the transport header.
    pub transport: usize,
    /// Source and destination port of TCP and UDP; 0 otherwise, and in fragments.
    pub ports: (u16, u16),
    /// True if the packet is a fragment.
    pub fragment: bool,
    /// Differentiated services code point (RFC 2474).
    pub dscp: u8,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: Ecn,
}

/// Reason why a frame is not forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RejectReason {
    /// The packet is neither IPv4 nor IPv6.
    NotIp,
    /// Length fields contradict each other.
    Malformed,
    /// The packet is longer than an MSDU: 2304 bytes, less LLC and SNAP.
    TooLong,
    /// Discovery that kernels send by themselves: Neighbor Discovery, MLD and IGMP.
    Discovery,
    /// The destination is a multicast group.
    Multicast,
    /// The destination is the broadcast address.
    Broadcast,
    /// The destination is in the lab's networks, but no node has the address.
    UnknownAddress,
    /// The destination is outside the lab's networks.
    Outside,
    /// The source address does not belong to the sender.
    Spoofed,
}

netburn_units::variants! {
    pub RejectReason:
        NotIp = "not-ip",
        Malformed = "malformed",
        TooLong = "too-long",
        Discovery = "discovery",
        Multicast = "multicast",
        Broadcast = "broadcast",
        UnknownAddress = "unknown-address",
        Outside = "outside",
        Spoofed = "spoofed",
}

impl RejectReason {
    /// Returns the reason as a phrase that follows a number of packets.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            RejectReason::NotIp => "neither IPv4 nor IPv6",
            RejectReason::Malformed => "malformed",
            RejectReason::TooLong => "longer than 2304 bytes",
            RejectReason::Discovery => "multicast discovery of a kernel",
            RejectReason::Multicast => "multicast",
            RejectReason::Broadcast => "broadcast",
            RejectReason::UnknownAddress => "to an address that no station has",
            RejectReason::Outside => "to an address outside the lab",
            RejectReason::Spoofed => "from an address that is not the sender's",
        }
    }
}

impl IpPacketInfo {
    /// Parses a packet, which occupies all of `bytes`.
    ///
    /// # Errors
    /// [`RejectReason::NotIp`] or [`RejectReason::Malformed`].
    pub fn parse(bytes: &[u8]) -> Result<IpPacketInfo, RejectReason> {
        match bytes.first().map(|byte| byte >> 4) {
            Some(4) => v4(bytes),
            Some(6) => v6(bytes),
            _ => Err(RejectReason::NotIp),
        }
    }

    /// Returns whether `packet`, which has these properties, is a fragment without the transport header.
    #[must_use]
    pub fn is_later_fragment(&self, packet: &[u8]) -> bool {
        let offset = match self.source {
            _ if !self.fragment => return false,
            IpAddr::V4(_) => word(packet, 6).map(|word| word & 0x1fff),
            // Senders put the fragment header last before the transport header (RFC 8200, 4.5).
            IpAddr::V6(_) => word(packet, self.transport.saturating_sub(6)).map(|word| word & 0xfff8),
        };
        offset != Ok(0)
    }

    /// Returns a hash of addresses, protocol and ports. It is equal for all packets of a flow, except fragments. The
    /// highest bit is set for TCP.
    #[must_use]
    pub fn flow(&self) -> u32 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut take = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
            }
        };
        for address in [self.source, self.destination] {
            match address {
                IpAddr::V4(address) => take(&address.octets()),
                IpAddr::V6(address) => take(&address.octets()),
            }
        }
        take(&[self.protocol]);
        take(&self.ports.0.to_be_bytes());
        take(&self.ports.1.to_be_bytes());
        let hash = (hash ^ (hash >> 32)) as u32;
        if self.protocol == TCP {
            hash | TCP_FLOW
        } else {
            hash & !TCP_FLOW
        }
    }

    /// Returns whether a TCP packet of this length has payload. A packet without payload has at most 60 bytes behind
    /// its IP header.
    #[must_use]
    pub const fn has_content(&self, length: usize) -> bool {
        self.protocol == TCP && !self.fragment && length > self.transport + 60
    }

    /// Returns whether the packet is an ICMP message over IPv4.
    #[must_use]
    pub const fn is_icmp(&self) -> bool {
        self.protocol == 1 && self.source.is_ipv4()
    }

    /// Returns whether a [flow](Self::flow) is TCP.
    #[must_use]
    pub const fn is_of_tcp(flow: u32) -> bool {
        flow & TCP_FLOW != 0
    }

    /// Returns the traffic identifier for the DSCP, as Linux maps it.
    #[must_use]
    pub const fn tid(&self) -> u8 {
        DscpMapping::Rfc8325.user_priority(self.dscp)
    }
}

/// Decodes the two bits of the ECN field.
#[must_use]
pub const fn ecn(bits: u8) -> Ecn {
    match bits & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

fn v4(bytes: &[u8]) -> Result<IpPacketInfo, RejectReason> {
    let header = bytes.get(..20).ok_or(RejectReason::Malformed)?;
    let transport = usize::from(header[0] & 15) * 4;
    let total = usize::from(word(bytes, 2)?);
    if transport < 20 || total != bytes.len() || transport > total {
        return Err(RejectReason::Malformed);
    }
    let fragment = word(bytes, 6)? & 0x3fff != 0;
    let protocol = header[9];
    let address = |at: usize| {
        IpAddr::from(Ipv4Addr::new(
            header[at],
            header[at + 1],
            header[at + 2],
            header[at + 3],
        ))
    };
    Ok(IpPacketInfo {
        source: address(12),
        destination: address(16),
        protocol,
        transport,
        ports: ports(bytes, transport, protocol, fragment),
        fragment,
        dscp: header[1] >> 2,
        ecn: ecn(header[1]),
    })
}

fn v6(bytes: &[u8]) -> Result<IpPacketInfo, RejectReason> {
    let header = bytes.get(..40).ok_or(RejectReason::Malformed)?;
    if usize::from(word(bytes, 4)?) + 40 != bytes.len() {
        return Err(RejectReason::Malformed);
    }
    let address = |at: usize| {
        let octets: [u8; 16] = header[at..at + 16].try_into().expect("sixteen of forty");
        IpAddr::from(Ipv6Addr::from(octets))
    };
    let class = header[0] << 4 | header[1] >> 4;
    let (mut protocol, mut transport, mut fragment) = (header[6], 40, false);
    // Hop-by-hop, routing, fragment and destination options. More than eight are legal, but do not occur in practice.
    for _ in 0..8 {
        let length = match protocol {
            0 | 43 | 60 => match bytes.get(transport + 1) {
                Some(length) => usize::from(*length) * 8 + 8,
                None => break,
            },
            44 => {
                fragment = true;
                8
            }
            _ => break,
        };
        if transport + length > bytes.len() {
            return Err(RejectReason::Malformed);
        }
        protocol = bytes[transport];
        transport += length;
    }
    Ok(IpPacketInfo {
        source: address(8),
        destination: address(24),
        protocol,
        transport,
        ports: ports(bytes, transport, protocol, fragment),
        fragment,
        dscp: class >> 2,
        ecn: ecn(class),
    })
}

fn ports(bytes: &[u8], transport: usize, protocol: u8, fragment: bool) -> (u16, u16) {
    if fragment || (protocol != TCP && protocol != UDP) {
        return (0, 0);
    }
    let port = |at| word(bytes, transport + at).unwrap_or(0);
    (port(0), port(2))
}

/// Returns the 16-bit number at an offset.
pub(super) fn word(bytes: &[u8], at: usize) -> Result<u16, RejectReason> {
    let word = bytes.get(at..at + 2).ok_or(RejectReason::Malformed)?;
    Ok(u16::from_be_bytes([word[0], word[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_over_ipv4() {
        // 198.18.0.1:1000 → 198.18.1.1:53, DSCP 46, ECT(0), 4 bytes of payload.
        let bytes = [
            0x45, 0xba, 0, 32, 0, 0, 0x40, 0, 64, 17, 0, 0, 198, 18, 0, 1, 198, 18, 1, 1, 0x03, 0xe8, 0, 53, 0, 12, 0,
            0, 1, 2, 3, 4,
        ];
        let info = IpPacketInfo::parse(&bytes).unwrap();
        assert_eq!(info.source, "198.18.0.1".parse::<IpAddr>().unwrap());
        assert_eq!(info.destination, "198.18.1.1".parse::<IpAddr>().unwrap());
        assert_eq!((info.protocol, info.transport, info.ports), (UDP, 20, (1000, 53)));
        assert_eq!((info.dscp, info.ecn, info.tid()), (46, Ecn::Ect0, 6));
        assert!(!info.fragment);
        assert_eq!(IpPacketInfo::parse(&bytes[..31]), Err(RejectReason::Malformed));
        let mut fragment = bytes;
        fragment[7] = 1;
        let info = IpPacketInfo::parse(&fragment).unwrap();
        assert!(info.fragment && info.ports == (0, 0));
    }

    #[test]
    fn extension_headers_are_skipped() {
        let mut bytes = vec![0x60, 0x30, 0, 0, 0, 24, 0, 64];
        bytes.extend([0xfd; 16]);
        bytes.extend([0xfc; 16]);
        // Hop-by-hop options of 8 bytes, then UDP 5 → 6 with 8 bytes of payload.
        bytes.extend([17, 0, 1, 4, 0, 0, 0, 0, 0, 5, 0, 6, 0, 16, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let info = IpPacketInfo::parse(&bytes).unwrap();
        assert_eq!((info.protocol, info.transport, info.ports), (UDP, 48, (5, 6)));
        assert_eq!((info.dscp, info.ecn), (0, Ecn::Ce));
    }

    #[test]
    fn other_protocols_are_rejected() {
        assert_eq!(IpPacketInfo::parse(&[]), Err(RejectReason::NotIp));
        assert_eq!(IpPacketInfo::parse(&[0x50; 60]), Err(RejectReason::NotIp));
        assert_eq!(IpPacketInfo::parse(&[0x45; 19]), Err(RejectReason::Malformed));
        assert_eq!(IpPacketInfo::parse(&[0x60; 39]), Err(RejectReason::Malformed));
    }
}
