//! Freezes of a video, as the statistics of WebRTC define them.

use crate::packet::Packet;
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

/// Number of frames of the mean.
const FRAMES: usize = 30;
/// Factor of the mean, and time above it, from which on a time between two frames is a freeze.
const FACTOR: u64 = 3;
const ABOVE: Duration = Duration::from_millis(150);

/// Freezes of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Freezes {
    /// Their number, `freezeCount`.
    pub count: u64,
    /// The longest one.
    pub longest: Duration,
    /// Their total length, `totalFreezesDuration`.
    pub total: Duration,
    /// Observed time.
    pub observed: Duration,
}

/// Freezes of a video whose `frames` are in sending order. The delay of a frame is the time until its last packet
/// arrives.
///
/// A freeze is a time between two shown frames of at least max(3 · mean, mean + 150 ms). The mean is that of the last
/// 30 such times before it (W3C, Identifiers for WebRTC's Statistics API, `freezeCount`), and `interval` without any.
///
/// A complete frame is shown at once, but not before the frames before it. A receiver waits for a missing frame until
/// `timeout` after its due time. There is no further playout delay.
///
/// The observed time begins with the first shown frame, and ends with the last one, or when the last frame was due if
/// that is later. The time from the last shown frame to this end can be a freeze as well. If no frame is complete,
/// the whole time from the first due time to the last one is a freeze.
#[must_use]
pub fn freezes(frames: &[Packet], interval: Duration, timeout: Duration) -> Freezes {
    let (Some(first), Some(last)) = (frames.first(), frames.last()) else {
        return Freezes::default();
    };
    let mut found = Freezes::default();
    let mut recent: VecDeque<u64> = VecDeque::with_capacity(FRAMES);
    let mut sum = 0_u128;
    let mut before = None;
    let mut begin = first.due;
    let mut earliest = first.due;
    for frame in frames {
        let end = frame
            .due
            .checked_add(frame.delay.unwrap_or(timeout))
            .unwrap_or(earliest);
        earliest = earliest.max(end);
        if frame.delay.is_none() {
            continue;
        }
        match before {
            None => begin = earliest,
            Some(shown) => {
                let length = earliest.checked_since(shown).unwrap_or_default();
                found.put(length, mean(sum, recent.len(), interval));
                if recent.len() == FRAMES {
                    sum -= u128::from(recent.pop_front().unwrap_or_default());
                }
                recent.push_back(length.as_nanos());
                sum += u128::from(length.as_nanos());
            }
        }
        before = Some(earliest);
    }
    let shown: Instant = before.unwrap_or(begin);
    let rest = last.due.checked_since(shown).unwrap_or_default();
    match before {
        Some(_) => found.put(rest, mean(sum, recent.len(), interval)),
        None => found.put(rest, Duration::ZERO),
    }
    found.observed = shown.max(last.due).checked_since(begin).unwrap_or_default();
    found
}

/// Mean of the last times between two shown frames.
fn mean(sum: u128, count: usize, interval: Duration) -> Duration {
    let mean = sum.checked_div(count as u128);
    mean.map_or(interval, |mean| {
        Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX))
    })
}

impl Freezes {
    /// Counts a time between two frames, if it is a freeze.
    fn put(&mut self, length: Duration, mean: Duration) {
        let factor = mean.checked_mul(FACTOR).unwrap_or(mean);
        let above = mean.checked_add(ABOVE).unwrap_or(mean);
        if length >= factor.max(above) {
            self.count += 1;
            self.total = self.total.checked_add(length).unwrap_or(self.total);
            self.longest = self.longest.max(length);
        }
    }
}
