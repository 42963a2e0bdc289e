//! Which of what was sent is lost: RACK (RFC 8985, `tcp_recovery.c`), judged by time.

use super::scoreboard::{Fate, Marks, Record, Scoreboard};
use netburn_units::{Duration, Instant};

/// Segments selectively acknowledged that show a loss where no reordering was ever seen (`TCP_FASTRETRANS_THRESH`).
pub(crate) const DUP_THRESHOLD: u32 = 3;
/// The largest degree of reordering that is remembered (`tcp_max_reordering`).
const MAX_REORDERING: u32 = 300;
/// Recoveries for which a widened reordering window lasts (`TCP_RACK_RECOVERY_THRESH`).
const PERSIST: u8 = 16;

/// The state of one sender.
#[derive(Debug, Clone)]
pub(crate) struct Rack {
    /// The most recently sent of the delivered records: its place in the order of transmissions, and its end. RFC 8985 orders by
    /// time, which here stands still while a host sends.
    newest: Option<(u64, u64)>,
    /// Its round trip.
    rtt: Duration,
    advanced: bool,
    /// The reordering window in quarters of the shortest round trip.
    steps: u8,
    persist: u8,
    duplicate_seen: bool,
    /// Delivered when `steps` was last raised.
    widened_at: u64,
    reordering_seen: bool,
    /// The degree of reordering in segments.
    pub(crate) reordering: u32,
}

/// What RACK found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Segments newly marked lost.
    pub(crate) lost: u32,
    /// When to look again.
    pub(crate) again: Option<Duration>,
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
        let sent = (record.order, record.end);
        let rtt = now.checked_since(record.snapshot.sent_at).unwrap_or_default();
        if record.marks.has(Marks::EVER_RETRANSMITTED) && min_rtt.is_some_and(|shortest| rtt < shortest) {
            // The acknowledgement is of the original (RFC 8985 §6.2 step 2).
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if self.newest.is_none_or(|newest| sent > newest) {
            self.newest = Some(sent);
        }
    }

    /// A segment that was sent once was delivered after one `distance` bytes beyond it (`tcp_check_sack_reordering`).
    pub(crate) fn on_reordering(&mut self, distance: u64, mss: u32) {
        let segments = u32::try_from(distance.div_ceil(u64::from(mss))).unwrap_or(u32::MAX);
        self.reordering = self.reordering.max(segments.min(MAX_REORDERING));
        self.reordering_seen = true;
    }

    /// The receiver tells of a duplicate.
    pub(crate) fn on_duplicate(&mut self) {
        self.duplicate_seen = true;
    }

    /// Widens the reordering window for duplicates, once a round trip (`tcp_rack_update_reo_wnd`, RFC 8985 §6.2 step 4).
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

    /// A recovery is over and was needed.
    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// What was thought lost wasn't: look again at the next acknowledgement.
    pub(crate) fn on_undo(&mut self) {
        self.advanced = true;
        self.persist = PERSIST;
    }

    /// After a time-out with little reordering, losses are believed sooner again.
    pub(crate) fn on_time_out(&mut self, disordered: bool, sacked: u32) {
        if disordered && sacked >= DUP_THRESHOLD {
            self.reordering = self.reordering.min(DUP_THRESHOLD);
        }
    }

    /// Looks for losses if anything was delivered since the last time (`tcp_rack_mark_lost`).
    pub(crate) fn detect_if_advanced(
        &mut self,
        now: Instant,
        board: &mut Scoreboard,
        times: &Times,
    ) -> Option<Verdict> {
        std::mem::take(&mut self.advanced).then(|| self.detect(now, board, times))
    }

    /// Marks what was sent so long before what is delivered that it must be lost (`tcp_rack_detect_loss`).
    pub(crate) fn detect(&self, now: Instant, board: &mut Scoreboard, times: &Times) -> Verdict {
        let mut verdict = Verdict { lost: 0, again: None };
        let Some(newest) = self.newest else { return verdict };
        let patience = self.rtt + self.reordering_window(board.sacked_out, times);
        let judge = |record: &Record| {
            if (record.order, record.end) >= newest {
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
            verdict.again = verdict.again.max(left);
            match fate {
                Fate::Stop => break,
                Fate::Wait => {}
                Fate::Lost => verdict.lost += board.mark_lost(index),
            }
            next = board.next_original(index + 1);
        }
        let mut again = verdict.again;
        verdict.lost += board.walk_retransmissions(|record| {
            let (fate, left) = judge(record);
            again = again.max(left);
            fate
        });
        verdict.again = again;
        verdict
    }

    /// Whether a record would be lost at a time-out; the others were sent too recently (`tcp_timeout_mark_lost`).
    pub(crate) fn has_timed_out(&self, now: Instant, sent_at: Instant, board: &Scoreboard, times: &Times) -> bool {
        let patience = self.rtt + self.reordering_window(board.sacked_out, times);
        now.checked_since(sent_at).unwrap_or_default() >= patience
    }

    /// How long a segment may come after one sent later (`tcp_rack_reo_wnd`).
    fn reordering_window(&self, sacked_out: u32, times: &Times) -> Duration {
        if !self.reordering_seen && (times.recovering || sacked_out >= self.reordering) {
            return Duration::ZERO;
        }
        let quarters = times.min_rtt.unwrap_or_default() / 4 * u64::from(self.steps);
        quarters.min(times.srtt.unwrap_or_default())
    }
}

/// What the reordering window follows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) min_rtt: Option<Duration>,
    pub(crate) srtt: Option<Duration>,
    /// Whether a loss is being repaired already.
    pub(crate) recovering: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// `tcp_check_sack_reordering`, `tcp_enter_loss`: the degree is in segments, rounded up, never less than three, at most 300; a time-out
    /// without reordering in sight takes it back.
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
            rack.on_time_out(disordered, sacked);
            assert_eq!(rack.reordering, degree);
        }
    }

    /// RFC 8985 §6.2 step 4: a quarter of the shortest round trip, one more for each round trip with a duplicate, at most the smoothed round
    /// trip; back to one quarter after sixteen recoveries. Nothing where no reordering was seen and a loss is certain.
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
        // Another duplicate of the same round trip.
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
