//! What came of one operation: one thing that a person waited for.

use netburn_units::{Duration, Instant};

/// One operation, from the instant it was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Its number within the workload, from 0 in the order of falling due.
    pub sequence: u64,
    /// When it fell due: what latency counts from.
    pub due: Instant,
    /// When its first request was handed to the driver; `None` when it never began.
    pub started: Option<Instant>,
    /// When the last of its connections was ready; `None` when none was dialled or none got ready.
    pub connected: Option<Instant>,
    /// When its first byte arrived.
    pub first_byte: Option<Instant>,
    /// When it ended: the last byte of its last object, the answer of a probe, or the failure.
    pub finished: Option<Instant>,
    /// Bytes of content moved, complete or not.
    pub bytes: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// For a probe: when the far end got it and sent it back, by the far end's clock.
    pub far: Option<FarTimes>,
}

/// A probe's times at the far end, in nanoseconds of that end's own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FarTimes {
    /// When the datagram arrived there.
    pub received: i64,
    /// When it was sent back.
    pub sent: i64,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// All of it arrived.
    Finished,
    /// It broke; a miss of every goal.
    Failed(Failure),
    /// Nothing came for the workload's time-out.
    TimedOut,
    /// It was never begun: too many were outstanding when it fell due.
    NotStarted,
    /// Still under way when the run ended, and older than its goal: a miss.
    Unfinished,
    /// Still under way (or waiting) when the run ended, and younger than its goal, or without one: not counted.
    Cut,
}

/// Why an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// The connection could not be made.
    Dial,
    /// The connection broke.
    Connection,
    /// The server answered with something other than what was asked for.
    Answer,
    /// The driver was told to stop.
    Stopped,
}

/// A time in which a player had nothing to play. Waiting to start isn't one, unless it never did: then all of the time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// When the buffer ran empty.
    pub began: Instant,
    /// How long until it went on, or until the run's end.
    pub length: Duration,
}

impl Operation {
    /// From when it was due to when it ended, for one that finished.
    #[must_use]
    pub fn latency(&self) -> Option<Duration> {
        match self.outcome {
            Outcome::Finished => self.finished?.checked_since(self.due),
            _ => None,
        }
    }
}
