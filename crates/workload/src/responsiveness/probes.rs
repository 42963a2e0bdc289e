//! Probes of a responsiveness test and their times.

use super::config::Config;
use super::probe::{LATE, ProbeKind, ProbeTimes, start_delay};
use super::result::{Counts, Scores};
use super::score::{ScoredProbe, Scoring};
use crate::operation::{Operation, Outcome};
use netburn_stats::percentile::{P50, P90, P95};
use netburn_stats::rpm::{self, Estimator};
use netburn_units::{Duration, Instant};
use std::num::NonZeroU32;

/// A probe that has ended, or was not sent.
#[derive(Debug, Clone, Copy)]
struct Probe {
    scored: ScoredProbe,
    outcome: Outcome,
    late: bool,
    /// True for probes before the load.
    idle: bool,
}

/// All probes of a test.
#[derive(Debug, Clone, Default)]
pub(super) struct Probes {
    ended: Vec<Probe>,
    /// Foreign probes and self probes without a result.
    outstanding: [u64; 2],
    start_delay_max: Duration,
}

impl Probes {
    /// A probe was sent.
    pub(super) fn sent(&mut self, kind: ProbeKind) {
        self.outstanding[kind as usize] += 1;
    }

    /// A probe has ended, or was not sent. `tls`: round trips of its TLS handshake.
    pub(super) fn put(&mut self, kind: ProbeKind, operation: &Operation, idle: bool, tls: NonZeroU32) {
        let delay = start_delay(operation);
        self.start_delay_max = self.start_delay_max.max(delay.unwrap_or(Duration::ZERO));
        self.outstanding[kind as usize] -= u64::from(operation.started.is_some());
        self.ended.push(Probe {
            scored: ScoredProbe {
                due: operation.due,
                kind,
                times: ProbeTimes::from_operation(operation, Some(tls)),
            },
            outcome: operation.outcome,
            late: delay.is_some_and(|delay| delay >= LATE),
            idle,
        });
    }

    /// Returns the number of probes without a result.
    pub(super) fn outstanding(&self) -> u64 {
        self.outstanding.iter().sum()
    }

    /// Returns the longest start delay.
    pub(super) fn start_delay_max(&self) -> Duration {
        self.start_delay_max
    }

    /// Returns the counts of a kind, before or beside the load. `is_present`: it is the present stage, to which the probes
    /// without a result belong.
    pub(super) fn counts(&self, kind: ProbeKind, idle: bool, is_present: bool) -> Counts {
        let outstanding = self.outstanding[kind as usize] * u64::from(is_present);
        let mut counts = Counts {
            due: outstanding,
            outstanding,
            ..Counts::default()
        };
        for probe in self.ended.iter().filter(|p| p.scored.kind == kind && p.idle == idle) {
            counts.due += 1;
            counts.late += u64::from(probe.late);
            match probe.outcome {
                _ if probe.scored.times.is_some() => counts.answered += 1,
                Outcome::Finished | Outcome::Failed(_) => counts.failed += 1,
                Outcome::NotStarted => counts.not_sent += 1,
                Outcome::TimedOut | Outcome::Unfinished | Outcome::Cut => counts.timed_out += 1,
            }
        }
        counts
    }

    /// Returns the scores of the probes that were due from `from` until before `until`.
    pub(super) fn scores(&self, config: &Config, idle: bool, from: Instant, until: Instant) -> Scores {
        let due = |probe: &&Probe| probe.idle == idle && (from..until).contains(&probe.scored.due);
        let ended: Vec<ScoredProbe> = self.ended.iter().filter(due).map(|probe| probe.scored).collect();
        let answered = |kind: ProbeKind| {
            let of_kind = ended.iter().filter(|probe| probe.kind == kind && probe.times.is_some());
            of_kind.count() as u64
        };
        let scoring = Scoring {
            tls: true,
            has_load: true,
            timeout: config.probe_timeout,
        };
        let draft = |estimator: Estimator| {
            let (foreign, own) = scoring.times(&ended, estimator);
            rpm::draft(&foreign, &own, estimator)
        };
        let goresponsiveness = |estimator: Estimator| {
            let (foreign, own) = scoring.times(&ended, estimator);
            rpm::goresponsiveness(&foreign, &own, estimator)
        };
        Scores {
            foreign_count: answered(ProbeKind::Foreign),
            own_count: answered(ProbeKind::Own),
            draft: draft(Estimator::TrimmedMean(config.kept)),
            median: draft(Estimator::Percentile(P50)),
            p90: draft(Estimator::Percentile(P90)),
            p95: draft(Estimator::Percentile(P95)),
            goresponsiveness: goresponsiveness(Estimator::TrimmedMean(config.kept)),
            goresponsiveness_p90: goresponsiveness(Estimator::Index(P90)),
        }
    }
}
