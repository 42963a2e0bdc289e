//! Result of a flow.

use netburn_stats::Distribution;
use netburn_units::{BitRate, ByteSize, Duration};

/// Result of a flow in a time span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Time span.
    pub span: Duration,
    /// Datagrams due in the span.
    pub due: u64,
    /// Those of `due` that arrived in the span; for a probe, those whose echo returned.
    pub arrived: u64,
    /// Those of `due` that were dropped in the span, in either direction.
    pub dropped: u64,
    /// Content that arrived in the span, independent of its due time; for a probe, echoed content.
    pub content: ByteSize,
    /// Nanoseconds from the due time of a datagram to its arrival, for those that arrived.
    pub delay: Distribution,
    /// Nanoseconds from the due time of a probe to its return; dropped ones are unbounded.
    pub round_trip: Distribution,
    /// As `round_trip`, for the returned ones only.
    pub answered: Distribution,
}

impl Report {
    /// Content per time.
    #[must_use]
    pub fn goodput(&self) -> BitRate {
        BitRate::mean(self.content, self.span).unwrap_or(BitRate::from_bps(0))
    }

    /// Share of the due datagrams that were dropped, 0 to 1; `None` if none were due.
    #[must_use]
    pub fn loss(&self) -> Option<f64> {
        (self.due > 0).then(|| self.dropped as f64 / self.due as f64)
    }
}
