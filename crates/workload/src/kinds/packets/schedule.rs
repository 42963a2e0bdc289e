//! Due times of packets that are not answered.

use crate::common::{MIN_PERIOD, PacketStream, Streams};
use crate::direction::Direction;
use crate::schedule::Schedule;
use netburn_units::{Duration, Instant, Seed};

/// Streams up and down, independent of each other.
#[derive(Debug)]
pub(crate) struct PacketSchedule {
    streams: [Option<StreamSchedule>; 2],
    next: Option<Instant>,
    phase: Duration,
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

impl PacketSchedule {
    /// The first packet up is due within one interval of `start`, and the first packet down within one interval of the
    /// first packet up.
    pub(crate) fn new(streams: Streams, start: Instant, seed: Seed, index: u64) -> Self {
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
        PacketSchedule {
            streams,
            next,
            phase: next.and_then(|next| next.checked_since(start)).unwrap_or_default(),
        }
    }
}

impl Schedule for PacketSchedule {
    fn next(&self) -> Option<Instant> {
        self.next
    }

    fn phase(&self) -> Duration {
        self.phase
    }

    fn restart(&mut self, _from: Instant) {}

    fn fell_due(&mut self) -> Option<u64> {
        let number = first_of(&mut self.streams).map(StreamSchedule::advance);
        self.next = first_of(&mut self.streams).and_then(|stream| stream.due);
        number
    }

    fn first_packet(&self, direction: Direction) -> Option<Instant> {
        let mut streams = self.streams.iter().flatten();
        streams
            .find(|stream| stream.direction == direction)
            .map(|stream| stream.first)
    }
}

/// The stream whose packet is due first; at one instant the stream up.
fn first_of(streams: &mut [Option<StreamSchedule>; 2]) -> Option<&mut StreamSchedule> {
    let streams = streams.iter_mut().flatten().filter(|stream| stream.due.is_some());
    streams.min_by_key(|stream| stream.due)
}
