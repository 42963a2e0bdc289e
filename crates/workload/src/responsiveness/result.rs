//! Result of a responsiveness test.

use super::stage::{ConnectionId, Stage};
use crate::Direction;
use netburn_stats::rpm::{Confidence, Rpm};
use netburn_units::{BitRate, Duration};

/// Result of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestResult {
    /// Reason of the end.
    pub end: End,
    /// Last stage of the test before it ended: `Idle`, `Goodput` or `Responsiveness`.
    pub stage: Stage,
    /// Confidence in the goodput: that of the worst direction.
    pub goodput_confidence: Confidence,
    /// Confidence in the score.
    pub score_confidence: Confidence,
    /// Goodput of each direction.
    pub goodput: Vec<Goodput>,
    /// Scores of the last MAD intervals.
    pub scores: Scores,
    /// Scores without load; `None` if there was no such measurement.
    pub idle: Option<Scores>,
    /// Foreign probes beside the load.
    pub foreign: Counts,
    /// Self probes beside the load.
    pub own: Counts,
    /// Probes of both kinds before the load.
    pub idle_counts: Counts,
    /// Longest time from the due time of a probe to its start.
    pub start_delay_max: Duration,
    /// Duration of the load.
    pub loaded: Duration,
    /// Bytes of the load.
    pub bytes: u64,
}

impl TestResult {
    /// Returns the confidence in the whole test: that of its worst stage.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        self.goodput_confidence.min(self.score_confidence)
    }
}

/// Reason of the end of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The score was stable.
    Stable,
    /// The time limit.
    TimeLimit,
    /// The limit of the bytes.
    DataLimit,
    /// A connection failed. The draft requires that the test ends.
    ConnectionFailed(ConnectionId),
    /// The test was cancelled.
    Cancelled,
}

/// Goodput of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Goodput {
    /// Direction.
    pub direction: Direction,
    /// Mean of the last MAD intervals, or of all if there are fewer; `None` without an interval.
    pub rate: Option<BitRate>,
    /// Number of load connections.
    pub connections: u32,
    /// True if the goodput was stable.
    pub stable: bool,
}

/// Numbers of probes. `due` is the sum of all but `late`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Probes that were due.
    pub due: u64,
    /// Probes with a response.
    pub answered: u64,
    /// Probes that failed.
    pub failed: u64,
    /// Probes without a response within the time limit.
    pub timed_out: u64,
    /// Probes that were not sent.
    pub not_sent: u64,
    /// Probes without a result yet.
    pub outstanding: u64,
    /// Probes that started late. They count like all others.
    pub late: u64,
}

impl Counts {
    /// Returns the number of probes that never had a response.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.failed + self.timed_out + self.not_sent
    }

    /// Returns the sums.
    pub(super) fn plus(self, other: Counts) -> Counts {
        Counts {
            due: self.due + other.due,
            answered: self.answered + other.answered,
            failed: self.failed + other.failed,
            timed_out: self.timed_out + other.timed_out,
            not_sent: self.not_sent + other.not_sent,
            outstanding: self.outstanding + other.outstanding,
            late: self.late + other.late,
        }
    }
}

/// Scores from the same probes. A score is `None` if there are too few probes for it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scores {
    /// Score of the draft, from trimmed means. A probe without a response counts with its time-out.
    pub draft: Option<Rpm>,
    /// The draft's formula with medians. In the percentiles a probe without a response has an unlimited time.
    pub median: Option<Rpm>,
    /// The draft's formula with 90th percentiles.
    pub p90: Option<Rpm>,
    /// The draft's formula with 95th percentiles.
    pub p95: Option<Rpm>,
    /// Score of goresponsiveness, from trimmed means with the same share. Requires TLS.
    pub goresponsiveness: Option<Rpm>,
    /// Score of goresponsiveness, from its 90th percentiles.
    pub goresponsiveness_p90: Option<Rpm>,
    /// Foreign probes with a response.
    pub foreign_count: u64,
    /// Self probes with a response.
    pub own_count: u64,
}
