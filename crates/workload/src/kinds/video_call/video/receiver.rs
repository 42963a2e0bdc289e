//! Receiver of frames: complete frames, and feedback.

use super::{CompleteFrame, Feedback, MAX_REPORTED, MediaPacket};
use netburn_units::{ByteSize, Duration, Instant};
use std::collections::BTreeMap;

/// Time between two feedbacks.
const INTERVAL: Duration = Duration::from_millis(100);
/// Minimum time between two feedbacks if a packet is missing. libwebrtc sends its NACKs every 20 ms.
const MIN_INTERVAL: Duration = Duration::from_millis(20);
/// Number of arrivals after which a feedback is due at once: half of a feedback, because each repeats the previous one.
const MANY: usize = MAX_REPORTED / 2;
/// Maximum number of arrivals that are stored for a feedback.
const MAX_ARRIVALS: usize = 1_024;
/// Maximum number of frames that are stored.
const MAX_FRAMES: usize = 256;
/// Maximum number of packets of a frame.
const MAX_PACKETS: u16 = 1_000;

/// A frame of which packets have arrived.
#[derive(Debug)]
struct Partial {
    count: u16,
    /// Packets that have not arrived.
    left: u16,
    /// Bit of each packet that has arrived.
    arrived: Vec<u64>,
    bytes: u64,
}

#[derive(Debug, Default)]
pub(super) struct Receiver {
    frames: BTreeMap<u32, Partial>,
    /// Arrivals by transport number.
    arrivals: BTreeMap<u64, Instant>,
    /// First transport number of the next feedback: the first one that was new in the previous feedback.
    from: u64,
    /// First transport number that no feedback has covered.
    fresh: u64,
    /// Arrivals since the last feedback.
    new: usize,
    /// Transport number after the highest one that arrived.
    expected: Option<u64>,
    /// Time of the last feedback, and of the next one.
    reported: Option<Instant>,
    due: Option<Instant>,
}

impl Receiver {
    pub(super) fn handle_media(&mut self, now: Instant, packet: &MediaPacket) -> Option<CompleteFrame> {
        let is_valid = (1..=MAX_PACKETS).contains(&packet.count) && packet.index < packet.count;
        if !is_valid {
            return None;
        }
        self.arrived(now, packet.transport);
        let is_old = |first: &u32| self.frames.len() >= MAX_FRAMES && packet.frame < *first;
        if self.frames.keys().next().is_some_and(is_old) {
            return None;
        }
        let words = usize::from(packet.count).div_ceil(64);
        let frame = self.frames.entry(packet.frame).or_insert_with(|| Partial {
            count: packet.count,
            left: packet.count,
            arrived: vec![0; words],
            bytes: 0,
        });
        let complete = frame.put(packet).then_some(CompleteFrame {
            number: packet.frame,
            size: ByteSize::from_bytes(frame.bytes),
        });
        if self.frames.len() > MAX_FRAMES {
            self.frames.pop_first();
        }
        complete
    }

    /// Records an arrival for the next feedback.
    fn arrived(&mut self, now: Instant, transport: u64) {
        if transport < self.from || self.arrivals.contains_key(&transport) {
            return;
        }
        self.arrivals.insert(transport, now);
        if self.arrivals.len() > MAX_ARRIVALS {
            self.arrivals.pop_first();
        }
        let is_gap = self.expected.is_some_and(|expected| transport > expected);
        let after = transport.saturating_add(1);
        self.expected = Some(self.expected.map_or(after, |expected| expected.max(after)));
        self.new += 1;
        let wait = match self.new {
            MANY.. => Duration::ZERO,
            _ if is_gap => MIN_INTERVAL,
            _ => INTERVAL,
        };
        let earliest = self.reported.and_then(|reported| reported.checked_add(wait));
        let due = earliest.map_or(now, |earliest| earliest.max(now));
        self.due = Some(self.due.map_or(due, |before| before.min(due)));
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) -> Option<Feedback> {
        self.due.filter(|due| *due <= now)?;
        (self.due, self.reported, self.new) = (None, Some(now), 0);
        let end = self.expected?;
        let from = self.from.max(end.saturating_sub(MAX_REPORTED as u64));
        let age = |number: u64| now.checked_since(*self.arrivals.get(&number)?);
        let ages = (from..end).map(age).collect();
        self.from = self.fresh;
        self.fresh = end;
        self.arrivals = self.arrivals.split_off(&self.from);
        Some(Feedback { stamp: now, from, ages })
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }
}

impl Partial {
    /// Records a packet. Returns true if it completes the frame.
    fn put(&mut self, packet: &MediaPacket) -> bool {
        let (word, bit) = (usize::from(packet.index / 64), 1_u64 << (packet.index % 64));
        match self.arrived.get_mut(word) {
            Some(word) if self.count == packet.count && *word & bit == 0 => *word |= bit,
            _ => return false,
        }
        self.bytes = self.bytes.saturating_add(packet.size.as_bytes());
        self.left -= 1;
        self.left == 0
    }
}
