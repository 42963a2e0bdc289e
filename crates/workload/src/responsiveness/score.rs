//! Scores of a workload of kind `responsiveness`, from the probes of a time.

use super::probe::{ProbeKind, ProbeTimes};
use crate::common::Goal;
use crate::verdict::Tally;
use netburn_stats::rpm::{self, Estimator, ForeignProbe, TlsHandshake};
use netburn_units::{Duration, Instant};
use std::num::NonZeroU32;

/// A probe that has ended, or was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScoredProbe {
    /// Due time.
    pub due: Instant,
    /// Kind.
    pub kind: ProbeKind,
    /// Times, of the same kind; `None` without a response.
    pub times: Option<ProbeTimes>,
}

/// Scores in round trips per minute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkloadScore {
    /// The score: the mean of both rates, or the rate of foreign probes without a load of the workload's own.
    pub rpm: f64,
    /// Rate of foreign probes.
    pub foreign: f64,
    /// Rate of self probes; `None` without a load of the workload's own.
    pub loaded: Option<f64>,
}

/// Rules by which probes are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scoring {
    /// True if the connections use TLS.
    pub tls: bool,
    /// True if the workload has a load of its own, and so self probes.
    pub has_load: bool,
    /// Time of a probe without a response in means: its time-out. In percentiles its time is unlimited. The workload
    /// and `netburn rpm` have the same rule.
    pub timeout: Duration,
}

impl Scoring {
    /// Score of draft-ietf-ippm-responsiveness-09 ([`rpm::draft`]) with this estimator. Without a load of the workload's
    /// own it is the rate of foreign probes ([`rpm::foreign_rate`]).
    ///
    /// Returns `None` if there are no probes of a kind, or too few for the estimator.
    #[must_use]
    pub fn draft(&self, probes: &[ScoredProbe], estimator: Estimator) -> Option<WorkloadScore> {
        let (foreign, own) = self.times(probes, estimator);
        if self.has_load {
            let score = rpm::draft(&foreign, &own, estimator)?;
            return Some(WorkloadScore {
                rpm: score.score,
                foreign: score.foreign,
                loaded: Some(score.loaded),
            });
        }
        let foreign = rpm::foreign_rate(&foreign, estimator)?;
        Some(WorkloadScore {
            rpm: foreign,
            foreign,
            loaded: None,
        })
    }

    /// Score of goresponsiveness ([`rpm::goresponsiveness`]) from trimmed means with the share of the draft. `None` without
    /// TLS, without a load of the workload's own, and without probes of a kind.
    #[must_use]
    pub fn goresponsiveness(&self, probes: &[ScoredProbe]) -> Option<f64> {
        let estimator = Estimator::TrimmedMean(rpm::KEPT);
        let (foreign, own) = self.times(probes, estimator);
        rpm::goresponsiveness(&foreign, &own, estimator).map(|score| score.score)
    }

    /// Times of all probes. Those without a response have a time that depends on the estimator.
    pub(super) fn times(&self, probes: &[ScoredProbe], estimator: Estimator) -> (Vec<ForeignProbe>, Vec<u64>) {
        let nanos = match estimator {
            Estimator::TrimmedMean(_) => self.timeout.as_nanos(),
            Estimator::Percentile(_) | Estimator::Index(_) => u64::MAX,
        };
        let unanswered = ForeignProbe {
            tcp_ns: nanos,
            tls: self.tls.then_some(TlsHandshake {
                total_ns: nanos,
                round_trips: NonZeroU32::MIN,
            }),
            http_ns: nanos,
        };
        let (mut foreign, mut own) = (Vec::new(), Vec::new());
        for probe in probes {
            match (probe.kind, probe.times) {
                (ProbeKind::Foreign, Some(ProbeTimes::Foreign(times))) => foreign.push(times),
                (ProbeKind::Foreign, _) => foreign.push(unanswered),
                (ProbeKind::Own, Some(ProbeTimes::Own(time))) => own.push(time.as_nanos()),
                (ProbeKind::Own, _) => own.push(nanos),
            }
        }
        (foreign, own)
    }
}

/// Counts windows for a goal of round trips per minute.
///
/// `probes` are in the order of their due times. The first window begins at `from`, another every `step`, and the last ends
/// at or before `to`. A probe belongs to the windows in which it was due. A window without a probe does not count, and one
/// without a score has 0 round trips per minute. Other goals have no windows.
///
/// The tally's `worst` is the limit divided by the lowest score; infinite for 0.
#[must_use]
pub fn rpm_windows(probes: &[ScoredProbe], scoring: &Scoring, goal: Goal, from: Instant, to: Instant) -> Tally {
    let mut tally = Tally::default();
    let Goal::Rpm { at_least, window, step } = goal else {
        return tally;
    };
    let limit = f64::from(at_least);
    let mut begin = from;
    while let Some(end) = begin.checked_add(window).filter(|end| *end <= to) {
        let probes = due_within(probes, begin, end);
        if !probes.is_empty() {
            let score = scoring.draft(probes, Estimator::TrimmedMean(rpm::KEPT));
            let rpm = score.map_or(0.0, |score| score.rpm);
            let excess = limit / rpm;
            tally.samples += 1;
            tally.met += u64::from(rpm >= limit);
            tally.worst = Some(tally.worst.map_or(excess, |worst| worst.max(excess)));
        }
        match begin.checked_add(step).filter(|_| !step.is_zero()) {
            Some(next) => begin = next,
            None => break,
        }
    }
    tally
}

/// The probes, which are in the order of their due times, that were due from `from` until before `until`.
#[must_use]
pub fn due_within(probes: &[ScoredProbe], from: Instant, until: Instant) -> &[ScoredProbe] {
    let first = probes.partition_point(|probe| probe.due < from);
    let after = probes.partition_point(|probe| probe.due < until).max(first);
    &probes[first..after]
}
