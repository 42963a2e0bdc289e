//! Coalescing of consecutive packets for the receiving kernel, as its own GRO does: one write instead of dozens, and
//! one acknowledgement for an aggregate.
//!
//! The following are coalesced:
//!
//! - TCP segments with consecutive sequence numbers and otherwise equal headers
//! - datagrams of one flow with the same length; the last may be shorter
//!
//! All other packets pass unchanged. Packets of a flow are never reordered; see [`reorder`](super::reorder).

use super::burst::{Burst, Segment, make_headers, mark};
use super::header::{Gso, NEEDS_CHECKSUM, VnetHeader};
use super::ip::{TCP, UDP};
use netburn_medium::packet::Ecn;

/// Maximum length of a packet for a kernel.
const MAX_PACKET: usize = 65_535;
/// UDP_MAX_SEGMENTS of kernels before 6.9; sufficient for TCP.
const MAX_SEGMENTS: usize = 64;

const FIN: u8 = 0x01;
const SYN_RST_URG: u8 = 0x26;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// Coalesces segments into frames.
#[derive(Debug, Default)]
pub struct GroCoalescer {
    run: Vec<Segment>,
    ecn: Ecn,
    length: usize,
    frame: Vec<u8>,
    /// True if separately sent datagrams are coalesced.
    datagrams: bool,
}

impl GroCoalescer {
    /// Also coalesces datagrams that were sent separately. Receiving kernels must support UDP GSO.
    pub fn coalesce_datagrams(&mut self) {
        self.datagrams = true;
    }

    /// Returns whether `segment`, with the ECN mark `ecn`, can be in the same frame as the segments before.
    #[must_use]
    pub fn accepts(&self, segment: &Segment, ecn: Ecn) -> bool {
        let (Some(first), Some(last)) = (self.run.first(), self.run.last()) else {
            return true;
        };
        self.run.len() < MAX_SEGMENTS
            && ecn == self.ecn
            && self.length + payload(segment).len() <= MAX_PACKET
            && payload(last).len() == payload(first).len()
            && payload(segment).len() <= payload(first).len()
            && match segment.info().protocol {
                TCP => follows(last, segment),
                UDP => same_burst(last, segment) || (self.datagrams && next_datagram(last, segment)),
                _ => false,
            }
    }

    /// Adds a segment that [`accepts`](Self::accepts) allows.
    pub fn push(&mut self, segment: Segment, ecn: Ecn) {
        self.length += if self.run.is_empty() {
            segment.length()
        } else {
            payload(&segment).len()
        };
        self.ecn = ecn;
        self.run.push(segment);
    }

    /// Returns the added segments as one frame with its [`VnetHeader`], and starts again; `None` if there are none.
    pub fn frame(&mut self) -> Option<&mut [u8]> {
        let run = std::mem::take(&mut self.run);
        self.length = 0;
        let (first, last) = (run.first()?, run.last()?);
        let burst = &first.burst;
        self.frame.clear();
        if run.len() == 1 && burst.size == 0 {
            self.frame.extend(burst.header.bytes());
            self.frame.extend_from_slice(&burst.bytes);
        } else {
            self.coalesce(&run, burst, first, last);
        }
        mark(&mut self.frame[super::header::LENGTH..], burst, self.ecn);
        self.run = run;
        self.run.clear();
        Some(&mut self.frame)
    }

    fn coalesce(&mut self, run: &[Segment], burst: &Burst, first: &Segment, last: &Segment) {
        let headers = headers(first);
        let each = payload(first).len();
        let joined = run.len() > 1;
        let transport = burst.info.transport;
        let v4 = burst.info.source.is_ipv4();
        let gso = match (joined, burst.info.protocol) {
            (false, _) => Gso::None,
            (true, UDP) => Gso::Udp,
            (true, _) if v4 => Gso::Tcp4,
            (true, _) => Gso::Tcp6,
        };
        let reduced = burst.info.protocol == TCP && burst.bytes[transport + 13] & CWR != 0 && first.index == 0;
        let header = VnetHeader {
            flags: NEEDS_CHECKSUM,
            gso,
            ecn: joined && reduced,
            header_length: headers as u16,
            gso_size: if joined { each as u16 } else { 0 },
            checksum_start: transport as u16,
            checksum_offset: if burst.info.protocol == TCP { 16 } else { 6 },
        };
        self.frame.extend(header.bytes());
        let start = self.frame.len();
        self.frame.extend_from_slice(&burst.bytes[..headers]);
        let total = run.iter().map(|segment| payload(segment).len()).sum();
        let one_burst = same(first, last);
        let end = if one_burst { last.index } else { first.index };
        make_headers(&mut self.frame[start..], burst, first.index, end, total);
        if burst.info.protocol == TCP && !one_burst {
            // FIN and PSH are those of the last segment.
            let flags = &mut self.frame[start + transport + 13];
            *flags = *flags & !(FIN | PSH) | flags_of(last) & (FIN | PSH);
        }
        for segment in run {
            self.frame.extend_from_slice(payload(segment));
        }
    }
}

/// Returns whether both are segments of one burst.
fn same(one: &Segment, other: &Segment) -> bool {
    std::sync::Arc::ptr_eq(&one.burst, &other.burst)
}

fn same_burst(last: &Segment, next: &Segment) -> bool {
    same(last, next) && last.index + 1 == next.index
}

/// Returns whether `next` belongs to the flow of `last` and differs only in content. A receiving socket still reads
/// separate datagrams.
fn next_datagram(last: &Segment, next: &Segment) -> bool {
    plain_datagram(last).is_some_and(|one| Some(one) == plain_datagram(next))
}

/// Returns the header fields in which coalesced datagrams must agree: addresses and ports, type of service, and time to
/// live. `None` for datagrams with IP options or extension headers, or with a complete checksum.
fn plain_datagram(segment: &Segment) -> Option<(&[u8], u8, u8)> {
    let burst = &segment.burst;
    let v4 = burst.info.source.is_ipv4();
    let transport = if v4 { 20 } else { 40 };
    let partial = burst.header.flags & NEEDS_CHECKSUM != 0
        && usize::from(burst.header.checksum_start) == burst.info.transport
        && burst.header.checksum_offset == 6;
    let bytes = &burst.bytes;
    let whole = burst.size == 0
        && burst.info.transport == transport
        && partial
        && !burst.info.fragment
        && bytes.len() > transport + 8
        && (!v4 || bytes[6] & 0x40 != 0)
        && usize::from(u16::from_be_bytes([bytes[transport + 4], bytes[transport + 5]])) == bytes.len() - transport;
    if !whole {
        return None;
    }
    Some(if v4 {
        (&bytes[12..transport + 4], bytes[1], bytes[8])
    } else {
        (&bytes[8..transport + 4], burst.info.dscp, bytes[7])
    })
}

/// Returns whether `next` is the next segment after `last` in the TCP stream and can be coalesced with it.
fn follows(last: &Segment, next: &Segment) -> bool {
    if same_burst(last, next) {
        return true;
    }
    let (Some(one), Some(other)) = (Tcp::parse(last), Tcp::parse(next)) else {
        return false;
    };
    one.sequence.wrapping_add(payload(last).len() as u32) == other.sequence
        && one.flags & (FIN | PSH) == 0
        && (one.flags | other.flags) & SYN_RST_URG == 0
        && other.flags & CWR == 0
        && (one.flags ^ other.flags) & !(FIN | PSH | CWR) == 0
        && !payload(next).is_empty()
        && !payload(last).is_empty()
        && last.info().source == next.info().source
        && last.info().destination == next.info().destination
        && last.info().ports == next.info().ports
        && last.info().dscp == next.info().dscp
        && one.ttl == other.ttl
        && one.rest == other.rest
}

/// Header fields of a TCP segment that decide whether it can be coalesced.
struct Tcp<'a> {
    sequence: u32,
    flags: u8,
    ttl: u8,
    /// Acknowledgement number with data offset, window, and options.
    rest: (&'a [u8], &'a [u8], &'a [u8]),
}

impl<'a> Tcp<'a> {
    /// Parses a segment without IP options or extension headers and with a partial checksum.
    fn parse(segment: &'a Segment) -> Option<Tcp<'a>> {
        let burst = &segment.burst;
        let v4 = burst.info.source.is_ipv4();
        let plain = burst.info.transport == if v4 { 20 } else { 40 };
        let partial = burst.header.flags & NEEDS_CHECKSUM != 0
            && usize::from(burst.header.checksum_start) == burst.info.transport
            && burst.header.checksum_offset == 16;
        if !plain || !partial || burst.info.fragment || (v4 && burst.bytes[6] & 0x40 == 0) {
            return None;
        }
        let headers = headers(segment);
        let tcp = burst.bytes.get(burst.info.transport..headers)?;
        let sequence = u32::from_be_bytes(tcp.get(4..8)?.try_into().ok()?);
        Some(Tcp {
            sequence: sequence.wrapping_add(u32::from(segment.index) * burst.size as u32),
            flags: flags_of(segment),
            ttl: burst.bytes[if v4 { 8 } else { 7 }],
            rest: (tcp.get(8..13)?, tcp.get(14..16)?, tcp.get(20..)?),
        })
    }
}

/// Returns the TCP flags of a segment, as in its own packet.
fn flags_of(segment: &Segment) -> u8 {
    let burst = &segment.burst;
    let Some(flags) = burst.bytes.get(burst.info.transport + 13).copied() else {
        return SYN_RST_URG;
    };
    let last = burst.size == 0 || usize::from(segment.index + 1) * burst.size >= burst.bytes.len() - burst.headers;
    let first = segment.index == 0;
    flags & !(if last { 0 } else { FIN | PSH }) & !(if first { 0 } else { CWR })
}

/// Returns the length of a segment's headers. For a separately sent packet, it follows from the protocol.
fn headers(segment: &Segment) -> usize {
    let burst = &segment.burst;
    if plain_datagram(segment).is_some() {
        return burst.info.transport + 8;
    }
    if burst.size != 0 || burst.info.protocol != TCP {
        return burst.headers;
    }
    let offset = burst.bytes.get(burst.info.transport + 12).map_or(0, |byte| byte >> 4);
    let end = burst.info.transport + usize::from(offset) * 4;
    if offset < 5 || end > burst.bytes.len() {
        burst.bytes.len()
    } else {
        end
    }
}

fn payload(segment: &Segment) -> &[u8] {
    if segment.burst.size != 0 {
        return segment.payload();
    }
    &segment.burst.bytes[headers(segment)..]
}
