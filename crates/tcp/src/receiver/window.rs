//! Receive window: a buffer that grows with the data that the application reads per round trip.

use crate::config::Buffer;
use crate::segment::Segment;
use netburn_units::{Duration, Instant};

/// Maximum window of a SYN, which isn't scaled.
const UNSCALED_MAX: u64 = 65_535;

/// Receive buffer and its window.
#[derive(Debug, Clone)]
pub(super) struct ReceiveWindow {
    mss: u64,
    buffer: u64,
    max: u64,
    scale: u32,
    /// Current maximum of the window (`rcv_ssthresh`).
    permitted: u64,
    /// Last advertised window, and the offset at which it starts (`rcv_wnd`, `rcv_wup`).
    offered: u64,
    offered_at: u64,
    /// Dynamic right-sizing: round-trip time at the receiver (nanoseconds), and the data read in
    /// the last one.
    round_trip: u64,
    space: u64,
    measured_from: u64,
    measured_since: Instant,
}

impl ReceiveWindow {
    pub(super) fn new(buffer: &Buffer, mss: u32) -> Self {
        // A window of less than two segments would repeatedly stall the sender until its timer;
        // Linux's sender halves its segments instead (`tcp_bound_to_half_wnd`).
        let initial = buffer.initial.as_bytes().max(4 * u64::from(mss));
        let max = buffer.max.as_bytes().max(initial);
        Self {
            mss: u64::from(mss),
            buffer: initial,
            max,
            scale: scale(max),
            permitted: window_of(initial),
            offered: 0,
            offered_at: 0,
            round_trip: 0,
            space: 0,
            measured_from: 0,
            measured_since: Instant::ZERO,
        }
    }

    /// Window of a SYN: 16 bits, in whole segments.
    pub(super) fn first(&mut self) -> u64 {
        let window = self.permitted.min(UNSCALED_MAX);
        let whole = window - window % self.mss.min(window).max(1);
        self.offered = self.offered.max(whole);
        whole
    }

    pub(super) fn establish(&mut self, now: Instant, mss: u32) {
        self.mss = u64::from(mss);
        self.space = self.offered.clamp(1, 10 * self.mss);
        self.measured_since = now;
    }

    /// Memory in bytes.
    pub(super) fn buffer(&self) -> u64 {
        self.buffer
    }

    /// Last advertised window.
    pub(super) fn offered(&self) -> u64 {
        self.offered
    }

    /// End of the window, if `next` is expected.
    pub(super) fn end(&self, next: u64) -> u64 {
        next + self.remaining(next)
    }

    /// Rest of the window.
    pub(super) fn remaining(&self, next: u64) -> u64 {
        (self.offered_at + self.offered).saturating_sub(next)
    }

    /// Window that would be advertised now, with `held` bytes beyond a gap.
    pub(super) fn would_offer(&self, held: u64, next: u64) -> u64 {
        let free = window_of(self.buffer).saturating_sub(held).min(self.permitted);
        let free = if free < self.mss.min(window_of(self.buffer)) {
            0
        } else {
            free
        };
        let unit = 1u64 << self.scale;
        // The window never shrinks (RFC 9293 §3.8.6).
        free.div_ceil(unit).max(self.remaining(next).div_ceil(unit)) * unit
    }

    /// Window to advertise (`tcp_select_window`).
    pub(super) fn select(&mut self, held: u64, next: u64) -> u64 {
        self.offered = self.would_offer(held, next);
        self.offered_at = next;
        self.offered
    }

    /// Content was received beyond a gap; `span` bytes lie from the gap's start to the end of the
    /// last range. Held data use room, so the buffer grows by it: otherwise a gap with a slow
    /// repair would stall the sender (`tcp_data_queue_ofo`, Linux 6.16).
    pub(super) fn on_out_of_order(&mut self, segment: &Segment, span: u64) {
        self.grow(segment);
        self.provide(2 * self.space + span);
    }

    /// Content up to `next` was received and read. `span`: as in
    /// [`on_out_of_order`](Self::on_out_of_order), 0 without a gap.
    pub(super) fn on_delivered(
        &mut self,
        now: Instant,
        next: u64,
        segment: &Segment,
        span: u64,
        round_trip: Option<Duration>,
    ) {
        if let Some(sample) = round_trip {
            let sample = sample.as_nanos();
            self.round_trip = match self.round_trip {
                0 => sample,
                known => known - known / 8 + sample / 8,
            };
        }
        self.grow(segment);
        let elapsed = now.checked_since(self.measured_since).unwrap_or_default().as_nanos();
        if self.round_trip == 0 || elapsed < self.round_trip {
            return;
        }
        self.adjust(next, span);
        self.measured_from = next;
        self.measured_since = now;
    }

    /// Opens the window by twice the received content, up to the buffer's limit
    /// (`tcp_grow_window`).
    fn grow(&mut self, segment: &Segment) {
        let most = window_of(self.buffer);
        if self.permitted < most {
            let step = 2 * self.mss.max(u64::from(segment.length));
            self.permitted = (self.permitted + step).min(most);
        }
    }

    /// End of a round trip: the buffer holds twice the data read in it, and more if that grew
    /// (`tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`).
    fn adjust(&mut self, next: u64, span: u64) {
        let copied = next - self.measured_from;
        if copied <= self.space {
            return;
        }
        let window = 2 * copied;
        let growth = u128::from(window) * u128::from(copied - self.space) / u128::from(self.space);
        let growth = u64::try_from(growth).unwrap_or(u64::MAX).saturating_mul(2);
        self.space = copied;
        self.provide(window.saturating_add(growth).saturating_add(span));
    }

    /// Enlarges the buffer for a window of `window` bytes, up to its maximum.
    fn provide(&mut self, window: u64) {
        self.buffer = self.buffer.max(window.saturating_mul(2).min(self.max));
    }
}

/// Half of the buffer is window, the rest is overhead of packets (`tcp_adv_win_scale` 1).
const fn window_of(buffer: u64) -> u64 {
    buffer / 2
}

/// Minimum scale with which 16 bits reach the maximum buffer (`tcp_select_initial_window`), at most
/// 14 (RFC 7323 §2.3).
fn scale(max: u64) -> u32 {
    (max.ilog2().saturating_sub(15)).min(14)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::ByteSize;

    fn window() -> ReceiveWindow {
        let buffer = Buffer {
            initial: ByteSize::from_kib(128),
            max: ByteSize::from_mib(32),
        };
        let mut window = ReceiveWindow::new(&buffer, 1_448);
        assert_eq!(window.first(), 65_160);
        window.establish(Instant::ZERO, 1_448);
        window
    }

    fn segment(length: u32) -> Segment {
        Segment {
            length,
            ..Segment::default()
        }
    }

    #[test]
    fn the_window_doubles_with_the_bytes_read_in_a_round_trip() {
        assert_eq!((scale(6 << 20), scale(32 << 20)), (7, 10));
        let mut window = window();
        let rtt = Some(Duration::from_millis(10));
        // Ten segments were expected and 28960 bytes arrive in the first round trip. 2 × 28960 =
        // 57920, which grows by twice 57920 × (28960 − 14480) ÷ 14480. The buffer is twice the
        // window.
        window.on_delivered(Instant::from_millis(10), 28_960, &segment(1_448), 0, rtt);
        assert_eq!(window.buffer(), 2 * 3 * 57_920);
        // No more in the next one: no change.
        window.on_delivered(Instant::from_millis(20), 57_920, &segment(1_448), 0, rtt);
        assert_eq!(window.buffer(), 2 * 3 * 57_920);
        // A gap with 200 kB beyond it needs room for itself.
        window.on_out_of_order(&segment(1_448), 200_000);
        assert_eq!(window.buffer(), 2 * (2 * 28_960 + 200_000));
        let mut next = 57_920;
        for round in 3..20 {
            next += 100_000 << round.min(10);
            window.on_delivered(Instant::from_millis(10 * round), next, &segment(1_448), 0, rtt);
        }
        assert_eq!(window.buffer(), 32 << 20);
    }

    #[test]
    fn is_advertised_in_units_of_its_scale_and_never_shrinks() {
        let mut window = window();
        assert_eq!(window.select(0, 0), 65_536);
        // 40000 bytes beyond a gap leave less, but the advertised window does not shrink.
        assert_eq!(window.select(40_000, 0), 65_536);
        // 65536 − 40000 = 25536, in units of 1024.
        assert_eq!(window.select(40_000, 60_000), 25_600);
    }
}
