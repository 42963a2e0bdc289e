//! Due times of operations.
//!
//! The rhythms of several kinds are here. A rhythm of one kind is in its folder below [`kinds`](crate::kinds).

use crate::common::{Grid, MIN_PERIOD};
use crate::direction::Direction;
use netburn_units::{Duration, Instant, RandomStream, Seed};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

/// Delay of a workload without an interval (`download`, `upload`) after a failure, so that it
/// doesn't flood a dead server.
pub const BACKOFF: Duration = Duration::from_secs(1);

/// Due times of one workload, in sequence.
///
/// **Call order:** [`fell_due`](Self::fell_due) at the time of [`next`](Self::next), and [`ended`](Self::ended) when an
/// operation ends. The first due time of each window is [`phase`](Self::phase) after its start.
pub trait Schedule: fmt::Debug + Send + Sync {
    /// Next due time; `None` while it depends on an operation in flight, or beyond the range of time.
    fn next(&self) -> Option<Instant>;

    /// Time from the start of a window to its first due time.
    fn phase(&self) -> Duration {
        Duration::ZERO
    }

    /// Starts again with a window that begins at `from`. Without effect on a kind that has one window.
    fn restart(&mut self, from: Instant);

    /// Advances after the next operation was due. Returns the number of that operation, if the schedule determines it.
    fn fell_due(&mut self) -> Option<u64>;

    /// An operation ended at `now`. Affects only schedules that wait for it.
    fn ended(&mut self, _now: Instant, _well: bool) {}

    /// Changes the time between two probes of one kind at `now`; `None` for no probes. The next probe has the new distance to
    /// the one before it, and is not due before `now`. Only `responsiveness` has such a time.
    fn set_interval(&mut self, _now: Instant, _interval: Option<Duration>) {}

    /// Returns true if due times are fixed, independent of the duration of operations.
    fn is_fixed(&self) -> bool {
        true
    }

    /// Due time of the first packet of a stream; `None` without this stream.
    fn first_packet(&self, _direction: Direction) -> Option<Instant> {
        None
    }
}

/// Random times of the operations of a workload with an interval.
#[derive(Debug)]
struct Times {
    every: Duration,
    phase: Duration,
    jitter: Duration,
    random: RandomStream,
    /// The latest due time before its jitter.
    point: Instant,
    next: Option<Instant>,
}

impl Times {
    /// The first due time is a random phase within one interval of the start.
    fn new(grid: Grid, start: Instant, seed: Seed, index: u64) -> Self {
        let every = grid.interval.max(MIN_PERIOD);
        let mut times = Times {
            every,
            phase: seed.stream("phase", index).duration_below(every),
            jitter: grid.jitter.min(every / 2),
            random: seed.stream("jitter", index),
            point: start,
            next: None,
        };
        times.restart(start);
        times
    }

    fn restart(&mut self, from: Instant) {
        self.next = from.checked_add(self.phase);
        self.point = self.next.unwrap_or(from);
    }

    /// The next operation is due at `point`, moved by the jitter, but not before `earliest`.
    fn set_next(&mut self, point: Instant, earliest: Instant) {
        self.point = point;
        let due = jittered(point, self.jitter, &mut self.random);
        self.next = due.map(|due| due.max(earliest));
    }
}

/// Fixed grid; jitter moves an operation, never the grid.
#[derive(Debug)]
pub(crate) struct Periodic(Times);

impl Periodic {
    pub(crate) fn new(grid: Grid, start: Instant, seed: Seed, index: u64) -> Self {
        Periodic(Times::new(grid, start, seed, index))
    }
}

impl Schedule for Periodic {
    fn next(&self) -> Option<Instant> {
        self.0.next
    }

    fn phase(&self) -> Duration {
        self.0.phase
    }

    fn restart(&mut self, from: Instant) {
        self.0.restart(from);
    }

    fn fell_due(&mut self) -> Option<u64> {
        match self.0.point.checked_add(self.0.every) {
            Some(following) => self.0.set_next(following, Instant::from_nanos(i64::MIN)),
            None => self.0.next = None,
        }
        None
    }
}

/// One interval after the previous was due, or when it ended if that was later.
#[derive(Debug)]
pub(crate) struct Paced(Times);

impl Paced {
    pub(crate) fn new(grid: Grid, start: Instant, seed: Seed, index: u64) -> Self {
        Paced(Times::new(grid, start, seed, index))
    }
}

impl Schedule for Paced {
    fn next(&self) -> Option<Instant> {
        self.0.next
    }

    fn phase(&self) -> Duration {
        self.0.phase
    }

    fn restart(&mut self, from: Instant) {
        self.0.restart(from);
    }

    fn fell_due(&mut self) -> Option<u64> {
        self.0.next = None;
        None
    }

    fn ended(&mut self, now: Instant, _well: bool) {
        match self.0.point.checked_add(self.0.every) {
            Some(following) => self.0.set_next(following.max(now), now),
            None => self.0.next = None,
        }
    }

    fn is_fixed(&self) -> bool {
        false
    }
}

/// Parallel sequences of operations, each of which is due when the previous one of its sequence ends.
#[derive(Debug)]
pub(crate) struct Serial {
    sequences: u32,
    next: Option<Instant>,
    /// Due times after `next`.
    later: BinaryHeap<Reverse<Instant>>,
}

impl Serial {
    pub(crate) fn new(sequences: u32, start: Instant) -> Self {
        let mut serial = Serial {
            sequences,
            next: None,
            later: BinaryHeap::new(),
        };
        serial.restart(start);
        serial
    }
}

impl Schedule for Serial {
    fn next(&self) -> Option<Instant> {
        self.next
    }

    fn restart(&mut self, from: Instant) {
        self.next = Some(from);
        self.later.clear();
        self.later.extend((1..self.sequences).map(|_| Reverse(from)));
    }

    fn fell_due(&mut self) -> Option<u64> {
        self.next = self.later.pop().map(|Reverse(due)| due);
        None
    }

    fn ended(&mut self, now: Instant, well: bool) {
        let due = if well { Some(now) } else { now.checked_add(BACKOFF) };
        self.later.extend(due.into_iter().chain(self.next).map(Reverse));
        self.next = self.later.pop().map(|Reverse(due)| due);
    }

    fn is_fixed(&self) -> bool {
        false
    }
}

/// `point` moved by up to `jitter` in either direction, uniformly, both ends included.
fn jittered(point: Instant, jitter: Duration, random: &mut RandomStream) -> Option<Instant> {
    if jitter.is_zero() {
        return Some(point);
    }
    let span = jitter.checked_mul(2)?.checked_add(Duration::from_nanos(1))?;
    point.checked_sub(jitter)?.checked_add(random.duration_below(span))
}
