//! What comes in at one instant is joined before TCP sees it, as a receiving host does (generic receive offload).
//!
//! So an aggregate brings one acknowledgement for each millisecond in which its segments were sent, not one for every second segment.

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

    /// Takes one more, if it goes on where this ends and its header says nothing else: window and timestamps must be the same
    /// (`tcp_gro_receive`), so what was sent a millisecond later is not joined.
    pub(crate) fn takes(&mut self, whose: (usize, End, bool), other: &Segment) -> bool {
        let plain = |segment: &Segment| segment.flags == Flags::ACK && segment.length > 0 && segment.sack.is_empty();
        let own = &mut self.segment;
        let fits = (self.slot, self.to, self.marked) == whose
            && plain(own)
            && plain(other)
            && own.seq + u64::from(own.length) == other.seq
            && own.ack == other.ack
            && own.window == other.window
            && (own.timestamp, own.echo) == (other.timestamp, other.echo)
            && own.length + other.length <= MOST;
        if fits {
            own.length += other.length;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_tcp::segment::SackBlocks;

    fn segment(seq: u64, timestamp: i64) -> Segment {
        Segment {
            flags: Flags::ACK,
            seq,
            length: 1_448,
            ack: 1,
            window: 65_536,
            sack: SackBlocks::default(),
            timestamp,
            echo: 7,
            mss: 1_448,
        }
    }

    /// What one header can say of both is joined; what differs in sequence, window, timestamps, mark or connection is not.
    #[test]
    fn headers_must_be_the_same() {
        let whose = (0, End::Client, false);
        let next = segment(1_448, 5);
        let mut joined = Joined::new(whose, &segment(0, 5));
        assert!(joined.takes(whose, &next));
        assert_eq!(joined.segment.length, 2_896);
        let others = [
            Segment { seq: 1_449, ..next },
            Segment { timestamp: 6, ..next },
            Segment { echo: 8, ..next },
            Segment { window: 65_537, ..next },
            Segment { ack: 2, ..next },
        ];
        for other in others {
            assert!(!Joined::new(whose, &segment(0, 5)).takes(whose, &other), "{other:?}");
        }
        for other in [(1, End::Client, false), (0, End::Server, false), (0, End::Client, true)] {
            assert!(!Joined::new(whose, &segment(0, 5)).takes(other, &next), "{other:?}");
        }
    }
}
