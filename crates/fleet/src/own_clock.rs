//! This process's own monotonic clock, as the stamps that others compare with theirs.

use crate::clock::Stamp;
use netburn_units::Duration;
use std::time;

/// Nanoseconds since this was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnClock(time::Instant);

impl OwnClock {
    pub(crate) fn new() -> OwnClock {
        OwnClock(time::Instant::now())
    }

    pub(crate) fn now(&self) -> Stamp {
        Stamp(i64::try_from(self.0.elapsed().as_nanos()).unwrap_or(i64::MAX))
    }

    /// The moment of a stamp; one before this clock's beginning, or centuries ahead, is `None`.
    pub(crate) fn when(&self, at: Stamp) -> Option<time::Instant> {
        let nanos = u64::try_from(at.0).ok()?;
        self.0.checked_add(time::Duration::from_nanos(nanos))
    }
}

/// As the standard library's.
pub(crate) fn to_std(span: Duration) -> time::Duration {
    time::Duration::from_nanos(span.as_nanos())
}
