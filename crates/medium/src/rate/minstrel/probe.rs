//! Selection of the next rate to probe.

use super::statistics::Statistics;
use crate::rate::RateSet;
use netburn_units::{Duration, Instant, RandomStream};
use std::cmp::Reverse;

/// Selects rates to probe in a fixed sequence (`minstrel_sample_seq`): the next faster ones, any
/// faster one, and sometimes a slower one.
#[derive(Debug)]
pub(super) struct Probes {
    /// Rates of the same width and number of streams, by ascending MCS; and the group of each rate.
    groups: Vec<Vec<usize>>,
    group_of: Vec<usize>,
    turn: usize,
    /// Position of the round robin through the other groups.
    round: usize,
    next: Option<Instant>,
    follow_up: Option<usize>,
    /// PPDUs since the last probe, and the minimum before the next: small while probes succeed,
    /// large while they fail.
    since: u32,
    gap: u32,
    /// MCS distance of the next step up: doubled after a success.
    stride: usize,
    rng: RandomStream,
}

/// Minimum and maximum number of PPDUs between probes. On a crowded channel a probe costs a
/// transmit opportunity: 1 in 32 is 3 %.
const GAPS: std::ops::RangeInclusive<u32> = 1..=32;

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The next MCS of the current group.
    Up,
    /// The first faster rate of another group.
    Across,
    /// Any faster rate.
    Jump,
    /// A slower rate, so that its statistics are recent when it is needed.
    Down,
}

const PROBE_SEQUENCE: [Kind; 6] = [Kind::Across, Kind::Up, Kind::Jump, Kind::Up, Kind::Across, Kind::Down];

impl Probes {
    pub(super) fn new(set: &RateSet, rng: RandomStream) -> Self {
        let mut keys = Vec::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut group_of = Vec::new();
        for (at, entry) in set.entries().iter().enumerate() {
            let key = (entry.vector.width, entry.vector.streams);
            let group = keys.iter().position(|other| *other == key).unwrap_or_else(|| {
                keys.push(key);
                groups.push(Vec::new());
                keys.len() - 1
            });
            groups[group].push(at);
            group_of.push(group);
        }
        Probes {
            groups,
            group_of,
            turn: 0,
            round: 0,
            next: None,
            follow_up: None,
            since: 0,
            gap: *GAPS.start(),
            stride: 1,
            rng,
        }
    }

    /// Reports a successful probe. With `verify` the rate is probed again at the next opportunity,
    /// because one short aggregate is weak evidence.
    pub(super) fn probe_succeeded(&mut self, at: usize, verify: bool) {
        self.follow_up = verify.then_some(at);
        self.gap = *GAPS.start();
        self.stride = self.stride.saturating_mul(2);
    }

    /// Resets the step size and shortens the gap after a change.
    pub(super) fn restart(&mut self) {
        (self.gap, self.stride) = (self.gap.min(4), 1);
    }

    /// Reports a failed probe. `own`: the losses are attributed to the rate, not to collisions.
    pub(super) fn probe_failed(&mut self, own: bool) {
        self.gap = (self.gap + if own { self.gap.div_ceil(2) } else { 1 }).min(*GAPS.end());
        if own {
            self.stride = 1;
        } else {
            self.stride = (self.stride / 2).max(1);
        }
    }

    /// Rate to probe now, if one is due. `first`: the current rate.
    pub(super) fn next(
        &mut self,
        now: Instant,
        interval: Duration,
        first: usize,
        set: &RateSet,
        statistics: &[Statistics],
    ) -> Option<usize> {
        // The current rate, and rates with enough recent statistics, need no probe.
        let known = |at: usize| at == first || statistics[at].weight() > 32.0;
        if let Some(at) = self.follow_up.take()
            && !known(at)
        {
            return Some(at);
        }
        self.since += 1;
        if self.since < self.gap || now < *self.next.get_or_insert(now) {
            return None;
        }
        (self.since, self.next) = (0, Some(now + interval));
        // The current rate has losses: probe the next slower one, if it would be better without
        // losses.
        let success = statistics[first].success().unwrap_or(1.0);
        let goodput = |at: usize, success| set.entries()[at].goodput(1.0, success);
        if let Some(below) = self.slower_in_group(first)
            && success < 0.9
            && statistics[below].weight() < 1.0
            && goodput(below, 1.0) > goodput(first, success)
        {
            return Some(below);
        }
        let kind = PROBE_SEQUENCE[self.turn % PROBE_SEQUENCE.len()];
        self.turn += 1;
        let rate = |at: usize| set.entries()[at].rate;
        let found = match kind {
            Kind::Up => {
                let up = self.faster_in_group(first);
                match up.get(self.stride.min(up.len()).wrapping_sub(1)) {
                    Some(at) => Some(*at),
                    None => self.across(first, set),
                }
            }
            Kind::Across => self.across(first, set),
            Kind::Jump => {
                let from = (0..statistics.len()).find(|at| rate(*at) > rate(first))?;
                Some(from + self.rng.below((statistics.len() - from) as u64) as usize)
            }
            Kind::Down => {
                let least = rate(first).as_bps() / 3;
                let from = (0..first).find(|at| rate(*at).as_bps() >= least)?;
                Some(from + self.rng.below((first - from) as u64) as usize)
            }
        };
        found.filter(|at| !known(*at))
    }

    /// Rates of the same width and number of streams with a higher MCS.
    pub(super) fn faster_in_group(&self, at: usize) -> &[usize] {
        let group = &self.groups[self.group_of[at]];
        &group[group.partition_point(|other| *other <= at)..]
    }

    /// Next lower MCS of the same width and number of streams.
    fn slower_in_group(&self, at: usize) -> Option<usize> {
        let group = &self.groups[self.group_of[at]];
        let place = group.partition_point(|other| *other < at);
        group.get(place.checked_sub(1)?).copied()
    }

    /// Alternates between two choices. One is the lowest MCS among the next faster rates of all
    /// other groups, which most likely needs the least signal. The other is the next faster rate of
    /// each group in turn.
    fn across(&mut self, first: usize, set: &RateSet) -> Option<usize> {
        self.round += 1;
        if self.round.is_multiple_of(2) {
            return self.faster(self.round / 2 % self.groups.len(), first, set);
        }
        let others = (0..self.groups.len()).filter(|group| *group != self.group_of[first]);
        let place = |at: usize| self.groups[self.group_of[at]].partition_point(|other| *other < at);
        others
            .filter_map(|group| self.faster(group, first, set))
            .min_by_key(|at| (place(*at), Reverse(*at)))
    }

    /// Slowest rate of a group that is faster than the current one.
    fn faster(&self, group: usize, first: usize, set: &RateSet) -> Option<usize> {
        let rate = |at: usize| set.entries()[at].rate;
        self.groups[group].iter().copied().find(|at| rate(*at) > rate(first))
    }
}
