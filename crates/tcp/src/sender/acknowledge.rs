//! An acknowledgement, from what it says of each segment to the window (`tcp_ack`).

use super::Sender;
use super::scoreboard::Marks;
use crate::congestion::{self, State};
use crate::segment::{Flags, Range, Segment};
use netburn_units::{Duration, Instant};

/// What an acknowledgement brought.
#[derive(Debug, Clone, Default)]
pub(crate) struct News {
    pub(crate) prior_una: u64,
    /// The highest offset that was selectively acknowledged before it (`prior_fack`).
    prior_highest: u64,
    /// The timestamp it answers.
    pub(crate) echo: i64,
    pub(crate) ece: bool,
    pub(crate) carries_data: bool,
    pub(crate) window_moved: bool,
    /// It acknowledges more in order, or selectively, or something twice (RFC 2883).
    pub(crate) advanced: bool,
    pub(crate) sacked: bool,
    pub(crate) duplicate: bool,
    /// Something that was sent once, before the present episode began (F-RTO).
    pub(crate) original_delivered: bool,
    retransmission_acked: bool,
    /// Segments newly marked lost.
    pub(crate) lost: u32,
    pub(crate) timer_set: bool,
    /// When what it acknowledges was sent, first and last.
    acked: Option<(Instant, Instant)>,
    sacked_times: Option<(Instant, Instant)>,
    /// The lowest offset that was sent once and delivered now, although a higher one had been delivered before: the network
    /// reordered them.
    reordered: Option<u64>,
    fully_acked: u32,
    maybe_delayed: bool,
}

impl News {
    /// `FLAG_NOT_DUP` and its like: whether it repeats the last one.
    pub(crate) fn is_duplicate_ack(&self) -> bool {
        !(self.advanced || self.sacked || self.duplicate || self.window_moved || self.carries_data)
    }

    /// What begins at `start` was sent once and is delivered.
    fn note_original(&mut self, start: u64) {
        if start < self.prior_highest {
            self.reordered = Some(self.reordered.map_or(start, |low| low.min(start)));
        }
    }
}

impl Sender {
    /// Takes the acknowledgement that `segment` carries.
    pub(crate) fn handle_ack(&mut self, now: Instant, segment: &Segment) {
        let ack = segment.ack;
        if ack > self.next {
            // Of nothing that was sent (RFC 9293 §3.10.7.4).
            return;
        }
        let prior_in_flight = self.board.in_flight();
        let prior_delivered = self.rate.delivered();
        let had_packets = !self.board.is_empty();
        let mut news = News {
            prior_una: self.una,
            prior_highest: self.board.highest_sacked(self.una),
            echo: segment.echo,
            ece: self.ecn && segment.flags.contains(Flags::ECE),
            carries_data: segment.is_data(),
            advanced: ack > self.una,
            ..News::default()
        };
        if ack >= self.una {
            self.move_window(segment, &mut news);
        }
        if !segment.sack.is_empty() {
            self.take_sacks(now, segment, &mut news);
        }
        self.recovery.new_data_first = false;
        if news.advanced {
            self.time_outs = 0;
            self.take_cumulative(now, ack, &mut news);
        }
        if let Some(lowest) = news.reordered {
            let highest = self.board.highest_sacked(self.una);
            self.rack.on_reordering(highest.saturating_sub(lowest), self.mss);
        }
        if !had_packets {
            if news.duplicate {
                self.alert(now, &mut news);
            }
            if self.next < self.end() {
                self.probe_answered();
            }
            // What was probed for is acknowledged already; this may show that the probe was for nothing.
            self.process_tail_probe(now, ack, &news);
            return;
        }
        let rtt = self.measure(now, segment, prior_delivered, &mut news);
        let delivered = u32::try_from(self.rate.delivered() - prior_delivered).unwrap_or(u32::MAX);
        self.process_tail_probe(now, ack, &news);
        let dubious =
            news.sacked || news.ece || news.duplicate || self.recovery.state != State::Open || news.is_duplicate_ack();
        if dubious {
            self.alert(now, &mut news);
        }
        if !news.timer_set && (news.advanced || self.sacked_before_head(&news)) {
            self.rearm_with_probe(now, true);
        }
        let sample = self.rate.sample(now, self.rtt.min());
        if sample.interval.is_some() {
            self.last_sample = sample;
        }
        if self.rack_needs_widening(&news, delivered) {
            self.rack
                .update_window(sample.prior_delivered.unwrap_or(prior_delivered), self.rate.delivered());
        }
        let report = congestion::Ack {
            now,
            acked: delivered,
            lost: news.lost,
            in_flight: self.board.in_flight(),
            prior_in_flight,
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            maybe_delayed: news.maybe_delayed,
            ece: news.ece,
            window_limited: self.is_window_limited(),
            may_raise: news.advanced || (self.rack.reordering > super::rack::DUP_THRESHOLD && news.sacked),
            next: self.next,
            acked_to: self.una,
            pacing_rate: self.pacing_rate,
            rate: sample,
            state: self.recovery.state,
        };
        self.congestion.on_ack(&report);
        if self.congestion.is_probing_rtt() {
            self.rate.set_app_limited(self.board.in_flight());
        }
        if self.recovery.state.is_reducing() {
            self.reduce(delivered, news.lost, news.advanced);
        }
        self.update_pacing_rate();
        if self.buffer.is_refused() && self.board.in_flight() < self.congestion.cwnd() {
            // A window that is filled needs no larger buffer (`tcp_should_expand_sndbuf`).
            let windows = if self.congestion.has_own_reduction() { 3 } else { 2 };
            self.buffer.set_windows(windows);
            self.buffer
                .expand(self.mss, self.congestion.cwnd(), self.rack.reordering);
        }
    }

    fn rack_needs_widening(&self, news: &News, delivered: u32) -> bool {
        news.duplicate || delivered > 0 && self.recovery.state != State::Open
    }

    /// `tcp_ack_update_window`.
    fn move_window(&mut self, segment: &Segment, news: &mut News) {
        if news.advanced || (segment.seq, segment.window) > (self.window_seq, self.window) {
            news.window_moved = segment.window != self.window;
            self.window_seq = segment.seq;
            self.window = segment.window;
            self.window_end = self.window_end.max(segment.ack.saturating_add(segment.window));
        }
    }

    /// `tcp_sacktag_write_queue`.
    fn take_sacks(&mut self, now: Instant, segment: &Segment, news: &mut News) {
        let blocks = segment.sack.as_slice();
        let first_is_duplicate = is_duplicate(segment.ack, blocks);
        if first_is_duplicate {
            news.duplicate = true;
            self.rack.on_duplicate();
            let block = blocks[0];
            let segments = u32::try_from(block.length().div_ceil(u64::from(self.mss))).unwrap_or(u32::MAX);
            self.recovery.on_duplicate(segments, block.end);
        }
        let min_rtt = self.rtt.min();
        let (high, next) = (self.recovery.high, self.next);
        let Self { board, rate, rack, .. } = self;
        let mut on = |record: &super::scoreboard::Record| {
            rack.on_delivered(now, record, min_rtt);
            rate.on_delivered(record.segments, &record.snapshot);
            news.sacked = true;
            if !record.marks.has(Marks::EVER_RETRANSMITTED) {
                news.note_original(record.start);
                news.original_delivered |= record.end <= high;
                let at = record.snapshot.sent_at;
                news.sacked_times = Some(news.sacked_times.map_or((at, at), |(first, _)| (first, at)));
            }
        };
        let cumulative = segment.ack.max(self.una);
        for (index, block) in blocks.iter().enumerate() {
            let block = Range {
                start: block.start.max(cumulative),
                end: block.end.min(next),
            };
            if index == 0 && first_is_duplicate || block.start >= block.end {
                continue;
            }
            // What the last segment said needs no second look (`recv_sack_cache`).
            let known = self
                .last_sacks
                .iter()
                .find(|known| known.start < block.end && block.start < known.end);
            match known {
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
        self.last_sacks = Default::default();
        let skip = usize::from(first_is_duplicate);
        for (known, block) in self.last_sacks.iter_mut().zip(blocks.iter().skip(skip)) {
            *known = Range {
                start: block.start,
                end: block.end.min(next).max(block.start),
            };
        }
    }

    /// `tcp_clean_rtx_queue`.
    fn take_cumulative(&mut self, now: Instant, ack: u64, news: &mut News) {
        let min_rtt = self.rtt.min();
        let high = self.recovery.high;
        let Self { board, rate, rack, .. } = self;
        board.acknowledge(ack, |record| {
            let sacked = record.marks.has(Marks::SACKED);
            if !sacked {
                rack.on_delivered(now, record, min_rtt);
                rate.on_delivered(record.segments, &record.snapshot);
                news.fully_acked += record.segments;
            }
            if record.marks.has(Marks::EVER_RETRANSMITTED) {
                news.retransmission_acked = true;
            } else if !sacked {
                let at = record.snapshot.sent_at;
                news.acked = Some(news.acked.map_or((at, at), |(first, _)| (first, at)));
                news.note_original(record.start);
                news.original_delivered |= record.end <= high;
            }
        });
        self.una = ack;
    }

    /// The round trip that an acknowledgement tells (`tcp_ack_update_rtt`): of what was sent once; else, with timestamps,
    /// of whatever it answers. Returns the latest one, which the congestion control sees.
    fn measure(&mut self, now: Instant, segment: &Segment, prior_delivered: u64, news: &mut News) -> Option<Duration> {
        let since = |at: Instant| now.checked_since(at).unwrap_or_default();
        let acked = news.acked.filter(|_| !news.retransmission_acked);
        let mut sequence = acked.map(|(first, _)| since(first));
        let mut latest = acked.map(|(_, last)| since(last));
        if let Some((first, last)) = news.sacked_times {
            sequence = sequence.or(Some(since(first)));
            latest = Some(since(last));
        }
        if sequence.is_none() && news.advanced {
            let elapsed = now.as_nanos().div_euclid(1_000_000) - segment.echo;
            let millis = u64::try_from(elapsed).ok().filter(|millis| *millis < 1_000_000)?;
            sequence = Some(Duration::from_millis(millis.max(1)));
            latest = sequence;
        }
        let sequence = sequence?;
        // A short segment alone may have waited for the receiver's timer (`FLAG_ACK_MAYBE_DELAYED`).
        news.maybe_delayed = news.fully_acked == 1
            && !news.sacked
            && self.una - news.prior_una < u64::from(self.mss)
            && self.rate.delivered() == prior_delivered + 1;
        if let Some(latest) = latest
            && !(news.maybe_delayed && self.rtt.min().is_some_and(|shortest| latest > shortest))
        {
            self.rtt.sample_min(now, latest);
        }
        self.rtt.sample(sequence, self.una, self.next);
        latest
    }

    /// Whether what is selectively acknowledged was sent before the first record was last sent. Otherwise the time-out isn't
    /// put off: it could be for ever.
    fn sacked_before_head(&self, news: &News) -> bool {
        match (news.sacked_times, self.board.first()) {
            (Some((sacked, _)), Some(first)) => sacked < first.snapshot.sent_at,
            _ => false,
        }
    }

    /// The peer answered while nothing was out: the persist timer begins again where it is still needed (`tcp_ack_probe`).
    fn probe_answered(&mut self) {
        self.time_outs = 0;
        if self.window_end > self.next {
            self.rtt.clear_backoff();
            self.timer = None;
        }
    }

    /// `tcp_is_cwnd_limited`.
    fn is_window_limited(&self) -> bool {
        self.window_limited
            || self.congestion.in_slow_start() && self.congestion.cwnd() < self.max_packets_out.saturating_mul(2)
    }
}

/// Whether the first block reports a duplicate: it lies below the acknowledgement or within the second (RFC 2883 §4).
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
    fn duplicates_are_told_from_news() {
        let range = |start, end| Range { start, end };
        // RFC 2883 §4.1.1 and §4.1.3, with their figures.
        assert!(is_duplicate(4_000, &[range(3_000, 3_500)]));
        assert!(is_duplicate(4_000, &[range(5_000, 5_500), range(4_500, 6_000)]));
        assert!(!is_duplicate(4_000, &[range(4_500, 5_000)]));
        assert!(!is_duplicate(4_000, &[range(5_500, 6_000), range(4_500, 5_000)]));
    }
}
