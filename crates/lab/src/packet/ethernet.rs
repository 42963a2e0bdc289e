//! Differences of Ethernet pairs: 14 bytes before each packet, and offsets that include them.
//!
//! Addresses are not resolved. All nodes have the same address, which is source and destination of every frame.

use super::header::{self, NEEDS_CHECKSUM, VnetHeader};

/// Length of an Ethernet header in bytes.
pub const LENGTH: usize = 14;

/// Address of every node's interface, locally administered (IEEE 802-2014, 8.4).
pub const ADDRESS: [u8; 6] = [0x02, b'n', b'e', b't', b'b', b'n'];

/// EtherTypes that are forwarded: IPv4 and IPv6 (RFC 894, RFC 2464).
const IP_ETHERTYPES: [[u8; 2]; 2] = [[0x08, 0x00], [0x86, 0xdd]];

/// Returns whether the payload of an Ethernet frame is forwarded.
#[must_use]
pub fn is_ip(ethernet: &[u8; LENGTH]) -> bool {
    IP_ETHERTYPES.iter().any(|kind| ethernet[12..] == kind[..])
}

/// Changes the offsets of a received `virtio_net_hdr` to count from the IP header.
pub fn strip(header: &mut [u8; header::LENGTH]) {
    shift(header, |offset| offset.saturating_sub(LENGTH as u16));
}

/// Returns the headers of a packet to a node: its `virtio_net_hdr` with offsets that count from the Ethernet header,
/// and the Ethernet header.
#[must_use]
pub fn encapsulate(header: &[u8; header::LENGTH], packet: &[u8]) -> ([u8; header::LENGTH], [u8; LENGTH]) {
    let mut header = *header;
    shift(&mut header, |offset| offset.saturating_add(LENGTH as u16));
    let mut ethernet = [0; LENGTH];
    ethernet[..6].copy_from_slice(&ADDRESS);
    ethernet[6..12].copy_from_slice(&ADDRESS);
    let v6 = packet.first().is_some_and(|byte| byte >> 4 == 6);
    ethernet[12..].copy_from_slice(&IP_ETHERTYPES[usize::from(v6)]);
    (header, ethernet)
}

fn shift(header: &mut [u8; header::LENGTH], by: impl Fn(u16) -> u16) {
    let Some((mut read, _)) = VnetHeader::read(header) else {
        return;
    };
    if read.header_length != 0 {
        read.header_length = by(read.header_length);
    }
    if read.flags & NEEDS_CHECKSUM != 0 {
        read.checksum_start = by(read.checksum_start);
    }
    *header = read.bytes();
}

#[cfg(test)]
mod tests {
    use super::super::header::Gso;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn offsets_include_the_ethernet_header_only_when_encapsulated() {
        // TCP over IPv4: 54 bytes of headers with Ethernet, 40 without.
        let header = VnetHeader {
            flags: NEEDS_CHECKSUM,
            gso: Gso::Tcp4,
            header_length: 54,
            gso_size: 1448,
            checksum_start: 34,
            checksum_offset: 16,
            ..VnetHeader::default()
        };
        let mut bytes = header.bytes();
        strip(&mut bytes);
        let (read, _) = VnetHeader::read(&bytes).unwrap();
        assert_eq!(
            (read.header_length, read.checksum_start, read.checksum_offset),
            (40, 20, 16)
        );
        let (dressed, ethernet) = encapsulate(&bytes, &[0x45]);
        assert_eq!(dressed, header.bytes());
        assert_eq!(ethernet[12..], [0x08, 0x00]);
        assert!(is_ip(&ethernet));
        assert_eq!(encapsulate(&bytes, &[0x60]).1[12..], [0x86, 0xdd]);
    }

    #[test]
    fn other_protocols_are_not_forwarded() {
        for kind in [0x0806_u16, 0x88cc, 0x8100, 0x0600, 0] {
            let mut ethernet = [0; LENGTH];
            ethernet[12..].copy_from_slice(&kind.to_be_bytes());
            assert!(!is_ip(&ethernet), "{kind:#x}");
        }
    }

    proptest! {
        #[test]
        fn stripping_inverts_encapsulation(bytes in any::<[u8; header::LENGTH]>()) {
            let (mut there, _) = encapsulate(&bytes, &[]);
            strip(&mut there);
            let (before, _) = VnetHeader::read(&bytes).unwrap();
            let (after, _) = VnetHeader::read(&there).unwrap();
            let most = u16::MAX - LENGTH as u16;
            prop_assert_eq!(after.header_length, before.header_length.min(most));
            prop_assert_eq!(after.gso_size, before.gso_size);
            if before.flags & NEEDS_CHECKSUM == 0 {
                prop_assert_eq!(after.checksum_start, before.checksum_start);
            } else {
                prop_assert_eq!(after.checksum_start, before.checksum_start.min(most));
            }
        }
    }
}
