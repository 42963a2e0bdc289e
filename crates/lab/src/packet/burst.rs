//! A packet as a kernel sent it, and the segments that it represents.
//!
//! A sending kernel leaves segmentation to the device (TSO, USO) and sends up to 64 KiB as one packet. The modelled
//! network forwards each [`Segment`] separately. Headers are only made on delivery. Checksums of segmented packets stay
//! partial, as the kernel left them. The receiving kernel trusts them, so payload is never summed.

use super::header::{Gso, NEEDS_CHECKSUM, VnetHeader};
use super::icmp::{self, Unreachable};
use super::ip::{IpPacketInfo, RejectReason, TCP, UDP};
use super::port::{self, PortField};
use netburn_medium::packet::Ecn;
use netburn_network::{Ack, Headers, Reflector, checksum};
use std::sync::Arc;

const IGMP: u8 = 2;
const ICMP6: u8 = 58;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;

/// Maximum length of a packet including the IP header (802.11-2020 clause 9.2.4.7.1, less LLC and SNAP).
pub const MAX_PACKET: usize = 2304;

/// A packet as a kernel sent it: one segment, or a burst to be segmented (GSO).
#[derive(Debug, PartialEq, Eq)]
pub struct Burst {
    /// The packet, beginning with the IP header.
    pub(super) bytes: Box<[u8]>,
    pub(super) header: VnetHeader,
    /// Properties of the packet.
    pub info: IpPacketInfo,
    /// Length of all headers.
    pub(super) headers: usize,
    /// Payload of each segment but the last; 0 for a single packet.
    pub(super) size: usize,
    count: u16,
}

/// One segment of a burst.
#[derive(Debug, Clone)]
pub struct Segment {
    pub(super) burst: Arc<Burst>,
    pub(super) index: u16,
}

impl Burst {
    /// Parses a frame: a packet preceded by its [`VnetHeader`].
    ///
    /// # Errors
    /// The [`RejectReason`] if the packet is invalid or not forwarded.
    pub fn read(frame: &[u8]) -> Result<Burst, RejectReason> {
        let (header, bytes) = VnetHeader::read(frame).ok_or(RejectReason::Malformed)?;
        let info = IpPacketInfo::parse(bytes)?;
        let split = match header.gso {
            Gso::None => None,
            Gso::Tcp4 | Gso::Tcp6 if info.protocol == TCP => {
                let offset = bytes.get(info.transport + 12).ok_or(RejectReason::Malformed)?;
                let length = usize::from(offset >> 4) * 4;
                if length < 20 {
                    return Err(RejectReason::Malformed);
                }
                Some(info.transport + length)
            }
            Gso::Udp if info.protocol == UDP => Some(info.transport + 8),
            _ => return Err(RejectReason::Malformed),
        };
        let (start, place) = (usize::from(header.checksum_start), usize::from(header.checksum_offset));
        let outside = start < info.transport || start + place + 2 > bytes.len();
        if header.flags & NEEDS_CHECKSUM != 0 && outside {
            return Err(RejectReason::Malformed);
        }
        let whole = Burst {
            bytes: bytes.into(),
            header,
            info,
            headers: bytes.len(),
            size: 0,
            count: 1,
        };
        let Some(headers) = split else {
            return if bytes.len() > MAX_PACKET {
                Err(RejectReason::TooLong)
            } else {
                Ok(whole)
            };
        };
        let size = usize::from(header.gso_size);
        let offset = if info.protocol == TCP { 16 } else { 6 };
        let partial = header.flags & NEEDS_CHECKSUM != 0
            && usize::from(header.checksum_start) == info.transport
            && header.checksum_offset == offset;
        if headers >= bytes.len() || size == 0 || info.fragment || !partial {
            return Err(RejectReason::Malformed);
        }
        if headers + size > MAX_PACKET {
            return Err(RejectReason::TooLong);
        }
        let count = (bytes.len() - headers).div_ceil(size);
        Ok(Burst {
            headers,
            size,
            count: u16::try_from(count).map_err(|_| RejectReason::Malformed)?,
            ..whole
        })
    }

    /// Returns the total length of all segments, headers included.
    #[must_use]
    pub fn length(&self) -> usize {
        self.bytes.len() + (usize::from(self.count) - 1) * self.headers
    }

    /// Returns the flags of a TCP segment; 0 for other packets and fragments.
    fn tcp_flags(&self) -> u8 {
        let tcp = self.info.protocol == TCP && !self.info.fragment;
        let flags = self.bytes.get(self.info.transport + 13).filter(|_| tcp);
        flags.copied().unwrap_or_default()
    }

    /// Returns whether the packet is a TCP SYN-ACK, and whether it is a TCP RST.
    #[must_use]
    pub(crate) fn handshake_reply(&self) -> (bool, bool) {
        let flags = self.tcp_flags();
        (flags & (SYN | RST | ACK) == SYN | ACK, flags & RST != 0)
    }

    /// Returns whether the packet is multicast discovery that kernels send by themselves: Neighbor Discovery (RFC
    /// 4861), MLD (RFC 2710, RFC 3810) or IGMP (RFC 9776).
    #[must_use]
    pub fn is_discovery(&self) -> bool {
        match (self.info.protocol, self.bytes.get(self.info.transport)) {
            (IGMP, _) => true,
            (ICMP6, Some(kind)) => matches!(kind, 130..=137 | 143),
            _ => false,
        }
    }

    /// Replaces the source port.
    pub fn set_source_port(&mut self, port: u16) {
        port::replace(&mut self.bytes, self.header.flags, &self.info, PortField::Source, port);
        if self.info.ports != (0, 0) {
            self.info.ports.0 = port;
        }
    }

    /// Returns the source port, also of a first fragment.
    #[must_use]
    pub fn source_port(&self) -> Option<u16> {
        port::ports(&self.bytes, &self.info).map(|ports| ports.0)
    }

    /// Returns an ICMP destination unreachable message to the sender, as a frame; `None` if RFC 1122 forbids one.
    #[must_use]
    pub fn unreachable(&self, why: Unreachable) -> Option<Vec<u8>> {
        let router = crate::address::router(self.info.source);
        icmp::unreachable(&self.bytes, &self.info, router, why)
    }

    /// Returns the host between station and server that answers the packet.
    #[must_use]
    pub fn reflector(&self) -> Option<Reflector> {
        icmp::reflector(&self.bytes, &self.info)
    }

    /// Returns the segments in order.
    pub fn segments(self: Arc<Self>) -> impl Iterator<Item = Segment> {
        (0..self.count).map(move |index| Segment {
            burst: Arc::clone(&self),
            index,
        })
    }
}

impl Segment {
    /// Returns the length in bytes, headers included.
    #[must_use]
    pub fn length(&self) -> usize {
        self.burst.headers + self.payload().len()
    }

    /// Returns the properties of the burst.
    #[must_use]
    pub fn info(&self) -> &IpPacketInfo {
        &self.burst.info
    }

    /// Returns the payload behind the headers; empty for a single packet.
    pub(super) fn payload(&self) -> &[u8] {
        let all = &self.burst.bytes[self.burst.headers..];
        if self.burst.size == 0 {
            return all;
        }
        let start = usize::from(self.index) * self.burst.size;
        &all[start..all.len().min(start + self.burst.size)]
    }

    /// Returns the header fields that queue disciplines read.
    #[must_use]
    pub fn headers(&self) -> Headers {
        let headers = Headers::new(self.burst.info.dscp);
        let flags = self.burst.tcp_flags();
        let transport = self.burst.bytes.get(self.burst.info.transport..).unwrap_or_default();
        let (true, Some(next)) = (flags & (SYN | ACK) == ACK, transport.get(8..12)) else {
            return headers;
        };
        headers.with_ack(Ack {
            next: next.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)),
            pure_ack: flags == ACK && has_only_timestamps(transport),
        })
    }

    /// Returns whether the segment is a TCP SYN without ACK.
    #[must_use]
    pub fn is_syn(&self) -> bool {
        self.burst.tcp_flags() & (SYN | RST | ACK) == SYN
    }

    /// Returns the packet as on a wire, with complete checksums and this ECN mark.
    #[must_use]
    pub fn marked_packet(&self, ecn: Ecn) -> Vec<u8> {
        let mut packet = self.packet();
        mark(&mut packet, &self.burst, ecn);
        packet
    }

    /// Returns the packet as on a wire, with complete checksums.
    #[must_use]
    pub fn packet(&self) -> Vec<u8> {
        let burst = &self.burst;
        let mut packet = burst.bytes[..burst.headers].to_vec();
        if burst.size != 0 {
            make_headers(&mut packet, burst, self.index, self.index, self.payload().len());
        }
        packet.extend_from_slice(self.payload());
        let start = usize::from(burst.header.checksum_start);
        let place = start + usize::from(burst.header.checksum_offset);
        if burst.header.flags & NEEDS_CHECKSUM != 0 && place + 2 <= packet.len() {
            // The field itself contains the partial sum of the pseudo header.
            let mut complete = !checksum::sum(&packet[start..]);
            if complete == 0 && burst.info.protocol == UDP {
                complete = 0xffff;
            }
            packet[place..place + 2].copy_from_slice(&complete.to_be_bytes());
        }
        packet
    }
}

const TCP_FIN_PSH: u8 = 0x09;
const TCP_CWR: u8 = 0x80;

/// Returns whether a TCP packet, from its transport header, has no data and no options but timestamps.
fn has_only_timestamps(transport: &[u8]) -> bool {
    let Some(mut options) = transport.get(20..) else {
        return false;
    };
    if usize::from(transport[12] >> 4) * 4 != transport.len() {
        return false;
    }
    while let Some(kind) = options.first() {
        // End of the list, padding, timestamps (RFC 9293 section 3.2, RFC 7323).
        let length = match kind {
            0 => return true,
            1 => 1,
            8 => 10,
            _ => return false,
        };
        options = options.get(length..).unwrap_or_default();
    }
    true
}

/// Rewrites a burst's headers for the segments `first` to `last` as one packet with `payload` bytes. It sets
/// lengths, identification, sequence number, flags, IP checksum and the partial checksum of the transport.
pub(super) fn make_headers(headers: &mut [u8], burst: &Burst, first: u16, last: u16, payload: usize) {
    let info = &burst.info;
    let transport = info.transport;
    let length = headers.len() + payload;
    let behind = (length - transport) as u32;
    if info.source.is_ipv4() {
        headers[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        let id = u16::from_be_bytes([headers[4], headers[5]]).wrapping_add(first);
        headers[4..6].copy_from_slice(&id.to_be_bytes());
        headers[10..12].fill(0);
        let sum = !checksum::sum(&headers[..usize::from(headers[0] & 15) * 4]);
        headers[10..12].copy_from_slice(&sum.to_be_bytes());
    } else {
        headers[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
    }
    let partial = checksum::pseudo(info.source, info.destination, info.protocol, behind);
    let place = if info.protocol == TCP {
        let at = transport + 4;
        let sequence = u32::from_be_bytes(headers[at..at + 4].try_into().expect("four bytes"));
        let before = u32::from(first) * burst.size as u32;
        headers[at..at + 4].copy_from_slice(&sequence.wrapping_add(before).to_be_bytes());
        if last + 1 < burst.count {
            headers[transport + 13] &= !TCP_FIN_PSH;
        }
        if first > 0 {
            headers[transport + 13] &= !TCP_CWR;
        }
        transport + 16
    } else {
        headers[transport + 4..transport + 6].copy_from_slice(&(behind as u16).to_be_bytes());
        transport + 6
    };
    headers[place..place + 2].copy_from_slice(&partial.to_be_bytes());
}

/// Writes an ECN mark received in the network into the header, and updates the IPv4 checksum.
pub(super) fn mark(packet: &mut [u8], burst: &Burst, now: Ecn) {
    if now != Ecn::Ce || burst.info.ecn == Ecn::Ce {
        return;
    }
    if burst.info.source.is_ipv4() {
        let before = u16::from_be_bytes([packet[0], packet[1]]);
        packet[1] |= 3;
        let after = u16::from_be_bytes([packet[0], packet[1]]);
        let sum = checksum::updated(u16::from_be_bytes([packet[10], packet[11]]), before, after);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    } else {
        packet[1] |= 0x30;
    }
}
