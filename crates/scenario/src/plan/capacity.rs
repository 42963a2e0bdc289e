//! Capacity of a line over time: rate or trace, timed changes, outages, shaper and policer.

use super::{ApSetting, Device, Plan, Policer, Trace};
use netburn_units::{BitRate, Duration};
use netburn_workload::Direction;

/// Bytes of a full IP packet, and of its content (RFC 9293, RFC 7323).
const PACKET: u32 = 1_500;
const SEGMENT: u32 = 1_448;
/// Bytes around a packet without a `framing`: Ethernet with preamble, FCS and gap.
const ETHERNET: u32 = 38;

/// Capacity of one direction of a line over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// Rates by the time from which they apply, in the order of time; the first is at 0. Empty with an unlimited rate.
    rates: Vec<(Duration, BitRate)>,
    trace: Option<Trace>,
    /// Begin and end of each time without service.
    outages: Vec<(Duration, Duration)>,
    shaper: Option<BitRate>,
    policer: Option<Policer>,
    content: f64,
}

impl Plan {
    /// Capacity of a device's WAN link in one direction; `None` without such a link, or if nothing limits it.
    #[must_use]
    pub fn capacity(&self, device: Device, direction: Direction) -> Option<Capacity> {
        let wan = self.wan(device)?;
        let (rate, trace, shaper, policer) = match direction {
            Direction::Down => (wan.down, &wan.trace_down, wan.shaped_down(), wan.policer_down),
            Direction::Up => (wan.up, &wan.trace_up, wan.shaped_up(), wan.policer_up),
        };
        let mut rates: Vec<(Duration, BitRate)> = rate.map(|rate| (Duration::ZERO, rate)).into_iter().collect();
        for change in &self.changes {
            let new =
                change
                    .settings
                    .iter()
                    .filter_map(|setting| match (self.setting_of(device, setting)?, direction) {
                        (ApSetting::WanDown(rate), Direction::Down) | (ApSetting::WanUp(rate), Direction::Up) => {
                            Some((change.time, *rate))
                        }
                        _ => None,
                    });
            rates.extend(new);
        }
        rates.sort_by_key(|(time, _)| *time);
        let limited = !rates.is_empty() || trace.is_some() || shaper.is_some() || policer.is_some();
        let bytes = wan.framing.map_or(PACKET + ETHERNET, |framing| framing.bytes(PACKET));
        let outage = |outage: &super::Outage| (outage.start, outage.start + outage.length);
        limited.then(|| Capacity {
            rates,
            trace: trace.clone(),
            outages: wan.outages.iter().map(outage).collect(),
            shaper,
            policer,
            content: f64::from(SEGMENT) / f64::from(bytes),
        })
    }
}

impl Capacity {
    /// A constant rate with the framing of Ethernet, such as that of a wire.
    #[must_use]
    pub fn constant(rate: BitRate) -> Self {
        Capacity {
            rates: vec![(Duration::ZERO, rate)],
            trace: None,
            outages: Vec::new(),
            shaper: None,
            policer: None,
            content: f64::from(SEGMENT) / f64::from(PACKET + ETHERNET),
        }
    }

    /// Content of full segments as a share of the bytes on the line: 1448 of 1538 with Ethernet, and of 1749 with PPPoE in ATM
    /// cells.
    #[must_use]
    pub const fn content_share(&self) -> f64 {
        self.content
    }

    /// Mean rate between two times since the start of the load, of the line itself: without shaper and policer. `None` if it
    /// is unlimited. An outage counts as a rate of 0.
    #[must_use]
    pub fn of_line(&self, from: Duration, to: Duration) -> Option<BitRate> {
        let to = to.max(from + Duration::from_nanos(1));
        let rate = match &self.trace {
            Some(trace) => trace_rate(trace, from, to),
            None => self.changed_rate(from, to)?,
        };
        let lost = self
            .outages
            .iter()
            .map(|(begin, end)| overlap((*begin, *end), (from, to)));
        let lost: u128 = lost.map(u128::from).sum();
        let span = u128::from(to.as_nanos() - from.as_nanos());
        let bits = u128::from(rate.as_bps()) * span.saturating_sub(lost) / span;
        Some(BitRate::from_bps(u64::try_from(bits).unwrap_or(u64::MAX)))
    }

    /// As [`of_line`](Self::of_line), limited by the shaper and the policer. `None` if nothing limits it.
    #[must_use]
    pub fn between(&self, from: Duration, to: Duration) -> Option<BitRate> {
        let limits = [
            self.of_line(from, to),
            self.shaper,
            self.policer.map(|policer| policer.rate),
        ];
        limits.into_iter().flatten().min()
    }

    /// Lowest mean rate of the line itself in any second up to `end`, without outages; `None` if it is unlimited.
    #[must_use]
    pub fn lowest_of_line(&self, end: Duration) -> Option<BitRate> {
        let second = Duration::from_secs(1);
        if let Some(trace) = &self.trace {
            // After its length a trace repeats.
            let end = end.min(Duration::from_millis(u64::from(trace.length())) + second);
            let starts = (0..=end.as_nanos() / second.as_nanos()).map(|number| second * number);
            return starts.map(|from| trace_rate(trace, from, from + second)).min();
        }
        self.rates
            .iter()
            .filter(|(time, _)| *time <= end)
            .map(|(_, rate)| *rate)
            .min()
    }

    /// Rates of the line by the time from which they apply; empty with a trace alone.
    #[must_use]
    pub fn rates(&self) -> &[(Duration, BitRate)] {
        &self.rates
    }

    /// Rate of the shaper.
    #[must_use]
    pub const fn shaper(&self) -> Option<BitRate> {
        self.shaper
    }

    /// Rate and bucket of the provider's policer.
    #[must_use]
    pub const fn policer(&self) -> Option<Policer> {
        self.policer
    }

    /// True if the rate of the line depends on the time.
    #[must_use]
    pub fn is_variable(&self) -> bool {
        self.trace.is_some() || self.rates.len() > 1 || !self.outages.is_empty()
    }

    fn changed_rate(&self, from: Duration, to: Duration) -> Option<BitRate> {
        let next = self.rates.iter().map(|(time, _)| *time).skip(1);
        let ends = next.chain([Duration::from_nanos(u64::MAX)]);
        let each = self
            .rates
            .iter()
            .zip(ends)
            .map(|((begin, rate), end)| u128::from(overlap((*begin, end), (from, to))) * u128::from(rate.as_bps()));
        let span = u128::from(to.as_nanos() - from.as_nanos());
        let first = self.rates.first()?;
        // Before the first of only timed rates, the line is unlimited.
        if first.0 > from {
            return None;
        }
        Some(BitRate::from_bps(
            u64::try_from(each.sum::<u128>() / span).unwrap_or(u64::MAX),
        ))
    }
}

/// Length in ns that two times have in common.
fn overlap(one: (Duration, Duration), other: (Duration, Duration)) -> u64 {
    let (from, to) = (one.0.max(other.0), one.1.min(other.1));
    to.as_nanos().saturating_sub(from.as_nanos())
}

/// Mean rate of the opportunities of a trace between two times.
fn trace_rate(trace: &Trace, from: Duration, to: Duration) -> BitRate {
    let length = u64::from(trace.length());
    // Opportunities up to a time in ms, which is not included.
    let before = |ms: u64| {
        let (rounds, rest) = (ms / length, ms % length);
        let within = trace.times().partition_point(|time| u64::from(*time) < rest);
        u128::from(rounds) * trace.times().len() as u128 + within as u128
    };
    let (from, to) = (from.as_nanos() / 1_000_000, to.as_nanos().div_ceil(1_000_000));
    let count = before(to.max(from + 1)) - before(from);
    let bits = count * u128::from(Trace::OPPORTUNITY) * 8 * 1_000 / u128::from(to.max(from + 1) - from);
    BitRate::from_bps(u64::try_from(bits).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Ap, Change, Framing, Outage, Router, Setting, ShaperRate, Wan};
    use netburn_units::ByteSize;

    fn plan(wan: Wan, changes: &[(u64, u64)]) -> Plan {
        let mut plan = Plan::new("home");
        let mut ap = Ap::new("home");
        ap.wan = Some(wan);
        plan.aps.push(ap);
        let change = |(seconds, mbps): &(u64, u64)| Change {
            time: Duration::from_secs(*seconds),
            settings: vec![Setting::Ap(
                "home".to_owned(),
                ApSetting::WanDown(BitRate::from_mbps(*mbps)),
            )],
        };
        plan.changes.extend(changes.iter().map(change));
        plan
    }

    /// The line of the `[router]` has its own changes.
    #[test]
    fn a_router() {
        let wan = Wan {
            up: Some(BitRate::from_mbps(40)),
            ..Wan::default()
        };
        let mut plan = plan(wan.clone(), &[]);
        plan.router = Some(Router {
            wan: Some(wan),
            ..Router::default()
        });
        plan.changes.push(Change {
            time: seconds(10),
            settings: vec![Setting::Router(ApSetting::WanUp(BitRate::from_mbps(4)))],
        });
        let lowest = |device| {
            mbps(
                plan.capacity(device, Direction::Up)
                    .unwrap()
                    .lowest_of_line(seconds(20)),
            )
        };
        assert_eq!(lowest(Device::Router), Some(4));
        assert_eq!(lowest(Device::Ap(0)), Some(40));
        assert_eq!(plan.capacity(Device::Router, Direction::Down), None);
    }

    fn down(plan: &Plan) -> Capacity {
        plan.capacity(Device::Ap(0), Direction::Down).unwrap()
    }

    fn mbps(rate: Option<BitRate>) -> Option<u64> {
        rate.map(|rate| rate.as_bps() / 1_000_000)
    }

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// 100 Mbit/s, 8 Mbit/s from 5 s on: from 4 s to 6 s, (100 + 8) ÷ 2.
    #[test]
    fn timed_changes() {
        let wan = Wan {
            down: Some(BitRate::from_mbps(100)),
            ..Wan::default()
        };
        let capacity = down(&plan(wan, &[(5, 8)]));
        for (from, to, expected) in [(0, 5, 100), (4, 6, 54), (5, 20, 8), (19, 20, 8)] {
            assert_eq!(mbps(capacity.between(seconds(from), seconds(to))), Some(expected));
        }
        assert_eq!(mbps(capacity.lowest_of_line(seconds(20))), Some(8));
        assert_eq!(mbps(capacity.lowest_of_line(seconds(4))), Some(100));
        assert!(capacity.is_variable());
    }

    /// One opportunity of 1500 B per 4 ms: 3 Mbit/s, however often the trace repeats.
    #[test]
    fn a_trace() {
        let wan = Wan {
            trace_down: Some(Trace::parse("4\n").unwrap()),
            ..Wan::default()
        };
        let capacity = down(&plan(wan, &[]));
        assert_eq!(mbps(capacity.between(seconds(1), seconds(13))), Some(3));
        assert_eq!(mbps(capacity.lowest_of_line(seconds(13))), Some(3));
    }

    /// The lowest of the line (40), a shaper at half of it, and a policer.
    #[test]
    fn the_lowest_limit_applies() {
        let half = ShaperRate::Share(netburn_units::Probability::from_ppb(500_000_000).unwrap());
        let wan = Wan {
            down: Some(BitRate::from_mbps(40)),
            shaper: Some(half),
            outages: vec![Outage {
                start: seconds(10),
                length: seconds(1),
            }],
            ..Wan::default()
        };
        let policed = Wan {
            policer_down: Some(Policer {
                rate: BitRate::from_mbps(15),
                burst: ByteSize::from_kib(16),
            }),
            ..wan.clone()
        };
        let (wan, policed) = (down(&plan(wan, &[])), down(&plan(policed, &[])));
        assert_eq!(mbps(wan.between(seconds(0), seconds(1))), Some(20));
        assert_eq!(mbps(policed.between(seconds(0), seconds(1))), Some(15));
        assert_eq!(mbps(wan.of_line(seconds(0), seconds(1))), Some(40));
        // No service for half of the time.
        assert_eq!(mbps(wan.of_line(seconds(9), seconds(11))), Some(20));
        assert_eq!(mbps(wan.lowest_of_line(seconds(20))), Some(40));
    }

    /// 1448 of 1538 B with Ethernet; of 33 ATM cells of 53 B with PPPoE and LLC/SNAP.
    #[test]
    fn content_of_the_framing() {
        let wan = |framing| Wan {
            down: Some(BitRate::from_mbps(16)),
            framing,
            ..Wan::default()
        };
        let share = |framing| down(&plan(wan(framing), &[])).content_share();
        assert!((share(None) - 1_448.0 / 1_538.0).abs() < 1e-12);
        assert!((share(Some(Framing::PppoeLlcsnap)) - 1_448.0 / 1_749.0).abs() < 1e-12);
        assert_eq!(plan(Wan::default(), &[]).capacity(Device::Ap(0), Direction::Down), None);
    }
}
