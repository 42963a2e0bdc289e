//! Sent and unacknowledged data: records in the order of the stream, and their state.

use crate::congestion::Snapshot;
use crate::segment::Range;
use std::collections::VecDeque;

/// A range of the stream that was sent at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) segments: u32,
    pub(crate) marks: Marks,
    /// Mark of the small queue at its last transmission.
    pub(crate) host_mark: u64,
    /// Snapshot of the rate estimator, with the time of its last transmission.
    pub(crate) snapshot: Snapshot,
    /// Transmission sequence number: a total order of transmissions, since several can share a
    /// timestamp.
    pub(crate) tx_seq: u64,
}

/// State of a record (`TCP_SKB_CB(skb)->sacked`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks(u8);

impl Marks {
    pub(crate) const SACKED: Marks = Marks(1);
    pub(crate) const LOST: Marks = Marks(2);
    /// A retransmission is in flight.
    pub(crate) const RETRANSMITTED: Marks = Marks(4);
    /// It was sent more than once.
    pub(crate) const EVER_RETRANSMITTED: Marks = Marks(8);

    pub(crate) const fn has(self, other: Marks) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn any(self) -> bool {
        self.0 != 0
    }

    fn set(&mut self, other: Marks) {
        self.0 |= other.0;
    }

    fn clear(&mut self, other: Marks) {
        self.0 &= !other.0;
    }
}

/// Records, and the number of segments in each state.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scoreboard {
    records: VecDeque<Record>,
    mss: u32,
    /// The stream's last offset is a FIN, which is not content.
    fin: Option<u64>,
    pub(crate) packets_out: u32,
    pub(crate) sacked_out: u32,
    pub(crate) lost_out: u32,
    pub(crate) retrans_out: u32,
    /// Highest selectively acknowledged offset.
    highest_sacked: u64,
    /// No record below this has to be retransmitted; `None`: no record at all.
    retransmit_from: Option<u64>,
    /// No record below this is an original in flight: all are selectively acknowledged, lost or
    /// retransmitted.
    originals_from: u64,
    /// Retransmissions in the order of their transmission; some are no longer in flight.
    retransmissions: VecDeque<(u64, u64)>,
    /// Number of transmissions so far.
    transmissions: u64,
    /// SACK blocks of the last segment, which are marked already (`recv_sack_cache`).
    pub(super) last_sacks: [Range; 3],
}

impl Scoreboard {
    pub(crate) fn new(mss: u32) -> Self {
        Self { mss, ..Self::default() }
    }

    /// Maximum segment size in bytes.
    pub(crate) fn mss(&self) -> u32 {
        self.mss
    }

    pub(crate) fn set_mss(&mut self, mss: u32) {
        self.mss = mss;
    }

    /// Sets the end of the stream: `at` is the FIN's offset.
    pub(crate) fn set_fin(&mut self, at: u64) {
        self.fin = Some(at);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn first(&self) -> Option<&Record> {
        self.records.front()
    }

    pub(crate) fn last(&self) -> Option<&Record> {
        self.records.back()
    }

    pub(crate) fn get(&self, index: usize) -> &Record {
        &self.records[index]
    }

    /// Segments assumed to be in the network (`tcp_packets_in_flight`).
    pub(crate) fn in_flight(&self) -> u32 {
        (self.packets_out + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// Highest selectively acknowledged offset, `una` if there is none (`tcp_highest_sack_seq`).
    pub(crate) fn highest_sacked(&self, una: u64) -> u64 {
        if self.sacked_out == 0 {
            una
        } else {
            self.highest_sacked.max(una)
        }
    }

    /// Number of segments in a range.
    pub(crate) fn segments_of(&self, start: u64, end: u64) -> u32 {
        let content = self.content_of(start, end);
        u32::try_from(content.div_ceil(u64::from(self.mss)))
            .unwrap_or(u32::MAX)
            .max(1)
    }

    /// Bytes of content in a range.
    pub(crate) fn content_of(&self, start: u64, end: u64) -> u64 {
        end - start - u64::from(self.fin.is_some_and(|fin| end > fin))
    }

    /// Adds a new record.
    pub(crate) fn push(&mut self, record: Record) {
        self.packets_out += record.segments;
        self.transmissions += 1;
        let tx_seq = self.transmissions;
        self.records.push_back(Record { tx_seq, ..record });
    }

    /// Removes the last record, which was rejected locally, completely or from `seq`.
    pub(crate) fn unsend(&mut self, seq: u64) {
        let Some(last) = self.records.back().copied() else {
            return;
        };
        if last.start < seq {
            let index = self.records.len() - 1;
            self.split(index, seq);
        }
        if let Some(last) = self.records.pop_back() {
            self.packets_out -= last.segments;
        }
    }

    /// Index of the record that contains `seq`, or of the first one after it.
    pub(crate) fn find(&self, seq: u64) -> usize {
        // The searched record is usually at the front.
        if self.records.front().is_none_or(|first| seq < first.end) {
            return 0;
        }
        self.records.partition_point(|record| record.end <= seq)
    }

    /// Splits a record at `seq`.
    pub(crate) fn split(&mut self, index: usize, seq: u64) {
        let whole = self.records[index];
        debug_assert!(whole.start < seq && seq < whole.end);
        let left = Record {
            end: seq,
            segments: self.segments_of(whole.start, seq),
            ..whole
        };
        let right = Record {
            start: seq,
            segments: self.segments_of(seq, whole.end),
            ..whole
        };
        self.uncount(&whole);
        self.count(&left);
        self.count(&right);
        self.records[index] = left;
        self.records.insert(index + 1, right);
        if whole.marks.has(Marks::RETRANSMITTED) {
            let place = self
                .retransmissions
                .partition_point(|(tx_seq, _)| *tx_seq <= whole.tx_seq);
            self.retransmissions.insert(place, (whole.tx_seq, seq));
        }
    }

    /// Removes the records up to `ack`. Each record, or its acknowledged part, is passed to `on`
    /// before its removal.
    pub(crate) fn acknowledge(&mut self, ack: u64, mut on: impl FnMut(&Record)) {
        while let Some(first) = self.records.front() {
            if first.end > ack {
                if first.start >= ack {
                    break;
                }
                self.split(0, ack);
            }
            let Some(record) = self.records.pop_front() else { break };
            self.uncount(&record);
            on(&record);
        }
        if self.records.is_empty() {
            self.retransmissions.clear();
        }
    }

    /// Marks the records in `block` as received. Each newly marked record is passed to `on` in its
    /// previous state.
    pub(crate) fn sack(&mut self, block: Range, mut on: impl FnMut(&Record)) {
        let mut index = self.find(block.start);
        while index < self.records.len() {
            let record = self.records[index];
            if record.start >= block.end {
                break;
            }
            if record.marks.has(Marks::SACKED) {
                index += 1;
                continue;
            }
            if record.start < block.start {
                self.split(index, block.start);
                index += 1;
                continue;
            }
            if record.end > block.end {
                self.split(index, block.end);
                continue;
            }
            on(&record);
            self.uncount(&record);
            let record = &mut self.records[index];
            if record.marks.has(Marks::LOST) {
                // If it wasn't marked lost, its retransmission is still assumed in flight.
                record.marks.clear(Marks::LOST);
                record.marks.clear(Marks::RETRANSMITTED);
            }
            record.marks.set(Marks::SACKED);
            let record = *record;
            self.count(&record);
            self.highest_sacked = self.highest_sacked.max(record.end);
            index += 1;
        }
    }

    /// Marks a record or its retransmission lost (`tcp_mark_skb_lost`). Returns the number of
    /// marked segments.
    pub(crate) fn mark_lost(&mut self, index: usize) -> u32 {
        let record = &mut self.records[index];
        if record.marks.has(Marks::SACKED) {
            return 0;
        }
        let segments = record.segments;
        if record.marks.has(Marks::LOST) {
            if !record.marks.has(Marks::RETRANSMITTED) {
                return 0;
            }
            record.marks.clear(Marks::RETRANSMITTED);
            self.retrans_out -= segments;
        } else {
            record.marks.set(Marks::LOST);
            self.lost_out += segments;
        }
        let start = record.start;
        self.retransmit_from = Some(self.retransmit_from.map_or(start, |from| from.min(start)));
        segments
    }

    /// Marks a record retransmitted.
    pub(crate) fn mark_retransmitted(&mut self, index: usize, snapshot: Snapshot, host_mark: u64) {
        let record = &mut self.records[index];
        if !record.marks.has(Marks::RETRANSMITTED) {
            record.marks.set(Marks::RETRANSMITTED);
            self.retrans_out += record.segments;
        }
        record.marks.set(Marks::EVER_RETRANSMITTED);
        record.snapshot = snapshot;
        record.host_mark = host_mark;
        self.transmissions += 1;
        record.tx_seq = self.transmissions;
        self.retransmissions.push_back((record.tx_seq, record.start));
    }

    /// Clears all loss marks.
    pub(crate) fn unmark_lost(&mut self) {
        for record in &mut self.records {
            record.marks.clear(Marks::LOST);
        }
        self.lost_out = 0;
        self.originals_from = 0;
    }

    /// Clears all SACK marks, because the receiver discarded the data.
    pub(crate) fn forget_sacks(&mut self) {
        self.last_sacks = Default::default();
        for record in &mut self.records {
            record.marks.clear(Marks::SACKED);
        }
        self.sacked_out = 0;
        self.originals_from = 0;
    }

    /// First record that is lost and not retransmitted yet.
    pub(crate) fn next_lost(&mut self) -> Option<usize> {
        let mut index = self.find(self.retransmit_from?);
        while let Some(record) = self.records.get(index) {
            if record.marks.has(Marks::LOST) && !record.marks.has(Marks::RETRANSMITTED) {
                self.retransmit_from = Some(record.start);
                return Some(index);
            }
            index += 1;
        }
        self.retransmit_from = None;
        None
    }

    /// First record at or after `from` that was sent once and is neither lost nor received.
    pub(crate) fn next_original(&self, from: usize) -> Option<usize> {
        (from..self.records.len()).find(|index| !self.records[*index].marks.any())
    }

    /// Start of the originals; all records before it are selectively acknowledged, lost or
    /// retransmitted.
    pub(crate) fn first_original(&mut self) -> Option<usize> {
        let first = self.next_original(self.find(self.originals_from));
        self.originals_from = match first {
            Some(index) => self.records[index].start,
            None => self.records.back().map_or(0, |last| last.end),
        };
        first
    }

    /// Visits the retransmissions in flight, in the order of their transmission, until `on` returns
    /// [`Fate::Stop`]. Returns the number of segments newly marked lost.
    pub(crate) fn walk_retransmissions(&mut self, mut on: impl FnMut(&Record) -> Fate) -> u32 {
        let mut marked = 0;
        let mut place = 0;
        while let Some((tx_seq, seq)) = self.retransmissions.get(place).copied() {
            let index = self.find(seq);
            let Some(record) = self.records.get(index).copied() else {
                self.retransmissions.remove(place);
                continue;
            };
            let current =
                record.tx_seq == tx_seq && record.marks.has(Marks::RETRANSMITTED) && !record.marks.has(Marks::SACKED);
            if !current {
                self.retransmissions.remove(place);
                continue;
            }
            match on(&record) {
                Fate::Stop => break,
                Fate::Wait => place += 1,
                Fate::Lost => {
                    marked += self.mark_lost(index);
                    self.retransmissions.remove(place);
                }
            }
        }
        marked
    }

    fn count(&mut self, record: &Record) {
        let marks = record.marks;
        self.packets_out += record.segments;
        self.sacked_out += record.segments * u32::from(marks.has(Marks::SACKED));
        self.lost_out += record.segments * u32::from(marks.has(Marks::LOST));
        self.retrans_out += record.segments * u32::from(marks.has(Marks::RETRANSMITTED));
    }

    fn uncount(&mut self, record: &Record) {
        let marks = record.marks;
        self.packets_out -= record.segments;
        if marks.any() {
            self.sacked_out -= record.segments * u32::from(marks.has(Marks::SACKED));
            self.lost_out -= record.segments * u32::from(marks.has(Marks::LOST));
            self.retrans_out -= record.segments * u32::from(marks.has(Marks::RETRANSMITTED));
        }
    }
}

/// Decision about a retransmission in flight.
pub(crate) enum Fate {
    /// This one and all later ones are too recent for a decision.
    Stop,
    /// It may still arrive.
    Wait,
    /// It is lost.
    Lost,
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::{Duration, Instant};
    use proptest::prelude::*;

    const MSS: u64 = 100;

    fn at(step: usize) -> Snapshot {
        let sent_at = Instant::ZERO + Duration::from_nanos(step as u64);
        Snapshot {
            sent_at,
            first_sent_at: sent_at,
            delivered_at: sent_at,
            delivered: 0,
            app_limited: false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Records stay in order without gaps, the counters equal a recount, and the next
        /// retransmission is the first lost record without one in flight.
        #[test]
        fn counters_equal_a_recount(steps in prop::collection::vec((0u8..6, 0u64..40, 1u64..6), 0..80)) {
            let mut board = Scoreboard::new(MSS as u32);
            let (mut una, mut next) = (0, 0);
            for (step, (operation, place, length)) in steps.into_iter().enumerate() {
                let index = place as usize % board.len().max(1);
                match operation {
                    0 | 1 => {
                        let end = next + length * MSS - place % 2;
                        let segments = board.segments_of(next, end);
                        let (marks, snapshot) = (Marks::default(), at(step));
                        board.push(Record { start: next, end, segments, marks, host_mark: 0, snapshot, tx_seq: 0 });
                        next = end;
                    }
                    2 => {
                        let start = una + place * MSS;
                        let end = (start + length * MSS).min(next);
                        if start < end {
                            board.sack(Range { start, end }, |_| {});
                        }
                    }
                    3 => {
                        una = (una + length * MSS).min(next);
                        board.acknowledge(una, |_| {});
                    }
                    4 if !board.is_empty() => {
                        board.mark_lost(index);
                    }
                    _ => {
                        if let Some(index) = board.next_lost() {
                            board.mark_retransmitted(index, at(step), 0);
                        }
                    }
                }
                let mut at = una;
                let mut counts = [0; 4];
                for record in &board.records {
                    prop_assert_eq!(record.start, at);
                    prop_assert!(record.end > record.start);
                    at = record.end;
                    counts[0] += record.segments;
                    for (count, mark) in [(1, Marks::SACKED), (2, Marks::LOST), (3, Marks::RETRANSMITTED)] {
                        counts[count] += record.segments * u32::from(record.marks.has(mark));
                    }
                }
                prop_assert_eq!(at, next);
                prop_assert_eq!(counts, [board.packets_out, board.sacked_out, board.lost_out, board.retrans_out]);
                let lost = board.records.iter().position(|record| {
                    record.marks.has(Marks::LOST) && !record.marks.has(Marks::RETRANSMITTED)
                });
                prop_assert_eq!(board.next_lost(), lost);
                let original = board.records.iter().position(|record| !record.marks.any());
                prop_assert_eq!(board.first_original(), original);
            }
        }
    }
}
