//! Consecutive packets of one connection into one for the receiving kernel, as its own GRO would: one write in the place of dozens,
//! and one acknowledgement for an aggregate.
//!
//! What is joined: TCP segments that follow each other exactly and differ in nothing else; datagrams of one length and one flow, the
//! last of which may be shorter.
//! Anything else goes through by itself, and nothing is ever reordered.

use super::burst::{Burst, Segment, make_headers};
use super::checksum;
use super::header::{Gso, NEEDS_CHECKSUM, VnetHeader};
use super::ip::{TCP, UDP};
use netburn_medium::packet::Ecn;

/// The longest packet that a kernel takes.
const LONGEST: usize = 65_535;
/// UDP_MAX_SEGMENTS of kernels before 6.9, and plenty for TCP.
const MOST: usize = 64;

const FIN: u8 = 0x01;
const SYN_RST_URG: u8 = 0x26;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// Joins what is pushed into frames.
#[derive(Debug, Default)]
pub struct Joiner {
    run: Vec<Segment>,
    ecn: Ecn,
    length: usize,
    frame: Vec<u8>,
    /// Whether datagrams are joined that were sent one by one.
    datagrams: bool,
}

impl Joiner {
    /// From now on joins datagrams too that were sent one by one: receiving kernels must take bursts of datagrams.
    pub fn join_datagrams(&mut self) {
        self.datagrams = true;
    }

    /// Whether `segment`, which carries the mark `ecn` now, may go into the same frame as what was pushed before.
    #[must_use]
    pub fn takes(&self, segment: &Segment, ecn: Ecn) -> bool {
        let (Some(first), Some(last)) = (self.run.first(), self.run.last()) else {
            return true;
        };
        self.run.len() < MOST
            && ecn == self.ecn
            && self.length + payload(segment).len() <= LONGEST
            && payload(last).len() == payload(first).len()
            && payload(segment).len() <= payload(first).len()
            && match segment.facts().protocol {
                TCP => follows(last, segment),
                UDP => same_burst(last, segment) || (self.datagrams && next_datagram(last, segment)),
                _ => false,
            }
    }

    /// Adds a packet that it [takes](Self::takes).
    pub fn push(&mut self, segment: Segment, ecn: Ecn) {
        self.length += if self.run.is_empty() {
            segment.length()
        } else {
            payload(&segment).len()
        };
        self.ecn = ecn;
        self.run.push(segment);
    }

    /// What was pushed, as one frame with its [`VnetHeader`]; `None` when nothing was. It begins anew.
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
            self.made_of(&run, burst, first, last);
        }
        mark(&mut self.frame[super::header::LENGTH..], burst, self.ecn);
        self.run = run;
        self.run.clear();
        Some(&mut self.frame)
    }

    fn made_of(&mut self, run: &[Segment], burst: &Burst, first: &Segment, last: &Segment) {
        let headers = headers(first);
        let each = payload(first).len();
        let joined = run.len() > 1;
        let transport = burst.facts.transport;
        let v4 = burst.facts.source.is_ipv4();
        let gso = match (joined, burst.facts.protocol) {
            (false, _) => Gso::None,
            (true, UDP) => Gso::Udp,
            (true, _) if v4 => Gso::Tcp4,
            (true, _) => Gso::Tcp6,
        };
        let reduced = burst.facts.protocol == TCP && burst.bytes[transport + 13] & CWR != 0 && first.index == 0;
        let header = VnetHeader {
            flags: NEEDS_CHECKSUM,
            gso,
            ecn: joined && reduced,
            header_length: headers as u16,
            gso_size: if joined { each as u16 } else { 0 },
            checksum_start: transport as u16,
            checksum_offset: if burst.facts.protocol == TCP { 16 } else { 6 },
        };
        self.frame.extend(header.bytes());
        let start = self.frame.len();
        self.frame.extend_from_slice(&burst.bytes[..headers]);
        let total = run.iter().map(|segment| payload(segment).len()).sum();
        let one_burst = same(first, last);
        let end = if one_burst { last.index } else { first.index };
        make_headers(&mut self.frame[start..], burst, first.index, end, total);
        if burst.facts.protocol == TCP && !one_burst {
            // The last one says whether the stream ends, or the reader is to be woken.
            let flags = &mut self.frame[start + transport + 13];
            *flags = *flags & !(FIN | PSH) | flags_of(last) & (FIN | PSH);
        }
        for segment in run {
            self.frame.extend_from_slice(payload(segment));
        }
    }
}

/// Whether both are of one burst.
fn same(one: &Segment, other: &Segment) -> bool {
    std::sync::Arc::ptr_eq(&one.burst, &other.burst)
}

fn same_burst(last: &Segment, next: &Segment) -> bool {
    same(last, next) && last.index + 1 == next.index
}

/// Whether `next` is of the flow of `last`, and differs in nothing but its content. A receiving socket is handed the datagrams one by one.
fn next_datagram(last: &Segment, next: &Segment) -> bool {
    plain_datagram(last).is_some_and(|one| Some(one) == plain_datagram(next))
}

/// What datagrams have in common that may be joined: one without IP options or extension headers, whose checksum is still partial.
/// Addresses and ports, and the header's type of service and time to live.
fn plain_datagram(segment: &Segment) -> Option<(&[u8], u8, u8)> {
    let burst = &segment.burst;
    let v4 = burst.facts.source.is_ipv4();
    let transport = if v4 { 20 } else { 40 };
    let partial = burst.header.flags & NEEDS_CHECKSUM != 0
        && usize::from(burst.header.checksum_start) == burst.facts.transport
        && burst.header.checksum_offset == 6;
    let bytes = &burst.bytes;
    let whole = burst.size == 0
        && burst.facts.transport == transport
        && partial
        && !burst.facts.fragment
        && bytes.len() > transport + 8
        && (!v4 || bytes[6] & 0x40 != 0)
        && usize::from(u16::from_be_bytes([bytes[transport + 4], bytes[transport + 5]])) == bytes.len() - transport;
    if !whole {
        return None;
    }
    Some(if v4 {
        (&bytes[12..transport + 4], bytes[1], bytes[8])
    } else {
        (&bytes[8..transport + 4], burst.facts.dscp, bytes[7])
    })
}

/// Whether `next` is the TCP segment after `last` in the stream, and differs in nothing that matters.
fn follows(last: &Segment, next: &Segment) -> bool {
    if same_burst(last, next) {
        return true;
    }
    let (Some(one), Some(other)) = (Tcp::of(last), Tcp::of(next)) else {
        return false;
    };
    one.sequence.wrapping_add(payload(last).len() as u32) == other.sequence
        && one.flags & (FIN | PSH) == 0
        && (one.flags | other.flags) & SYN_RST_URG == 0
        && other.flags & CWR == 0
        && (one.flags ^ other.flags) & !(FIN | PSH | CWR) == 0
        && !payload(next).is_empty()
        && !payload(last).is_empty()
        && last.facts().source == next.facts().source
        && last.facts().destination == next.facts().destination
        && last.facts().ports == next.facts().ports
        && last.facts().dscp == next.facts().dscp
        && one.ttl == other.ttl
        && one.rest == other.rest
}

/// What must be the same, and what must follow.
struct Tcp<'a> {
    sequence: u32,
    flags: u8,
    ttl: u8,
    /// Acknowledgement and window, and the options.
    rest: (&'a [u8], &'a [u8], &'a [u8]),
}

impl<'a> Tcp<'a> {
    /// A segment without IP options or extension headers whose checksum is still partial.
    fn of(segment: &'a Segment) -> Option<Tcp<'a>> {
        let burst = &segment.burst;
        let v4 = burst.facts.source.is_ipv4();
        let plain = burst.facts.transport == if v4 { 20 } else { 40 };
        let partial = burst.header.flags & NEEDS_CHECKSUM != 0
            && usize::from(burst.header.checksum_start) == burst.facts.transport
            && burst.header.checksum_offset == 16;
        if !plain || !partial || burst.facts.fragment || (v4 && burst.bytes[6] & 0x40 == 0) {
            return None;
        }
        let headers = headers(segment);
        let tcp = burst.bytes.get(burst.facts.transport..headers)?;
        let sequence = u32::from_be_bytes(tcp.get(4..8)?.try_into().ok()?);
        Some(Tcp {
            sequence: sequence.wrapping_add(u32::from(segment.index) * burst.size as u32),
            flags: flags_of(segment),
            ttl: burst.bytes[if v4 { 8 } else { 7 }],
            rest: (tcp.get(8..13)?, tcp.get(14..16)?, tcp.get(20..)?),
        })
    }
}

/// A TCP segment's flags, as its packet has them.
fn flags_of(segment: &Segment) -> u8 {
    let burst = &segment.burst;
    let Some(flags) = burst.bytes.get(burst.facts.transport + 13).copied() else {
        return SYN_RST_URG;
    };
    let last = burst.size == 0 || usize::from(segment.index + 1) * burst.size >= burst.bytes.len() - burst.headers;
    let first = segment.index == 0;
    flags & !(if last { 0 } else { FIN | PSH }) & !(if first { 0 } else { CWR })
}

/// The length of a packet's headers. Of packets that came one by one they end where their protocol says.
fn headers(segment: &Segment) -> usize {
    let burst = &segment.burst;
    if plain_datagram(segment).is_some() {
        return burst.facts.transport + 8;
    }
    if burst.size != 0 || burst.facts.protocol != TCP {
        return burst.headers;
    }
    let offset = burst.bytes.get(burst.facts.transport + 12).map_or(0, |byte| byte >> 4);
    let end = burst.facts.transport + usize::from(offset) * 4;
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

/// Puts the mark that a packet got under way into its header, and the IPv4 checksum right.
pub(super) fn mark(packet: &mut [u8], burst: &Burst, now: Ecn) {
    if now != Ecn::Ce || burst.facts.ecn == Ecn::Ce {
        return;
    }
    if burst.facts.source.is_ipv4() {
        let before = u16::from_be_bytes([packet[0], packet[1]]);
        packet[1] |= 3;
        let after = u16::from_be_bytes([packet[0], packet[1]]);
        let sum = checksum::updated(u16::from_be_bytes([packet[10], packet[11]]), before, after);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    } else {
        packet[1] |= 0x30;
    }
}
