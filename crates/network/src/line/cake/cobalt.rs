//! COBALT: CoDel by waiting time, and BLUE for flows that do not react (`sch_cake.c`).

use netburn_medium::packet::{Ecn, Queued};
use netburn_units::{Duration, Instant, RandomStream};

/// Parameters of COBALT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CobaltParameters {
    /// Target of the standing queue.
    pub target: Duration,
    /// Interval above the target before the first signal.
    pub interval: Duration,
    /// Time of a packet of the maximum size at the rate of the tin.
    pub mtu_time: Duration,
}

/// Largest packet with its Ethernet header, as `psched_mtu` counts it.
const MTU: u64 = 1_514;

impl CobaltParameters {
    /// Parameters of a tin with this rate in bytes per second, for this round trip (`cake_set_rate`). The target is a
    /// 20th of the round trip, or 1.5 times of the maximum packet if that is longer.
    #[must_use]
    pub fn new(bytes_per_second: Option<u64>, rtt: Duration) -> Self {
        let mtu = bytes_per_second.map_or(0, |rate| MTU * 1_000_000_000 / rate.max(MIN_RATE));
        let wanted = rtt.as_nanos() / 20;
        let target = wanted.max(mtu * 3 / 2);
        CobaltParameters {
            target: Duration::from_nanos(target),
            interval: Duration::from_nanos((rtt.as_nanos() + target - wanted).max(2 * target)),
            mtu_time: Duration::from_nanos(mtu),
        }
    }
}

/// Minimum rate in bytes per second (`MIN_RATE`).
const MIN_RATE: u64 = 64;

/// Increase of BLUE's probability on an overflow: 1/256 of 2³².
const BLUE_UP: u32 = 1 << 24;
/// Decrease of BLUE's probability when the queue is empty: 1/4096 of 2³².
const BLUE_DOWN: u32 = 1 << 20;

/// COBALT of one queue.
#[derive(Debug, Clone)]
pub struct Cobalt {
    /// Signals since the queue went above the target, as far as they have not decayed.
    count: u64,
    dropping: bool,
    /// Time of the next signal, or the end of the activity timeout.
    drop_next: Instant,
    /// Last change of `p_drop`.
    blue_timer: Option<Instant>,
    /// BLUE's drop probability, of 2³².
    p_drop: u32,
}

/// Before all times of a run.
const LONG_AGO: Instant = Instant::from_nanos(i64::MIN / 2);

impl Default for Cobalt {
    fn default() -> Self {
        Cobalt {
            count: 0,
            dropping: false,
            drop_next: LONG_AGO,
            blue_timer: None,
            p_drop: 0,
        }
    }
}

impl Cobalt {
    /// Returns true if the state has not decayed yet at `now`.
    #[must_use]
    pub fn is_active(&self, now: Instant) -> bool {
        self.p_drop > 0 || self.count > 0 || now < self.drop_next
    }

    /// BLUE's drop probability.
    #[must_use]
    pub fn blue(&self) -> f64 {
        f64::from(self.p_drop) / 4_294_967_296.0
    }

    /// Records a drop because the memory was full (`cobalt_queue_full`).
    pub fn on_overflow(&mut self, now: Instant, parameters: &CobaltParameters) {
        if self.blue_is_due(now, parameters) {
            self.p_drop = self.p_drop.saturating_add(BLUE_UP);
            self.blue_timer = Some(now);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Records that the queue was served and empty (`cobalt_queue_empty`).
    pub fn on_empty(&mut self, now: Instant, parameters: &CobaltParameters) {
        if self.p_drop > 0 && self.blue_is_due(now, parameters) {
            self.p_drop = self.p_drop.saturating_sub(BLUE_DOWN);
            self.blue_timer = Some(now);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next = self.control(self.drop_next, parameters);
        }
    }

    /// Returns true if the packet must be dropped; marks an ECN-capable one instead (`cobalt_should_drop`). `random`
    /// decides for BLUE, which never marks.
    pub fn must_drop<P>(
        &mut self,
        now: Instant,
        parameters: &CobaltParameters,
        packet: &mut Queued<P>,
        random: &mut RandomStream,
    ) -> bool {
        let waited = now.since(packet.since);
        let mut due = self.count > 0 && now >= self.drop_next;
        if waited > parameters.target && waited > parameters.mtu_time * 4 {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.control(now, parameters);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut drop = false;
        // True if the next signal lies before now.
        let mut late = now > self.drop_next;
        if due && self.dropping {
            drop = !mark(packet);
            self.count += 1;
            self.drop_next = self.control(self.drop_next, parameters);
            late = now > self.drop_next;
        } else {
            while due {
                self.count -= 1;
                self.drop_next = self.control(self.drop_next, parameters);
                late = now > self.drop_next;
                due = self.count > 0 && now >= self.drop_next;
            }
        }
        if self.p_drop > 0 {
            drop |= (random.next_u64() >> 32) < u64::from(self.p_drop);
        }
        if self.count == 0 {
            self.drop_next = now + parameters.interval;
        } else if late && !drop {
            self.drop_next = now;
        }
        drop
    }

    fn blue_is_due(&self, now: Instant, parameters: &CobaltParameters) -> bool {
        self.blue_timer.is_none_or(|last| now > last + parameters.target)
    }

    /// `interval / √count` after `from`.
    fn control(&self, from: Instant, parameters: &CobaltParameters) -> Instant {
        let interval = u128::from(parameters.interval.as_nanos());
        from + Duration::from_nanos((interval * interval / u128::from(self.count.max(1))).isqrt() as u64)
    }
}

/// Marks an ECN-capable packet.
fn mark<P>(packet: &mut Queued<P>) -> bool {
    let markable = packet.packet.ecn.markable();
    if markable {
        packet.packet.ecn = Ecn::Ce;
    }
    markable
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_medium::fuzz::queued;
    use netburn_units::Seed;

    const RTT: Duration = Duration::from_millis(100);

    /// 1.5 packets of 1514 bytes take 18.168 ms at 1 Mbit/s (125 000 bytes per second): 12.112 ms × 3/2. The interval is
    /// 100 + 18.168 − 5 ms. At 100 Mbit/s they take 0.18 ms, so that the target is 5 ms. At 100 kbit/s the target of
    /// 181.68 ms exceeds half of 276.68 ms, so that the interval is twice the target.
    #[test]
    fn parameters_by_hand() {
        let of = |rate: u64, rtt: Duration| {
            let parameters = CobaltParameters::new(Some(rate), rtt);
            (parameters.target.as_nanos(), parameters.interval.as_nanos())
        };
        assert_eq!(of(125_000, RTT), (18_168_000, 113_168_000));
        assert_eq!(of(12_500_000, RTT), (5_000_000, 100_000_000));
        assert_eq!(of(12_500, RTT), (181_680_000, 363_360_000));
        assert_eq!(of(125_000_000, Duration::from_millis(10)), (500_000, 10_000_000));
    }

    /// A standing queue of 50 ms, one packet per millisecond. The first packet above the target comes at 0 ms: the first
    /// signal is due an interval later, at 100. Signals then follow after 100/√2 = 70.7, 100/√3 = 57.7 and 100/√4 = 50
    /// ms. A signal is given at the first packet at or after its time, and the next one counts from that signal's own
    /// time: 100, 170.7 → 171, 228.4 → 229, 278.4 → 279. CoDel instead waits 100/√1 after the first signal.
    #[test]
    fn signals_by_hand() {
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            let parameters = CobaltParameters::new(None, RTT);
            let (mut cobalt, mut random) = (Cobalt::default(), Seed(1).stream("blue", 0));
            let mut signals = Vec::new();
            // A packet below the target ends the activity timeout of a new queue.
            let first = Instant::from_millis(-1);
            assert!(!cobalt.must_drop(first, &parameters, &mut queued(first, ecn), &mut random));
            for millis in 0..300 {
                let now = Instant::from_millis(millis);
                let mut packet = queued(now - Duration::from_millis(50), ecn);
                let dropped = cobalt.must_drop(now, &parameters, &mut packet, &mut random);
                assert!(!dropped || ecn == Ecn::NotEct);
                if dropped || packet.packet.ecn == Ecn::Ce {
                    signals.push(millis);
                }
            }
            assert_eq!(signals, [100, 171, 229, 279]);
        }
    }

    #[test]
    fn a_short_wait_gives_no_signal() {
        let parameters = CobaltParameters::new(None, RTT);
        let (mut cobalt, mut random) = (Cobalt::default(), Seed(1).stream("blue", 0));
        for millis in 0..1_000 {
            let now = Instant::from_millis(millis);
            let mut packet = queued(now - Duration::from_millis(5), Ecn::NotEct);
            assert!(!cobalt.must_drop(now, &parameters, &mut packet, &mut random));
        }
        assert!(
            cobalt.is_active(Instant::from_millis(1_000)),
            "until an interval has passed"
        );
        assert!(!cobalt.is_active(Instant::from_millis(1_200)));
    }

    /// BLUE rises by 1/256 per overflow, at most once per target, and falls by 1/4096 per empty visit.
    #[test]
    fn blue_by_hand() {
        let parameters = CobaltParameters::new(None, RTT);
        let mut cobalt = Cobalt::default();
        for millis in [0, 1, 5, 6, 12] {
            cobalt.on_overflow(Instant::from_millis(millis), &parameters);
        }
        // At 0, 6 and 12 ms: the others are not later than 5 ms after a change.
        assert_eq!(cobalt.blue(), 3.0 / 256.0);
        cobalt.on_empty(Instant::from_millis(18), &parameters);
        cobalt.on_empty(Instant::from_millis(19), &parameters);
        assert_eq!(cobalt.blue(), 3.0 / 256.0 - 1.0 / 4_096.0);
        // 47 further steps of 1/4096 end it.
        for step in 0..47 {
            assert!(cobalt.blue() > 0.0);
            cobalt.on_empty(Instant::from_millis(24 + 6 * step), &parameters);
        }
        assert_eq!(cobalt.blue(), 0.0);
    }
}
