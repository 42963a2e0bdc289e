//! Segments between endpoints.
//!
//! Offsets count the bytes of the stream from 0 and never wrap. A SYN uses no offset. A FIN uses
//! the one after the last byte. Windows are in bytes and already scaled.

use crate::gso;

/// One segment. It may be longer than the MSS if the receiving host merged consecutive ones (GRO).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Segment {
    /// Control bits.
    pub flags: Flags,
    /// Offset of its first byte, or of the next one to be sent.
    pub seq: u64,
    /// Bytes of content.
    pub length: u32,
    /// Next expected offset; valid with [`Flags::ACK`].
    pub ack: u64,
    /// Bytes beyond `ack` that may be sent.
    pub window: u64,
    /// Ranges received beyond `ack` (RFC 2018), the newest first, possibly after a duplicate (RFC
    /// 2883).
    pub sack: SackBlocks,
    /// Milliseconds of the sender's clock (RFC 7323).
    pub timestamp: i64,
    /// Echoed timestamp; valid with [`Flags::ACK`].
    pub echo: i64,
    /// Maximum segment size of its sender in bytes; valid with [`Flags::SYN`].
    pub mss: u32,
}

/// Control bits of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Flags(u8);

/// A range of the stream: from the first offset to before the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Range {
    /// First offset.
    pub start: u64,
    /// First offset after the range.
    pub end: u64,
}

/// Up to three SACK blocks, the maximum beside timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [Range; 3],
    count: u8,
}

/// Transmission of an endpoint: one packet, or a burst that becomes several on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// Segment with the length of the whole burst.
    pub segment: Segment,
    /// Maximum content of one packet in bytes.
    pub mss: u32,
    /// Number of packets.
    pub packets: u32,
    /// True if its packets are ECN-capable (ECT(0)).
    pub ect: bool,
    /// Memory charged until the host frees it, in bytes; zero for a pure acknowledgement.
    pub truesize: u32,
}

/// One packet of a [`Transmit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Segment.
    pub segment: Segment,
    /// Part of the burst's `truesize`, to be returned with
    /// [`Endpoint::handle_freed`](crate::Endpoint::handle_freed).
    pub truesize: u32,
}

impl Flags {
    /// Opens the connection.
    pub const SYN: Flags = Flags(1);
    /// `ack`, `window` and `echo` are valid.
    pub const ACK: Flags = Flags(2);
    /// The stream ends after this segment.
    pub const FIN: Flags = Flags(4);
    /// Resets the connection.
    pub const RST: Flags = Flags(8);
    /// A congestion mark was received (RFC 3168).
    pub const ECE: Flags = Flags(16);
    /// The window was reduced because of a congestion mark.
    pub const CWR: Flags = Flags(32);
    /// Window probe without content: requests an acknowledgement with an offset below the window,
    /// as `tcp_xmit_probe_skb`.
    pub const PROBE: Flags = Flags(64);

    /// Returns true if all bits of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Union of both.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// All bits except `other`.
    #[must_use]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// From bits; the highest bit has no meaning.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Flags {
        Flags(bits & 0x7f)
    }
}

impl Range {
    /// Number of offsets.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.end - self.start
    }
}

impl SackBlocks {
    /// Adds a block, unless the list is full.
    pub fn push(&mut self, block: Range) {
        if let Some(free) = self.blocks.get_mut(usize::from(self.count)) {
            *free = block;
            self.count += 1;
        }
    }

    /// Blocks in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Range] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Returns true if there are no blocks.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl Segment {
    /// Offset after its content, and after its FIN.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.seq
            .saturating_add(self.length as u64)
            .saturating_add(self.flags.contains(Flags::FIN) as u64)
    }

    /// Returns true if it has content or a FIN.
    #[must_use]
    pub const fn is_data(&self) -> bool {
        self.length > 0 || self.flags.contains(Flags::FIN)
    }

    /// Length of its headers in bytes: IPv4 without options, TCP with timestamps and SACK blocks
    /// (RFC 7323 appendix A, RFC 2018 §3).
    #[must_use]
    pub const fn header_length(&self) -> u32 {
        let options = if self.flags.contains(Flags::SYN) {
            20
        } else if self.sack.is_empty() {
            12
        } else {
            16 + 8 * self.sack.count as u32
        };
        40 + options
    }

    /// Length as an IP packet in bytes.
    #[must_use]
    pub const fn wire_length(&self) -> u32 {
        self.header_length() + self.length
    }
}

impl Transmit {
    /// Packets in order.
    pub fn packets(&self) -> impl Iterator<Item = Packet> + use<> {
        let whole = *self;
        (0..whole.packets).map(move |index| whole.packet(index))
    }

    /// Packet number `index`.
    ///
    /// # Panics
    /// If there is no such packet.
    #[must_use]
    #[inline]
    pub fn packet(&self, index: u32) -> Packet {
        assert!(index < self.packets, "a burst of {} packets", self.packets);
        let last = index + 1 == self.packets;
        let mut segment = self.segment;
        let offset = index * self.mss;
        segment.seq += u64::from(offset);
        segment.length = if last { self.segment.length - offset } else { self.mss };
        if !last {
            segment.flags = segment.flags.without(Flags::FIN);
        }
        if index > 0 {
            segment.flags = segment.flags.without(Flags::CWR);
        }
        Packet {
            segment,
            truesize: gso::share(self.truesize, self.packets, index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_its_packets() {
        let segment = Segment {
            flags: Flags::ACK.with(Flags::FIN).with(Flags::CWR),
            seq: 1_000,
            length: 3_000,
            ..Segment::default()
        };
        let burst = Transmit {
            segment,
            mss: 1_448,
            packets: 3,
            ect: true,
            truesize: 1_000,
        };
        let packets: Vec<Packet> = burst.packets().collect();
        let ranges: Vec<(u64, u32)> = packets.iter().map(|p| (p.segment.seq, p.segment.length)).collect();
        assert_eq!(ranges, [(1_000, 1_448), (2_448, 1_448), (3_896, 104)]);
        assert_eq!(packets.iter().map(|p| p.truesize).sum::<u32>(), 1_000);
        let ends: Vec<bool> = packets.iter().map(|p| p.segment.flags.contains(Flags::FIN)).collect();
        assert_eq!(ends, [false, false, true]);
        let reduced: Vec<bool> = packets.iter().map(|p| p.segment.flags.contains(Flags::CWR)).collect();
        assert_eq!(reduced, [true, false, false]);
    }

    #[test]
    fn lengths_on_the_wire() {
        let mut segment = Segment {
            length: 1_448,
            ..Segment::default()
        };
        assert_eq!(segment.wire_length(), 1_500);
        segment.length = 0;
        segment.sack.push(Range { start: 1, end: 2 });
        // 20 + 20, 12 of timestamps, 2 of padding, 2 + 8 of SACK.
        assert_eq!(segment.wire_length(), 64);
    }
}
