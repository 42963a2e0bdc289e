//! Sender of frames: encoder, packets, pacer, retransmissions.

use super::{Feedback, MediaPacket, VideoConfig, VideoTransmit};
use crate::common::frame_size;
use crate::kinds::video_call::gcc::{Gcc, GccConfig, PacketReport};
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use std::collections::VecDeque;

/// Maximum number of transmissions that are stored. Feedback about older ones is ignored.
const MAX_HISTORY: usize = 1_024;
/// Largest time by which the pacer catches up after a late timeout. libwebrtc's pacer runs every 5 ms.
const CATCH_UP: Duration = Duration::from_millis(5);
/// Maximum time between the first feedback and another one.
const MAX_TIME: Duration = Duration::from_secs(365 * 86_400);

/// A part of a frame.
#[derive(Debug, Clone, Copy)]
struct Part {
    frame: u32,
    /// Time at which the frame was encoded.
    encoded: Instant,
    index: u16,
    count: u16,
    size: ByteSize,
}

/// A transmission.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Instant,
    part: Part,
    reported: bool,
}

#[derive(Debug)]
pub(super) struct Sender {
    config: VideoConfig,
    gcc: Gcc,
    /// Parts to send, those to send again first.
    again: VecDeque<Part>,
    queue: VecDeque<Part>,
    /// Earliest time of the next transmission; `None` before the first frame.
    next_send: Option<Instant>,
    /// Transport number of the first transmission in `history`.
    first: u64,
    history: VecDeque<Sent>,
    /// Bytes that were sent again. The next frames are smaller by this number.
    debt: u64,
    /// Size of the last frame without debt.
    full: u64,
    /// Stamps of the first feedback and of the last one.
    stamps: Option<(Instant, Instant)>,
}

impl Sender {
    pub(super) fn new(config: VideoConfig) -> Self {
        let gcc = Gcc::new(GccConfig {
            start: config.adaptation.start_rate,
            min: config.adaptation.min_rate,
            max: config.stream.rate(),
        });
        Sender {
            config,
            gcc,
            again: VecDeque::new(),
            queue: VecDeque::new(),
            next_send: None,
            first: 0,
            history: VecDeque::new(),
            debt: 0,
            full: 0,
            stamps: None,
        }
    }

    pub(super) fn rate(&self) -> BitRate {
        self.gcc.rate()
    }

    /// Divides a frame into packets of about equal size, as libwebrtc does.
    pub(super) fn send_frame(&mut self, now: Instant, number: u32) -> ByteSize {
        self.start_pacing(now);
        let size = self.next_size();
        let largest = self.config.stream.size.as_bytes().max(1);
        let count = size.div_ceil(largest).clamp(1, u64::from(u16::MAX));
        for index in 0..count {
            let part = size / count + u64::from(index < size % count);
            self.queue.push_back(Part {
                frame: number,
                encoded: now,
                index: index as u16,
                count: count as u16,
                size: ByteSize::from_bytes(part),
            });
        }
        ByteSize::from_bytes(size)
    }

    /// Starts the pacer after a time without packets. This time does not let it send faster.
    fn start_pacing(&mut self, now: Instant) {
        if self.again.is_empty() && self.queue.is_empty() {
            self.next_send = Some(self.next_send.map_or(now, |next| next.max(now)));
        }
    }

    /// Size of the next frame: that of the rate, without the bytes that were sent again, and at least that of the
    /// minimum rate.
    fn next_size(&mut self) -> u64 {
        let stream = &self.config.stream;
        let of_rate = |rate: BitRate| {
            if rate >= stream.rate() {
                stream.burst_size()
            } else {
                frame_size(rate, stream.interval)
            }
        };
        let full = of_rate(self.gcc.rate()).as_bytes().max(1);
        let least = of_rate(self.config.adaptation.min_rate).as_bytes().clamp(1, full);
        let size = full.saturating_sub(self.debt).max(least);
        self.debt = self.debt.saturating_sub(full - size);
        self.full = full;
        size
    }

    pub(super) fn handle_feedback(&mut self, now: Instant, feedback: &Feedback) {
        let Some(base) = self.accept(feedback.stamp) else {
            return;
        };
        let Some(last) = feedback.ages.iter().rposition(Option::is_some) else {
            return;
        };
        let since = feedback.stamp.checked_since(base).unwrap_or_default();
        let mut reports = Vec::new();
        let mut round_trip = Duration::ZERO;
        for (offset, age) in (0_u64..).zip(&feedback.ages[..=last]) {
            let number = feedback.from.checked_add(offset);
            let place = number
                .and_then(|number| number.checked_sub(self.first))
                .and_then(|place| usize::try_from(place).ok());
            let Some(sent) = place.and_then(|place| self.history.get_mut(place)) else {
                continue;
            };
            // Arrivals by the receiver's clock, counted from the first feedback.
            let arrived = age.and_then(|age| (Instant::ZERO + since).checked_sub(age));
            if let Some(age) = age {
                let after = now.checked_since(sent.at).unwrap_or_default();
                round_trip = after.saturating_sub(*age);
            }
            if !std::mem::replace(&mut sent.reported, true) {
                reports.push(PacketReport {
                    sent: sent.at,
                    arrived,
                    size: sent.part.size,
                });
                let part = sent.part;
                if arrived.is_none() && self.debt < self.full {
                    self.start_pacing(now);
                    self.again.push_back(part);
                    self.debt += part.size.as_bytes();
                }
            }
        }
        // A transmission that no feedback reports any more stays unknown.
        while self.history.front().is_some_and(|sent| sent.reported) || self.first < feedback.from {
            if self.history.pop_front().is_none() {
                break;
            }
            self.first += 1;
        }
        if !reports.is_empty() {
            self.gcc.handle_feedback(now, round_trip, &reports);
        }
    }

    /// Returns the stamp of the first feedback; `None` for a feedback that is older than another one, or far from the
    /// first.
    fn accept(&mut self, stamp: Instant) -> Option<Instant> {
        let (base, last) = self.stamps.unwrap_or((stamp, stamp));
        let since = stamp.checked_since(base).filter(|since| *since <= MAX_TIME);
        if since.is_none() || stamp < last || (stamp == last && self.stamps.is_some()) {
            return None;
        }
        self.stamps = Some((base, stamp));
        Some(base)
    }

    /// Sends the packets that are due at `now`. Those of frames that are too old are dropped.
    pub(super) fn handle_timeout(&mut self, now: Instant, out: &mut VecDeque<VideoTransmit>) {
        while let Some(next) = self.next_send.filter(|next| *next <= now)
            && let Some(part) = self.again.pop_front().or_else(|| self.queue.pop_front())
        {
            let age = now.checked_since(part.encoded).unwrap_or_default();
            if age > self.config.timeout {
                continue;
            }
            let earliest = now.checked_sub(CATCH_UP).unwrap_or(now);
            let rate = BitRate::from_bps(self.gcc.rate().as_bps().saturating_mul(5) / 2);
            let gap = rate.time_for(part.size).unwrap_or_default();
            self.next_send = Some(next.max(earliest).checked_add(gap).unwrap_or(now));
            let transport = self.first + self.history.len() as u64;
            self.history.push_back(Sent {
                at: now,
                part,
                reported: false,
            });
            if self.history.len() > MAX_HISTORY {
                self.history.pop_front();
                self.first += 1;
            }
            out.push_back(VideoTransmit::Media(MediaPacket {
                transport,
                frame: part.frame,
                index: part.index,
                count: part.count,
                size: part.size,
            }));
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let is_empty = self.again.is_empty() && self.queue.is_empty();
        self.next_send.filter(|_| !is_empty)
    }
}
