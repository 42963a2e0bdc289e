//! CoDel: drops by how long packets have waited (RFC 8289), as Linux has it (`codel_impl.h`).

use super::Drops;
use crate::packet::{DropReason, Ecn, Queued};
use netburn_units::{Duration, Instant};

/// CoDel's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodelParameters {
    /// The standing wait that is good: 5 ms (RFC 8289 section 4.3); 20 ms in mac80211.
    pub target: Duration,
    /// How long it may be worse: 100 ms (section 4.2).
    pub interval: Duration,
    /// Whether packets that can be are marked in place of being dropped.
    pub ecn: bool,
    /// A backlog of no more than this is never dropped from: one packet of the largest size; 0 in mac80211.
    pub mtu: u64,
}

impl CodelParameters {
    /// As the `fq_codel` qdisc has it: 5 ms, 100 ms, ECN.
    pub const QDISC: CodelParameters = CodelParameters {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        ecn: true,
        mtu: 1_514,
    };
    /// As mac80211 has it: 20 ms, 100 ms, ECN.
    pub const MAC80211: CodelParameters = CodelParameters {
        target: Duration::from_millis(20),
        interval: Duration::from_millis(100),
        ecn: true,
        mtu: 0,
    };
    /// What mac80211 used from 2016 to 2025 for a station below 6 Mbit/s per station of its interface: 50 ms, 300 ms, no ECN.
    pub const MAC80211_SLOW: CodelParameters = CodelParameters {
        target: Duration::from_millis(50),
        interval: Duration::from_millis(300),
        ecn: false,
        mtu: 0,
    };
}

/// The state of one queue under CoDel.
#[derive(Debug, Clone, Default)]
pub struct Codel {
    /// Drops since dropping began.
    count: u64,
    /// Its value when dropping last began.
    last_count: u64,
    dropping: bool,
    drop_next: Instant,
    /// When the wait will have been above target for an interval.
    first_above: Option<Instant>,
}

/// A queue that CoDel takes packets from.
pub trait Source<P> {
    /// Its first packet.
    fn pop(&mut self) -> Option<Queued<P>>;
    /// Bytes that wait in it.
    fn bytes(&self) -> u64;
}

impl Codel {
    /// The next packet to send; those dropped on the way go to `drops`.
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
            // Dropping ended not long ago: go on at the rate that worked then.
            let recent = now
                .checked_since(self.drop_next)
                .is_none_or(|since| since < parameters.interval * 16);
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.last_count = self.count;
            self.drop_next = self.control_law(now, parameters);
        }
        Some(packet)
    }

    /// Whether the wait has been above target for an interval.
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

    /// The next drop: `interval / √count` after `from` (section 4.4).
    fn control_law(&self, from: Instant, parameters: &CodelParameters) -> Instant {
        let interval = u128::from(parameters.interval.as_nanos());
        let step = (interval * interval / u128::from(self.count.max(1))).isqrt();
        from + Duration::from_nanos(step as u64)
    }
}

/// Marks a packet in place of dropping it, where both ends take part.
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
    use crate::packet::{NodeId, Packet};
    use std::collections::VecDeque;

    struct Plain(VecDeque<Queued<u32>>);

    impl Source<u32> for Plain {
        fn pop(&mut self) -> Option<Queued<u32>> {
            self.0.pop_front()
        }
        fn bytes(&self) -> u64 {
            self.0.len() as u64 * 1_500
        }
    }

    fn packet(name: u32, since: Instant, ecn: Ecn) -> Queued<u32> {
        Queued {
            to: NodeId(0),
            since,
            arrival: 0,
            packet: Packet {
                length: 1_500,
                flow: 0,
                tid: 0,
                ecn,
                payload: name,
            },
        }
    }

    /// A standing wait of 50 ms, one packet a millisecond. First above target at 50 ms, so dropping begins 100 ms later, at 150;
    /// then after 100/√1 = 100 ms, 100/√2 = 70.7 ms, 100/√3 = 57.7 ms, 100/√4 = 50 ms, each at the next millisecond:
    /// 150, 250, 320.7 → 321, 378.4 → 379, 428.4 → 429.
    #[test]
    fn drop_times_by_hand() {
        let mut codel = Codel::default();
        let mut source = Plain(VecDeque::new());
        let mut drops = Vec::new();
        let mut dropped_at = Vec::new();
        for millis in 0..430 {
            let now = Instant::from_millis(millis);
            source.0.push_back(packet(millis as u32, now, Ecn::NotEct));
            if millis < 50 {
                continue;
            }
            codel.dequeue(now, &CodelParameters::QDISC, &mut source, &mut drops);
            for _ in drops.drain(..) {
                dropped_at.push(millis);
                // Each drop shortens the queue by a packet; keep the wait where it was.
                let since = source.0.front().map_or(now, |first| first.since);
                source.0.push_front(packet(0, since, Ecn::NotEct));
            }
        }
        assert_eq!(dropped_at, [150, 250, 321, 379, 429]);
    }

    #[test]
    fn marks_in_place_of_drops() {
        let mut codel = Codel::default();
        let mut source = Plain(VecDeque::new());
        let mut drops = Vec::new();
        let mut marked = Vec::new();
        for millis in 0..322 {
            let now = Instant::from_millis(millis);
            source.0.push_back(packet(0, now, Ecn::Ect0));
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
            source.0.push_back(packet(0, now, Ecn::NotEct));
            if millis >= 4 {
                codel.dequeue(now, &CodelParameters::QDISC, &mut source, &mut drops);
            }
        }
        assert!(drops.is_empty());
    }
}
