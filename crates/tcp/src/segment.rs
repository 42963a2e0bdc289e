//! What goes from one endpoint to the other.
//!
//! Offsets count the bytes of the stream from 0 and never wrap; a SYN takes no offset, a FIN takes the one after the last
//! byte. Windows are in bytes and already scaled.

use crate::gso;

/// One segment. It may be longer than the MSS where the receiving host joined what came in a row (GRO).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Segment {
    /// What it is.
    pub flags: Flags,
    /// The offset of its first byte, or of the next one that would be sent.
    pub seq: u64,
    /// Bytes of content.
    pub length: u32,
    /// The offset that is expected next; valid with [`Flags::ACK`].
    pub ack: u64,
    /// Bytes beyond `ack` that may be sent.
    pub window: u64,
    /// What was received beyond `ack` (RFC 2018), the newest first, perhaps after a duplicate (RFC 2883).
    pub sack: SackBlocks,
    /// Milliseconds of the sender's clock (RFC 7323).
    pub timestamp: i64,
    /// The timestamp that this answers; valid with [`Flags::ACK`].
    pub echo: i64,
    /// The largest segment that its sender takes, in bytes; valid with [`Flags::SYN`].
    pub mss: u32,
}

/// The control bits of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Flags(u8);

/// A stretch of the stream: from the first offset to before the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Range {
    /// The first offset in it.
    pub start: u64,
    /// The first offset after it.
    pub end: u64,
}

/// Up to three blocks, as many as fit beside timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [Range; 3],
    count: u8,
}

/// What an endpoint hands to its host: one packet, or a burst that becomes several on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// The segment, as long as the whole burst.
    pub segment: Segment,
    /// The largest content of one packet of it, in bytes.
    pub mss: u32,
    /// How many packets it is.
    pub packets: u32,
    /// Whether its packets may be marked instead of dropped (ECT(0)).
    pub ect: bool,
    /// The memory it is charged for until the host lets go of it, in bytes; nothing for a bare acknowledgement.
    pub truesize: u32,
}

/// One packet of a [`Transmit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Its segment.
    pub segment: Segment,
    /// Its part of the burst's `truesize`, to be given back with [`Endpoint::handle_freed`](crate::Endpoint::handle_freed).
    pub truesize: u32,
}

impl Flags {
    /// Opens the connection.
    pub const SYN: Flags = Flags(1);
    /// `ack`, `window` and `echo` are valid.
    pub const ACK: Flags = Flags(2);
    /// The stream ends after this segment.
    pub const FIN: Flags = Flags(4);
    /// The connection is no more.
    pub const RST: Flags = Flags(8);
    /// A congestion mark was seen (RFC 3168).
    pub const ECE: Flags = Flags(16);
    /// The window was reduced for it.
    pub const CWR: Flags = Flags(32);
    /// Asks for an acknowledgement and carries nothing: a segment from before the window, as `tcp_xmit_probe_skb` sends
    /// it to ask for the window.
    pub const PROBE: Flags = Flags(64);

    /// Whether all of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// All but `other`.
    #[must_use]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// From its bits; the highest means nothing.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Flags {
        Flags(bits & 0x7f)
    }
}

impl Range {
    /// How many offsets it holds.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.end - self.start
    }
}

impl SackBlocks {
    /// Adds a block, unless it is full.
    pub fn push(&mut self, block: Range) {
        if let Some(free) = self.blocks.get_mut(usize::from(self.count)) {
            *free = block;
            self.count += 1;
        }
    }

    /// The blocks, in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[Range] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl Segment {
    /// The offset after its content, and after its FIN.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.seq
            .saturating_add(self.length as u64)
            .saturating_add(self.flags.contains(Flags::FIN) as u64)
    }

    /// Whether it carries content or ends the stream.
    #[must_use]
    pub const fn is_data(&self) -> bool {
        self.length > 0 || self.flags.contains(Flags::FIN)
    }

    /// Its headers in bytes: IPv4 without options, TCP with timestamps and SACK blocks (RFC 7323 appendix A, RFC 2018 §3).
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

    /// Its length as an IP packet in bytes.
    #[must_use]
    pub const fn wire_length(&self) -> u32 {
        self.header_length() + self.length
    }
}

impl Transmit {
    /// Its packets in their order.
    pub fn packets(&self) -> impl Iterator<Item = Packet> + use<> {
        let whole = *self;
        (0..whole.packets).map(move |index| whole.packet(index))
    }

    /// The `index`th packet.
    ///
    /// # Panics
    /// When there is none.
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
