//! Delivery rate estimation: draft-cheng-iccrg-delivery-rate-estimation, as in `tcp_rate.c`.
//!
//! The sender stores a [`Snapshot`] with each record that it sends. The sample of an
//! acknowledgement is data divided by time. The data are those delivered since the newest
//! acknowledged record was sent. The time is the longer of its send interval and its
//! acknowledgement interval.

use netburn_units::{Duration, Instant};

/// State at the transmission of a record, stored with it and replaced by a retransmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// Time of the transmission.
    pub sent_at: Instant,
    /// Start of this record's send interval.
    pub first_sent_at: Instant,
    /// Time of the last increase of `delivered`.
    pub delivered_at: Instant,
    /// Segments delivered until then.
    pub delivered: u64,
    /// True if the application limited the sender.
    pub app_limited: bool,
}

/// Delivery rate sample of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateSample {
    /// Segments delivered in `interval`.
    pub delivered: u32,
    /// Duration. `None`: the acknowledgement delivered nothing new, or the duration is shorter than
    /// the minimum round-trip time and so invalid.
    pub interval: Option<Duration>,
    /// Value of `delivered` when the newest acknowledged record was sent; a round ends when this
    /// exceeds its value at the round's start. `None`: nothing was newly acknowledged.
    pub prior_delivered: Option<u64>,
    /// Total of delivered segments.
    pub total_delivered: u64,
    /// True if the application limited the sender when the newest acknowledged record was sent.
    pub app_limited: bool,
}

/// Rate estimator of one connection.
///
/// Call [`on_sent`](Self::on_sent) for each record sent. For an acknowledgement, call
/// [`on_delivered`](Self::on_delivered) for each record that it newly acknowledges, cumulatively or
/// selectively. Then call [`sample`](Self::sample) once.
#[derive(Debug, Clone)]
pub struct RateEstimator {
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Samples are application-limited until more than this is delivered.
    app_limited_until: u64,
    newest: Option<Snapshot>,
    any: bool,
}

impl RateEstimator {
    /// Creates the estimator of a new connection.
    #[must_use]
    pub fn new(now: Instant) -> Self {
        Self {
            delivered: 0,
            delivered_at: now,
            first_sent_at: now,
            app_limited_until: 0,
            newest: None,
            any: false,
        }
    }

    /// A record is sent or retransmitted; `outstanding`: a segment was unacknowledged before it
    /// (`tcp_rate_skb_sent`).
    pub fn on_sent(&mut self, now: Instant, outstanding: bool) -> Snapshot {
        if !outstanding {
            // Idle time belongs to no interval.
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Snapshot {
            sent_at: now,
            first_sent_at: self.first_sent_at,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            app_limited: self.is_app_limited(),
        }
    }

    /// `segments` of a record are newly acknowledged (`tcp_rate_skb_delivered`).
    pub fn on_delivered(&mut self, segments: u32, record: &Snapshot) {
        self.delivered += u64::from(segments);
        self.any = true;
        let newer = self
            .newest
            .is_none_or(|newest| (record.delivered, record.sent_at) >= (newest.delivered, newest.sent_at));
        if newer {
            self.newest = Some(*record);
        }
    }

    /// Computes the sample after the complete acknowledgement (`tcp_rate_gen`).
    pub fn sample(&mut self, now: Instant, min_rtt: Option<Duration>) -> RateSample {
        if self.app_limited_until != 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        if std::mem::take(&mut self.any) {
            self.delivered_at = now;
        }
        let Some(record) = self.newest.take() else {
            return RateSample {
                total_delivered: self.delivered,
                ..RateSample::default()
            };
        };
        self.first_sent_at = record.sent_at;
        let sending = record.sent_at.checked_since(record.first_sent_at).unwrap_or_default();
        let acknowledging = now.checked_since(record.delivered_at).unwrap_or_default();
        let interval = sending.max(acknowledging);
        let credible = !interval.is_zero() && min_rtt.is_none_or(|shortest| interval >= shortest);
        RateSample {
            delivered: u32::try_from(self.delivered - record.delivered).unwrap_or(u32::MAX),
            interval: credible.then_some(interval),
            prior_delivered: Some(record.delivered),
            total_delivered: self.delivered,
            app_limited: record.app_limited,
        }
    }

    /// The application has nothing to send although `in_flight` is below the window: samples of the
    /// data in flight describe the application, not the path (`tcp_rate_check_app_limited`).
    pub fn set_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// Returns true if samples are application-limited.
    #[must_use]
    pub const fn is_app_limited(&self) -> bool {
        self.app_limited_until != 0
    }

    /// Segments delivered so far.
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(millis: i64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn a_steady_flow_is_sampled_at_its_rate() {
        // Five segments every 10 ms; each record is acknowledged 40 ms after its transmission.
        let mut rates = RateEstimator::new(ms(0));
        let records: Vec<Snapshot> = (0..4).map(|n| rates.on_sent(ms(10 * n), n > 0)).collect();
        for (n, record) in (0..4).zip(&records) {
            let now = ms(40 + 10 * n);
            rates.on_delivered(5, record);
            let sample = rates.sample(now, Some(Duration::from_millis(40)));
            // All were sent before the first delivery: the data delivered since the start of the
            // flow, over the time since.
            assert_eq!(sample.delivered, 5 * (n as u32 + 1));
            assert_eq!(sample.interval, Some(now.since(ms(0))));
        }
        // Nothing was in flight at 80: the interval starts there.
        let [first, second] = [80, 90].map(|at| rates.on_sent(ms(at), at > 80));
        assert_eq!((first.delivered, second.delivered), (20, 20));
        rates.on_delivered(5, &first);
        assert_eq!(rates.sample(ms(120), None).interval, Some(Duration::from_millis(40)));
        rates.on_delivered(5, &second);
        let sample = rates.sample(ms(130), None);
        assert_eq!(
            (sample.delivered, sample.interval),
            (10, Some(Duration::from_millis(50)))
        );
    }

    #[test]
    fn simultaneous_acknowledgements_do_not_increase_the_rate() {
        // Ten records of one segment, 10 ms apart; all acknowledgements come at 140 ms.
        let mut rates = RateEstimator::new(ms(0));
        let records: Vec<Snapshot> = (0..10).map(|n| rates.on_sent(ms(10 * n), n > 0)).collect();
        for record in &records {
            rates.on_delivered(1, record);
        }
        let sample = rates.sample(ms(140), Some(Duration::from_millis(40)));
        assert_eq!(
            (sample.delivered, sample.interval),
            (10, Some(Duration::from_millis(140)))
        );
    }

    #[test]
    fn a_time_below_the_shortest_round_trip_is_no_sample() {
        let mut rates = RateEstimator::new(ms(0));
        let record = rates.on_sent(ms(0), false);
        rates.on_delivered(1, &record);
        let sample = rates.sample(ms(10), Some(Duration::from_millis(20)));
        assert_eq!((sample.interval, sample.prior_delivered), (None, Some(0)));
        assert_eq!(rates.sample(ms(11), None).prior_delivered, None);
    }

    #[test]
    fn application_limited_until_the_data_in_flight_are_delivered() {
        let mut rates = RateEstimator::new(ms(0));
        let early = rates.on_sent(ms(0), false);
        rates.set_app_limited(1);
        let marked = rates.on_sent(ms(5), true);
        assert!(!early.app_limited && marked.app_limited);
        rates.on_delivered(1, &early);
        assert!(!rates.sample(ms(40), None).app_limited);
        assert!(rates.is_app_limited());
        rates.on_delivered(1, &marked);
        assert!(rates.sample(ms(45), None).app_limited);
        assert!(!rates.is_app_limited());
    }

    proptest! {
        /// On a path that takes 1 ms per segment, and delays some, no sample is faster than that,
        /// for every pattern of transmissions.
        #[test]
        fn no_sample_is_faster_than_the_path(sends in prop::collection::vec((0u64..5_000, 0u64..20_000), 1..200)) {
            const SEGMENT: Duration = Duration::from_millis(1);
            let mut rates = RateEstimator::new(Instant::ZERO);
            let (mut now, mut free, mut seen) = (Instant::ZERO, Instant::ZERO, Instant::ZERO);
            let mut out: std::collections::VecDeque<(Instant, Snapshot)> = std::collections::VecDeque::new();
            for (gap, held) in sends {
                now += Duration::from_micros(gap);
                while let Some((at, record)) = out.front().copied().filter(|(at, _)| *at <= now) {
                    out.pop_front();
                    rates.on_delivered(1, &record);
                    let sample = rates.sample(at, None);
                    if let Some(interval) = sample.interval {
                        prop_assert!(SEGMENT * u64::from(sample.delivered) <= interval);
                    }
                }
                free = free.max(now) + SEGMENT;
                // Acknowledgements keep their order and are at least as far apart as the segments
                // were on the path.
                seen = seen.max(free + Duration::from_micros(held)) + SEGMENT;
                out.push_back((seen, rates.on_sent(now, !out.is_empty())));
            }
        }
    }
}
