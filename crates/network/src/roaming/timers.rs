//! The next timer of each client, in the order of time.

use netburn_units::Instant;
use std::collections::BTreeSet;
use std::ops::Bound;

/// Timers by number: at most one each.
#[derive(Debug)]
pub(super) struct Timers {
    /// By time.
    order: BTreeSet<(Instant, usize)>,
    times: Vec<Option<Instant>>,
}

impl Timers {
    /// `count` timers, none of which is set.
    pub(super) fn new(count: usize) -> Self {
        Timers {
            order: BTreeSet::new(),
            times: vec![None; count],
        }
    }

    /// Sets or clears a timer.
    pub(super) fn set(&mut self, index: usize, at: Option<Instant>) {
        if self.times[index] == at {
            return;
        }
        if let Some(before) = std::mem::replace(&mut self.times[index], at) {
            self.order.remove(&(before, index));
        }
        if let Some(at) = at {
            self.order.insert((at, index));
        }
    }

    /// Time of the first timer.
    pub(super) fn first(&self) -> Option<Instant> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Lowest number from `from` on whose timer is due at `now`. Its cost depends on the number of
    /// different instants that are due, which is nearly always one.
    pub(super) fn due(&self, now: Instant, from: usize) -> Option<usize> {
        let mut lowest = None;
        let mut next = self.order.first();
        while let Some((at, _)) = next.filter(|(at, _)| *at <= now) {
            let index = self
                .order
                .range((*at, from)..=(*at, usize::MAX))
                .next()
                .map(|(_, index)| *index);
            lowest = match (lowest, index) {
                (Some(lowest), Some(index)) => Some(index.min(lowest)),
                (lowest, index) => index.or(lowest),
            };
            let later = (Bound::Excluded((*at, usize::MAX)), Bound::Unbounded);
            next = self.order.range(later).next();
        }
        lowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Duration;
    use proptest::prelude::*;

    proptest! {
        /// The same results as a search of all timers.
        #[test]
        fn they_are_in_order(steps in prop::collection::vec((0_usize..6, prop::option::of(0_u64..8)), 1..60)) {
            let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
            let (mut timers, mut all) = (Timers::new(6), [None; 6]);
            for (index, time) in steps {
                timers.set(index, time.map(at));
                all[index] = time.map(at);
                prop_assert_eq!(timers.first(), all.iter().flatten().min().copied());
                for (now, from) in (0..8).flat_map(|now| (0..7).map(move |from| (at(now), from))) {
                    let due = (from..6).find(|index| all[*index].is_some_and(|at| at <= now));
                    prop_assert_eq!(timers.due(now, from), due);
                }
            }
        }
    }
}
