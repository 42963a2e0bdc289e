//! Rate by the signal of the detector: additive or multiplicative increase, multiplicative decrease (section 5.5).

use super::detector::Signal;
use netburn_units::{Duration, Instant};

/// Factor of the received rate after over-use, β.
const DECREASE: f64 = 0.85;
/// Factor of a multiplicative increase in one second, η.
const INCREASE: f64 = 1.08;
/// The rate is at most this factor of the received rate.
const MAX_FACTOR: f64 = 1.5;
/// Smallest additive increase in bit/s.
const MIN_STEP: f64 = 1000.0;
/// Frames per second of the estimate of the packet size.
const FRAME_RATE: f64 = 30.0;
/// Largest packet in bits.
const PACKET_BITS: f64 = 1200.0 * 8.0;
/// Smoothing of the rate at which over-use occurs.
const SMOOTHING: f64 = 0.95;
/// Distance from that rate, in standard deviations, within which the increase is additive.
const NEAR: f64 = 3.0;
/// Range of the minimum time between two decreases, which is the round trip. libwebrtc has the same range.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(200));
/// Delay of the sender's and the detector's reaction in ms, without the round trip.
const RESPONSE_MS: f64 = 100.0;

/// Delay-based rate in bit/s.
#[derive(Debug, Clone)]
pub(super) struct Aimd {
    rate: f64,
    updated: Option<Instant>,
    decreased: Option<Instant>,
    maximum: Option<Maximum>,
}

/// Average and variance of the received rate at over-use. The variance is relative to the average.
#[derive(Debug, Clone, Copy)]
struct Maximum {
    average: f64,
    variance: f64,
}

impl Maximum {
    /// The initial relative variance of libwebrtc: 0.4 kbit/s, as (variance in kbit²/s²) / average.
    const INITIAL_VARIANCE: f64 = 0.4e3;
    const VARIANCE_RANGE: (f64, f64) = (0.4e3, 2.5e3);

    fn deviation(&self) -> f64 {
        libm::sqrt(self.variance * self.average)
    }

    fn put(of: Option<Maximum>, rate: f64) -> Maximum {
        let Some(Maximum { average, variance }) = of else {
            return Maximum {
                average: rate,
                variance: Self::INITIAL_VARIANCE,
            };
        };
        let average = SMOOTHING * average + (1.0 - SMOOTHING) * rate;
        let error = average - rate;
        let relative = error * error / average.max(1.0);
        let variance = SMOOTHING * variance + (1.0 - SMOOTHING) * relative;
        Maximum {
            average,
            variance: variance.clamp(Self::VARIANCE_RANGE.0, Self::VARIANCE_RANGE.1),
        }
    }
}

impl Aimd {
    pub(super) fn new(rate: f64) -> Self {
        Aimd {
            rate,
            updated: None,
            decreased: None,
            maximum: None,
        }
    }

    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Updates the rate at `now`. `received` is the rate at which packets arrive, if known; `range` is the range of the rate.
    pub(super) fn update(
        &mut self,
        now: Instant,
        signal: Signal,
        received: Option<f64>,
        round_trip: Duration,
        range: (f64, f64),
    ) {
        let elapsed = self.updated.and_then(|updated| now.checked_since(updated));
        let elapsed_ms = elapsed.unwrap_or_default().as_millis_f64();
        self.updated = Some(now);
        match signal {
            Signal::UnderUse => {}
            Signal::Normal => {
                let is_beyond = |maximum: &Maximum| {
                    received.is_some_and(|received| received > maximum.average + NEAR * maximum.deviation())
                };
                self.maximum = self.maximum.filter(|maximum| !is_beyond(maximum));
                let raised = if self.maximum.is_some() {
                    self.rate + self.additive(elapsed_ms, round_trip)
                } else {
                    let seconds = (elapsed_ms / 1000.0).min(1.0);
                    self.rate * libm::pow(INCREASE, seconds)
                };
                let most = received.map_or(raised, |received| MAX_FACTOR * received);
                // The limit does not lower the rate of a sender that sends less.
                self.rate = raised.min(most.max(self.rate));
            }
            Signal::OverUse => {
                // The effect of a decrease is known after a round trip.
                let pause = round_trip.clamp(PAUSE.0, PAUSE.1);
                let since = self.decreased.and_then(|decreased| now.checked_since(decreased));
                if since.is_some_and(|since| since < pause) {
                    return;
                }
                self.decreased = Some(now);
                let received = received.unwrap_or(self.rate);
                let is_below = |maximum: &Maximum| received < maximum.average - NEAR * maximum.deviation();
                self.maximum = self.maximum.filter(|maximum| !is_below(maximum));
                self.rate = self.rate.min(DECREASE * received);
                self.maximum = Some(Maximum::put(self.maximum, received));
            }
        }
        self.rate = self.rate.clamp(range.0, range.1);
    }

    /// About half a packet in each response time.
    fn additive(&self, elapsed_ms: f64, round_trip: Duration) -> f64 {
        let response = RESPONSE_MS + round_trip.as_millis_f64();
        let share = 0.5 * (elapsed_ms / response).min(1.0);
        let frame = self.rate / FRAME_RATE;
        let packet = frame / libm::ceil(frame / PACKET_BITS).max(1.0);
        (share * packet).max(MIN_STEP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: (f64, f64) = (50e3, 5e6);
    const TRIP: Duration = Duration::from_millis(100);

    fn at(millis: i64) -> Instant {
        Instant::from_millis(millis)
    }

    /// One second of normal use is a factor of 1.08, in steps of 100 ms as well.
    #[test]
    fn the_rate_rises_by_8_percent_per_second() {
        let mut aimd = Aimd::new(1e6);
        aimd.update(at(0), Signal::Normal, None, TRIP, RANGE);
        (1..=10).for_each(|step| aimd.update(at(step * 100), Signal::Normal, Some(1e6), TRIP, RANGE));
        assert!((aimd.rate() - 1.08e6).abs() < 1.0, "{}", aimd.rate());
        // A pause counts as one second.
        aimd.update(at(9_000), Signal::Normal, Some(1.08e6), TRIP, RANGE);
        assert!((aimd.rate() - 1.08e6 * 1.08).abs() < 1.0, "{}", aimd.rate());
    }

    /// 85 % of the received 1 Mbit/s. A second decrease within the round trip of 100 ms has no effect. Then the rate rises
    /// additively near 1 Mbit/s. A frame of
    /// 850,000 / 30 = 28,333 bit has 3 packets of 9,444 bit. The response time is 200 ms, so 100 ms add half of a half: 2,361.
    #[test]
    fn over_use_lowers_the_rate_and_the_rise_is_additive() {
        let mut aimd = Aimd::new(1.2e6);
        aimd.update(at(0), Signal::OverUse, Some(1e6), TRIP, RANGE);
        assert!((aimd.rate() - 0.85e6).abs() < 1e-3);
        aimd.update(at(99), Signal::OverUse, Some(0.5e6), TRIP, RANGE);
        aimd.update(at(199), Signal::Normal, Some(0.95e6), TRIP, RANGE);
        let expected = 0.85e6 + 0.25 * 0.85e6 / 30.0 / 3.0;
        assert!((aimd.rate() - expected).abs() < 1.0, "{}", aimd.rate());
        // Three deviations above 1 Mbit/s, sqrt(400 · 10⁶) = 20 kbit/s each, the rise is multiplicative again.
        let before = aimd.rate();
        aimd.update(at(1_199), Signal::Normal, Some(1.061e6), TRIP, RANGE);
        assert!((aimd.rate() / before - 1.08).abs() < 1e-9);
    }

    #[test]
    fn the_rate_is_held_while_the_queue_shrinks() {
        let mut aimd = Aimd::new(1e6);
        for step in 0..20 {
            aimd.update(at(step * 100), Signal::UnderUse, Some(1e6), TRIP, RANGE);
        }
        assert_eq!(aimd.rate(), 1e6);
    }

    /// The rate is at most 1.5 times the received one, and in its range.
    #[test]
    fn the_rate_is_bounded() {
        let mut aimd = Aimd::new(1e6);
        aimd.update(at(0), Signal::Normal, Some(0.7e6), TRIP, RANGE);
        aimd.update(at(1_000), Signal::Normal, Some(0.7e6), TRIP, RANGE);
        assert!((aimd.rate() - 1.05e6).abs() < 1e-3);
        aimd.update(at(2_000), Signal::OverUse, Some(10e3), TRIP, RANGE);
        assert_eq!(aimd.rate(), RANGE.0);
    }
}
