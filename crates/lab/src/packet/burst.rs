//! What a kernel sent at once, and the packets that it stands for.
//!
//! A sending kernel leaves segmentation to the device (TSO, USO): up to 64 KiB come as one. The air carries packets, so each
//! [`Segment`] goes its own way; headers are made only when it is delivered. Checksums of what was split stay partial, as the kernel
//! left them: the receiving kernel trusts them, and no payload is ever summed.

use super::checksum;
use super::header::{Gso, NEEDS_CHECKSUM, VnetHeader};
use super::icmp::{self, Unreachable};
use super::ip::{Facts, Refused, TCP, UDP};
use super::join::mark;
use super::port::{self, Which};
use netburn_medium::packet::Ecn;
use std::sync::Arc;

const IGMP: u8 = 2;
const ICMP6: u8 = 58;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;

/// The longest packet of the air, IP header included (802.11-2020 clause 9.2.4.7.1, less LLC and SNAP).
pub const LONGEST: usize = 2304;

/// What a kernel sent at once.
#[derive(Debug, PartialEq, Eq)]
pub struct Burst {
    /// The packet, from its IP header on.
    pub(super) bytes: Box<[u8]>,
    pub(super) header: VnetHeader,
    /// What it says of itself.
    pub facts: Facts,
    /// All its headers.
    pub(super) headers: usize,
    /// Payload of each packet but the last; 0 when it is a single one.
    pub(super) size: usize,
    count: u16,
}

/// One packet of a burst.
#[derive(Debug, Clone)]
pub struct Segment {
    pub(super) burst: Arc<Burst>,
    pub(super) index: u16,
}

impl Burst {
    /// What `frame`, a packet behind its [`VnetHeader`], stands for.
    ///
    /// # Errors
    /// When it can't be carried.
    pub fn read(frame: &[u8]) -> Result<Burst, Refused> {
        let (header, bytes) = VnetHeader::read(frame).ok_or(Refused::Malformed)?;
        let facts = Facts::of(bytes)?;
        let split = match header.gso {
            Gso::None => None,
            Gso::Tcp4 | Gso::Tcp6 if facts.protocol == TCP => {
                let offset = bytes.get(facts.transport + 12).ok_or(Refused::Malformed)?;
                let length = usize::from(offset >> 4) * 4;
                if length < 20 {
                    return Err(Refused::Malformed);
                }
                Some(facts.transport + length)
            }
            Gso::Udp if facts.protocol == UDP => Some(facts.transport + 8),
            _ => return Err(Refused::Malformed),
        };
        let (start, place) = (usize::from(header.checksum_start), usize::from(header.checksum_offset));
        let outside = start < facts.transport || start + place + 2 > bytes.len();
        if header.flags & NEEDS_CHECKSUM != 0 && outside {
            return Err(Refused::Malformed);
        }
        let whole = Burst {
            bytes: bytes.into(),
            header,
            facts,
            headers: bytes.len(),
            size: 0,
            count: 1,
        };
        let Some(headers) = split else {
            return if bytes.len() > LONGEST {
                Err(Refused::TooLong)
            } else {
                Ok(whole)
            };
        };
        let size = usize::from(header.gso_size);
        let offset = if facts.protocol == TCP { 16 } else { 6 };
        let partial = header.flags & NEEDS_CHECKSUM != 0
            && usize::from(header.checksum_start) == facts.transport
            && header.checksum_offset == offset;
        if headers >= bytes.len() || size == 0 || facts.fragment || !partial {
            return Err(Refused::Malformed);
        }
        if headers + size > LONGEST {
            return Err(Refused::TooLong);
        }
        let count = (bytes.len() - headers).div_ceil(size);
        Ok(Burst {
            headers,
            size,
            count: u16::try_from(count).map_err(|_| Refused::Malformed)?,
            ..whole
        })
    }

    /// Bytes of all its packets, headers included.
    #[must_use]
    pub fn length(&self) -> usize {
        self.bytes.len() + (usize::from(self.count) - 1) * self.headers
    }

    /// The flags of a TCP segment; none where it is another packet, or a fragment.
    fn tcp_flags(&self) -> u8 {
        let tcp = self.facts.protocol == TCP && !self.facts.fragment;
        let flags = self.bytes.get(self.facts.transport + 13).filter(|_| tcp);
        flags.copied().unwrap_or_default()
    }

    /// Whether it is a TCP segment that accepts a connection, and whether it is one that refuses or resets one.
    #[must_use]
    pub(crate) fn answers(&self) -> (bool, bool) {
        let flags = self.tcp_flags();
        (flags & (SYN | RST | ACK) == SYN | ACK, flags & RST != 0)
    }

    /// Whether a kernel looks for neighbours, routers or groups with it of its own accord: Neighbor Discovery (RFC 4861), MLD
    /// (RFC 2710, RFC 3810) and IGMP (RFC 9776).
    #[must_use]
    pub fn is_discovery(&self) -> bool {
        match (self.facts.protocol, self.bytes.get(self.facts.transport)) {
            (IGMP, _) => true,
            (ICMP6, Some(kind)) => matches!(kind, 130..=137 | 143),
            _ => false,
        }
    }

    /// Its content comes from another port from now on.
    pub fn set_source_port(&mut self, port: u16) {
        port::replace(&mut self.bytes, self.header.flags, &self.facts, Which::Source, port);
        if self.facts.ports != (0, 0) {
            self.facts.ports.0 = port;
        }
    }

    /// The port that it comes from; of a first fragment too.
    #[must_use]
    pub fn source_port(&self) -> Option<u16> {
        port::ports(&self.bytes, &self.facts).map(|ports| ports.0)
    }

    /// The message that nobody has the address it goes to, as a frame to its sender; `None` where there must be none.
    #[must_use]
    pub fn unreachable(&self, why: Unreachable) -> Option<Vec<u8>> {
        let router = crate::address::router(self.facts.source);
        icmp::unreachable(&self.bytes, &self.facts, router, why)
    }

    /// Its packets, in order.
    pub fn segments(self: Arc<Self>) -> impl Iterator<Item = Segment> {
        (0..self.count).map(move |index| Segment {
            burst: Arc::clone(&self),
            index,
        })
    }
}

impl Segment {
    /// Its length in bytes, headers included.
    #[must_use]
    pub fn length(&self) -> usize {
        self.burst.headers + self.payload().len()
    }

    /// What the burst that it is part of says of itself.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.burst.facts
    }

    /// What follows its headers; nothing where the whole packet counts as header.
    pub(super) fn payload(&self) -> &[u8] {
        let all = &self.burst.bytes[self.burst.headers..];
        if self.burst.size == 0 {
            return all;
        }
        let start = usize::from(self.index) * self.burst.size;
        &all[start..all.len().min(start + self.burst.size)]
    }

    /// Whether it is a TCP segment that asks for a connection.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.burst.tcp_flags() & (SYN | RST | ACK) == SYN
    }

    /// The packet as it would be on a wire, with every checksum complete, and with this mark.
    #[must_use]
    pub fn marked_packet(&self, ecn: Ecn) -> Vec<u8> {
        let mut packet = self.packet();
        mark(&mut packet, &self.burst, ecn);
        packet
    }

    /// The packet as it would be on a wire, with every checksum complete.
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
            // The partial sum of the pseudo header is in the field itself.
            let mut complete = !checksum::sum(&packet[start..]);
            if complete == 0 && burst.facts.protocol == UDP {
                complete = 0xffff;
            }
            packet[place..place + 2].copy_from_slice(&complete.to_be_bytes());
        }
        packet
    }
}

const TCP_FIN_PSH: u8 = 0x09;
const TCP_CWR: u8 = 0x80;

/// Makes of a burst's headers those of its packets `first` to `last` as one packet with `payload` bytes behind it: lengths,
/// identification, sequence number, flags, the IP checksum, and the partial checksum of the transport.
pub(super) fn make_headers(headers: &mut [u8], burst: &Burst, first: u16, last: u16, payload: usize) {
    let facts = &burst.facts;
    let transport = facts.transport;
    let length = headers.len() + payload;
    let behind = (length - transport) as u32;
    if facts.source.is_ipv4() {
        headers[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        let id = u16::from_be_bytes([headers[4], headers[5]]).wrapping_add(first);
        headers[4..6].copy_from_slice(&id.to_be_bytes());
        headers[10..12].fill(0);
        let sum = !checksum::sum(&headers[..usize::from(headers[0] & 15) * 4]);
        headers[10..12].copy_from_slice(&sum.to_be_bytes());
    } else {
        headers[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
    }
    let partial = checksum::pseudo(facts.source, facts.destination, facts.protocol, behind);
    let place = if facts.protocol == TCP {
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
