//! HyStart: leaving slow start before the queue overflows (Ha and Rhee, "Taming the elephants",
//! 2011), as in Linux's `tcp_cubic.c`.
//!
//! It detects two signs within one round trip. *Train*: closely spaced acknowledgements span the
//! round-trip time of the path. Without pacing half of it is enough, because the burst was sent at
//! once and the bottleneck spreads its acknowledgements. *Delay*: the minimum of the first
//! round-trip times of a round exceeds the overall minimum by more than a threshold. The threshold
//! is an eighth of the minimum, at least 4 and at most 16 ms.

use super::Ack;
use super::window::Window;
use netburn_units::{BitRate, Duration, Instant};

/// Minimum window for the detection, in segments.
const LOW_WINDOW: u32 = 16;
/// Maximum gap between acknowledgements of one train.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// Number of round-trip samples before their minimum counts.
const MIN_SAMPLES: u32 = 8;
/// Minimum and maximum increase of the delay.
const DELAY_MIN: Duration = Duration::from_millis(4);
const DELAY_MAX: Duration = Duration::from_millis(16);
/// Maximum burst that a host passes to its device at once, in bytes.
const GSO_MAX: u64 = 65_536;

/// HyStart state of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct HyStart {
    found: bool,
    paced: bool,
    /// Minimum round-trip time so far.
    shortest: Option<Duration>,
    round_began: Instant,
    round_ends: u64,
    last_ack: Instant,
    shortest_of_round: Option<Duration>,
    samples: u32,
}

/// Sample of one acknowledgement with a round-trip time.
pub(super) struct Sample {
    pub(super) now: Instant,
    pub(super) rtt: Duration,
    pub(super) next: u64,
    pub(super) acked_to: u64,
    /// Window in segments.
    pub(super) cwnd: u32,
    pub(super) in_slow_start: bool,
    pub(super) pacing_rate: Option<BitRate>,
}

impl Sample {
    /// Sample of `ack`, which measured `rtt`.
    pub(super) fn from_ack(ack: &Ack, rtt: Duration, window: &Window) -> Self {
        Self {
            now: ack.now,
            rtt,
            next: ack.next,
            acked_to: ack.acked_to,
            cwnd: window.cwnd(),
            in_slow_start: window.in_slow_start(),
            pacing_rate: ack.pacing_rate,
        }
    }
}

impl HyStart {
    pub(super) fn on_established(&mut self, now: Instant, next: u64, paced: bool) {
        self.paced = paced;
        self.begin_round(now, next);
    }

    /// Restarts the detection with slow start after a retransmission timeout.
    pub(super) fn reset(&mut self, now: Instant) {
        self.found = false;
        self.shortest = None;
        self.begin_round(now, 0);
    }

    /// Minimum round-trip time so far; zero before the first sample.
    pub(super) fn shortest_rtt(&self) -> Duration {
        self.shortest.unwrap_or_default()
    }

    /// Returns true if slow start should end here (`cubictcp_acked`, `hystart_update`).
    pub(super) fn on_ack(&mut self, sample: &Sample) -> bool {
        let rtt = sample.rtt.max(Duration::from_nanos(1_000));
        let shortest = self.shortest.map_or(rtt, |shortest| shortest.min(rtt));
        self.shortest = Some(shortest);
        if self.found || !sample.in_slow_start {
            return false;
        }
        if sample.acked_to > self.round_ends {
            self.begin_round(sample.now, sample.next);
        }
        if sample.cwnd < LOW_WINDOW {
            return false;
        }
        let train = self.is_train_long(sample, shortest);
        let delay = self.has_delay_grown(rtt, shortest);
        self.found = train || delay;
        self.found
    }

    fn begin_round(&mut self, now: Instant, next: u64) {
        self.round_began = now;
        self.last_ack = now;
        self.round_ends = next;
        self.shortest_of_round = None;
        self.samples = 0;
    }

    fn is_train_long(&mut self, sample: &Sample, shortest: Duration) -> bool {
        let since = |then| sample.now.checked_since(then).unwrap_or_default();
        if since(self.last_ack) > TRAIN_GAP {
            return false;
        }
        self.last_ack = sample.now;
        let whole = shortest + burst_delay(sample.pacing_rate);
        // Pacing spreads the data of slow start over half a round trip.
        let threshold = if self.paced {
            whole.as_nanos()
        } else {
            whole.as_nanos() / 2
        };
        since(self.round_began).as_nanos() > threshold
    }

    fn has_delay_grown(&mut self, rtt: Duration, shortest: Duration) -> bool {
        let of_round = self.shortest_of_round.map_or(rtt, |least| least.min(rtt));
        self.shortest_of_round = Some(of_round);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let eighth = Duration::from_nanos(shortest.as_nanos() / 8);
        of_round > shortest + eighth.clamp(DELAY_MIN, DELAY_MAX)
    }
}

/// Contribution of bursts in the host to a train: four of the maximum size at the pacing rate, at
/// most 1 ms (`hystart_ack_delay`).
fn burst_delay(pacing_rate: Option<BitRate>) -> Duration {
    let Some(rate) = pacing_rate.filter(|rate| rate.as_bps() > 0) else {
        return Duration::ZERO;
    };
    let nanos = GSO_MAX * 4 * 8 * 1_000_000_000 / rate.as_bps();
    Duration::from_nanos(nanos).min(Duration::from_millis(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rounds of 20 acknowledgements on a path of 40 ms, `gap` µs apart, the second with
    /// round-trip times longer by `queue` µs. Returns the round and the acknowledgement at which
    /// slow start ends.
    fn left_at(paced: bool, gap: i64, queue: u64) -> Option<(i64, i64)> {
        let mut hystart = HyStart::default();
        hystart.on_established(Instant::ZERO, 0, paced);
        for round in 0..2 {
            for n in 0..20 {
                let sample = Sample {
                    now: Instant::from_micros((1 + round) * 100_000 + n * gap),
                    rtt: Duration::from_micros(40_000 + queue * round as u64),
                    // Data sent in a round are acknowledged in the next.
                    next: (20 * (round + 1)) as u64,
                    acked_to: (20 * round + n + 1) as u64,
                    cwnd: 20,
                    in_slow_start: true,
                    pacing_rate: None,
                };
                if hystart.on_ack(&sample) {
                    return Some((round, n));
                }
            }
        }
        None
    }

    #[test]
    fn a_train_of_half_a_round_trip_ends_it_and_of_a_whole_one_when_paced() {
        // 1 ms apart the round's 20 acknowledgements span 19 ms, below half of 40.
        assert_eq!(left_at(false, 1_000, 0), None);
        // 1.5 ms apart the 14th after the first comes after 21 ms, the 13th after 19.5.
        assert_eq!(left_at(false, 1_500, 0), Some((0, 14)));
        // Paced it takes 40 ms: 19 gaps of 2 ms are 38.
        assert_eq!(left_at(true, 2_000, 0), None);
        // With gaps above 2 ms it is no train.
        assert_eq!(left_at(false, 2_100, 0), None);
    }

    #[test]
    fn a_delay_grown_by_an_eighth_ends_it_after_eight_samples() {
        // An eighth of 40 ms is 5.
        assert_eq!(left_at(false, 100, 5_000), None);
        assert_eq!(left_at(false, 100, 5_001), Some((1, 8)));
    }

    #[test]
    fn below_the_low_window_nothing_is_looked_for() {
        let mut hystart = HyStart::default();
        hystart.on_established(Instant::ZERO, 0, false);
        for n in 1..100 {
            let sample = Sample {
                now: Instant::from_millis(n),
                rtt: Duration::from_millis(10),
                next: 1_000,
                acked_to: 1,
                cwnd: LOW_WINDOW - 1,
                in_slow_start: true,
                pacing_rate: None,
            };
            assert!(!hystart.on_ack(&sample));
        }
    }

    #[test]
    fn bursts_add_a_millisecond_at_most() {
        // 256 KiB at 10 Gbit/s: 209.7 µs.
        assert_eq!(
            burst_delay(Some(BitRate::from_mbps(10_000))),
            Duration::from_nanos(209_715)
        );
        assert_eq!(burst_delay(Some(BitRate::from_mbps(10))), Duration::from_millis(1));
        assert_eq!(burst_delay(None), Duration::ZERO);
    }
}
