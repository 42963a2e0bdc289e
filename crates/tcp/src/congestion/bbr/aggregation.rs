//! Acknowledgement aggregation: acknowledged data beyond the estimated bandwidth, as over Wi-Fi
//! (`bbr_update_ack_aggregation`, since Linux 5.1).

use super::bandwidth::Bandwidth;
use netburn_units::Instant;

/// Length in rounds of each of the two windows of the maximum.
const WINDOW_ROUNDS: u32 = 5;
/// Maximum number of segments of an epoch.
const EPOCH_SEGMENTS: u64 = 1 << 20;
/// The excess is limited to this many microseconds at the bandwidth.
const MAX_MICROS: u64 = 100_000;

/// Excess of one connection.
#[derive(Debug, Clone)]
pub(super) struct Aggregation {
    epoch_began: Instant,
    epoch_acked: u64,
    /// Maximum of this window of rounds and of the previous one.
    most: [u64; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            epoch_began: now,
            epoch_acked: 0,
            most: [0; 2],
            current: 0,
            rounds: 0,
        }
    }

    /// Restarts after an idle period.
    pub(super) fn restart(&mut self, now: Instant) {
        self.epoch_began = now;
        self.epoch_acked = 0;
    }

    pub(super) fn on_ack(&mut self, now: Instant, acked: u32, round_starts: bool, bandwidth: Bandwidth, cwnd: u32) {
        if round_starts {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.current ^= 1;
                self.most[self.current] = 0;
            }
        }
        let acked = u64::from(acked);
        let micros = now.checked_since(self.epoch_began).unwrap_or_default().as_nanos() / 1_000;
        let mut expected = bandwidth.segments_in(micros);
        if self.epoch_acked <= expected || self.epoch_acked + acked >= EPOCH_SEGMENTS {
            self.restart(now);
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + acked).min(EPOCH_SEGMENTS - 1);
        let excess = self.epoch_acked.saturating_sub(expected).min(u64::from(cwnd));
        self.most[self.current] = self.most[self.current].max(excess);
    }

    /// Segments to add to the window.
    pub(super) fn excess(&self, bandwidth: Bandwidth) -> u64 {
        self.most[0].max(self.most[1]).min(bandwidth.segments_in(MAX_MICROS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Duration;

    fn ms(millis: i64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Whole milliseconds deliver whole segments: a millionth more than one per millisecond.
    fn one_each_ms() -> Bandwidth {
        Bandwidth(Bandwidth::new(1, Duration::from_millis(1)).0 + 1)
    }

    #[test]
    fn the_excess_is_one_aggregate() {
        for size in [1, 8, 20] {
            let mut aggregation = Aggregation::new(ms(0));
            for n in 1..50 {
                aggregation.on_ack(ms(n * size), size as u32, false, one_each_ms(), 1_000);
            }
            assert_eq!(aggregation.excess(one_each_ms()), size as u64);
        }
    }

    #[test]
    fn it_is_forgotten_after_ten_rounds_and_bounded() {
        let mut aggregation = Aggregation::new(ms(0));
        aggregation.on_ack(ms(1), 500, false, one_each_ms(), 300);
        // The window limits the stored value, 100 ms at the bandwidth limit the result.
        assert_eq!(aggregation.most[0], 300);
        assert_eq!(aggregation.excess(one_each_ms()), 100);
        for round in 1..=10 {
            assert_eq!(aggregation.excess(one_each_ms()), 100, "round {round}");
            aggregation.on_ack(ms(1_000 * round), 1, true, one_each_ms(), 300);
        }
        assert_eq!(aggregation.excess(one_each_ms()), 1);
    }
}
