//! What comes in at one instant is joined before TCP sees it, as a receiving host does (generic receive offload).
//!
//! So an aggregate brings one acknowledgement, not one for every second segment of it.

use super::load::End;
use netburn_tcp::Segment;
use netburn_tcp::segment::Flags;

/// The most content of one joined segment (`GRO_LEGACY_MAX_SIZE`).
const MOST: u32 = 65_536;

/// Segments of one connection and end that came in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Joined {
    pub(crate) slot: usize,
    pub(crate) to: End,
    pub(crate) segment: Segment,
    pub(crate) marked: bool,
}

impl Joined {
    /// The first, of a slot, for an end, marked or not.
    pub(crate) fn new((slot, to, marked): (usize, End, bool), segment: &Segment) -> Self {
        Joined {
            slot,
            to,
            segment: *segment,
            marked,
        }
    }

    /// Takes one more, if it goes on where this ends and says nothing else.
    pub(crate) fn takes(&mut self, whose: (usize, End, bool), other: &Segment) -> bool {
        let plain = |segment: &Segment| segment.flags == Flags::ACK && segment.length > 0 && segment.sack.is_empty();
        let own = &mut self.segment;
        let fits = (self.slot, self.to, self.marked) == whose
            && plain(own)
            && plain(other)
            && own.seq + u64::from(own.length) == other.seq
            && own.ack == other.ack
            && own.length + other.length <= MOST;
        if fits {
            own.length += other.length;
            own.window = other.window;
            own.timestamp = other.timestamp.max(own.timestamp);
        }
        fits
    }
}
