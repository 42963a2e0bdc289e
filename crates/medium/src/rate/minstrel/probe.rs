//! Which rate is tried out next.

use super::statistics::Statistics;
use crate::rate::RateSet;
use netburn_units::{Duration, Instant, Stream};
use std::cmp::Reverse;

/// Picks rates to try, by turns (`minstrel_sample_seq`): the next faster ones, any faster one, and now and then a slower one.
#[derive(Debug)]
pub(super) struct Probes {
    /// Rates of the same width and number of streams, by rising MCS; and of each rate its group.
    groups: Vec<Vec<usize>>,
    group_of: Vec<usize>,
    turn: usize,
    /// Where the round through the other groups has come to.
    round: usize,
    next: Option<Instant>,
    follow_up: Option<usize>,
    /// PPDUs chosen for since the last probe, and how many there must be before the next: few while probes go well, many while they don't.
    since: u32,
    gap: u32,
    /// How many MCS up the next step goes: twice as many as the last one if that went well.
    stride: usize,
    chance: Stream,
}

/// The fewest and the most PPDUs from one probe to the next. On a crowded channel a probe costs a turn on the air: 1 in 32 is 3 %.
const GAPS: std::ops::RangeInclusive<u32> = 1..=32;

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The next MCS of the group that is in use.
    Up,
    /// Of another group, the first that is faster.
    Across,
    /// Any that is faster.
    Jump,
    /// One that is slower: so that something is known of it when it is needed.
    Down,
}

const TURNS: [Kind; 6] = [Kind::Across, Kind::Up, Kind::Jump, Kind::Up, Kind::Across, Kind::Down];

impl Probes {
    pub(super) fn new(set: &RateSet, chance: Stream) -> Self {
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
            chance,
        }
    }

    /// A probe went well. With `doubt` it is followed up at the next opportunity, so that more is known of that rate than one short
    /// aggregate tells.
    pub(super) fn went_well(&mut self, at: usize, doubt: bool) {
        self.follow_up = doubt.then_some(at);
        self.gap = *GAPS.start();
        self.stride = self.stride.saturating_mul(2);
    }

    /// Things have changed: look around.
    pub(super) fn again(&mut self) {
        (self.gap, self.stride) = (self.gap.min(4), 1);
    }

    /// A probe failed. `own`: the losses are the rate's own, rather than those of a collision.
    pub(super) fn went_badly(&mut self, own: bool) {
        self.gap = (self.gap + if own { self.gap.div_ceil(2) } else { 1 }).min(*GAPS.end());
        if own {
            self.stride = 1;
        } else {
            self.stride = (self.stride / 2).max(1);
        }
    }

    /// The rate to try now, if one is due. `first`: the one in use.
    pub(super) fn next(
        &mut self,
        now: Instant,
        interval: Duration,
        first: usize,
        set: &RateSet,
        statistics: &[Statistics],
    ) -> Option<usize> {
        // Nothing recent needs to be learnt of what is in use, or of what much is known of already.
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
        // What is in use loses some: is the next slower one better? It would have to be if it lost nothing.
        let success = statistics[first].success().unwrap_or(1.0);
        let goodput = |at: usize, success| set.entries()[at].goodput(1.0, success);
        if let Some(below) = self.slower_of_its_kind(first)
            && success < 0.9
            && statistics[below].weight() < 1.0
            && goodput(below, 1.0) > goodput(first, success)
        {
            return Some(below);
        }
        let kind = TURNS[self.turn % TURNS.len()];
        self.turn += 1;
        let rate = |at: usize| set.entries()[at].rate;
        let found = match kind {
            Kind::Up => {
                let up = self.faster_of_its_kind(first);
                match up.get(self.stride.min(up.len()).wrapping_sub(1)) {
                    Some(at) => Some(*at),
                    None => self.across(first, set),
                }
            }
            Kind::Across => self.across(first, set),
            Kind::Jump => {
                let from = (0..statistics.len()).find(|at| rate(*at) > rate(first))?;
                Some(from + self.chance.below((statistics.len() - from) as u64) as usize)
            }
            Kind::Down => {
                let least = rate(first).as_bps() / 3;
                let from = (0..first).find(|at| rate(*at).as_bps() >= least)?;
                Some(from + self.chance.below((first - from) as u64) as usize)
            }
        };
        found.filter(|at| !known(*at))
    }

    /// The rates of the same width and number of streams with a higher MCS.
    pub(super) fn faster_of_its_kind(&self, at: usize) -> &[usize] {
        let group = &self.groups[self.group_of[at]];
        &group[group.partition_point(|other| *other <= at)..]
    }

    /// The next lower MCS of the same width and number of streams.
    fn slower_of_its_kind(&self, at: usize) -> Option<usize> {
        let group = &self.groups[self.group_of[at]];
        let place = group.partition_point(|other| *other < at);
        group.get(place.checked_sub(1)?).copied()
    }

    /// By turns the rate of the other groups' next faster ones with the least MCS, which most likely needs the least signal, and each
    /// group's.
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

    /// The slowest of a group that is faster than the one in use.
    fn faster(&self, group: usize, first: usize, set: &RateSet) -> Option<usize> {
        let rate = |at: usize| set.entries()[at].rate;
        self.groups[group].iter().copied().find(|at| rate(*at) > rate(first))
    }
}
