//! Conversion of times: DTLS and SCTP take those of the standard library.

use netburn_units::{Duration, Instant};
use std::time::Instant as StdInstant;

/// Maps [`Instant::ZERO`] to an arbitrary instant of the standard library.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    zero: StdInstant,
}

impl Clock {
    pub(crate) fn new(zero: StdInstant) -> Self {
        Self { zero }
    }

    /// Times before zero become zero.
    pub(crate) fn to_std(self, at: Instant) -> StdInstant {
        let since = at.checked_since(Instant::ZERO).unwrap_or(Duration::ZERO);
        let since = std::time::Duration::from_nanos(since.as_nanos());
        self.zero.checked_add(since).unwrap_or(self.zero)
    }

    /// `None` beyond the range of time.
    pub(crate) fn instant(self, at: StdInstant) -> Option<Instant> {
        let since = at.saturating_duration_since(self.zero);
        Some(Instant::from_nanos(i64::try_from(since.as_nanos()).ok()?))
    }
}
