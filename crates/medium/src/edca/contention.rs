//! Backoff without counting single slots.
//!
//! Stations that hear the same stations see the medium busy and idle at the same instants: a
//! *hearing group*. Within a group, contenders with the same AIFS count their slots down together.
//! So a *class* needs one counter of elapsed idle slots, and a contender only the counter value at
//! which it may send. A transmission costs one update per group and class, for any number of
//! stations; the next sender is the minimum of a class's heap.
//!
//! EDCA counts at slot boundaries, starting with the end of AIFS (clause 10.23.2.4). A contender
//! that sees a transmission start at a boundary has counted there as well. DCF counts elapsed idle
//! slots (clause 10.3.4.3), so a contender has not counted there. The difference is one slot in
//! every busy period, for all except the sender, and determines how often a low priority wins.

use super::contender::Contender;
use super::group::{Class, Entry, Group, Round};
use super::parameters::Timing;
use netburn_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Contention on one channel.
///
/// **Call order:** at the time of [`next_due`](Self::next_due), take the [`winners`](Self::winners)
/// of that instant. Then report what each hearing group senses, with [`sense`](Self::sense) and
/// [`clear`](Self::clear) in the order of time.
#[derive(Debug)]
pub struct Contention {
    timing: Timing,
    groups: Vec<Group>,
    contenders: Vec<Entry>,
    /// Cached result of `next_due`; outer `None`: invalidated by a state change.
    next: Option<Option<Instant>>,
}

impl Contention {
    /// Creates a contention without contenders, with `groups` hearing groups.
    #[must_use]
    pub fn new(timing: Timing, groups: usize) -> Self {
        let group = || Group {
            sensed: 0,
            notices: None,
            idle_since: Instant::from_nanos(i64::MIN / 2),
            extra: Duration::ZERO,
            classes: Vec::new(),
        };
        Contention {
            timing,
            groups: (0..groups).map(|_| group()).collect(),
            contenders: Vec::new(),
            next: None,
        }
    }

    /// Adds a contender of a hearing group, with its AIFSN, for EDCA or DCF. Its backoff has ended.
    pub fn add(&mut self, group: usize, aifsn: u32, edca: bool) -> Contender {
        let aifs = self.timing.aifs(aifsn);
        let home = self.class(group, aifs, edca, false);
        self.contenders.push(Entry {
            group,
            home,
            class: home,
            target: 0,
            from: 0,
            generation: 0,
            waiting: false,
        });
        Contender(u32::try_from(self.contenders.len() - 1).expect("fewer than 2^32 contenders"))
    }

    /// Starts the countdown of `slots`, which were drawn for the contender, at `now`, with or
    /// without something to send (post-backoff). A contender with something to send after a failure
    /// of its own doesn't wait for EIFS. It waits for AIFS from `now`, the end of its response
    /// timeout (clause 10.23.2.4).
    pub fn back_off(&mut self, now: Instant, contender: Contender, slots: u32, own_failure: bool) {
        let Entry {
            group, home, waiting, ..
        } = self.contenders[contender.0 as usize];
        let mut class = home;
        let mut begins = now;
        if own_failure && waiting && !self.groups[group].is_busy() {
            let Class { aifs, edca, .. } = self.groups[group].classes[home];
            class = self.class(group, aifs, edca, true);
            begins = now + aifs;
        }
        let from = self.groups[group].reading(class, begins, self.timing.slot, Round::Up);
        let entry = &mut self.contenders[contender.0 as usize];
        entry.class = class;
        entry.from = from;
        entry.target = from + u64::from(slots);
        if entry.waiting {
            entry.waiting = false;
            self.wait(contender);
        }
    }

    /// Returns true if a contender that gets something to send must draw a backoff first. This is
    /// so if its last backoff has ended and the medium is busy (clause 10.23.2.2 a).
    #[must_use]
    pub fn must_draw(&self, now: Instant, contender: Contender) -> bool {
        let entry = &self.contenders[contender.0 as usize];
        let group = &self.groups[entry.group];
        let done = entry.target <= group.reading(entry.class, now, self.timing.slot, Round::Down);
        done && (group.is_busy() || now < group.start(entry.class))
    }

    /// Sets the contender waiting: it has something to send.
    pub fn wait(&mut self, contender: Contender) {
        let entry = &mut self.contenders[contender.0 as usize];
        if entry.waiting {
            return;
        }
        entry.waiting = true;
        entry.generation += 1;
        let key = (entry.target, entry.generation, contender);
        self.groups[entry.group].classes[entry.class].heap.push(Reverse(key));
        self.next = None;
    }

    /// Cancels the waiting: the contender has nothing to send.
    pub fn cancel(&mut self, contender: Contender) {
        self.contenders[contender.0 as usize].waiting = false;
        self.next = None;
    }

    /// Reports the start of a transmission that the group hears. The group detects it after
    /// aCCATime; contenders whose backoff ends before then send too, and collide.
    pub fn sense(&mut self, now: Instant, group: usize) {
        let group = &mut self.groups[group];
        let is_first = group.sensed == 0;
        group.sensed += 1;
        if is_first {
            self.next = None;
            let detected = now + self.timing.detect;
            group.notices = Some(detected);
            if group.idle_since >= detected {
                // No backoff can end before.
                group.notice(&mut self.contenders, self.timing.slot);
            }
        }
    }

    /// Reports the end of a transmission that the group heard. `nav`: end of the NAV. `broken`:
    /// additional wait beyond AIFS because the group could not decode it (EIFS − DIFS), zero if it
    /// could.
    pub fn clear(&mut self, now: Instant, group: usize, nav: Instant, broken: Duration) {
        let group = &mut self.groups[group];
        group.notice(&mut self.contenders, self.timing.slot);
        group.sensed = group.sensed.checked_sub(1).expect("as many ends as beginnings");
        group.idle_since = group.idle_since.max(now).max(nav);
        group.extra = broken;
        self.next = None;
    }

    /// End of the next contender's backoff, `None` while none can end.
    #[inline]
    pub fn next_due(&mut self) -> Option<Instant> {
        match self.next {
            Some(next) => next,
            None => self.recompute(),
        }
    }

    /// As [`next_due`](Self::next_due), but may be `None` if no backoff ends before `limit`.
    #[inline]
    pub fn next_due_before(&mut self, limit: Instant) -> Option<Instant> {
        // All groups are idle from a time on that is not earlier.
        let is_later = |group: &Group| group.sensed == 0 && group.idle_since >= limit;
        match self.next {
            Some(next) => next,
            None if self.groups.iter().all(is_later) => None,
            None => self.recompute(),
        }
    }

    #[inline(never)]
    fn recompute(&mut self) -> Option<Instant> {
        let slot = self.timing.slot;
        let mut next: Option<Instant> = None;
        for group in self.groups.iter_mut().filter(|group| !group.is_busy()) {
            let due = group.next_due(&self.contenders, slot);
            let early = due.filter(|due| group.notices.is_none_or(|at| *due < at));
            if early.is_none() {
                group.notice(&mut self.contenders, slot);
            }
            next = match (next, early) {
                (Some(next), Some(early)) => Some(next.min(early)),
                (next, early) => next.or(early),
            };
        }
        self.next = Some(next);
        next
    }

    /// Takes the contenders whose backoff has ended at `now`; they no longer wait. If its backoff
    /// ended earlier, a contender may send immediately.
    pub fn winners(&mut self, now: Instant, into: &mut Vec<Contender>) {
        let slot = self.timing.slot;
        for group in self.groups.iter_mut().filter(|group| !group.is_busy()) {
            for class in 0..group.classes.len() {
                if group.classes[class].heap.is_empty() || now < group.start(class) {
                    continue;
                }
                let reading = group.reading(class, now, slot, Round::Down);
                while let Some(Reverse((target, generation, contender))) = group.classes[class].heap.peek().copied() {
                    let entry = &mut self.contenders[contender.0 as usize];
                    let stale = !entry.waiting || entry.generation != generation || entry.class != class;
                    if !stale && target > reading {
                        break;
                    }
                    group.classes[class].heap.pop();
                    if !stale {
                        entry.waiting = false;
                        into.push(contender);
                    }
                }
            }
        }
        self.next = None;
        into.sort_unstable();
    }

    /// Index of a group's class with this AIFS; created if necessary.
    fn class(&mut self, group: usize, aifs: Duration, edca: bool, exempt: bool) -> usize {
        let classes = &mut self.groups[group].classes;
        let found = classes
            .iter()
            .position(|class| (class.aifs, class.edca, class.exempt) == (aifs, edca, exempt));
        found.unwrap_or_else(|| {
            classes.push(Class {
                aifs,
                edca,
                exempt,
                slots: 0,
                heap: BinaryHeap::new(),
            });
            classes.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(micros: i64) -> Instant {
        Instant::from_micros(micros)
    }

    /// A transmission begins and is detected.
    fn busy(contention: &mut Contention, micros: i64) {
        contention.sense(us(micros), 0);
        assert_eq!(contention.next_due(), None);
    }

    /// After a collision one contender waits for EIFS, until 100 + 60 + 34 = 194 µs. The other
    /// waits from its timeout at 145 µs: its slots are those from 134 in steps of 9, starting at
    /// 179. If it ends at 188, it is detected at 192, before 194; if it ends at 197, it hasn't
    /// detected the transmission of 194 yet.
    #[test]
    fn transmissions_are_detected_with_a_delay() {
        for (slots, first, second) in [(1, 188, None), (2, 194, Some(197))] {
            let mut contention = Contention::new(Timing::OFDM, 1);
            let (a, b) = (contention.add(0, 2, false), contention.add(0, 2, false));
            contention.wait(a);
            contention.wait(b);
            let mut winners = Vec::new();
            contention.winners(us(0), &mut winners);
            busy(&mut contention, 0);
            contention.back_off(us(0), b, 0, false);
            contention.wait(b);
            contention.clear(us(100), 0, us(100), Duration::from_micros(60));
            contention.wait(a);
            contention.back_off(us(145), a, slots, true);
            assert_eq!(contention.next_due(), Some(us(first)));
            contention.winners(us(first), &mut winners);
            contention.sense(us(first), 0);
            assert_eq!(contention.next_due(), second.map(us));
        }
    }

    /// Two stations with 3 and 5 remaining slots after a busy period that ends at 100 µs. The first
    /// sends at 100 + 34 + 27 = 161 µs. That transmission ends at 500 µs. The other has 2 slots
    /// left and sends at 500 + 34 + 18 = 552 µs.
    #[test]
    fn slots_freeze_while_busy() {
        let mut contention = Contention::new(Timing::OFDM, 1);
        let (a, b) = (contention.add(0, 2, false), contention.add(0, 2, false));
        busy(&mut contention, 0);
        contention.back_off(us(0), a, 3, false);
        contention.back_off(us(0), b, 5, false);
        contention.wait(a);
        contention.wait(b);
        assert_eq!(contention.next_due(), None);
        contention.clear(us(100), 0, us(100), Duration::ZERO);
        assert_eq!(contention.next_due(), Some(us(161)));
        let mut winners = Vec::new();
        contention.winners(us(161), &mut winners);
        assert_eq!(winners, [a]);
        busy(&mut contention, 161);
        contention.clear(us(500), 0, us(500), Duration::ZERO);
        assert_eq!(contention.next_due(), Some(us(552)));
    }

    /// The same two with EDCA: when the first sends, the other has counted at 134, 143, 152 and 161
    /// µs, and has 1 left.
    #[test]
    fn edca_counts_at_the_end_of_aifs() {
        let mut contention = Contention::new(Timing::OFDM, 1);
        let (a, b) = (contention.add(0, 2, true), contention.add(0, 2, true));
        busy(&mut contention, 0);
        contention.back_off(us(0), a, 3, false);
        contention.back_off(us(0), b, 5, false);
        contention.wait(a);
        contention.wait(b);
        contention.clear(us(100), 0, us(100), Duration::ZERO);
        assert_eq!(contention.next_due(), Some(us(161)));
        let mut winners = Vec::new();
        contention.winners(us(161), &mut winners);
        busy(&mut contention, 161);
        contention.clear(us(500), 0, us(500), Duration::ZERO);
        assert_eq!(contention.next_due(), Some(us(500 + 34 + 9)));
    }

    /// Contenders with different AIFS collide when their slots coincide: AIFSN 2 with 4 slots,
    /// AIFSN 3 with 3.
    #[test]
    fn ties_across_classes() {
        let mut contention = Contention::new(Timing::OFDM, 1);
        let (a, b) = (contention.add(0, 2, false), contention.add(0, 3, false));
        busy(&mut contention, 0);
        contention.back_off(us(0), a, 4, false);
        contention.back_off(us(0), b, 3, false);
        contention.wait(a);
        contention.wait(b);
        contention.clear(us(100), 0, us(100), Duration::ZERO);
        let at = contention.next_due().unwrap();
        assert_eq!(at, us(100 + 34 + 36));
        let mut winners = Vec::new();
        contention.winners(at, &mut winners);
        assert_eq!(winners, [a, b]);
    }

    /// A backoff that ended while there was nothing to send. On an idle medium, the next packet is
    /// sent immediately. On a busy one, a backoff must be drawn.
    #[test]
    fn post_backoff() {
        let mut contention = Contention::new(Timing::OFDM, 1);
        let a = contention.add(0, 2, false);
        busy(&mut contention, 0);
        contention.back_off(us(0), a, 5, false);
        assert!(!contention.must_draw(us(10), a));
        contention.clear(us(100), 0, us(100), Duration::ZERO);
        assert!(!contention.must_draw(us(1_000), a));
        contention.wait(a);
        let at = contention.next_due().unwrap();
        assert!(at <= us(1_000));
        let mut winners = Vec::new();
        contention.winners(us(1_000), &mut winners);
        assert_eq!(winners, [a]);
        busy(&mut contention, 1_000);
        assert!(contention.must_draw(us(1_001), a));
    }

    /// After a collision the others wait for EIFS: 94 µs with ACK at 6 Mbit/s (16 + 44 + 34). The
    /// sender waits for AIFS from the end of its response timeout. From the next busy period they
    /// count together.
    #[test]
    fn eifs() {
        let mut contention = Contention::new(Timing::OFDM, 1);
        let (a, b) = (contention.add(0, 2, false), contention.add(0, 2, false));
        contention.wait(a);
        let mut winners = Vec::new();
        contention.winners(us(0), &mut winners);
        winners.clear();
        busy(&mut contention, 0);
        contention.back_off(us(0), b, 3, false);
        contention.wait(b);
        contention.clear(us(100), 0, us(100), Duration::from_micros(60));
        contention.wait(a);
        contention.back_off(us(145), a, 8, true);
        // The other: 100 + 60 + 34 + 27. The sender: from 145 + 34 = 179 = 134 + 5 × 9, 8 slots:
        // 251.
        assert_eq!(contention.next_due(), Some(us(221)));
        contention.winners(us(221), &mut winners);
        assert_eq!(winners, [b]);
        busy(&mut contention, 221);
        contention.clear(us(400), 0, us(400), Duration::ZERO);
        // It detects the transmission at 225; of its 8 slots, ⌊(225 − 179) / 9⌋ = 5 have elapsed.
        assert_eq!(contention.next_due(), Some(us(400 + 34 + 27)));
    }
}
