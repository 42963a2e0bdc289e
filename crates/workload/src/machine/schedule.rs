//! Due times of operations.

use crate::config::{Config, Kind, MIN_PERIOD, Window};
use netburn_units::{Duration, Instant, Seed, Stream};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Delay of a workload without an interval (`download`, `upload`) after a failure, so that it
/// doesn't flood a dead server.
pub const BACKOFF: Duration = Duration::from_secs(1);

/// Due times of one workload, in sequence.
#[derive(Debug)]
pub(super) struct Schedule {
    rhythm: Rhythm,
    /// Next due time; `None` while it depends on an operation in flight, or beyond the range of
    /// time.
    next: Option<Instant>,
    /// Time from the begin of a window to its first due time.
    phase: Duration,
    jitter: Duration,
    random: Stream,
}

#[derive(Debug)]
enum Rhythm {
    /// Fixed grid; jitter moves an operation, never the grid. Contains the grid point of `next`.
    Grid { every: Duration, point: Instant },
    /// Two grids with the same interval, used in turn. The second one is `offset` later, which is
    /// less than an interval. `point` is the point of the first grid that was used last.
    Alternating {
        every: Duration,
        point: Instant,
        offset: Duration,
        is_second: bool,
    },
    /// One interval after the previous was due, or when it ended if that was later. Contains the
    /// previous due time before jitter.
    Paced { every: Duration, base: Instant },
    /// In each of the streams, when its previous operation ends. Contains the due times after `next`.
    Serial {
        streams: u32,
        later: BinaryHeap<Reverse<Instant>>,
    },
}

impl Schedule {
    /// The first due time is a random phase within one interval of `start`; without an interval it
    /// is `start`.
    pub(super) fn new(config: &Config, start: Instant, seed: Seed, index: u64) -> Self {
        let every = config.interval.map(|every| every.max(MIN_PERIOD));
        let (phase, every) = match (config.kind, every) {
            (Kind::Download | Kind::Upload, _) | (_, None) => (Duration::ZERO, None),
            (_, Some(every)) => (seed.stream("phase", index).duration_below(every), Some(every)),
        };
        let first = start.checked_add(phase);
        let rhythm = match (config.kind, every) {
            (_, None) => Rhythm::Serial {
                streams: config.max_in_flight(),
                later: (1..config.max_in_flight()).map(|_| Reverse(start)).collect(),
            },
            (Kind::Voice, Some(every)) => Rhythm::Alternating {
                every,
                point: first.unwrap_or(start),
                offset: seed.stream("down phase", index).duration_below(every),
                is_second: false,
            },
            (Kind::Stream, Some(every)) => Rhythm::Paced {
                every,
                base: first.unwrap_or(start),
            },
            (_, Some(every)) => Rhythm::Grid {
                every,
                point: first.unwrap_or(start),
            },
        };
        Schedule {
            rhythm,
            next: first,
            phase,
            jitter: config.jitter.min(every.unwrap_or_default() / 2),
            random: seed.stream("jitter", index),
        }
    }

    /// First due time in a window, if the window contains it.
    pub(super) fn due_in(&self, window: Window) -> Option<Instant> {
        window.from.checked_add(self.phase).filter(|due| *due < window.to)
    }

    /// Starts again with a window that begins at `from`.
    pub(super) fn restart(&mut self, from: Instant) {
        self.next = from.checked_add(self.phase);
        let first = self.next.unwrap_or(from);
        match &mut self.rhythm {
            Rhythm::Grid { point, .. } => *point = first,
            Rhythm::Alternating { point, is_second, .. } => (*point, *is_second) = (first, false),
            Rhythm::Paced { base, .. } => *base = first,
            Rhythm::Serial { later, streams } => {
                later.clear();
                later.extend((1..*streams).map(|_| Reverse(from)));
            }
        }
    }

    /// Next due time, if known.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// For alternating grids, time from a point of the first grid to the next one of the second.
    pub(super) fn second_offset(&self) -> Option<Duration> {
        match self.rhythm {
            Rhythm::Alternating { offset, .. } => Some(offset),
            _ => None,
        }
    }

    /// Returns true if due times are fixed, independent of the duration of operations.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self.rhythm, Rhythm::Grid { .. } | Rhythm::Alternating { .. })
    }

    /// Advances the schedule after its next operation was due.
    pub(super) fn fell_due(&mut self) {
        self.next = match &mut self.rhythm {
            Rhythm::Grid { every, point } => match point.checked_add(*every) {
                Some(following) => {
                    *point = following;
                    jittered(following, self.jitter, &mut self.random)
                }
                None => None,
            },
            Rhythm::Alternating {
                every,
                point,
                offset,
                is_second,
            } => {
                *is_second = !*is_second;
                if *is_second {
                    point.checked_add(*offset)
                } else {
                    let following = point.checked_add(*every);
                    *point = following.unwrap_or(*point);
                    following
                }
            }
            Rhythm::Serial { later, .. } => later.pop().map(|Reverse(due)| due),
            Rhythm::Paced { .. } => None,
        };
    }

    /// An operation ended at `now`. Affects only schedules that wait for it.
    pub(super) fn ended(&mut self, now: Instant, well: bool) {
        match &mut self.rhythm {
            Rhythm::Grid { .. } | Rhythm::Alternating { .. } => {}
            Rhythm::Paced { every, base } => {
                self.next = base.checked_add(*every).and_then(|following| {
                    *base = following.max(now);
                    jittered(*base, self.jitter, &mut self.random).map(|due| due.max(now))
                });
            }
            Rhythm::Serial { later, .. } => {
                let due = if well { Some(now) } else { now.checked_add(BACKOFF) };
                later.extend(due.into_iter().chain(self.next).map(Reverse));
                self.next = later.pop().map(|Reverse(due)| due);
            }
        }
    }
}

/// `point` moved by up to `jitter` in either direction, uniformly, both ends included.
fn jittered(point: Instant, jitter: Duration, random: &mut Stream) -> Option<Instant> {
    if jitter.is_zero() {
        return Some(point);
    }
    let span = jitter.checked_mul(2)?.checked_add(Duration::from_nanos(1))?;
    point.checked_sub(jitter)?.checked_add(random.duration_below(span))
}
