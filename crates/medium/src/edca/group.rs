//! A hearing group and its classes: slot counters, and the next end of a backoff.

use super::Contender;
use netburn_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// State of the medium for stations that hear the same stations.
#[derive(Debug)]
pub(super) struct Group {
    /// Number of transmissions on the air that the group hears.
    pub(super) sensed: u32,
    /// Time at which the first of them is detected: until then the group counts on.
    pub(super) notices: Option<Instant>,
    /// End of the last transmission, or of the NAV if that is later.
    pub(super) idle_since: Instant,
    /// Additional wait after an undecodable reception: EIFS − DIFS.
    pub(super) extra: Duration,
    pub(super) classes: Vec<Class>,
}

/// Contenders of a group with the same AIFS.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) aifs: Duration,
    /// True if it counts at the end of AIFS.
    pub(super) edca: bool,
    /// True for contenders that failed just now: their missing response excludes them from EIFS.
    pub(super) exempt: bool,
    /// Idle slots elapsed before the current idle period.
    pub(super) slots: u64,
    /// (counter value at which it sends, generation, contender).
    pub(super) heap: BinaryHeap<Reverse<(u64, u32, Contender)>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) group: usize,
    /// Class, except during the time after a collision of its own.
    pub(super) home: usize,
    pub(super) class: usize,
    /// Counter value of its class at which its backoff ends.
    pub(super) target: u64,
    /// Counter value at which its countdown starts.
    pub(super) from: u64,
    /// Number of heap entries, to detect stale ones.
    pub(super) generation: u32,
    pub(super) waiting: bool,
}

/// Rounding of a partial slot.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Round {
    /// Only complete slots count.
    Down,
    /// A countdown starts at the next slot boundary.
    Up,
}

impl Group {
    /// Returns true if it has detected that the medium is busy.
    pub(super) const fn is_busy(&self) -> bool {
        self.sensed > 0 && self.notices.is_none()
    }

    /// Detects the transmission: all counters stop.
    pub(super) fn notice(&mut self, contenders: &mut [Entry], slot: Duration) {
        let Some(at) = self.notices else { return };
        for class in 0..self.classes.len() {
            let at_boundary = self.classes[class].edca && at >= self.start(class);
            self.classes[class].slots = self.reading(class, at, slot, Round::Down) + u64::from(at_boundary);
        }
        self.notices = None;
        self.return_home(contenders);
    }

    /// Returns contenders without EIFS to their normal class, with their remaining slots.
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

    /// Start of a class's first slot in this idle period.
    pub(super) fn start(&self, class: usize) -> Instant {
        let class = &self.classes[class];
        let extra = if class.exempt { Duration::ZERO } else { self.extra };
        self.idle_since + extra + class.aifs
    }

    /// Elapsed idle slots of a class.
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

    /// End of the first backoff of the group.
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
