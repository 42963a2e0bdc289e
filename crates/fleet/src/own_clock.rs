//! Monotonic clock of this process.

use crate::clock::Stamp;
use netburn_units::Duration;
use std::time;

/// Nanoseconds since the creation of this clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnClock(time::Instant);

impl OwnClock {
    pub(crate) fn new() -> OwnClock {
        OwnClock(time::Instant::now())
    }

    pub(crate) fn now(&self) -> Stamp {
        Stamp(i64::try_from(self.0.elapsed().as_nanos()).unwrap_or(i64::MAX))
    }

    /// Instant of a stamp; `None` if it is before the beginning of this clock or out of range.
    pub(crate) fn when(&self, at: Stamp) -> Option<time::Instant> {
        let nanos = u64::try_from(at.0).ok()?;
        self.0.checked_add(time::Duration::from_nanos(nanos))
    }
}

/// Converts to the standard library's type.
pub(crate) fn to_std(span: Duration) -> time::Duration {
    time::Duration::from_nanos(span.as_nanos())
}
