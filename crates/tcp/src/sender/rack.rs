//! Loss detection: RACK (RFC 8985, `tcp_recovery.c`), based on time.

use super::scoreboard::{Fate, Marks, Record, Scoreboard};
use netburn_units::{Duration, Instant};

/// Number of selectively acknowledged segments that indicates a loss if there was no reordering
/// (`TCP_FASTRETRANS_THRESH`).
pub(crate) const DUP_THRESHOLD: u32 = 3;
/// Maximum degree of reordering (`tcp_max_reordering`).
const MAX_REORDERING: u32 = 300;
/// Number of recoveries for which a widened reordering window lasts (`TCP_RACK_RECOVERY_THRESH`).
const PERSIST: u8 = 16;

/// RACK state of one sender.
#[derive(Debug, Clone)]
pub(crate) struct Rack {
    /// Most recently sent of the delivered records: its transmission sequence number, and its end.
    /// RFC 8985 orders by time, but here many transmissions share an instant.
    newest: Option<(u64, u64)>,
    /// Round-trip time of that record.
    rtt: Duration,
    advanced: bool,
    /// Reordering window in quarters of the minimum round-trip time.
    steps: u8,
    persist: u8,
    duplicate_seen: bool,
    /// Value of `delivered` when `steps` was last raised.
    widened_at: u64,
    reordering_seen: bool,
    /// Degree of reordering in segments.
    pub(crate) reordering: u32,
}

/// Result of a loss detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LossDetection {
    /// Segments newly marked lost.
    pub(crate) lost: u32,
    /// Time until the next detection.
    pub(crate) recheck_after: Option<Duration>,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self {
            newest: None,
            rtt: Duration::ZERO,
            advanced: false,
            steps: 1,
            persist: 0,
            duplicate_seen: false,
            widened_at: 0,
            reordering_seen: false,
            reordering: DUP_THRESHOLD,
        }
    }

    /// A record was delivered (`tcp_rack_advance`).
    pub(crate) fn on_delivered(&mut self, now: Instant, record: &Record, min_rtt: Option<Duration>) {
        let sent = (record.tx_seq, record.end);
        let rtt = now.checked_since(record.snapshot.sent_at).unwrap_or_default();
        if record.marks.has(Marks::EVER_RETRANSMITTED) && min_rtt.is_some_and(|shortest| rtt < shortest) {
            // The acknowledgement belongs to the original (RFC 8985 §6.2 step 2).
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if self.newest.is_none_or(|newest| sent > newest) {
            self.newest = Some(sent);
        }
    }

    /// An original was delivered after one `distance` bytes beyond it
    /// (`tcp_check_sack_reordering`).
    pub(crate) fn on_reordering(&mut self, distance: u64, mss: u32) {
        let segments = u32::try_from(distance.div_ceil(u64::from(mss))).unwrap_or(u32::MAX);
        self.reordering = self.reordering.max(segments.min(MAX_REORDERING));
        self.reordering_seen = true;
    }

    /// The receiver reported a duplicate.
    pub(crate) fn on_duplicate(&mut self) {
        self.duplicate_seen = true;
    }

    /// Widens the reordering window after duplicates, once per round trip
    /// (`tcp_rack_update_reo_wnd`, RFC 8985 §6.2 step 4).
    pub(crate) fn update_window(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered < self.widened_at {
            self.duplicate_seen = false;
        }
        if std::mem::take(&mut self.duplicate_seen) {
            self.steps = self.steps.saturating_add(1);
            self.widened_at = delivered;
            self.persist = PERSIST;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// A recovery ended and was necessary.
    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A recovery was reverted: detect again at the next acknowledgement.
    pub(crate) fn on_undo(&mut self) {
        self.advanced = true;
        self.persist = PERSIST;
    }

    /// After a timeout with little reordering, the degree of reordering is reset.
    pub(crate) fn on_timeout(&mut self, disordered: bool, sacked: u32) {
        if disordered && sacked >= DUP_THRESHOLD {
            self.reordering = self.reordering.min(DUP_THRESHOLD);
        }
    }

    /// Detects losses if data were delivered since the last detection (`tcp_rack_mark_lost`).
    pub(crate) fn detect_if_advanced(
        &mut self,
        now: Instant,
        board: &mut Scoreboard,
        times: &Times,
    ) -> Option<LossDetection> {
        std::mem::take(&mut self.advanced).then(|| self.detect(now, board, times))
    }

    /// Marks records lost that were sent sufficiently long before a delivered one
    /// (`tcp_rack_detect_loss`).
    pub(crate) fn detect(&self, now: Instant, board: &mut Scoreboard, times: &Times) -> LossDetection {
        let mut verdict = LossDetection {
            lost: 0,
            recheck_after: None,
        };
        let Some(newest) = self.newest else { return verdict };
        let patience = self.rtt + self.reordering_window(board.sacked_out, times);
        let judge = |record: &Record| {
            if (record.tx_seq, record.end) >= newest {
                return (Fate::Stop, None);
            }
            match patience.checked_sub(now.checked_since(record.snapshot.sent_at).unwrap_or_default()) {
                Some(left) if !left.is_zero() => (Fate::Wait, Some(left)),
                _ => (Fate::Lost, None),
            }
        };
        let mut next = board.first_original();
        while let Some(index) = next {
            let (fate, left) = judge(board.get(index));
            verdict.recheck_after = verdict.recheck_after.max(left);
            match fate {
                Fate::Stop => break,
                Fate::Wait => {}
                Fate::Lost => verdict.lost += board.mark_lost(index),
            }
            next = board.next_original(index + 1);
        }
        let mut again = verdict.recheck_after;
        verdict.lost += board.walk_retransmissions(|record| {
            let (fate, left) = judge(record);
            again = again.max(left);
            fate
        });
        verdict.recheck_after = again;
        verdict
    }

    /// Returns true if a record is lost at a timeout; the others were sent too recently
    /// (`tcp_timeout_mark_lost`).
    pub(crate) fn has_timed_out(&self, now: Instant, sent_at: Instant, board: &Scoreboard, times: &Times) -> bool {
        let patience = self.rtt + self.reordering_window(board.sacked_out, times);
        now.checked_since(sent_at).unwrap_or_default() >= patience
    }

    /// Maximum delay of a segment relative to one sent later (`tcp_rack_reo_wnd`).
    fn reordering_window(&self, sacked_out: u32, times: &Times) -> Duration {
        if !self.reordering_seen && (times.recovering || sacked_out >= self.reordering) {
            return Duration::ZERO;
        }
        let quarters = times.min_rtt.unwrap_or_default() / 4 * u64::from(self.steps);
        quarters.min(times.srtt.unwrap_or_default())
    }
}

/// Inputs of the reordering window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) min_rtt: Option<Duration>,
    pub(crate) srtt: Option<Duration>,
    /// True while a loss is being repaired.
    pub(crate) recovering: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// `tcp_check_sack_reordering`, `tcp_enter_loss`: the degree is in segments, rounded up, at
    /// least three, at most 300; a timeout without current reordering resets it.
    #[test]
    fn the_degree_of_reordering() {
        let mut rack = Rack::new();
        for (distance, degree) in [
            (1, 3),
            (3_000, 3),
            (3_001, 4),
            (10_000, 10),
            (5_000, 10),
            (1 << 40, 300),
        ] {
            rack.on_reordering(distance, 1_000);
            assert_eq!(rack.reordering, degree, "{distance}");
        }
        for (disordered, sacked, degree) in [(true, 2, 300), (false, 3, 300), (true, 3, 3)] {
            rack.on_timeout(disordered, sacked);
            assert_eq!(rack.reordering, degree);
        }
    }

    /// RFC 8985 §6.2 step 4: the window is a quarter of the minimum round-trip time. It grows by
    /// another quarter for each round trip with a duplicate, to at most the smoothed round-trip
    /// time. After sixteen recoveries it is one quarter again. Zero if there was no reordering and
    /// a loss is certain.
    #[test]
    fn the_reordering_window() {
        let times = |recovering| Times {
            min_rtt: Some(ms(40)),
            srtt: Some(ms(45)),
            recovering,
        };
        let mut rack = Rack::new();
        assert_eq!(rack.reordering_window(2, &times(false)), ms(10));
        assert_eq!(rack.reordering_window(3, &times(false)), Duration::ZERO);
        assert_eq!(rack.reordering_window(0, &times(true)), Duration::ZERO);
        rack.on_reordering(1, 1_000);
        assert_eq!(rack.reordering_window(3, &times(true)), ms(10));
        rack.on_duplicate();
        rack.update_window(0, 10);
        assert_eq!(rack.reordering_window(3, &times(true)), ms(20));
        // Another duplicate in the same round trip.
        rack.on_duplicate();
        rack.update_window(9, 15);
        assert_eq!(rack.reordering_window(3, &times(true)), ms(20));
        for (quarters, window) in [(3, 30), (4, 40), (5, 45), (6, 45)] {
            rack.on_duplicate();
            rack.update_window(10 * quarters, 10 * quarters);
            assert_eq!(rack.reordering_window(3, &times(true)), ms(window));
        }
        for _ in 0..15 {
            rack.on_recovered();
            rack.update_window(100, 100);
        }
        assert_eq!(rack.reordering_window(3, &times(true)), ms(45));
        rack.on_recovered();
        rack.update_window(100, 100);
        assert_eq!(rack.reordering_window(3, &times(true)), ms(10));
    }
}
