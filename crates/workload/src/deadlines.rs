//! Deadlines of many machines: one heap, ordered by instant and then by sequence number.

use netburn_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Deadlines of machines, which are numbered from 0.
///
/// If a machine's deadline moves later, its old entry stays in the heap; [`pop`](Self::pop) then
/// reinserts it. So a timeout that every byte postpones costs nothing until its original time.
#[derive(Debug, Default)]
pub struct Deadlines {
    heap: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    sequence: u64,
    machines: Vec<Machine>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Machine {
    /// Requested deadline.
    wanted: Option<Instant>,
    /// Valid entry in the heap, never later than `wanted`.
    entry: Option<(Instant, u64)>,
}

impl Deadlines {
    /// Deadlines of `count` machines, none of which has one yet.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Deadlines {
            machines: vec![Machine::default(); count],
            ..Deadlines::default()
        }
    }

    /// Sets or clears the deadline of `machine`. A new machine number is added.
    pub fn set(&mut self, machine: usize, at: Option<Instant>) {
        if machine >= self.machines.len() {
            self.machines.resize(machine + 1, Machine::default());
        }
        self.machines[machine].wanted = at;
        let entry = self.machines[machine].entry;
        if let Some(at) = at
            && entry.is_none_or(|(entry, _)| at < entry)
        {
            self.push(machine, at);
        }
    }

    /// Lower bound of all deadlines; `None` without deadlines. It can be earlier than the first
    /// deadline.
    #[must_use]
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    /// Removes the next machine whose deadline has passed; those of one instant in the order in
    /// which they were set. The machine has no deadline until the next [`set`](Self::set).
    #[inline]
    pub fn pop(&mut self, now: Instant) -> Option<(Instant, usize)> {
        match self.next() {
            Some(next) if next <= now => self.pop_due(now),
            _ => None,
        }
    }

    fn pop_due(&mut self, now: Instant) -> Option<(Instant, usize)> {
        while let Some(Reverse((at, sequence, machine))) = self.heap.peek().copied() {
            if at > now {
                return None;
            }
            self.heap.pop();
            let state = &mut self.machines[machine];
            if state.entry != Some((at, sequence)) {
                continue;
            }
            state.entry = None;
            match state.wanted {
                Some(wanted) if wanted == at => {
                    state.wanted = None;
                    return Some((at, machine));
                }
                Some(wanted) => self.push(machine, wanted),
                None => {}
            }
        }
        None
    }

    fn push(&mut self, machine: usize, at: Instant) {
        let sequence = self.sequence;
        self.sequence += 1;
        self.machines[machine].entry = Some((at, sequence));
        self.heap.push(Reverse((at, sequence, machine)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(millis: i64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn simultaneous_deadlines_are_in_the_order_of_their_setting() {
        let mut deadlines = Deadlines::new(3);
        for machine in [2, 0, 1] {
            deadlines.set(machine, Some(at(5)));
        }
        assert_eq!(deadlines.pop(at(4)), None);
        let order: Vec<_> = std::iter::from_fn(|| deadlines.pop(at(5))).map(|(_, m)| m).collect();
        assert_eq!(order, [2, 0, 1]);
        assert_eq!(deadlines.next(), None);
    }

    #[test]
    fn postponed_deadlines_keep_the_heap_small() {
        let mut deadlines = Deadlines::new(1);
        for millis in 0..10_000 {
            deadlines.set(0, Some(at(millis + 30_000)));
            assert_eq!(deadlines.pop(at(millis)), None);
        }
        assert_eq!(deadlines.heap.len(), 1);
        assert_eq!(deadlines.pop(at(39_998)), None);
        assert_eq!(deadlines.pop(at(39_999)), Some((at(39_999), 0)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn it_behaves_as_a_plain_list_would(steps in prop::collection::vec((0_usize..4, prop::option::of(0_i64..40), 0_i64..3), 1..80)) {
            let mut deadlines = Deadlines::new(4);
            let mut list: [Option<Instant>; 4] = [None; 4];
            let mut now = 0;
            for (machine, wanted, pass) in steps {
                deadlines.set(machine, wanted.map(at));
                list[machine] = wanted.map(at);
                now += pass;
                let mut due: Vec<_> = std::iter::from_fn(|| deadlines.pop(at(now))).collect();
                let mut expected: Vec<_> =
                    (0..4).filter_map(|m| list[m].filter(|w| *w <= at(now)).map(|w| (w, m))).collect();
                prop_assert!(expected.iter().all(|(_, m)| list[*m].take().is_some()));
                // Never before an earlier deadline, unless it was set to a past time.
                due.sort();
                expected.sort();
                prop_assert_eq!(due, expected);
                let first = list.iter().flatten().min();
                prop_assert!(first.is_none_or(|first| deadlines.next().is_some_and(|next| next <= *first)));
            }
        }
    }
}
