//! Monotonic clock of this process.

use crate::clock::Stamp;
use netburn_units::Duration;
use std::time;

/// Nanoseconds since the creation of this clock.
#[derive(Debug, Clone, Copy)]
pub struct OwnClock(time::Instant);

impl OwnClock {
    /// Creates a clock that begins now.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "a default value would hide that it reads the time"
    )]
    pub fn new() -> OwnClock {
        OwnClock(time::Instant::now())
    }

    /// Time since the beginning of this clock.
    #[must_use]
    pub fn now(&self) -> Stamp {
        Stamp(i64::try_from(self.0.elapsed().as_nanos()).unwrap_or(i64::MAX))
    }

    /// Instant of a stamp; `None` if it is before the beginning of this clock or out of range.
    #[must_use]
    pub fn when(&self, at: Stamp) -> Option<time::Instant> {
        let nanos = u64::try_from(at.0).ok()?;
        self.0.checked_add(time::Duration::from_nanos(nanos))
    }
}

/// Converts to the standard library's type.
#[must_use]
pub fn to_std(span: Duration) -> time::Duration {
    time::Duration::from_nanos(span.as_nanos())
}
