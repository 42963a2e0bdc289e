//! The header before each packet of a TUN device with IFF_VNET_HDR (`struct virtio_net_hdr`; virtio 1.2, 5.1.6), in
//! native byte order.

/// Length of the header in bytes.
pub const LENGTH: usize = 10;

/// Flag of a partial checksum (VIRTIO_NET_HDR_F_NEEDS_CSUM).
pub const NEEDS_CHECKSUM: u8 = 1;

/// Offload information of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VnetHeader {
    /// [`NEEDS_CHECKSUM`] or 0.
    pub flags: u8,
    /// Segmentation type.
    pub gso: Gso,
    /// True if the packet has the TCP flag CWR, which only the first segment keeps (VIRTIO_NET_HDR_GSO_ECN).
    pub ecn: bool,
    /// Length of all headers in bytes.
    pub header_length: u16,
    /// Payload of each segment but the last, in bytes.
    pub gso_size: u16,
    /// Offset at which the checksummed data begins.
    pub checksum_start: u16,
    /// Offset of the checksum field from there.
    pub checksum_offset: u16,
}

/// Segmentation type of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gso {
    /// No segmentation.
    #[default]
    None,
    /// TCP over IPv4.
    Tcp4,
    /// TCP over IPv6.
    Tcp6,
    /// UDP: one datagram per segment.
    Udp,
    /// A type that the lab has not enabled.
    Other(u8),
}

const ECN: u8 = 0x80;

impl VnetHeader {
    /// Splits a frame into header and packet.
    #[must_use]
    pub fn read(frame: &[u8]) -> Option<(VnetHeader, &[u8])> {
        let (header, packet) = frame.split_at_checked(LENGTH)?;
        let word = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
        let gso = match header[1] & !ECN {
            0 => Gso::None,
            1 => Gso::Tcp4,
            4 => Gso::Tcp6,
            5 => Gso::Udp,
            other => Gso::Other(other),
        };
        let read = VnetHeader {
            flags: header[0],
            gso,
            ecn: header[1] & ECN != 0,
            header_length: word(2),
            gso_size: word(4),
            checksum_start: word(6),
            checksum_offset: word(8),
        };
        Some((read, packet))
    }

    /// Encodes the header.
    #[must_use]
    pub fn bytes(&self) -> [u8; LENGTH] {
        let gso = match self.gso {
            Gso::None => 0,
            Gso::Tcp4 => 1,
            Gso::Tcp6 => 4,
            Gso::Udp => 5,
            Gso::Other(other) => other,
        };
        let mut bytes = [0; LENGTH];
        bytes[0] = self.flags;
        bytes[1] = gso | if self.ecn { ECN } else { 0 };
        bytes[2..4].copy_from_slice(&self.header_length.to_ne_bytes());
        bytes[4..6].copy_from_slice(&self.gso_size.to_ne_bytes());
        bytes[6..8].copy_from_slice(&self.checksum_start.to_ne_bytes());
        bytes[8..10].copy_from_slice(&self.checksum_offset.to_ne_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decoding_inverts_encoding(bytes in any::<[u8; LENGTH]>(), packet in prop::collection::vec(any::<u8>(), 0..4)) {
            let frame: Vec<u8> = bytes.iter().chain(&packet).copied().collect();
            let (header, rest) = VnetHeader::read(&frame).unwrap();
            prop_assert_eq!(rest, &packet[..]);
            prop_assert_eq!(header.bytes(), bytes);
        }
    }
}
