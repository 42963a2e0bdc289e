//! Round-trip time: smoothed, variation, minimum; and the retransmission timeout (RFC 6298, as in
//! Linux).

use netburn_units::{Duration, Instant};

/// Minimum that the variation adds to the smoothed round-trip time (`TCP_RTO_MIN`).
const RTO_MIN: i64 = 200_000_000;
/// Timeout before the first sample (RFC 6298 §2.1, `TCP_TIMEOUT_INIT`).
const RTO_INITIAL: Duration = Duration::from_secs(1);
/// Maximum timeout (`TCP_RTO_MAX`).
const RTO_MAX: Duration = Duration::from_secs(120);
/// Length of the window of the minimum round-trip time (`tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(300);

/// RTT estimator of one sender (`tcp_rtt_estimator`).
#[derive(Debug, Clone)]
pub(crate) struct RttEstimator {
    /// Nanoseconds; none before the first sample.
    srtt: Option<i64>,
    /// Four times the mean deviation, its maximum in this round trip, and the value for the
    /// timeout.
    mdev: i64,
    mdev_max: i64,
    rttvar: i64,
    /// End of the round trip over which `mdev_max` is computed.
    round_end: u64,
    backoff: u32,
    min: MinRtt,
}

impl RttEstimator {
    pub(crate) fn new() -> Self {
        Self {
            srtt: None,
            mdev: 0,
            mdev_max: RTO_MIN,
            rttvar: 0,
            round_end: 0,
            backoff: 0,
            min: MinRtt::default(),
        }
    }

    /// Adds a sample. `una` and `next` delimit the rounds.
    pub(crate) fn sample(&mut self, rtt: Duration, una: u64, next: u64) {
        let sample = i64::try_from(rtt.as_nanos())
            .unwrap_or(i64::MAX / 8)
            .clamp(1, i64::MAX / 8);
        self.backoff = 0;
        let Some(srtt) = self.srtt else {
            self.srtt = Some(sample);
            self.mdev = sample * 2;
            self.rttvar = self.mdev.max(RTO_MIN);
            self.mdev_max = self.rttvar;
            self.round_end = next;
            return;
        };
        let error = sample - srtt;
        self.srtt = Some((srtt + error / 8).max(1));
        let mut deviation = error.abs() - self.mdev / 4;
        if error < 0 && deviation > 0 {
            // A decreasing round-trip time is no reason for a longer timeout (specific to Linux;
            // not in RFC 6298).
            deviation /= 8;
        }
        self.mdev += deviation;
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if una > self.round_end {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) / 4;
            }
            self.round_end = next;
            self.mdev_max = RTO_MIN;
        }
    }

    /// Adds a sample of the minimum round-trip time.
    pub(crate) fn sample_min(&mut self, now: Instant, rtt: Duration) {
        self.min.sample(now, rtt);
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.srtt.map(|nanos| Duration::from_nanos(nanos.unsigned_abs()))
    }

    /// Mean deviation (`tcpi_rttvar`).
    pub(crate) fn deviation(&self) -> Duration {
        Duration::from_nanos((self.mdev / 4).unsigned_abs())
    }

    pub(crate) fn min(&self) -> Option<Duration> {
        self.min.get()
    }

    /// Retransmission timeout with its backoff.
    pub(crate) fn rto(&self) -> Duration {
        let base = match self.srtt {
            Some(srtt) => Duration::from_nanos((srtt + self.rttvar).unsigned_abs()),
            None => RTO_INITIAL,
        };
        base.checked_mul(1 << self.backoff.min(20))
            .map_or(RTO_MAX, |rto| rto.min(RTO_MAX))
    }

    /// Doubles the timeout after it expired (RFC 6298 §5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }

    pub(crate) fn clear_backoff(&mut self) {
        self.backoff = 0;
    }
}

/// Minimum over a sliding window from three samples (Nichols' algorithm, `lib/win_minmax.c`).
#[derive(Debug, Clone, Default)]
struct MinRtt {
    best: Option<[(Instant, Duration); 3]>,
}

impl MinRtt {
    fn get(&self) -> Option<Duration> {
        self.best.map(|best| best[0].1)
    }

    fn sample(&mut self, now: Instant, rtt: Duration) {
        let sample = (now, rtt);
        let Some(best) = &mut self.best else {
            self.best = Some([sample; 3]);
            return;
        };
        let age = |at: Instant| now.checked_since(at).unwrap_or_default();
        if rtt <= best[0].1 || age(best[2].0) > MIN_RTT_WINDOW {
            *best = [sample; 3];
            return;
        }
        if rtt <= best[1].1 {
            best[1] = sample;
            best[2] = sample;
        } else if rtt <= best[2].1 {
            best[2] = sample;
        }
        if age(best[0].0) > MIN_RTT_WINDOW {
            *best = [best[1], best[2], sample];
            if age(best[0].0) > MIN_RTT_WINDOW {
                *best = [best[1], best[2], sample];
            }
        } else if best[1].0 == best[0].0 && age(best[0].0) > MIN_RTT_WINDOW / 4 {
            best[1] = sample;
            best[2] = sample;
        } else if best[2].0 == best[1].0 && age(best[0].0) > MIN_RTT_WINDOW / 2 {
            best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn timeouts_by_hand() {
        let mut rtt = RttEstimator::new();
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        // The first sample R: SRTT = R, RTTVAR = R/2, RTO = R + 4 × R/2 (RFC 6298 §2.2).
        rtt.sample(ms(300), 0, 0);
        assert_eq!(rtt.rto(), ms(900));
        // R' = 380: RTTVAR = 3/4 × 150 + 1/4 × 80 = 132.5; SRTT = 300 + 80/8 = 310 (§2.3). Linux lets the variation fall
        // only once a round: RTO is 310 + 600.
        rtt.sample(ms(380), 0, 0);
        assert_eq!(rtt.srtt(), Some(ms(310)));
        assert_eq!(rtt.deviation(), Duration::from_micros(132_500));
        assert_eq!(rtt.rto(), ms(910));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), ms(3_640));
        for _ in 0..40 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), Duration::from_secs(120));
    }

    /// For a round-trip time of 300 ms the variation is 600 ms (four times a half). From there it
    /// decreases by a quarter of its difference to the maximum deviation of each round. The
    /// deviation itself decreases by a quarter with each equal sample.
    #[test]
    fn the_variation_falls_once_a_round() {
        let mut rtt = RttEstimator::new();
        rtt.sample(ms(300), 0, 1);
        rtt.sample(ms(300), 1, 1);
        assert_eq!((rtt.deviation() * 4, rtt.rto()), (ms(450), ms(900)));
        // The next round begins; its maximum deviation is not known yet.
        rtt.sample(ms(300), 2, 2);
        assert_eq!(
            (rtt.deviation() * 4, rtt.rto()),
            (Duration::from_micros(337_500), ms(900))
        );
        // 337.5 × 3/4 = 253.125 is the largest: 600 − (600 − 253.125) ÷ 4.
        rtt.sample(ms(300), 3, 3);
        assert_eq!(rtt.rto(), ms(300) + Duration::from_nanos(513_281_250));
    }

    #[test]
    fn never_less_than_200_ms_above_the_round_trip() {
        let mut rtt = RttEstimator::new();
        for round in 1..200 {
            rtt.sample(ms(10), round, round);
        }
        assert_eq!(rtt.srtt(), Some(ms(10)));
        assert_eq!(rtt.rto(), ms(210));
    }

    #[test]
    fn the_shortest_round_trip_is_forgotten_after_five_minutes() {
        let mut min = MinRtt::default();
        for second in 0..900 {
            let rtt = if second == 10 { ms(5) } else { ms(20) };
            min.sample(Instant::from_secs(second), rtt);
            let expected = if (10..=310).contains(&second) { ms(5) } else { ms(20) };
            assert_eq!(min.get(), Some(expected), "{second} s");
        }
    }
}
