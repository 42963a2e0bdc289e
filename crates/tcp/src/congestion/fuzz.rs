//! Entry points for the fuzzer: operations decoded from bytes.

use super::{Ack, Congestion, Established, RateEstimator, RateSample, Snapshot, State};
use crate::config::CongestionControl;
use netburn_units::{Duration, Instant};

const STATES: [State; 5] = [State::Open, State::Disorder, State::Cwr, State::Recovery, State::Loss];

/// Bytes as a sequence of small and large numbers; zero after the end.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// Up to 31 × 2³⁸, small ones more often.
    fn number(&mut self) -> u64 {
        let byte = self.byte();
        u64::from(byte & 31) << (u32::from(byte >> 5) * 11 / 2)
    }

    fn narrow(&mut self) -> u32 {
        u32::try_from(self.number()).unwrap_or(u32::MAX)
    }

    fn duration(&mut self) -> Duration {
        Duration::from_nanos(self.number())
    }

    fn maybe(&mut self) -> Option<Duration> {
        let span = self.duration();
        (!span.is_zero()).then_some(span)
    }
}

/// Congestion control with arbitrary events in arbitrary order. The window stays within its bounds,
/// grows by at most the acknowledged segments, and is not raised by events that should lower it.
///
/// # Panics
/// If a law is violated.
pub fn check(bytes: &[u8]) {
    let mut input = Input(bytes);
    let control = match input.byte() % 3 {
        0 => CongestionControl::Reno,
        1 => CongestionControl::Cubic,
        _ => CongestionControl::Bbr,
    };
    let loss_based = control != CongestionControl::Bbr;
    let mut congestion = Congestion::new(&control, u32::from(input.byte()), 1).expect("it can be modelled");
    let mut now = Instant::ZERO;
    congestion.on_established(&Established {
        now,
        mss: u32::from(input.byte()),
        next: 0,
        srtt: input.maybe(),
        paced: input.byte() & 1 == 1,
    });
    let (mut next, mut acked_to, mut delivered) = (0, 0, 0);
    while !input.0.is_empty() {
        now += input.duration();
        let before = congestion.cwnd();
        match input.byte() % 8 {
            0..=2 => {
                let flags = input.byte();
                let acked = input.narrow();
                next += input.number();
                acked_to += input.number();
                let prior = delivered;
                delivered += u64::from(acked);
                let state = STATES[usize::from(flags >> 5) % 5];
                congestion.on_ack(&Ack {
                    now,
                    acked,
                    lost: input.narrow(),
                    in_flight: input.narrow(),
                    prior_in_flight: input.narrow(),
                    rtt: input.maybe(),
                    srtt: input.maybe(),
                    window_limited: flags & 1 == 0,
                    may_raise: flags & 2 == 0,
                    maybe_delayed: flags & 4 == 4,
                    next,
                    acked_to,
                    rate: RateSample {
                        delivered: acked,
                        interval: input.maybe(),
                        prior_delivered: (flags & 8 == 0).then_some(prior),
                        total_delivered: delivered,
                        app_limited: flags & 16 == 16,
                    },
                    state,
                    ..Ack::default()
                });
                if loss_based {
                    let after = congestion.cwnd();
                    assert!(after >= before, "an acknowledgement lowered {before} to {after}");
                    assert!(u64::from(after) <= u64::from(before) + u64::from(acked) + 1);
                    assert!(!state.is_reducing() || after == before, "the sender walks it down");
                }
                assert!(!congestion.is_probing_rtt() || congestion.cwnd() <= 4);
            }
            3 => {
                congestion.on_congestion(now, input.narrow());
                assert_eq!(congestion.cwnd(), before);
                assert!(congestion.ssthresh() >= 2);
                assert!(!loss_based || congestion.ssthresh() <= before.max(2));
            }
            4 => {
                let in_flight = input.narrow();
                congestion.on_rto(now, in_flight, in_flight & 1 == 0);
                assert!(congestion.cwnd() <= in_flight.saturating_add(1));
            }
            5 => {
                congestion.on_undo(now);
                assert!(congestion.cwnd() >= before);
            }
            6 => {
                congestion.on_restart(now, input.duration(), input.duration());
                congestion.on_underused(input.narrow());
                assert!(congestion.cwnd() <= before);
            }
            _ => {
                congestion.on_recovered(now);
                congestion.on_sent(now, input.narrow() & 1, true);
                congestion.set_cwnd(input.narrow());
            }
        }
        assert!((1..=1 << 24).contains(&congestion.cwnd()));
        assert_eq!(congestion.pacing_rate().is_none(), loss_based);
        assert!(congestion.min_burst() >= 1);
    }
}

/// Rate estimator with records delivered in arbitrary order. Its count equals the delivered
/// segments, and no sample is faster than the minimum round-trip time permits.
///
/// # Panics
/// If a law is violated.
pub fn check_rate(bytes: &[u8]) {
    let mut input = Input(bytes);
    let mut now = Instant::ZERO;
    let mut rates = RateEstimator::new(now);
    let mut out: Vec<Snapshot> = Vec::new();
    let mut delivered = 0;
    while !input.0.is_empty() {
        now += input.duration();
        match input.byte() % 4 {
            0 => out.push(rates.on_sent(now, !out.is_empty())),
            1 => rates.set_app_limited(input.narrow()),
            _ => {
                let mut any = false;
                for _ in 0..input.byte() % 4 {
                    if out.is_empty() {
                        break;
                    }
                    let record = out.remove(usize::from(input.byte()) % out.len());
                    let segments = u32::from(input.byte()) + 1;
                    rates.on_delivered(segments, &record);
                    delivered += u64::from(segments);
                    any = true;
                }
                let shortest = input.maybe();
                let sample = rates.sample(now, shortest);
                assert_eq!(sample.total_delivered, delivered);
                assert_eq!(sample.prior_delivered.is_some(), any);
                if let (Some(interval), Some(shortest)) = (sample.interval, shortest) {
                    assert!(interval >= shortest);
                }
                assert!(u64::from(sample.delivered) <= delivered);
            }
        }
        assert_eq!(rates.delivered(), delivered);
    }
}
