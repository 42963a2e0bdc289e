//! Pacing rate, and the pacing timer.

use netburn_units::{BitRate, Duration, Instant};

/// Pacing rate without one of the congestion control's own (`tcp_update_pacing_rate`): 200 % of
/// window ÷ round-trip time while the window is below half of `ssthresh`, 120 % above.
pub(crate) fn rate(cwnd: u32, ssthresh: u32, packets_out: u32, mss: u32, srtt: Duration) -> BitRate {
    let percent = if cwnd < ssthresh / 2 { 200 } else { 120 };
    let bytes_by_percent = u64::from(mss) * u64::from(cwnd.max(packets_out)) * percent;
    let nanos = srtt.as_nanos().max(1);
    // 8 bits ÷ 100 % × 10⁹ ns. 64 bits suffice for windows below 1.9 GB.
    let rate = match bytes_by_percent.checked_mul(80_000_000) {
        Some(scaled) => scaled / nanos,
        None => u64::try_from(u128::from(bytes_by_percent) * 80_000_000 / u128::from(nanos)).unwrap_or(u64::MAX),
    };
    BitRate::from_bps(rate)
}

/// Internal pacing timer (`tcp_update_skb_after_send`): time at which the next packet may be sent.
#[derive(Debug, Clone)]
pub(crate) struct Pacer {
    enabled: bool,
    /// Rate at which packets are sent; `None` before it is known.
    pub(crate) rate: Option<BitRate>,
    next: Instant,
    /// Time until which a packet waits.
    waits_until: Option<Instant>,
    /// Segments sent so far: the first ten aren't paced.
    sent: u64,
}

impl Pacer {
    pub(crate) fn new(enabled: bool, now: Instant) -> Self {
        Self {
            enabled,
            rate: None,
            next: now,
            waits_until: None,
            sent: 0,
        }
    }

    pub(crate) const fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Returns true if no packet may be sent yet. Then one waits, and the timer is armed.
    pub(crate) fn blocks(&mut self, now: Instant) -> bool {
        let blocked = self.enabled && self.next > now;
        if blocked {
            self.waits_until = Some(self.next);
        }
        blocked
    }

    /// Time of the timer, if a packet waits for it.
    pub(crate) const fn poll_timeout(&self) -> Option<Instant> {
        self.waits_until
    }

    /// No packet waits any more.
    pub(crate) fn disarm(&mut self) {
        self.waits_until = None;
    }

    /// A packet was sent: the next waits for its duration at the rate, minus up to half of that for
    /// unused time. Headers don't count.
    pub(crate) fn on_sent(&mut self, now: Instant, content: u64, segments: u32) {
        self.sent += u64::from(segments);
        if !self.enabled || self.sent <= 10 {
            return;
        }
        let Some(nanos) = self
            .rate
            .and_then(|rate| content.saturating_mul(8_000_000_000).checked_div(rate.as_bps()))
        else {
            return;
        };
        let span = Duration::from_nanos(nanos);
        let unused = now.checked_since(self.next).unwrap_or_default();
        let span = span.saturating_sub(unused.min(span / 2));
        self.next = self.next.max(now).checked_add(span).unwrap_or(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hundred_and_a_hundred_and_twenty_percent() {
        let srtt = Duration::from_millis(10);
        // 10 × 1448 bytes in 10 ms are 11.584 Mbit/s.
        assert_eq!(rate(10, u32::MAX, 4, 1_448, srtt).as_bps(), 23_168_000);
        assert_eq!(rate(10, 20, 4, 1_448, srtt).as_bps(), 13_900_800);
        assert_eq!(rate(10, 20, 20, 1_448, srtt).as_bps(), 27_801_600);
    }

    #[test]
    fn packets_keep_their_distance() {
        let blocked_until = |pacer: &mut Pacer, now| pacer.blocks(now).then(|| pacer.poll_timeout()).flatten();
        let mut pacer = Pacer::new(true, Instant::ZERO);
        pacer.rate = Some(BitRate::from_mbps(12));
        pacer.on_sent(Instant::ZERO, 15_000, 10);
        assert_eq!(blocked_until(&mut pacer, Instant::ZERO), None);
        // 1500 bytes at 12 Mbit/s take 1 ms.
        pacer.on_sent(Instant::ZERO, 1_500, 1);
        assert_eq!(blocked_until(&mut pacer, Instant::ZERO), Some(Instant::from_millis(1)));
        // 300 µs late: the next is due at 1.3 + 0.7 ms.
        pacer.on_sent(Instant::from_micros(1_300), 1_500, 1);
        assert_eq!(
            blocked_until(&mut pacer, Instant::from_micros(1_300)),
            Some(Instant::from_millis(2))
        );
        // A long idle time counts as half a packet.
        pacer.on_sent(Instant::from_secs(5), 1_500, 1);
        assert_eq!(
            blocked_until(&mut pacer, Instant::from_secs(5)),
            Some(Instant::from_secs(5) + Duration::from_micros(500))
        );
    }
}
