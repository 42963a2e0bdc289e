//! One probe of a responsiveness test: its kind, its times and its failure.

use netburn_stats::rpm::ForeignProbe;
use netburn_units::Duration;

/// Number of a probe, from 0 in the order of the due times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProbeId(pub u64);

/// Kind of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeKind {
    /// Uses a new connection.
    Foreign,
    /// Uses a connection with load (a *self* probe).
    Own,
}

/// Times of a probe with a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeTimes {
    /// Times of a foreign probe.
    Foreign(ForeignProbe),
    /// Time of a self probe from its request until the whole response has been received.
    Own(Duration),
}

/// Reason why a probe has no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeFailure {
    /// The connection or the request failed, or the response is wrong.
    Failed,
    /// No response within the time limit.
    TimedOut,
    /// Not sent: too many probes had no response yet, or no connection was open.
    NotSent,
}
