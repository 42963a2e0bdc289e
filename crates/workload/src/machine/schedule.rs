//! When the next operation falls due.

use crate::config::{Config, Kind, MIN_PERIOD};
use netburn_units::{Duration, Instant, Seed, Stream};

/// How long a workload without a period (`download`, `upload`) waits after a failure, so that a dead server isn't
/// hammered.
pub const BACKOFF: Duration = Duration::from_secs(1);

/// The due instants of one workload, one after another.
#[derive(Debug)]
pub(super) struct Schedule {
    rhythm: Rhythm,
    /// The next due instant; `None` while it depends on an operation that is under way, or past the end of time.
    next: Option<Instant>,
    jitter: Duration,
    random: Stream,
}

#[derive(Debug)]
enum Rhythm {
    /// Fixed points in time; jitter moves an operation, never the grid. Holds the grid point of `next`.
    Grid { every: Duration, point: Instant },
    /// One period after the last was due, or when it ended if that was later. Holds when the last was due before
    /// jitter moved it.
    Paced { every: Duration, base: Instant },
    /// When the last ends.
    Serial,
}

impl Schedule {
    /// The first due instant is a random phase within one period of `start`; without a period it is `start`.
    pub(super) fn new(config: &Config, start: Instant, seed: Seed, index: u64) -> Self {
        let every = config.interval.map(|every| every.max(MIN_PERIOD));
        let (first, every) = match (config.kind, every) {
            (Kind::Download | Kind::Upload, _) | (_, None) => (Some(start), None),
            (_, Some(every)) => {
                let phase = seed.stream("phase", index).duration_below(every);
                (start.checked_add(phase), Some(every))
            }
        };
        let rhythm = match (config.kind, every) {
            (_, None) => Rhythm::Serial,
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
            jitter: config.jitter.min(every.unwrap_or_default() / 2),
            random: seed.stream("jitter", index),
        }
    }

    /// The next due instant, where it is known.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Whether operations fall due at fixed points in time, however long each takes.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self.rhythm, Rhythm::Grid { .. })
    }

    /// What was due next has fallen due.
    pub(super) fn fell_due(&mut self) {
        self.next = match &mut self.rhythm {
            Rhythm::Grid { every, point } => match point.checked_add(*every) {
                Some(following) => {
                    *point = following;
                    jittered(following, self.jitter, &mut self.random)
                }
                None => None,
            },
            Rhythm::Paced { .. } | Rhythm::Serial => None,
        };
    }

    /// An operation ended at `now`. Only those rhythms listen that wait for it.
    pub(super) fn ended(&mut self, now: Instant, well: bool) {
        match &mut self.rhythm {
            Rhythm::Grid { .. } => {}
            Rhythm::Paced { every, base } => {
                self.next = base.checked_add(*every).and_then(|following| {
                    *base = following.max(now);
                    jittered(*base, self.jitter, &mut self.random).map(|due| due.max(now))
                });
            }
            Rhythm::Serial => self.next = if well { Some(now) } else { now.checked_add(BACKOFF) },
        }
    }
}

/// `point` moved by up to `jitter` either way, uniformly, both ends included.
fn jittered(point: Instant, jitter: Duration, random: &mut Stream) -> Option<Instant> {
    if jitter.is_zero() {
        return Some(point);
    }
    let span = jitter.checked_mul(2)?.checked_add(Duration::from_nanos(1))?;
    point.checked_sub(jitter)?.checked_add(random.duration_below(span))
}
