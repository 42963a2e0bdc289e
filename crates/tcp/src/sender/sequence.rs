//! Send sequence variables (RFC 9293 §3.3.1), and the content that they number.

use crate::segment::Segment;

/// Send sequence variables in bytes. Offset 0 is the first byte of content, and the FIN follows the last one.
///
/// Laws: `una` ≤ `next` ≤ [`end`](Self::end), and the end of the peer's window never moves back.
#[derive(Debug, Clone, Default)]
pub(super) struct SendSequence {
    /// Content written by the application, and true after its end.
    pub(super) written: u64,
    pub(super) finished: bool,
    /// Oldest unacknowledged offset (SND.UNA).
    pub(super) una: u64,
    /// Next offset to send (SND.NXT).
    pub(super) next: u64,
    /// Last segment that updated the window (SND.WL1).
    window_seq: u64,
    /// The peer's window (SND.WND), and its end.
    pub(super) window: u64,
    pub(super) window_end: u64,
}

impl SendSequence {
    /// Offset after the last byte to send.
    pub(super) fn end(&self) -> u64 {
        self.written + u64::from(self.finished)
    }

    /// Acknowledged bytes of content.
    pub(super) fn acknowledged(&self) -> u64 {
        self.una.min(self.written)
    }

    /// Bytes of content that the send buffer holds.
    pub(super) fn buffered(&self) -> u64 {
        self.written - self.acknowledged()
    }

    /// Bytes of content that were never sent (`tcp_notsent`).
    pub(super) fn unsent(&self) -> u64 {
        self.written.saturating_sub(self.next)
    }

    /// Bytes that the peer's window permits after `next`.
    pub(super) fn window_room(&self) -> u64 {
        self.window_end.saturating_sub(self.next)
    }

    /// The window of the handshake.
    pub(super) fn open_window(&mut self, window: u64) {
        (self.window, self.window_end) = (window, window);
    }

    /// `tcp_ack_update_window`: takes the window of a segment unless it is older than the present one. Returns true if its
    /// size changed.
    pub(super) fn update_window(&mut self, segment: &Segment) -> bool {
        let newer = segment.ack > self.una || (segment.seq, segment.window) > (self.window_seq, self.window);
        let changed = newer && segment.window != self.window;
        if newer {
            self.window_seq = segment.seq;
            self.window = segment.window;
            self.window_end = self.window_end.max(segment.ack.saturating_add(segment.window));
        }
        changed
    }
}
