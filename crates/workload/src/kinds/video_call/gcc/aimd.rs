//! Rate by the signal of the detector: additive or multiplicative increase, multiplicative decrease (section 5.5).
//! Constants of `AimdRateControl` in libwebrtc.

use super::detector::Signal;
use netburn_units::{Duration, Instant};

/// Factor of the received rate after over-use, β.
const DECREASE: f64 = 0.85;
/// Factor of a multiplicative increase in one second, η.
const INCREASE: f64 = 1.08;
/// The decreased rate is lower by this number of bit/s.
const MARGIN: f64 = 5e3;
/// The rate is at most this factor of the received rate, and this number of bit/s above.
const MAX_FACTOR: f64 = 1.5;
const MAX_OFFSET: f64 = 10e3;
/// Smallest multiplicative increase in bit/s.
const MIN_STEP: f64 = 1000.0;
/// Smallest additive increase in bit/s per second.
const MIN_SLOPE: f64 = 4000.0;
/// Frames per second of the estimate of the packet size.
const FRAME_RATE: f64 = 30.0;
/// Largest packet in bits.
const PACKET_BITS: f64 = 1200.0 * 8.0;
/// Smoothing of the rate at which over-use occurs.
const SMOOTHING: f64 = 0.95;
/// Distance from that rate, in standard deviations, within which the increase is additive.
const NEAR: f64 = 3.0;
/// Range of the time between a change and a decrease, which is the round trip.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(200));
/// Delay of the sender's and the detector's reaction in ms, without the round trip.
const RESPONSE_MS: f64 = 100.0;
/// A decrease does not wait if the received rate is below this factor of the rate.
const COLLAPSE: f64 = 0.5;

/// Delay-based rate in bit/s.
#[derive(Debug, Clone)]
pub(super) struct Aimd {
    rate: f64,
    /// Last increase or decrease.
    changed: Option<Instant>,
    /// True from a decrease or under-use to the next normal signal: the queue drains first.
    holds: bool,
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
            changed: None,
            holds: true,
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
        match signal {
            Signal::UnderUse => self.holds = true,
            Signal::Normal => self.increase(now, received, round_trip),
            Signal::OverUse if self.may_decrease(now, received, round_trip) => self.decrease(now, received),
            Signal::OverUse => {}
        }
        self.rate = self.rate.clamp(range.0, range.1);
    }

    fn increase(&mut self, now: Instant, received: Option<f64>, round_trip: Duration) {
        if std::mem::take(&mut self.holds) {
            self.changed = Some(now);
        }
        let elapsed = self.changed.and_then(|changed| now.checked_since(changed));
        let seconds = elapsed.unwrap_or_default().as_secs_f64();
        self.changed = Some(now);
        let is_beyond = |maximum: &Maximum| {
            received.is_some_and(|received| received > maximum.average + NEAR * maximum.deviation())
        };
        self.maximum = self.maximum.filter(|maximum| !is_beyond(maximum));
        let raised = if self.maximum.is_some() {
            self.rate + self.slope(round_trip) * seconds
        } else {
            let factor = libm::pow(INCREASE, seconds.min(1.0));
            self.rate + (self.rate * (factor - 1.0)).max(MIN_STEP)
        };
        let most = received.map_or(raised, |received| MAX_FACTOR * received + MAX_OFFSET);
        // The limit does not lower the rate of a sender that sends less.
        self.rate = raised.min(most.max(self.rate));
    }

    /// The effect of a change is known after a round trip.
    fn may_decrease(&self, now: Instant, received: Option<f64>, round_trip: Duration) -> bool {
        let pause = round_trip.clamp(PAUSE.0, PAUSE.1);
        let since = self.changed.and_then(|changed| now.checked_since(changed));
        since.is_none_or(|since| since >= pause) || received.is_some_and(|received| received < COLLAPSE * self.rate)
    }

    fn decrease(&mut self, now: Instant, received: Option<f64>) {
        (self.changed, self.holds) = (Some(now), true);
        let Some(received) = received else {
            self.rate /= 2.0;
            return;
        };
        let mut decreased = DECREASE * received;
        if decreased > MARGIN {
            decreased -= MARGIN;
        }
        if decreased > self.rate
            && let Some(maximum) = self.maximum
        {
            decreased = DECREASE * maximum.average;
        }
        self.rate = self.rate.min(decreased);
        let is_below = |maximum: &Maximum| received < maximum.average - NEAR * maximum.deviation();
        self.maximum = self.maximum.filter(|maximum| !is_below(maximum));
        self.maximum = Some(Maximum::put(self.maximum, received));
    }

    /// Additive increase in bit/s per second: half a packet in each response time.
    fn slope(&self, round_trip: Duration) -> f64 {
        let response = (RESPONSE_MS + round_trip.as_millis_f64()) / 1000.0;
        let frame = self.rate / FRAME_RATE;
        let packet = frame / libm::ceil(frame / PACKET_BITS).max(1.0);
        (packet / 2.0 / response).max(MIN_SLOPE)
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

    /// A controller that begins with 1 Mbit/s, after its first feedback, which adds 1 kbit/s.
    fn started() -> Aimd {
        let mut aimd = Aimd::new(0.999e6);
        aimd.update(at(0), Signal::Normal, None, TRIP, RANGE);
        assert!((aimd.rate() - 1e6).abs() < 1e-6);
        aimd
    }

    /// One second of normal use is a factor of 1.08, in steps of 100 ms as well.
    #[test]
    fn the_rate_rises_by_8_percent_per_second() {
        let mut aimd = started();
        (1..=10).for_each(|step| aimd.update(at(step * 100), Signal::Normal, Some(1e6), TRIP, RANGE));
        assert!((aimd.rate() - 1.08e6).abs() < 1.0, "{}", aimd.rate());
        // A pause counts as one second.
        aimd.update(at(9_000), Signal::Normal, Some(1.08e6), TRIP, RANGE);
        assert!((aimd.rate() - 1.08e6 * 1.08).abs() < 1.0, "{}", aimd.rate());
    }

    /// 85 % of the received 1 Mbit/s, without 5 kbit/s. A second decrease within the round trip of 100 ms has no effect. The
    /// first normal signal ends the decrease. Then the rate rises additively near 1 Mbit/s. A frame of 845,000 / 30 =
    /// 28,167 bit has 3 packets of 9,389 bit. The response time is 200 ms, so the rate rises by 9,389 / 2 / 0.2 = 23,472
    /// bit/s in a second.
    #[test]
    fn over_use_lowers_the_rate_and_the_rise_is_additive() {
        let mut aimd = Aimd::new(1.2e6);
        aimd.update(at(0), Signal::OverUse, Some(1e6), TRIP, RANGE);
        assert!((aimd.rate() - 0.845e6).abs() < 1e-3);
        aimd.update(at(99), Signal::OverUse, Some(0.9e6), TRIP, RANGE);
        aimd.update(at(199), Signal::Normal, Some(0.95e6), TRIP, RANGE);
        assert!((aimd.rate() - 0.845e6).abs() < 1e-3);
        aimd.update(at(1_199), Signal::Normal, Some(0.95e6), TRIP, RANGE);
        let expected = 0.845e6 + 0.845e6 / 30.0 / 3.0 / 2.0 / 0.2;
        assert!((aimd.rate() - expected).abs() < 1.0, "{}", aimd.rate());
        // Three deviations above 1 Mbit/s, sqrt(400 · 10⁶) = 20 kbit/s each, the rise is multiplicative again.
        let before = aimd.rate();
        aimd.update(at(2_199), Signal::Normal, Some(1.061e6), TRIP, RANGE);
        assert!((aimd.rate() / before - 1.08).abs() < 1e-9);
    }

    /// If less than half of the rate arrives, it decreases at once: 0.85 · 0.4 Mbit/s − 5 kbit/s = 335 kbit/s.
    #[test]
    fn a_collapse_does_not_wait() {
        let mut aimd = started();
        aimd.update(at(50), Signal::OverUse, Some(0.4e6), TRIP, RANGE);
        assert!((aimd.rate() - 0.335e6).abs() < 1e-3);
    }

    /// After a decrease to 335 kbit/s, a frame has 11,167 bit in 2 packets, so one second adds 5,583 / 2 / 0.2 = 13,958 bit/s.
    /// Then 85 % of 420 kbit/s without 5 kbit/s would be a rise to 352 kbit/s. 85 % of the maximum, 0.4 Mbit/s, is 340 kbit/s.
    #[test]
    fn over_use_never_raises_the_rate() {
        let mut aimd = started();
        aimd.update(at(50), Signal::OverUse, Some(0.4e6), TRIP, RANGE);
        aimd.update(at(100), Signal::Normal, Some(0.4e6), TRIP, RANGE);
        aimd.update(at(1_100), Signal::Normal, Some(0.4e6), TRIP, RANGE);
        assert!((aimd.rate() - 348_958.0).abs() < 1.0, "{}", aimd.rate());
        aimd.update(at(1_300), Signal::OverUse, Some(0.42e6), TRIP, RANGE);
        assert!((aimd.rate() - 0.34e6).abs() < 1e-3, "{}", aimd.rate());
    }

    /// Before a received rate is known, the rate is halved.
    #[test]
    fn without_a_received_rate_it_is_halved() {
        let mut aimd = started();
        aimd.update(at(100), Signal::OverUse, None, TRIP, RANGE);
        assert!((aimd.rate() - 0.5e6).abs() < 1e-3);
    }

    #[test]
    fn the_rate_is_held_while_the_queue_shrinks() {
        let mut aimd = started();
        for step in 1..20 {
            aimd.update(at(step * 100), Signal::UnderUse, Some(1e6), TRIP, RANGE);
        }
        assert_eq!(aimd.rate(), 1e6);
        // The time of the under-use does not count.
        aimd.update(at(2_000), Signal::Normal, Some(1e6), TRIP, RANGE);
        assert!((aimd.rate() - 1.001e6).abs() < 1e-3);
    }

    /// The rate is at most 1.5 times the received one and 10 kbit/s, and in its range.
    #[test]
    fn the_rate_is_bounded() {
        let mut aimd = started();
        aimd.update(at(1_000), Signal::Normal, Some(0.69e6), TRIP, RANGE);
        assert!((aimd.rate() - 1.045e6).abs() < 1e-3);
        aimd.update(at(2_000), Signal::OverUse, Some(10e3), TRIP, RANGE);
        assert_eq!(aimd.rate(), RANGE.0);
    }
}
