//! What became of a flow.

use netburn_stats::Distribution;
use netburn_units::{BitRate, ByteSize, Duration};

/// What became of a flow in a span of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The span.
    pub span: Duration,
    /// Datagrams that fell due in it.
    pub due: u64,
    /// Of these, those that arrived in it; of a probe, those that came back.
    pub arrived: u64,
    /// Of these, those that were dropped in it, either way.
    pub dropped: u64,
    /// Content that arrived in the span, whenever it was due; of a probe, what came back.
    pub content: ByteSize,
    /// Nanoseconds from when a datagram was due to its arrival at the receiver, of those that arrived.
    pub delay: Distribution,
    /// Nanoseconds from when a probe was due to its return; those that were dropped have no bound.
    pub round_trip: Distribution,
    /// The same of those that came back, as if there were no others.
    pub answered: Distribution,
}

impl Report {
    /// Content per time.
    #[must_use]
    pub fn goodput(&self) -> BitRate {
        BitRate::mean(self.content, self.span).unwrap_or(BitRate::from_bps(0))
    }

    /// The share, 0 to 1, of those due that were dropped; `None` where none were due.
    #[must_use]
    pub fn loss(&self) -> Option<f64> {
        (self.due > 0).then(|| self.dropped as f64 / self.due as f64)
    }
}
