//! A policer: a token bucket that drops.

use crate::hop::HopFraming;
use netburn_scenario::plan::Policer as PolicerConfig;
use netburn_units::Instant;

/// A token bucket. A packet passes if the bucket has its bytes, and is dropped if not (Linux `act_police`).
#[derive(Debug, Clone)]
pub struct Policer {
    config: PolicerConfig,
    framing: HopFraming,
    /// In bits × 10⁹.
    tokens: u128,
    filled: Instant,
}

const NANOS: u128 = 1_000_000_000;

impl Policer {
    /// Creates a policer with a full bucket. It counts the framing.
    #[must_use]
    pub fn new(config: PolicerConfig, framing: HopFraming) -> Self {
        Policer {
            config,
            framing,
            tokens: u128::from(config.burst.as_bytes()) * 8 * NANOS,
            filled: Instant::from_nanos(i64::MIN / 2),
        }
    }

    /// Returns true if a packet of `length` bytes passes.
    pub fn passes(&mut self, now: Instant, length: u32) -> bool {
        let full = u128::from(self.config.burst.as_bytes()) * 8 * NANOS;
        let elapsed = now.checked_since(self.filled).map_or(0, |since| since.as_nanos());
        self.tokens = full.min(self.tokens + u128::from(elapsed) * u128::from(self.config.rate.as_bps()));
        self.filled = self.filled.max(now);
        let cost = u128::from(self.framing.bytes(length)) * 8 * NANOS;
        let passes = cost <= self.tokens;
        if passes {
            self.tokens -= cost;
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::plan::Framing;
    use netburn_units::{BitRate, ByteSize, Duration};
    use proptest::prelude::*;

    fn policer(mbps: u64, burst: u64) -> Policer {
        let config = PolicerConfig {
            rate: BitRate::from_mbps(mbps),
            burst: ByteSize::from_bytes(burst),
        };
        Policer::new(config, HopFraming::Line(Framing::Raw))
    }

    /// 10 Mbit/s with 15 000 bytes. Of 20 packets of 1500 bytes at once, ten pass. A further one passes after 1.2 ms. At
    /// an offered 20 Mbit/s half pass: in 10 s, 12.5 MB and the burst.
    #[test]
    fn rate_and_burst_by_hand() {
        let mut policer = policer(10, 15_000);
        let passed = (0..20).filter(|_| policer.passes(Instant::ZERO, 1_500)).count();
        assert_eq!(passed, 10);
        assert!(!policer.passes(Instant::from_nanos(1_199_999), 1_500));
        assert!(policer.passes(Instant::from_nanos(1_200_000), 1_500));
        let mut fresh = super::tests::policer(10, 15_000);
        let times = (0..).map(|number| Instant::from_micros(600 * number));
        let bytes = times
            .take_while(|at| *at < Instant::from_secs(10))
            .filter(|at| fresh.passes(*at, 1_500))
            .count()
            * 1_500;
        assert!((12_513_000..=12_515_000).contains(&bytes), "{bytes}");
    }

    proptest! {
        /// In any time, at most the burst and the rate's bytes pass.
        #[test]
        fn at_most_rate_and_burst(
            burst in 1_500_u64..100_000,
            packets in prop::collection::vec((0_u64..2_000_000, 20_u32..1_600), 1..200),
        ) {
            let mut policer = policer(10, burst);
            let (mut now, mut bytes) = (Instant::ZERO, 0);
            for (gap, length) in packets {
                now += Duration::from_nanos(gap);
                if policer.passes(now, length) {
                    bytes += u64::from(length);
                }
                // 10 bits per µs.
                let most = burst * 8_000 + now.since(Instant::ZERO).as_nanos() * 10;
                prop_assert!(bytes * 8_000 <= most);
            }
        }
    }
}
