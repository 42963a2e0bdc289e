//! Rate at which packets arrive.

use netburn_units::{ByteSize, Duration, Instant};
use std::collections::VecDeque;

/// Length of the window; the draft recommends 0.5 s to 1 s.
const WINDOW: Duration = Duration::from_millis(500);

/// Packets of the last 500 ms.
#[derive(Debug, Clone, Default)]
pub(super) struct Received {
    packets: VecDeque<(Instant, u64)>,
    bytes: u64,
    first: Option<Instant>,
    last: Option<Instant>,
}

impl Received {
    /// Records an arrival. One before the window is ignored.
    pub(super) fn put(&mut self, at: Instant, size: ByteSize) {
        self.first.get_or_insert(at);
        let last = self.last.map_or(at, |last| last.max(at));
        self.last = Some(last);
        let is_old = |at: Instant| last.checked_since(at).is_none_or(|age| age >= WINDOW);
        if is_old(at) && at != last {
            return;
        }
        self.packets.push_back((at, size.as_bytes()));
        self.bytes += size.as_bytes();
        while let Some((_, bytes)) = self.packets.front().filter(|(at, _)| is_old(*at)) {
            self.bytes -= bytes;
            self.packets.pop_front();
        }
    }

    /// Rate in bit/s; `None` before the window is complete.
    pub(super) fn rate(&self) -> Option<f64> {
        let observed = self.last?.checked_since(self.first?)?;
        (observed >= WINDOW).then(|| self.bytes as f64 * 8.0 / WINDOW.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1250 B every 10 ms are 1 Mbit/s. The window of 500 ms has 50 packets.
    #[test]
    fn the_rate_is_that_of_the_last_500_ms() {
        let mut received = Received::default();
        for packet in 0..200 {
            received.put(Instant::from_millis(packet * 10), ByteSize::from_bytes(1250));
            match received.rate() {
                None => assert!(packet < 50, "{packet}"),
                Some(rate) => assert!(packet >= 50 && rate == 1e6, "{rate}"),
            }
        }
        // Late packets that are older than the window do not count.
        received.put(Instant::from_millis(1000), ByteSize::from_bytes(1250));
        assert_eq!(received.rate(), Some(1e6));
    }
}
