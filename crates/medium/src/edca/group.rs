//! A hearing group and its classes: how far each has counted down, and who is done first.

use super::Contender;
use netburn_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What stations that hear the same others know of the medium.
#[derive(Debug)]
pub(super) struct Group {
    /// Transmissions on the air that are heard, or will be.
    pub(super) sensed: u32,
    /// When the first of them will have been noticed: until then the group counts on.
    pub(super) notices: Option<Instant>,
    /// When the last one ended, or the NAV does if that is later.
    pub(super) idle_since: Instant,
    /// What a broken reception adds to the wait: EIFS − DIFS.
    pub(super) extra: Duration,
    pub(super) classes: Vec<Class>,
}

/// Contenders of a group that wait for the same AIFS.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) aifs: Duration,
    /// Whether it counts at the end of AIFS.
    pub(super) edca: bool,
    /// Its contenders failed just now: they know it by their missing answer and don't wait for EIFS.
    pub(super) exempt: bool,
    /// Idle slots gone by before the present idle period.
    pub(super) slots: u64,
    /// (reading at which it sends, generation, contender).
    pub(super) heap: BinaryHeap<Reverse<(u64, u32, Contender)>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) group: usize,
    /// The class it belongs to but for the time after a collision of its own.
    pub(super) home: usize,
    pub(super) class: usize,
    /// The reading of its class at which its backoff is done.
    pub(super) target: u64,
    /// The reading from which it counts, where that isn't when it began.
    pub(super) from: u64,
    /// Counts entries to the heap, so that stale ones are known.
    pub(super) generation: u32,
    pub(super) waiting: bool,
}

/// How part of a slot counts.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Round {
    /// Only whole slots have gone by.
    Down,
    /// One that begins to count does so at the next slot's beginning.
    Up,
}

impl Group {
    /// Whether it knows the medium to be busy.
    pub(super) const fn is_busy(&self) -> bool {
        self.sensed > 0 && self.notices.is_none()
    }

    /// It has noticed what was on the air: nobody counts any more.
    pub(super) fn notice(&mut self, contenders: &mut [Entry], slot: Duration) {
        let Some(at) = self.notices else { return };
        for class in 0..self.classes.len() {
            let at_boundary = self.classes[class].edca && at >= self.start(class);
            self.classes[class].slots = self.reading(class, at, slot, Round::Down) + u64::from(at_boundary);
        }
        self.notices = None;
        self.return_home(contenders);
    }

    /// Those who did not wait for EIFS count on with the others, with what they have left.
    pub(super) fn return_home(&mut self, contenders: &mut [Entry]) {
        for class in 0..self.classes.len() {
            if !self.classes[class].exempt {
                continue;
            }
            let slots = self.classes[class].slots;
            while let Some(Reverse((target, generation, contender))) = self.classes[class].heap.pop() {
                let entry = &mut contenders[contender.0 as usize];
                if !entry.waiting || entry.generation != generation || entry.class != class {
                    continue;
                }
                entry.class = entry.home;
                let home = &mut self.classes[entry.home];
                entry.target = home.slots + target.saturating_sub(slots.max(entry.from));
                home.heap.push(Reverse((entry.target, generation, contender)));
            }
        }
    }

    /// When a class's first slot of this idle period begins.
    pub(super) fn start(&self, class: usize) -> Instant {
        let class = &self.classes[class];
        let extra = if class.exempt { Duration::ZERO } else { self.extra };
        self.idle_since + extra + class.aifs
    }

    /// Idle slots that have gone by for a class.
    pub(super) fn reading(&self, class: usize, now: Instant, slot: Duration, round: Round) -> u64 {
        let before = self.classes[class].slots;
        if self.is_busy() {
            return before;
        }
        let Some(idle) = now.checked_since(self.start(class)) else {
            return before;
        };
        before
            + match round {
                Round::Down => idle.as_nanos() / slot.as_nanos(),
                Round::Up => idle.as_nanos().div_ceil(slot.as_nanos()),
            }
    }

    /// The instant at which the first backoff of the group is done.
    pub(super) fn next_due(&mut self, contenders: &[Entry], slot: Duration) -> Option<Instant> {
        let mut first: Option<Instant> = None;
        for class in 0..self.classes.len() {
            if self.classes[class].heap.is_empty() {
                continue;
            }
            let start = self.start(class);
            let counted = self.classes[class].slots;
            let heap = &mut self.classes[class].heap;
            while let Some(Reverse((target, generation, contender))) = heap.peek().copied() {
                let entry = &contenders[contender.0 as usize];
                if !entry.waiting || entry.generation != generation || entry.class != class {
                    heap.pop();
                    continue;
                }
                let at = start + slot * target.saturating_sub(counted);
                first = Some(first.map_or(at, |first| first.min(at)));
                break;
            }
        }
        first
    }
}
