//! Operations over HTTP, and the grid of due times.

use super::{ConfigError, named, within, wrong};
use netburn_units::{BitRate, ByteSize, Duration};

/// Minimum time between operations of one workload: 100 µs.
pub const MIN_PERIOD: Duration = Duration::from_micros(100);

/// Use of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Connections {
    /// A new connection for each object.
    New,
    /// Persistent connections that are reused.
    Keep,
}

named!(Connections, "connections", New = "new", Keep = "keep");

/// Requests of one operation over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requests {
    /// Objects fetched at once; 1 to 1000.
    pub objects: u32,
    /// Size of one object; 1 B to 16 GiB.
    pub object_size: ByteSize,
    /// Use of connections: one per object, or persistent ones.
    pub connections: Connections,
}

impl Requests {
    /// Requests for one object, on persistent connections.
    #[must_use]
    pub const fn kept(object_size: ByteSize) -> Self {
        Requests {
            objects: 1,
            object_size,
            connections: Connections::Keep,
        }
    }

    /// Content of one operation; `None` on overflow.
    #[must_use]
    pub fn size(&self) -> Option<ByteSize> {
        self.object_size.checked_mul(u64::from(self.objects))
    }

    /// The same; on overflow the maximum.
    #[must_use]
    pub fn bounded_size(&self) -> ByteSize {
        self.size().unwrap_or(ByteSize::from_bytes(u64::MAX))
    }

    /// Checks the ranges with `at_once` operations in flight, which the value of `key` limits.
    pub(crate) fn validate(&self, key: &'static str, at_once: u32) -> Result<(), ConfigError> {
        within("objects", u64::from(self.objects), 1, 1000)?;
        let (least, most) = (ByteSize::from_bytes(1), ByteSize::from_gib(16));
        if self.object_size < least || self.object_size > most {
            return wrong("object_size", format!("is {}; {least} to {most}", self.object_size));
        }
        within(key, u64::from(at_once), 1, 1000)?;
        let requests = u64::from(self.objects) * u64::from(at_once);
        if requests > 10_000 {
            return wrong(
                key,
                format!("times `objects` is {requests} requests at once; at most 10000"),
            );
        }
        Ok(())
    }
}

/// Due times at a fixed distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Time between operations; 100 µs to 24 h.
    pub interval: Duration,
    /// Maximum deviation of a due time from its grid point, in either direction; at most half of
    /// `interval`.
    pub jitter: Duration,
}

impl Grid {
    /// Grid without jitter.
    #[must_use]
    pub const fn regular(interval: Duration) -> Self {
        Grid {
            interval,
            jitter: Duration::ZERO,
        }
    }

    /// Grid whose operations of `size` have this mean rate. A time without an end has the maximum.
    #[must_use]
    pub fn at_rate(rate: BitRate, size: ByteSize) -> Self {
        Grid::regular(rate.time_for(size).unwrap_or(Duration::from_nanos(u64::MAX)))
    }

    /// Number of operations that are due in a window of `span` at the most; jitter adds none on average.
    #[must_use]
    pub fn operations_within(&self, span: Duration) -> u64 {
        span.as_nanos().div_ceil(self.interval.as_nanos().max(1))
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let Grid { interval, jitter } = *self;
        if interval < MIN_PERIOD || interval > Duration::from_secs(86_400) {
            return wrong("interval", format!("is {interval}; {MIN_PERIOD} to 24 h"));
        }
        if jitter > interval / 2 {
            let text = format!("is {jitter}; at most half of `interval`, which is {interval}");
            return wrong("jitter", text);
        }
        Ok(())
    }
}

/// Content that a workload requests in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Volume {
    /// Content of the operations whose due times don't depend on others, in bytes.
    pub scheduled: u128,
    /// True if other operations follow each other without a pause, so that only the network limits the content.
    pub is_unlimited: bool,
}

impl Volume {
    /// Content of this number of operations of `size`.
    #[must_use]
    pub fn new(operations: u64, size: ByteSize) -> Self {
        Volume {
            scheduled: u128::from(operations) * u128::from(size.as_bytes()),
            is_unlimited: false,
        }
    }

    /// Operations without a pause.
    pub const UNLIMITED: Volume = Volume {
        scheduled: 0,
        is_unlimited: true,
    };
}

/// Buffer of a video player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerConfig {
    /// Media buffered before playback starts, and before it resumes after a stall. Default 2 s.
    pub start: Duration,
    /// Playback rate. Default 20 Mbit/s.
    pub rate: BitRate,
    /// Maximum of the buffer; further media are discarded. Default 10 s.
    pub max_buffer: Duration,
}

impl Default for PlayerConfig {
    fn default() -> Self {
        PlayerConfig {
            start: Duration::from_secs(2),
            rate: BitRate::from_mbps(20),
            max_buffer: Duration::from_secs(10),
        }
    }
}

impl PlayerConfig {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let PlayerConfig { start, max_buffer, .. } = *self;
        if self.rate.as_bps() == 0 {
            return wrong("player", "has an invalid rate: found 0, expected more than 0");
        }
        if start.is_zero() {
            return wrong("player", "has an invalid start: found 0 s, expected more than 0 s");
        }
        if max_buffer < start {
            let text = format!(
                "has a `max_buffer` of {max_buffer}, which is less than its start of {start}; playback would never start"
            );
            return wrong("player", text);
        }
        Ok(())
    }
}
