//! Probes of a responsiveness test and their times.

use super::config::Config;
use super::probe::{ProbeFailure, ProbeId, ProbeKind, ProbeTimes};
use super::result::{Counts, Scores};
use super::score::{ScoredProbe, Scoring};
use netburn_stats::percentile::{P50, P90, P95};
use netburn_stats::rpm::{self, Estimator};
use netburn_units::{Duration, Instant};

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
        let due = |probe: &&Probe| probe.idle == idle && (from..until).contains(&probe.due);
        let ended: Vec<ScoredProbe> = self
            .probes
            .iter()
            .filter(due)
            .filter_map(|probe| {
                Some(ScoredProbe {
                    due: probe.due,
                    kind: probe.kind,
                    times: probe.result?.ok(),
                })
            })
            .collect();
        let answered = |kind: ProbeKind| {
            let of_kind = ended.iter().filter(|probe| probe.kind == kind && probe.times.is_some());
            of_kind.count() as u64
        };
        let handshakes = ended.iter().find_map(|probe| match probe.times {
            Some(ProbeTimes::Foreign(times)) => Some(times.tls.is_some()),
            Some(ProbeTimes::Own(_)) | None => None,
        });
        let scoring = Scoring {
            tls: handshakes.unwrap_or(true),
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
