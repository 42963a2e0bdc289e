//! Counts the probes of a workload of kind `responsiveness`.

use crate::aggregate::EvaluatedTime;
use crate::summary::evidence::{ProbeCounts, ResponsivenessEvidence};
use netburn_stats::rpm::{Estimator, ForeignProbe, KEPT, TlsHandshake};
use netburn_units::{Duration, Instant};
use netburn_workload::kinds::responsiveness::Part;
use netburn_workload::responsiveness::probes::LATE;
use netburn_workload::responsiveness::score::due_within;
use netburn_workload::responsiveness::{ProbeKind, ProbeTimes, ScoredProbe, Scoring};
use netburn_workload::{Config, Goal, Operation, Outcome, Tally, rpm_windows};
use std::num::NonZeroU32;

/// Length of a period, as the windows of a goal.
const PERIOD: Duration = Duration::from_secs(5);

/// Probes of the evaluated time.
#[derive(Debug)]
pub(super) struct Probes {
    scoring: Scoring,
    probes: Vec<ScoredProbe>,
    foreign: ProbeCounts,
    own: ProbeCounts,
    load_failures: u64,
}

impl Probes {
    /// `tls`: the connections use TLS.
    pub(super) fn new(config: &Config, tls: bool) -> Self {
        Probes {
            scoring: Scoring {
                tls,
                has_load: config.load().count() > 0,
                timeout: config.timeout,
            },
            probes: Vec::new(),
            foreign: ProbeCounts::default(),
            own: ProbeCounts::default(),
            load_failures: 0,
        }
    }

    /// Counts an operation that has `finished`. Returns false for an object of the load that did not fail, which is no
    /// operation of the summary.
    pub(super) fn put(&mut self, operation: &Operation, finished: bool) -> bool {
        let kind = match Part::from_sequence(operation.sequence) {
            Part::Foreign => ProbeKind::Foreign,
            Part::Own => ProbeKind::Own,
            Part::Load => {
                let failed = matches!(operation.outcome, Outcome::Failed(_) | Outcome::TimedOut);
                self.load_failures += u64::from(failed);
                return failed;
            }
        };
        let times = times(operation, kind, self.scoring.tls).filter(|_| finished);
        let counts = match kind {
            ProbeKind::Foreign => &mut self.foreign,
            ProbeKind::Own => &mut self.own,
        };
        counts.due += 1;
        counts.answered += u64::from(times.is_some());
        let delay = operation
            .started
            .and_then(|started| started.checked_since(operation.due));
        counts.late += u64::from(delay.is_some_and(|delay| delay >= LATE));
        self.probes.push(ScoredProbe {
            due: operation.due,
            kind,
            times,
        });
        true
    }

    /// Evidence, and a tally for each goal. `active` are the evaluated times, and `parts` those from the first due time on.
    pub(super) fn finish(
        mut self,
        config: &Config,
        active: &[EvaluatedTime],
        parts: &[EvaluatedTime],
    ) -> (ResponsivenessEvidence, Vec<Tally>) {
        self.probes.sort_by_key(|probe| probe.due);
        let tally = |goal: &Goal| {
            let mut tally = Tally::default();
            for part in parts {
                tally.add(&rpm_windows(&self.probes, &self.scoring, *goal, part.from, part.to));
            }
            tally
        };
        let tallies = config.goals.iter().map(tally).collect();
        let periods = active.iter().flat_map(|part| periods(*part));
        let estimator = Estimator::TrimmedMean(KEPT);
        let periods = periods.filter_map(|part| {
            let probes = due_within(&self.probes, part.from, part.to);
            (!probes.is_empty()).then(|| (part.from, self.scoring.draft(probes, estimator)))
        });
        let evidence = ResponsivenessEvidence {
            periods: periods.collect(),
            scoring: self.scoring,
            foreign: self.foreign,
            own: self.own,
            load_failures: self.load_failures,
            probes: self.probes,
        };
        (evidence, tallies)
    }
}

/// Periods of a time, without a shorter rest.
fn periods(part: EvaluatedTime) -> impl Iterator<Item = EvaluatedTime> {
    let starts = std::iter::successors(Some(part.from), |from: &Instant| from.checked_add(PERIOD));
    let periods = starts.map_while(|from| {
        Some(EvaluatedTime {
            from,
            to: from.checked_add(PERIOD)?,
        })
    });
    periods.take_while(move |period| period.to <= part.to)
}

/// Times of a probe with a response.
fn times(operation: &Operation, kind: ProbeKind, tls: bool) -> Option<ProbeTimes> {
    let (started, finished) = (operation.started?, operation.finished?);
    match kind {
        ProbeKind::Own => Some(ProbeTimes::Own(finished.checked_since(started)?)),
        ProbeKind::Foreign => {
            let (tcp, connected) = (operation.tcp_connected?, operation.connected?);
            let nanos = |to: Instant, from: Instant| to.checked_since(from).map(Duration::as_nanos);
            let handshake = TlsHandshake {
                total_ns: nanos(connected, tcp)?,
                // TLS 1.3 (RFC 8446 section 2).
                round_trips: NonZeroU32::MIN,
            };
            Some(ProbeTimes::Foreign(ForeignProbe {
                tcp_ns: nanos(tcp, started)?,
                tls: tls.then_some(handshake),
                http_ns: nanos(finished, connected)?,
            }))
        }
    }
}
