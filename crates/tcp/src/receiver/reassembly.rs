//! Received parts of the stream: everything up to one offset, and ranges beyond it.

use crate::segment::{Range, SackBlocks};

/// Classification of a received range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The next one; `filled`: ranges beyond it were waiting.
    InOrder { filled: bool },
    /// Beyond a gap; `fresh`: it is not part of one of the ranges that an acknowledgement reports
    /// first.
    Ahead { fresh: bool },
    /// Received before.
    Duplicate,
}

/// State of one stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Reassembly {
    next: u64,
    /// Sorted, separate from each other and from `next`.
    ahead: Vec<Range>,
    held: u64,
    /// Ranges in the order of their reports, the one that grew last first (RFC 2018 §4).
    recent: Vec<Range>,
    duplicate: Option<Range>,
}

/// Maximum number of ranges stored for reports (`selective_acks`).
const REPORTED: usize = 4;
/// Number of ranges that every acknowledgement has room for (`TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED: usize = 2;

impl Reassembly {
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Bytes beyond the gap.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// Bytes from the gap's start to the end of the last range beyond; 0 without a gap.
    pub(super) fn span(&self) -> u64 {
        self.ahead.last().map_or(0, |range| range.end - self.next)
    }

    pub(super) fn has_blocks(&self) -> bool {
        self.duplicate.is_some() || !self.recent.is_empty()
    }

    /// Adds the range from `start` to before `end`.
    pub(super) fn take(&mut self, start: u64, end: u64) -> Arrival {
        if end <= self.next {
            self.duplicate = Some(Range { start, end });
            return Arrival::Duplicate;
        }
        if start > self.next {
            return self.take_ahead(Range { start, end });
        }
        if start < self.next {
            self.duplicate = Some(Range { start, end: self.next });
        }
        self.next = end;
        if self.ahead.is_empty() {
            return Arrival::InOrder { filled: false };
        }
        let joined = self.ahead.iter().take_while(|range| range.start <= self.next).count();
        for range in self.ahead.drain(..joined) {
            if range.start < self.next {
                let end = range.end.min(self.next);
                self.duplicate = Some(Range {
                    start: range.start,
                    end,
                });
            }
            self.held -= range.length();
            self.next = self.next.max(range.end);
        }
        let next = self.next;
        self.recent.retain(|range| range.start > next);
        Arrival::InOrder { filled: true }
    }

    fn take_ahead(&mut self, new: Range) -> Arrival {
        // Usually the last range grows.
        let first = match self.ahead.last() {
            Some(last) if last.start <= new.start && new.start <= last.end => self.ahead.len() - 1,
            _ => self.ahead.partition_point(|range| range.end < new.start),
        };
        let joined = self.ahead[first..]
            .iter()
            .take_while(|range| range.start <= new.end)
            .count();
        let mut merged = new;
        let mut overlap = None;
        for range in &self.ahead[first..first + joined] {
            if range.start < new.end && new.start < range.end {
                overlap.get_or_insert(Range {
                    start: range.start.max(new.start),
                    end: range.end.min(new.end),
                });
            }
            merged.start = merged.start.min(range.start);
            merged.end = merged.end.max(range.end);
            self.held -= range.length();
        }
        self.held += merged.length();
        let known = joined == 1 && self.ahead[first] == merged;
        if joined == 0 {
            self.ahead.insert(first, merged);
        } else {
            self.ahead[first] = merged;
            self.ahead.drain(first + 1..first + joined);
        }
        let apart = |range: &Range| range.end < merged.start || merged.end < range.start;
        let place = self.recent.iter().position(|range| !apart(range));
        let fresh = place.unwrap_or(self.recent.len()) >= EXPECTED;
        self.recent.retain(apart);
        self.recent.insert(0, merged);
        self.recent.truncate(REPORTED);
        if overlap.is_some() {
            self.duplicate = overlap;
        }
        if known {
            Arrival::Duplicate
        } else {
            Arrival::Ahead { fresh }
        }
    }

    /// Ranges to report. A duplicate is reported once.
    pub(super) fn blocks(&mut self) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if let Some(duplicate) = self.duplicate.take() {
            blocks.push(duplicate);
        }
        for range in &self.recent {
            blocks.push(*range);
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(start: u64, end: u64) -> Range {
        Range { start, end }
    }

    /// RFC 2018 §4, case 2 (the first of eight segments of 500 is lost) and case 3 (every second one is), shifted to 0.
    #[test]
    fn reports_the_newest_first() {
        let mut stream = Reassembly::default();
        for segment in 1..8 {
            assert_eq!(
                stream.take(segment * 500, segment * 500 + 500),
                Arrival::Ahead { fresh: false }
            );
        }
        assert_eq!(stream.blocks().as_slice(), [range(500, 4_000)]);

        let mut stream = Reassembly::default();
        assert_eq!(stream.take(0, 500), Arrival::InOrder { filled: false });
        for segment in [2, 4, 6] {
            stream.take(segment * 500, segment * 500 + 500);
        }
        let expected = [range(3_000, 3_500), range(2_000, 2_500), range(1_000, 1_500)];
        assert_eq!(stream.blocks().as_slice(), expected);
        // A fourth range is only in its own report.
        assert_eq!(stream.clone().take(4_000, 4_500), Arrival::Ahead { fresh: true });
        assert_eq!(stream.clone().take(3_500, 4_000), Arrival::Ahead { fresh: false });
        // The fourth arrives late, then the second.
        stream.take(1_500, 2_000);
        assert_eq!(stream.blocks().as_slice(), [range(1_000, 2_500), range(3_000, 3_500)]);
        assert_eq!(stream.take(500, 1_000), Arrival::InOrder { filled: true });
        assert_eq!((stream.next(), stream.held()), (2_500, 500));
        assert_eq!(stream.blocks().as_slice(), [range(3_000, 3_500)]);
    }

    #[test]
    fn reports_duplicates_once() {
        let mut stream = Reassembly::default();
        stream.take(0, 1_000);
        assert_eq!(stream.take(0, 500), Arrival::Duplicate);
        assert_eq!(stream.blocks().as_slice(), [range(0, 500)]);
        assert!(stream.blocks().is_empty());
        stream.take(2_000, 3_000);
        assert_eq!(stream.take(2_000, 2_500), Arrival::Duplicate);
        assert_eq!(stream.blocks().as_slice(), [range(2_000, 2_500), range(2_000, 3_000)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Comparison with a set of all offsets.
        #[test]
        fn the_buffer_contains_exactly_the_received_bytes(stretches in prop::collection::vec((0u64..60, 1u64..12), 0..40)) {
            let mut stream = Reassembly::default();
            let mut seen = std::collections::BTreeSet::new();
            for (start, length) in stretches {
                let news = (start..start + length).any(|offset| !seen.contains(&offset));
                let arrival = stream.take(start, start + length);
                prop_assert_eq!(arrival == Arrival::Duplicate, !news);
                seen.extend(start..start + length);
                let next = (0..).find(|offset| !seen.contains(offset)).unwrap();
                prop_assert_eq!(stream.next(), next);
                let beyond = seen.iter().filter(|offset| **offset > next).count();
                prop_assert_eq!(stream.held(), beyond as u64);
            }
        }
    }
}
