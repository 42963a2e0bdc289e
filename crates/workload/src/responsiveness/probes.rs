//! Probes of a responsiveness test and their times.

use super::config::Config;
use super::result::{Counts, Scores};
use netburn_stats::percentile::{P50, P90, P95};
use netburn_stats::rpm::{self, Estimator, ForeignProbe, TlsHandshake};
use netburn_units::{Duration, Instant};
use std::num::NonZeroU32;

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

/// Delay of the start after the due time from which a probe is late.
pub const LATE: Duration = Duration::from_millis(10);
/// Maximum number of probes of one kind without a response. Bounds the connections of foreign probes.
pub const MAX_OUTSTANDING: u64 = 512;

/// One probe.
#[derive(Debug, Clone, Copy)]
struct Probe {
    due: Instant,
    kind: ProbeKind,
    late: bool,
    /// True for probes before the load.
    idle: bool,
    result: Option<Result<ProbeTimes, ProbeFailure>>,
}

/// All probes of a test.
#[derive(Debug, Clone, Default)]
pub(super) struct Probes {
    probes: Vec<Probe>,
    /// Foreign probes and self probes without a result.
    outstanding: [u64; 2],
    start_delay_max: Duration,
}

fn index(kind: ProbeKind) -> usize {
    match kind {
        ProbeKind::Foreign => 0,
        ProbeKind::Own => 1,
    }
}

impl Probes {
    /// Adds a probe that is sent `now`.
    pub(super) fn add(&mut self, due: Instant, now: Instant, kind: ProbeKind, idle: bool) -> ProbeId {
        let delay = now.checked_since(due).unwrap_or(Duration::ZERO);
        self.start_delay_max = self.start_delay_max.max(delay);
        self.outstanding[index(kind)] += 1;
        self.probes.push(Probe {
            due,
            kind,
            late: delay >= LATE,
            idle,
            result: None,
        });
        ProbeId(self.probes.len() as u64 - 1)
    }

    /// Returns whether another probe of this kind may be sent.
    pub(super) fn has_room(&self, kind: ProbeKind) -> bool {
        self.outstanding[index(kind)] < MAX_OUTSTANDING
    }

    /// Returns the number of probes without a result.
    pub(super) fn outstanding(&self) -> u64 {
        self.outstanding.iter().sum()
    }

    /// Sets the result of a probe. Ignores a second result, and times of the other kind.
    pub(super) fn set(&mut self, id: ProbeId, result: Result<ProbeTimes, ProbeFailure>) {
        let Some(probe) = usize::try_from(id.0).ok().and_then(|id| self.probes.get_mut(id)) else {
            return;
        };
        let fits = match result {
            Ok(ProbeTimes::Foreign(_)) => probe.kind == ProbeKind::Foreign,
            Ok(ProbeTimes::Own(_)) => probe.kind == ProbeKind::Own,
            Err(_) => true,
        };
        if probe.result.is_none() && fits {
            probe.result = Some(result);
            self.outstanding[index(probe.kind)] -= 1;
        }
    }

    /// Probes without a result have timed out.
    pub(super) fn end(&mut self) {
        for probe in &mut self.probes {
            probe.result.get_or_insert(Err(ProbeFailure::TimedOut));
        }
        self.outstanding = [0; 2];
    }

    /// Returns the longest start delay.
    pub(super) fn start_delay_max(&self) -> Duration {
        self.start_delay_max
    }

    /// Returns the counts of a kind, before or beside the load.
    pub(super) fn counts(&self, kind: ProbeKind, idle: bool) -> Counts {
        let mut counts = Counts::default();
        for probe in self.probes.iter().filter(|p| p.kind == kind && p.idle == idle) {
            counts.due += 1;
            counts.late += u64::from(probe.late);
            match probe.result {
                Some(Ok(_)) => counts.answered += 1,
                Some(Err(ProbeFailure::Failed)) => counts.failed += 1,
                Some(Err(ProbeFailure::TimedOut)) => counts.timed_out += 1,
                Some(Err(ProbeFailure::NotSent)) => counts.not_sent += 1,
                None => counts.outstanding += 1,
            }
        }
        counts
    }

    /// Returns the scores of the probes that were due from `from` until before `until`.
    pub(super) fn scores(&self, config: &Config, idle: bool, from: Instant, until: Instant) -> Scores {
        let mut foreign = Vec::new();
        let mut own = Vec::new();
        let mut without = [0; 2];
        let due = |probe: &&Probe| probe.idle == idle && (from..until).contains(&probe.due);
        for probe in self.probes.iter().filter(due) {
            match probe.result {
                Some(Ok(ProbeTimes::Foreign(times))) => foreign.push(times),
                Some(Ok(ProbeTimes::Own(time))) => own.push(time.as_nanos()),
                Some(Err(_)) => without[index(probe.kind)] += 1,
                None => {}
            }
        }
        let mut scores = Scores {
            foreign_count: foreign.len() as u64,
            own_count: own.len() as u64,
            draft: rpm::draft(&foreign, &own, Estimator::TrimmedMean(config.kept)),
            goresponsiveness: rpm::goresponsiveness(&foreign, &own, Estimator::TrimmedMean(config.kept)),
            goresponsiveness_p90: rpm::goresponsiveness(&foreign, &own, Estimator::Index(P90)),
            ..Scores::default()
        };
        // A probe without a response is longer than all others in the percentiles.
        let unlimited = unlimited(foreign.first());
        foreign.extend(std::iter::repeat_n(unlimited, without[0]));
        own.extend(std::iter::repeat_n(u64::MAX, without[1]));
        scores.median = rpm::draft(&foreign, &own, Estimator::Percentile(P50));
        scores.p90 = rpm::draft(&foreign, &own, Estimator::Percentile(P90));
        scores.p95 = rpm::draft(&foreign, &own, Estimator::Percentile(P95));
        scores
    }
}

/// Returns the times of a foreign probe without a response, with TLS if `like` has used it.
fn unlimited(like: Option<&ForeignProbe>) -> ForeignProbe {
    ForeignProbe {
        tcp_ns: u64::MAX,
        tls: like.is_none_or(|probe| probe.tls.is_some()).then_some(TlsHandshake {
            total_ns: u64::MAX,
            round_trips: NonZeroU32::MIN,
        }),
        http_ns: u64::MAX,
    }
}
