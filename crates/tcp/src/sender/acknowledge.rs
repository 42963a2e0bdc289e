//! Acknowledgement processing, from its segments to the window (`tcp_ack`).

use super::Sender;
use super::scoreboard::Marks;
use crate::congestion::{self, RateSample, State};
use crate::segment::{Flags, Range, Segment};
use netburn_units::{Duration, Instant};

/// Result of an acknowledgement.
#[derive(Debug, Clone, Default)]
pub(crate) struct AckResult {
    pub(crate) prior_una: u64,
    /// Highest selectively acknowledged offset before it (`prior_fack`).
    prior_highest: u64,
    /// Timestamp that it echoes.
    pub(crate) echo: i64,
    pub(crate) ece: bool,
    pub(crate) carries_data: bool,
    pub(crate) window_moved: bool,
    /// True if it acknowledges new data, cumulatively or selectively, or reports a duplicate (RFC
    /// 2883).
    pub(crate) advanced: bool,
    pub(crate) sacked: bool,
    pub(crate) duplicate: bool,
    /// True if it acknowledges an original sent before the current episode (F-RTO).
    pub(crate) original_delivered: bool,
    retransmission_acked: bool,
    /// Segments newly marked lost.
    pub(crate) lost: u32,
    pub(crate) timer_set: bool,
    /// First and last transmission time of the acknowledged data.
    acked: Option<(Instant, Instant)>,
    sacked_times: Option<(Instant, Instant)>,
    /// Lowest offset that was sent once and delivered now after a higher one: the network reordered
    /// them.
    reordered: Option<u64>,
    fully_acked: u32,
    maybe_delayed: bool,
}

impl AckResult {
    /// Returns true for a duplicate acknowledgement (`FLAG_NOT_DUP` and similar flags).
    pub(crate) fn is_duplicate_ack(&self) -> bool {
        !(self.advanced || self.sacked || self.duplicate || self.window_moved || self.carries_data)
    }

    /// Records the delivery of an original that begins at `start`.
    fn note_original(&mut self, start: u64) {
        if start < self.prior_highest {
            self.reordered = Some(self.reordered.map_or(start, |low| low.min(start)));
        }
    }
}

impl Sender {
    /// Processes the acknowledgement of `segment`.
    pub(crate) fn handle_ack(&mut self, now: Instant, segment: &Segment) {
        let ack = segment.ack;
        if ack > self.snd.next {
            // It acknowledges data that were not sent (RFC 9293 §3.10.7.4).
            return;
        }
        let prior_in_flight = self.board.in_flight();
        let prior_delivered = self.rate.delivered();
        let had_packets = !self.board.is_empty();
        let mut result = AckResult {
            prior_una: self.snd.una,
            prior_highest: self.board.highest_sacked(self.snd.una),
            echo: segment.echo,
            ece: self.ecn.negotiated && segment.flags.contains(Flags::ECE),
            carries_data: segment.is_data(),
            advanced: ack > self.snd.una,
            ..AckResult::default()
        };
        if ack >= self.snd.una {
            result.window_moved = self.snd.update_window(segment);
        }
        if !segment.sack.is_empty() {
            self.take_sacks(now, segment, &mut result);
        }
        self.recovery.new_data_first = false;
        if result.advanced {
            self.timeouts = 0;
            self.take_cumulative(now, ack, &mut result);
        }
        if let Some(lowest) = result.reordered {
            let highest = self.board.highest_sacked(self.snd.una);
            self.rack
                .on_reordering(highest.saturating_sub(lowest), self.board.mss());
        }
        if !had_packets {
            if result.duplicate {
                self.handle_dubious_ack(now, &mut result);
            }
            if self.snd.next < self.snd.end() {
                self.probe_answered();
            }
            // The probed data are acknowledged already; this may show that the probe was
            // unnecessary.
            self.process_tail_probe(now, ack, &result);
            return;
        }
        let rtt = self.measure(now, segment, prior_delivered, &mut result);
        let delivered = u32::try_from(self.rate.delivered() - prior_delivered).unwrap_or(u32::MAX);
        self.process_tail_probe(now, ack, &result);
        let dubious = result.sacked
            || result.ece
            || result.duplicate
            || self.recovery.state != State::Open
            || result.is_duplicate_ack();
        if dubious {
            self.handle_dubious_ack(now, &mut result);
        }
        if !result.timer_set && (result.advanced || self.sacked_before_head(&result)) {
            self.rearm_with_probe(now, true);
        }
        let sample = self.rate.sample(now, self.rtt.min());
        if sample.interval.is_some() {
            self.last_sample = sample;
        }
        if self.rack_needs_widening(&result, delivered) {
            self.rack
                .update_window(sample.prior_delivered.unwrap_or(prior_delivered), self.rate.delivered());
        }
        let report = self.report(now, &result, (prior_in_flight, delivered), rtt, sample);
        self.congestion.on_ack(&report);
        if self.congestion.is_probing_rtt() {
            self.rate.set_app_limited(self.board.in_flight());
        }
        if self.recovery.state.is_reducing() {
            self.reduce(delivered, result.lost, result.advanced);
        }
        self.update_pacing_rate();
        self.resize_buffer();
    }

    /// The acknowledgement as the congestion control sees it. `prior_in_flight` and `delivered` are in segments.
    fn report(
        &self,
        now: Instant,
        result: &AckResult,
        (prior_in_flight, delivered): (u32, u32),
        rtt: Option<Duration>,
        sample: RateSample,
    ) -> congestion::Ack {
        congestion::Ack {
            now,
            acked: delivered,
            lost: result.lost,
            in_flight: self.board.in_flight(),
            prior_in_flight,
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            maybe_delayed: result.maybe_delayed,
            ece: result.ece,
            window_limited: self.usage.is_limited(&self.congestion),
            may_raise: result.advanced || (self.rack.reordering > super::rack::DUP_THRESHOLD && result.sacked),
            next: self.snd.next,
            acked_to: self.snd.una,
            pacing_rate: self.pacer.rate,
            rate: sample,
            state: self.recovery.state,
        }
    }

    /// A filled window needs no larger buffer (`tcp_should_expand_sndbuf`).
    fn resize_buffer(&mut self) {
        if self.buffer.is_refused() && self.board.in_flight() < self.congestion.cwnd() {
            let windows = if self.congestion.has_own_reduction() { 3 } else { 2 };
            self.buffer.set_windows(windows);
            self.buffer
                .expand(self.board.mss(), self.congestion.cwnd(), self.rack.reordering);
        }
    }

    fn rack_needs_widening(&self, result: &AckResult, delivered: u32) -> bool {
        result.duplicate || delivered > 0 && self.recovery.state != State::Open
    }

    /// `tcp_sacktag_write_queue`.
    fn take_sacks(&mut self, now: Instant, segment: &Segment, result: &mut AckResult) {
        let blocks = segment.sack.as_slice();
        let first_is_duplicate = is_duplicate(segment.ack, blocks);
        if first_is_duplicate {
            result.duplicate = true;
            self.rack.on_duplicate();
            let block = blocks[0];
            let segments = u32::try_from(block.length().div_ceil(u64::from(self.board.mss()))).unwrap_or(u32::MAX);
            self.recovery.on_duplicate(segments, block.end);
        }
        let min_rtt = self.rtt.min();
        let (high, next) = (self.recovery.high, self.snd.next);
        let Self { board, rate, rack, .. } = self;
        let mut on = |record: &super::scoreboard::Record| {
            rack.on_delivered(now, record, min_rtt);
            rate.on_delivered(record.segments, &record.snapshot);
            result.sacked = true;
            if !record.marks.has(Marks::EVER_RETRANSMITTED) {
                result.note_original(record.start);
                result.original_delivered |= record.end <= high;
                let at = record.snapshot.sent_at;
                result.sacked_times = Some(result.sacked_times.map_or((at, at), |(first, _)| (first, at)));
            }
        };
        let cumulative = segment.ack.max(self.snd.una);
        for (index, block) in blocks.iter().enumerate() {
            let block = Range {
                start: block.start.max(cumulative),
                end: block.end.min(next),
            };
            if index == 0 && first_is_duplicate || block.start >= block.end {
                continue;
            }
            let mut marked = board.last_sacks.iter();
            match marked
                .find(|known| known.start < block.end && block.start < known.end)
                .copied()
            {
                Some(known) => {
                    let (before, after) = (known.start, known.end);
                    if block.start < before {
                        board.sack(Range { end: before, ..block }, &mut on);
                    }
                    if after < block.end {
                        board.sack(Range { start: after, ..block }, &mut on);
                    }
                }
                None => board.sack(block, &mut on),
            }
        }
        board.last_sacks = Default::default();
        let skip = usize::from(first_is_duplicate);
        for (known, block) in board.last_sacks.iter_mut().zip(blocks.iter().skip(skip)) {
            *known = Range {
                start: block.start,
                end: block.end.min(next).max(block.start),
            };
        }
    }

    /// `tcp_clean_rtx_queue`.
    fn take_cumulative(&mut self, now: Instant, ack: u64, result: &mut AckResult) {
        let min_rtt = self.rtt.min();
        let high = self.recovery.high;
        let Self { board, rate, rack, .. } = self;
        board.acknowledge(ack, |record| {
            let sacked = record.marks.has(Marks::SACKED);
            if !sacked {
                rack.on_delivered(now, record, min_rtt);
                rate.on_delivered(record.segments, &record.snapshot);
                result.fully_acked += record.segments;
            }
            if record.marks.has(Marks::EVER_RETRANSMITTED) {
                result.retransmission_acked = true;
            } else if !sacked {
                let at = record.snapshot.sent_at;
                result.acked = Some(result.acked.map_or((at, at), |(first, _)| (first, at)));
                result.note_original(record.start);
                result.original_delivered |= record.end <= high;
            }
        });
        self.snd.una = ack;
    }

    /// Round-trip time of an acknowledgement (`tcp_ack_update_rtt`): of originals; otherwise, with
    /// timestamps, of the echoed one. Returns the latest one, for the congestion control.
    fn measure(
        &mut self,
        now: Instant,
        segment: &Segment,
        prior_delivered: u64,
        result: &mut AckResult,
    ) -> Option<Duration> {
        let since = |at: Instant| now.checked_since(at).unwrap_or_default();
        let acked = result.acked.filter(|_| !result.retransmission_acked);
        let mut sequence = acked.map(|(first, _)| since(first));
        let mut latest = acked.map(|(_, last)| since(last));
        if let Some((first, last)) = result.sacked_times {
            sequence = sequence.or(Some(since(first)));
            latest = Some(since(last));
        }
        if sequence.is_none() && result.advanced {
            let elapsed = now.as_nanos().div_euclid(1_000_000) - segment.echo;
            let millis = u64::try_from(elapsed).ok().filter(|millis| *millis < 1_000_000)?;
            sequence = Some(Duration::from_millis(millis.max(1)));
            latest = sequence;
        }
        let sequence = sequence?;
        // The receiver's timer may have delayed the acknowledgement of a single short segment
        // (`FLAG_ACK_MAYBE_DELAYED`).
        result.maybe_delayed = result.fully_acked == 1
            && !result.sacked
            && self.snd.una - result.prior_una < u64::from(self.board.mss())
            && self.rate.delivered() == prior_delivered + 1;
        if let Some(latest) = latest
            && !(result.maybe_delayed && self.rtt.min().is_some_and(|shortest| latest > shortest))
        {
            self.rtt.sample_min(now, latest);
        }
        self.rtt.sample(sequence, self.snd.una, self.snd.next);
        latest
    }

    /// Returns true if the selectively acknowledged data were sent before the last transmission of
    /// the first record. Otherwise the timeout is not rearmed, because it could be postponed
    /// forever.
    fn sacked_before_head(&self, result: &AckResult) -> bool {
        match (result.sacked_times, self.board.first()) {
            (Some((sacked, _)), Some(first)) => sacked < first.snapshot.sent_at,
            _ => false,
        }
    }

    /// The peer responded while nothing was in flight: restarts the persist timer if it is still
    /// needed (`tcp_ack_probe`).
    fn probe_answered(&mut self) {
        self.timeouts = 0;
        if self.snd.window_room() > 0 {
            self.rtt.clear_backoff();
            self.timer = None;
        }
    }
}

/// Returns true if the first block reports a duplicate: it lies below the acknowledgement or within
/// the second block (RFC 2883 §4).
fn is_duplicate(ack: u64, blocks: &[Range]) -> bool {
    match blocks {
        [first, ..] if first.start < ack => true,
        [first, second, ..] => first.start >= second.start && first.end <= second.end,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_distinguished_from_new_data() {
        let range = |start, end| Range { start, end };
        // Examples of RFC 2883 §4.1.1 and §4.1.3.
        assert!(is_duplicate(4_000, &[range(3_000, 3_500)]));
        assert!(is_duplicate(4_000, &[range(5_000, 5_500), range(4_500, 6_000)]));
        assert!(!is_duplicate(4_000, &[range(4_500, 5_000)]));
        assert!(!is_duplicate(4_000, &[range(5_500, 6_000), range(4_500, 5_000)]));
    }
}
