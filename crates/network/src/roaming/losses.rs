//! Packets lost in a row, as mac80211 counts and reports them (`ieee80211_lost_packet` in
//! `net/mac80211/status.c`).

use netburn_units::{Duration, Instant};

/// Lost packets in a row that are reported, and the minimum time since the last acknowledgement
/// (`STA_LOST_PKT_THRESHOLD`, `STA_LOST_PKT_TIME`).
const PACKETS: u32 = 50;
const TIME: Duration = Duration::from_secs(1);

/// Losses from one sender to one receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Losses {
    in_a_row: u32,
    acknowledged: Instant,
}

impl Losses {
    /// None so far. The time counts from `now`, as since an acknowledgement.
    pub(crate) fn new(now: Instant) -> Self {
        Losses {
            in_a_row: 0,
            acknowledged: now,
        }
    }

    /// Counts a packet that was acknowledged, or lost after its last retry. Returns true if the losses are
    /// reported. The count then starts again.
    pub(crate) fn count(&mut self, now: Instant, lost: bool) -> bool {
        if !lost {
            (self.in_a_row, self.acknowledged) = (0, now);
            return false;
        }
        self.in_a_row += 1;
        let reported = self.in_a_row >= PACKETS && now.since(self.acknowledged) >= TIME;
        if reported {
            self.in_a_row = 0;
        }
        reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of the first loss that is reported, with one loss each `interval`; the last
    /// acknowledgement is at 0.
    fn first_report(interval: Duration) -> u64 {
        let mut losses = Losses::new(Instant::from_secs(-5));
        losses.count(Instant::ZERO, false);
        let at = |loss: u64| Instant::ZERO + interval * loss;
        (1..).find(|loss| losses.count(at(*loss), true)).expect("a report")
    }

    /// The 50th loss if it is a second after the acknowledgement: 50 · 20 ms = 1 s. With 10 ms the 100th.
    #[test]
    fn fifty_losses_and_a_second() {
        assert_eq!(first_report(Duration::from_millis(20)), 50);
        assert_eq!(first_report(Duration::from_millis(100)), 50);
        assert_eq!(first_report(Duration::from_millis(10)), 100);
    }

    /// After a report the count starts again: another 50 losses.
    #[test]
    fn a_report_starts_the_count_again() {
        let mut losses = Losses::new(Instant::ZERO);
        let at = |loss: u64| Instant::ZERO + Duration::from_millis(100) * loss;
        let reports: Vec<u64> = (1..=150).filter(|loss| losses.count(at(*loss), true)).collect();
        assert_eq!(reports, [50, 100, 150]);
    }
}
