//! Due times of operations.

use crate::config::{Config, Kind, MIN_PERIOD, PacketStream, Window};
use crate::direction::Direction;
use crate::responsiveness::Part;
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
    /// Time from the start of a window to its first due time.
    phase: Duration,
    jitter: Duration,
    random: Stream,
}

#[derive(Debug)]
enum Rhythm {
    /// Fixed grid; jitter moves an operation, never the grid. Contains the grid point of `next`.
    Grid { every: Duration, point: Instant },
    /// Streams up and down, independent of each other.
    Streams([Option<StreamSchedule>; 2]),
    /// Probes of `responsiveness` on a fixed grid: foreign and self probes alternate, if there is load.
    Probes(ProbeGrid),
    /// One interval after the previous was due, or when it ended if that was later. Contains the
    /// previous due time before jitter.
    Paced { every: Duration, base: Instant },
    /// In each of the streams, when its previous operation ends. Contains the due times after `next`.
    Serial {
        streams: u32,
        later: BinaryHeap<Reverse<Instant>>,
    },
}

/// Grid of foreign and self probes.
#[derive(Debug)]
struct ProbeGrid {
    /// Time from one probe to the next.
    every: Duration,
    /// Due time of the next probe.
    point: Instant,
    /// Its kind.
    part: Part,
    alternate: bool,
    /// Number of the next foreign probe, and of the next self probe.
    numbers: [u64; 2],
}

impl ProbeGrid {
    /// Advances to the next probe. Returns the number of the operation that was due, and the next due time.
    fn advance(&mut self) -> (u64, Option<Instant>) {
        let number = &mut self.numbers[usize::from(self.part == Part::Own)];
        let operation = self.part.operation(*number);
        *number += 1;
        if self.alternate {
            self.part = match self.part {
                Part::Foreign => Part::Own,
                Part::Own | Part::Load => Part::Foreign,
            };
        }
        let following = self.point.checked_add(self.every);
        self.point = following.unwrap_or(self.point);
        (operation, following)
    }
}

/// Due times of one stream.
#[derive(Debug)]
struct StreamSchedule {
    direction: Direction,
    stream: PacketStream,
    first: Instant,
    /// Number of the next packet.
    number: u64,
    /// Its due time; `None` beyond the range of time.
    due: Option<Instant>,
}

impl StreamSchedule {
    fn new(direction: Direction, stream: PacketStream, first: Option<Instant>) -> Option<Self> {
        let first = first?;
        Some(StreamSchedule {
            direction,
            stream,
            first,
            number: 0,
            due: Some(first),
        })
    }

    /// Advances to the next packet. Returns the number of the operation that was due.
    fn advance(&mut self) -> u64 {
        let operation = self.direction.operation(self.number);
        self.number += 1;
        let offset = self.stream.offset(self.number);
        self.due = offset.and_then(|offset| self.first.checked_add(offset));
        operation
    }
}

/// The stream whose packet is due first; at one instant the stream up.
fn first_of(streams: &mut [Option<StreamSchedule>; 2]) -> Option<&mut StreamSchedule> {
    let streams = streams.iter_mut().flatten().filter(|stream| stream.due.is_some());
    streams.min_by_key(|stream| stream.due)
}

impl Schedule {
    /// The first due time is a random phase within one interval of `start`; without an interval it
    /// is `start`. With streams in both directions, the first packet down is due within one interval
    /// of the first packet up.
    pub(super) fn new(config: &Config, start: Instant, seed: Seed, index: u64) -> Self {
        if config.kind.is_one_way() {
            return Schedule::of_streams(config, start, seed, index);
        }
        let alternate = config.kind == Kind::Responsiveness && config.load.count() > 0;
        let every = config.interval.map(|every| if alternate { every / 2 } else { every });
        let every = every.map(|every| every.max(MIN_PERIOD));
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
            (Kind::Stream, Some(every)) => Rhythm::Paced {
                every,
                base: first.unwrap_or(start),
            },
            (Kind::Responsiveness, Some(every)) => Rhythm::Probes(ProbeGrid {
                every,
                point: first.unwrap_or(start),
                part: Part::Foreign,
                alternate,
                numbers: [0; 2],
            }),
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

    fn of_streams(config: &Config, start: Instant, seed: Seed, index: u64) -> Self {
        let streams = config.packet_streams();
        let phase = |name, stream: PacketStream| {
            let interval = stream.interval.max(MIN_PERIOD);
            seed.stream(name, index).duration_below(interval)
        };
        let up = streams.up.and_then(|stream| {
            let first = start.checked_add(phase("phase", stream));
            StreamSchedule::new(Direction::Up, stream, first)
        });
        let base = up.as_ref().map_or(start, |up| up.first);
        let down = streams.down.and_then(|stream| {
            let first = base.checked_add(phase("down phase", stream));
            StreamSchedule::new(Direction::Down, stream, first)
        });
        let mut streams = [up, down];
        let next = first_of(&mut streams).and_then(|stream| stream.due);
        Schedule {
            next,
            rhythm: Rhythm::Streams(streams),
            phase: next.and_then(|next| next.checked_since(start)).unwrap_or_default(),
            jitter: Duration::ZERO,
            random: seed.stream("jitter", index),
        }
    }

    /// First due time in a window, if the window contains it. Called before the first operation is due.
    pub(super) fn due_in(&self, window: Window) -> Option<Instant> {
        self.next?;
        window.from.checked_add(self.phase).filter(|due| *due < window.to)
    }

    /// Starts again with a window that begins at `from`. Without effect on streams, which have one window
    /// ([`Kind::can_repeat`]).
    pub(super) fn restart(&mut self, from: Instant) {
        let following = from.checked_add(self.phase);
        let first = following.unwrap_or(from);
        match &mut self.rhythm {
            Rhythm::Streams(_) => return,
            Rhythm::Grid { point, .. } => *point = first,
            Rhythm::Probes(grid) => (grid.point, grid.part) = (first, Part::Foreign),
            Rhythm::Paced { base, .. } => *base = first,
            Rhythm::Serial { later, streams } => {
                later.clear();
                later.extend((1..*streams).map(|_| Reverse(from)));
            }
        }
        self.next = following;
    }

    /// Next due time, if known.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Due time of the first packet of a stream; `None` without this stream.
    pub(super) fn first_packet(&self, direction: Direction) -> Option<Instant> {
        match &self.rhythm {
            Rhythm::Streams(streams) => {
                let mut streams = streams.iter().flatten();
                streams
                    .find(|stream| stream.direction == direction)
                    .map(|stream| stream.first)
            }
            _ => None,
        }
    }

    /// Returns true if due times are fixed, independent of the duration of operations.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(
            self.rhythm,
            Rhythm::Grid { .. } | Rhythm::Streams(_) | Rhythm::Probes(_)
        )
    }

    /// Advances the schedule after its next operation was due. Returns the number of that operation, if the schedule
    /// determines it.
    pub(super) fn fell_due(&mut self) -> Option<u64> {
        let mut number = None;
        self.next = match &mut self.rhythm {
            Rhythm::Grid { every, point } => match point.checked_add(*every) {
                Some(following) => {
                    *point = following;
                    jittered(following, self.jitter, &mut self.random)
                }
                None => None,
            },
            Rhythm::Streams(streams) => {
                number = first_of(streams).map(StreamSchedule::advance);
                first_of(streams).and_then(|stream| stream.due)
            }
            Rhythm::Probes(grid) => {
                let (operation, following) = grid.advance();
                number = Some(operation);
                following
            }
            Rhythm::Serial { later, .. } => later.pop().map(|Reverse(due)| due),
            Rhythm::Paced { .. } => None,
        };
        number
    }

    /// An operation ended at `now`. Affects only schedules that wait for it.
    pub(super) fn ended(&mut self, now: Instant, well: bool) {
        match &mut self.rhythm {
            Rhythm::Grid { .. } | Rhythm::Streams(_) | Rhythm::Probes(_) => {}
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
