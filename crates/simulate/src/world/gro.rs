//! Generic receive offload: segments that arrive at one instant are merged before TCP processes
//! them.
//!
//! So an aggregate causes one acknowledgement for each millisecond in which its segments were sent,
//! not one for every second segment.

use super::payload::End;
use netburn_scenario::Plan;
use netburn_tcp::Segment;
use netburn_tcp::segment::Flags;
use std::collections::VecDeque;

/// Maximum content of a merged segment (`GRO_LEGACY_MAX_SIZE`).
const MAX_LENGTH: u32 = 65_536;

/// Segments that arrived at this instant, until the endpoints process them.
pub(crate) struct ReceiveQueue {
    segments: VecDeque<MergedSegment>,
    /// True while the segments are passed on.
    is_delivering: bool,
    /// True if the last segment may be merged with the next one.
    may_merge: bool,
    /// By station: true if its host uses GRO.
    pub(crate) gro: Vec<bool>,
}

impl ReceiveQueue {
    pub(crate) fn new(plan: &Plan) -> Self {
        ReceiveQueue {
            segments: VecDeque::new(),
            is_delivering: false,
            may_merge: false,
            gro: plan.stations.iter().map(|station| station.gro).collect(),
        }
    }

    /// Adds a segment, or merges it with the last one if the receiver `joins` them.
    pub(crate) fn push(&mut self, whose: (usize, End, bool), segment: &Segment, joins: bool) {
        let last = self.segments.back_mut().filter(|_| joins && self.may_merge);
        if !last.is_some_and(|last| last.try_merge(whose, segment)) {
            self.segments.push_back(MergedSegment::new(whose, segment));
            self.may_merge = true;
        }
    }

    /// Begins to pass the segments on, after which no later one is merged with them. Returns false if there are none, or
    /// if they are passed on already.
    pub(crate) fn begin(&mut self) -> bool {
        self.may_merge = false;
        !self.segments.is_empty() && !std::mem::replace(&mut self.is_delivering, true)
    }

    /// The next segment to pass on; `None` ends it.
    pub(crate) fn pop(&mut self) -> Option<MergedSegment> {
        let segment = self.segments.pop_front();
        self.is_delivering = segment.is_some();
        segment
    }
}

/// Consecutive segments of one connection and end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MergedSegment {
    pub(crate) slot: usize,
    pub(crate) to: End,
    pub(crate) segment: Segment,
    pub(crate) marked: bool,
}

impl MergedSegment {
    /// Starts with the first segment of a slot, for an end, marked or not.
    pub(crate) fn new((slot, to, marked): (usize, End, bool), segment: &Segment) -> Self {
        MergedSegment {
            slot,
            to,
            segment: *segment,
            marked,
        }
    }

    /// Merges another segment if it continues this one and has the same header. Window and
    /// timestamps must be equal (`tcp_gro_receive`), so segments sent a millisecond later are not
    /// merged.
    pub(crate) fn try_merge(&mut self, whose: (usize, End, bool), other: &Segment) -> bool {
        let plain = |segment: &Segment| segment.flags == Flags::ACK && segment.length > 0 && segment.sack.is_empty();
        let own = &mut self.segment;
        let fits = (self.slot, self.to, self.marked) == whose
            && plain(own)
            && plain(other)
            && own.seq + u64::from(own.length) == other.seq
            && own.ack == other.ack
            && own.window == other.window
            && (own.timestamp, own.echo) == (other.timestamp, other.echo)
            && own.length + other.length <= MAX_LENGTH;
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

    /// Segments with a common header are merged; a different sequence, window, timestamp, mark or
    /// connection prevents it.
    #[test]
    fn headers_must_be_the_same() {
        let whose = (0, End::Client, false);
        let next = segment(1_448, 5);
        let mut joined = MergedSegment::new(whose, &segment(0, 5));
        assert!(joined.try_merge(whose, &next));
        assert_eq!(joined.segment.length, 2_896);
        let others = [
            Segment { seq: 1_449, ..next },
            Segment { timestamp: 6, ..next },
            Segment { echo: 8, ..next },
            Segment { window: 65_537, ..next },
            Segment { ack: 2, ..next },
        ];
        for other in others {
            assert!(
                !MergedSegment::new(whose, &segment(0, 5)).try_merge(whose, &other),
                "{other:?}"
            );
        }
        for other in [(1, End::Client, false), (0, End::Server, false), (0, End::Client, true)] {
            assert!(
                !MergedSegment::new(whose, &segment(0, 5)).try_merge(other, &next),
                "{other:?}"
            );
        }
    }
}
