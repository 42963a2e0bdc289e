//! What an IP packet says of itself (RFC 791, RFC 8200): enough to know where it goes and which flow it belongs to.

use netburn_medium::packet::Ecn;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// TCP's protocol number.
pub const TCP: u8 = 6;
/// UDP's protocol number.
pub const UDP: u8 = 17;

/// The bit of a [flow](Facts::flow) that tells TCP's from others.
const TCP_FLOW: u32 = 1 << 31;

/// An IP packet, looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Where it comes from.
    pub source: IpAddr,
    /// Where it goes.
    pub destination: IpAddr,
    /// What it carries, behind IPv6's extension headers.
    pub protocol: u8,
    /// Where that begins.
    pub transport: usize,
    /// Source and destination port of TCP and UDP; 0 otherwise, and in fragments.
    pub ports: (u16, u16),
    /// Whether it is a part of a longer packet.
    pub fragment: bool,
    /// Differentiated services code point (RFC 2474).
    pub dscp: u8,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: Ecn,
}

/// Why a frame is not carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refused {
    /// Neither IPv4 nor IPv6.
    NotIp,
    /// Its lengths contradict each other.
    Malformed,
    /// Longer than the air carries: the MSDU's 2304 bytes, less LLC and SNAP.
    TooLong,
    /// A kernel's own search for neighbours, routers and groups: Neighbor Discovery, MLD and IGMP.
    Discovery,
    /// It goes to a multicast group.
    Multicast,
    /// It goes to all.
    Broadcast,
    /// It goes to an address of the lab's networks that nobody has.
    Nobody,
    /// It goes to an address that isn't of the lab's networks.
    Outside,
    /// Its source address is not its sender's.
    Spoofed,
}

impl Refused {
    /// All reasons.
    pub const ALL: [Refused; 9] = [
        Refused::NotIp,
        Refused::Malformed,
        Refused::TooLong,
        Refused::Discovery,
        Refused::Multicast,
        Refused::Broadcast,
        Refused::Nobody,
        Refused::Outside,
        Refused::Spoofed,
    ];

    /// The reason's name in a record.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Refused::NotIp => "not-ip",
            Refused::Malformed => "malformed",
            Refused::TooLong => "too-long",
            Refused::Discovery => "discovery",
            Refused::Multicast => "multicast",
            Refused::Broadcast => "broadcast",
            Refused::Nobody => "nobody",
            Refused::Outside => "outside",
            Refused::Spoofed => "spoofed",
        }
    }

    /// The reason in words, behind a number of packets.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Refused::NotIp => "neither IPv4 nor IPv6",
            Refused::Malformed => "malformed",
            Refused::TooLong => "longer than 2304 bytes",
            Refused::Discovery => "a kernel's search for neighbours, routers and groups",
            Refused::Multicast => "multicast",
            Refused::Broadcast => "broadcast",
            Refused::Nobody => "to an address that no station has",
            Refused::Outside => "to an address outside the lab",
            Refused::Spoofed => "from an address that is not the sender's",
        }
    }
}

impl Facts {
    /// Looks at a packet, which `bytes` hold exactly.
    ///
    /// # Errors
    /// When it is no IP packet, or a broken one.
    pub fn of(bytes: &[u8]) -> Result<Facts, Refused> {
        match bytes.first().map(|byte| byte >> 4) {
            Some(4) => v4(bytes),
            Some(6) => v6(bytes),
            _ => Err(Refused::NotIp),
        }
    }

    /// Whether `packet`, whose facts these are, is a fragment that doesn't begin with the transport's header.
    #[must_use]
    pub fn is_later_fragment(&self, packet: &[u8]) -> bool {
        let offset = match self.source {
            _ if !self.fragment => return false,
            IpAddr::V4(_) => word(packet, 6).map(|word| word & 0x1fff),
            // The fragment header is the last before the transport, as senders make it (RFC 8200, 4.5).
            IpAddr::V6(_) => word(packet, self.transport.saturating_sub(6)).map(|word| word & 0xfff8),
        };
        offset != Ok(0)
    }

    /// A hash of addresses, protocol and ports: the same for all packets of a flow, fragments aside. Its highest bit is TCP's.
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

    /// Whether a packet of TCP that is so long has content: without, it is no longer than TCP's own 60 bytes behind its IP header.
    #[must_use]
    pub const fn has_content(&self, length: usize) -> bool {
        self.protocol == TCP && !self.fragment && length > self.transport + 60
    }

    /// Whether a [flow](Self::flow) is one of TCP.
    #[must_use]
    pub const fn is_of_tcp(flow: u32) -> bool {
        flow & TCP_FLOW != 0
    }

    /// The traffic identifier that its DSCP stands for (RFC 8325, section 4.3, as Linux maps it since 6.8).
    #[must_use]
    pub const fn tid(&self) -> u8 {
        match self.dscp {
            44 | 46 => 6,
            40 => 5,
            24 | 26 | 28 | 30 | 32 | 34 | 36 | 38 => 4,
            18 | 20 | 22 => 3,
            1 | 8 => 1,
            48 | 56 => 7,
            _ => 0,
        }
    }
}

/// The ECN field's two bits.
#[must_use]
pub const fn ecn(bits: u8) -> Ecn {
    match bits & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

fn v4(bytes: &[u8]) -> Result<Facts, Refused> {
    let header = bytes.get(..20).ok_or(Refused::Malformed)?;
    let transport = usize::from(header[0] & 15) * 4;
    let total = usize::from(word(bytes, 2)?);
    if transport < 20 || total != bytes.len() || transport > total {
        return Err(Refused::Malformed);
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
    Ok(Facts {
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

fn v6(bytes: &[u8]) -> Result<Facts, Refused> {
    let header = bytes.get(..40).ok_or(Refused::Malformed)?;
    if usize::from(word(bytes, 4)?) + 40 != bytes.len() {
        return Err(Refused::Malformed);
    }
    let address = |at: usize| {
        let octets: [u8; 16] = header[at..at + 16].try_into().expect("sixteen of forty");
        IpAddr::from(Ipv6Addr::from(octets))
    };
    let class = header[0] << 4 | header[1] >> 4;
    let (mut protocol, mut transport, mut fragment) = (header[6], 40, false);
    // Hop-by-hop, routing, fragment and destination options; a packet with more of them is legal, and pointless.
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
            return Err(Refused::Malformed);
        }
        protocol = bytes[transport];
        transport += length;
    }
    Ok(Facts {
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

/// The 16-bit number at a place.
pub(super) fn word(bytes: &[u8], at: usize) -> Result<u16, Refused> {
    let word = bytes.get(at..at + 2).ok_or(Refused::Malformed)?;
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
        let facts = Facts::of(&bytes).unwrap();
        assert_eq!(facts.source, "198.18.0.1".parse::<IpAddr>().unwrap());
        assert_eq!(facts.destination, "198.18.1.1".parse::<IpAddr>().unwrap());
        assert_eq!((facts.protocol, facts.transport, facts.ports), (UDP, 20, (1000, 53)));
        assert_eq!((facts.dscp, facts.ecn, facts.tid()), (46, Ecn::Ect0, 6));
        assert!(!facts.fragment);
        assert_eq!(Facts::of(&bytes[..31]), Err(Refused::Malformed));
        let mut fragment = bytes;
        fragment[7] = 1;
        let facts = Facts::of(&fragment).unwrap();
        assert!(facts.fragment && facts.ports == (0, 0));
    }

    #[test]
    fn extension_headers_are_walked() {
        let mut bytes = vec![0x60, 0x30, 0, 0, 0, 24, 0, 64];
        bytes.extend([0xfd; 16]);
        bytes.extend([0xfc; 16]);
        // Hop-by-hop options of 8 bytes, then UDP 5 → 6 with 8 bytes of payload.
        bytes.extend([17, 0, 1, 4, 0, 0, 0, 0, 0, 5, 0, 6, 0, 16, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let facts = Facts::of(&bytes).unwrap();
        assert_eq!((facts.protocol, facts.transport, facts.ports), (UDP, 48, (5, 6)));
        assert_eq!((facts.dscp, facts.ecn), (0, Ecn::Ce));
    }

    #[test]
    fn what_is_no_ip_is_refused() {
        assert_eq!(Facts::of(&[]), Err(Refused::NotIp));
        assert_eq!(Facts::of(&[0x50; 60]), Err(Refused::NotIp));
        assert_eq!(Facts::of(&[0x45; 19]), Err(Refused::Malformed));
        assert_eq!(Facts::of(&[0x60; 39]), Err(Refused::Malformed));
    }
}
