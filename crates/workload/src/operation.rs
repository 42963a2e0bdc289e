//! Result of one operation.

use netburn_units::{Duration, Instant};

/// One operation, from its due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operation {
    /// Number within the workload, from 0 in the order of due times. Those of `responsiveness` depend on its
    /// [`Part`](crate::kinds::responsiveness::Part)s. Packets that are not answered have even numbers up and odd
    /// numbers down ([`Direction::operation`](crate::Direction::operation)), each in the order of due times.
    pub sequence: u64,
    /// Due time: the base of latency.
    pub due: Instant,
    /// Time of its first request to the driver; `None` if it never began.
    pub started: Option<Instant>,
    /// Time at which the last of its connections was established; `None` if none was dialled or
    /// none was established.
    pub connected: Option<Instant>,
    /// Time of its first byte.
    pub first_byte: Option<Instant>,
    /// Time of its end: the last byte of its last object, the reply to a probe, the arrival of a
    /// packet that is not answered, or the failure.
    pub finished: Option<Instant>,
    /// Bytes of content moved, also of an incomplete operation.
    pub bytes: u64,
    /// Outcome.
    pub outcome: Outcome,
    /// For a probe: the server's timestamps, from the server's clock.
    pub far: Option<RemoteTimestamps>,
    /// For an operation of `responsiveness` with a new connection, which is a foreign probe or an object of the load: time
    /// at which the TCP handshake was complete. `connected` is the end of the TLS handshake.
    pub tcp_connected: Option<Instant>,
}

/// Server timestamps of a probe, in nanoseconds of the server's own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteTimestamps {
    /// Time at which the server received the datagram.
    pub received: i64,
    /// Time at which the server sent the reply.
    pub sent: i64,
}

/// Outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Outcome {
    /// The operation is complete.
    Finished,
    /// The operation failed: a miss of every goal.
    Failed(Failure),
    /// No progress for the workload's timeout.
    TimedOut,
    /// The operation never began: too many were outstanding when it was due.
    #[default]
    NotStarted,
    /// In flight when the run ended, and older than its goal: a goal miss.
    Unfinished,
    /// In flight or queued when the run ended, and younger than its goal, or without a goal. Not
    /// counted (censored).
    Cut,
}

/// Reason of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// The connection could not be established.
    Dial,
    /// The connection broke.
    Connection,
    /// The server returned an unexpected response.
    Answer,
    /// The driver was stopped.
    Stopped,
}

/// A time in which a player's buffer was empty. The initial buffering is not a stall, unless
/// playback never starts: then all of the time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// Time at which the buffer became empty.
    pub began: Instant,
    /// Duration until playback resumed, or until the end of the run.
    pub length: Duration,
}

impl Stall {
    /// Duration of its part from `from` to `to`.
    #[must_use]
    pub fn within(&self, from: Instant, to: Instant) -> Duration {
        let ended = self.began.checked_add(self.length).unwrap_or(to);
        ended.min(to).checked_since(self.began.max(from)).unwrap_or_default()
    }
}

impl Operation {
    /// Time from the due time to the end, for a finished operation.
    #[must_use]
    pub fn latency(&self) -> Option<Duration> {
        match self.outcome {
            Outcome::Finished => self.finished?.checked_since(self.due),
            _ => None,
        }
    }

    /// Returns true if it failed or timed out.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_) | Outcome::TimedOut)
    }
}
