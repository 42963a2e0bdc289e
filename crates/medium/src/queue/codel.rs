//! CoDel: drops by waiting time (RFC 8289), as in Linux (`codel_impl.h`).

use super::Drops;
use crate::packet::{DropReason, Ecn, Queued};
use netburn_units::{Duration, Instant};

/// Parameters of CoDel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodelParameters {
    /// Target of the standing queue: 5 ms (RFC 8289 section 4.3); 20 ms in mac80211.
    pub target: Duration,
    /// Interval above target before the first drop: 100 ms (section 4.2).
    pub interval: Duration,
    /// True if ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// No drops at a backlog of at most this: one packet of the maximum size; 0 in mac80211.
    pub mtu: u64,
}

impl CodelParameters {
    /// The `fq_codel` qdisc: 5 ms, 100 ms, ECN.
    pub const QDISC: CodelParameters = CodelParameters {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        ecn: true,
        mtu: 1_514,
    };
    /// mac80211: 20 ms, 100 ms, ECN.
    pub const MAC80211: CodelParameters = CodelParameters {
        target: Duration::from_millis(20),
        interval: Duration::from_millis(100),
        ecn: true,
        mtu: 0,
    };
    /// mac80211 from 2016 to 2025 for a station below 6 Mbit/s per station of its interface: 50 ms,
    /// 300 ms, no ECN.
    pub const MAC80211_SLOW: CodelParameters = CodelParameters {
        target: Duration::from_millis(50),
        interval: Duration::from_millis(300),
        ecn: false,
        mtu: 0,
    };
}

/// CoDel state of one queue.
#[derive(Debug, Clone, Default)]
pub struct Codel {
    /// Drops since the start of the dropping state.
    count: u64,
    /// Value at the last start of the dropping state.
    last_count: u64,
    dropping: bool,
    drop_next: Instant,
    /// Time at which the waiting time will have been above target for an interval.
    first_above: Option<Instant>,
}

/// A queue under CoDel.
pub trait Source<P> {
    /// Removes the first packet.
    fn pop(&mut self) -> Option<Queued<P>>;
    /// Queued bytes.
    fn bytes(&self) -> u64;
}

impl Codel {
    /// Next packet to send; dropped packets are added to `drops`.
    pub fn dequeue<P>(
        &mut self,
        now: Instant,
        parameters: &CodelParameters,
        source: &mut impl Source<P>,
        drops: &mut Drops<P>,
    ) -> Option<Queued<P>> {
        let Some(mut packet) = source.pop() else {
            self.dropping = false;
            self.first_above = None;
            return None;
        };
        let above = self.is_above(now, parameters, &packet, source.bytes());
        if self.dropping {
            if !above {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if mark(parameters, &mut packet) {
                    self.drop_next = self.control_law(self.drop_next, parameters);
                    break;
                }
                drops.push((packet, DropReason::Aqm));
                match source.pop() {
                    Some(next) => packet = next,
                    None => {
                        self.dropping = false;
                        self.first_above = None;
                        return None;
                    }
                }
                if self.is_above(now, parameters, &packet, source.bytes()) {
                    self.drop_next = self.control_law(self.drop_next, parameters);
                } else {
                    self.dropping = false;
                }
            }
        } else if above {
            if !mark(parameters, &mut packet) {
                drops.push((packet, DropReason::Aqm));
                match source.pop() {
                    Some(next) => packet = next,
                    None => {
                        self.first_above = None;
                        return None;
                    }
                }
                self.is_above(now, parameters, &packet, source.bytes());
            }
            self.dropping = true;
            let delta = self.count - self.last_count;
            // The dropping state ended recently: continue at its last rate.
            let recent = now
                .checked_since(self.drop_next)
                .is_none_or(|since| since < parameters.interval * 16);
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.last_count = self.count;
            self.drop_next = self.control_law(now, parameters);
        }
        Some(packet)
    }

    /// Returns true if the waiting time has been above target for an interval.
    fn is_above<P>(&mut self, now: Instant, parameters: &CodelParameters, packet: &Queued<P>, bytes: u64) -> bool {
        if now.since(packet.since) < parameters.target || bytes <= parameters.mtu {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + parameters.interval);
                false
            }
            Some(at) => now >= at,
        }
    }

    /// Time of the next drop: `interval / √count` after `from` (section 4.4).
    fn control_law(&self, from: Instant, parameters: &CodelParameters) -> Instant {
        let interval = u128::from(parameters.interval.as_nanos());
        let step = (interval * interval / u128::from(self.count.max(1))).isqrt();
        from + Duration::from_nanos(step as u64)
    }
}

/// Marks a packet instead of dropping it, if it is ECN-capable.
fn mark<P>(parameters: &CodelParameters, packet: &mut Queued<P>) -> bool {
    let markable = parameters.ecn && packet.packet.ecn.markable();
    if markable {
        packet.packet.ecn = Ecn::Ce;
    }
    markable
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::queued;
    use std::collections::VecDeque;

    struct Plain(VecDeque<Queued<()>>);

    impl Source<()> for Plain {
        fn pop(&mut self) -> Option<Queued<()>> {
            self.0.pop_front()
        }
        fn bytes(&self) -> u64 {
            self.0.len() as u64 * 1_500
        }
    }

    /// A standing queue of 50 ms, one packet per millisecond. The first packet above target is at
    /// 50 ms, so dropping starts 100 ms later, at 150. The next intervals are 100/√1 = 100 ms,
    /// 100/√2 = 70.7 ms, 100/√3 = 57.7 ms and 100/√4 = 50 ms. Each drop is at the next millisecond:
    /// 150, 250, 320.7 → 321, 378.4 → 379, 428.4 → 429.
    #[test]
    fn drop_times_by_hand() {
        let mut codel = Codel::default();
        let mut source = Plain(VecDeque::new());
        let mut drops = Vec::new();
        let mut dropped_at = Vec::new();
        for millis in 0..430 {
            let now = Instant::from_millis(millis);
            source.0.push_back(queued(now, Ecn::NotEct));
            if millis < 50 {
                continue;
            }
            codel.dequeue(now, &CodelParameters::QDISC, &mut source, &mut drops);
            for _ in drops.drain(..) {
                dropped_at.push(millis);
                // Each drop shortens the queue by a packet; the test keeps the waiting time
                // constant.
                let since = source.0.front().map_or(now, |first| first.since);
                source.0.push_front(queued(since, Ecn::NotEct));
            }
        }
        assert_eq!(dropped_at, [150, 250, 321, 379, 429]);
    }

    #[test]
    fn marks_instead_of_drops() {
        let mut codel = Codel::default();
        let mut source = Plain(VecDeque::new());
        let mut drops = Vec::new();
        let mut marked = Vec::new();
        for millis in 0..322 {
            let now = Instant::from_millis(millis);
            source.0.push_back(queued(now, Ecn::Ect0));
            if millis < 50 {
                continue;
            }
            let sent = codel.dequeue(now, &CodelParameters::QDISC, &mut source, &mut drops);
            if sent.is_some_and(|sent| sent.packet.ecn == Ecn::Ce) {
                marked.push(millis);
            }
        }
        assert!(drops.is_empty());
        assert_eq!(marked, [150, 250, 321]);
    }

    #[test]
    fn a_short_wait_is_left_alone() {
        let mut codel = Codel::default();
        let mut source = Plain(VecDeque::new());
        let mut drops = Vec::new();
        for millis in 0..1_000 {
            let now = Instant::from_millis(millis);
            source.0.push_back(queued(now, Ecn::NotEct));
            if millis >= 4 {
                codel.dequeue(now, &CodelParameters::QDISC, &mut source, &mut drops);
            }
        }
        assert!(drops.is_empty());
    }
}
