//! Counts the probes of a workload of kind `responsiveness`.

use crate::aggregate::EvaluatedTime;
use crate::summary::evidence::{ProbeCounts, ResponsivenessEvidence};
use netburn_stats::rpm::{Estimator, KEPT};
use netburn_units::{Duration, Instant};
use netburn_workload::responsiveness::score::due_within;
use netburn_workload::responsiveness::{LATE, ProbeKind, ProbeTimes, ScoredProbe, Scoring, start_delay};
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
        let Some(kind) = ProbeKind::from_sequence(operation.sequence) else {
            let failed = matches!(operation.outcome, Outcome::Failed(_) | Outcome::TimedOut);
            self.load_failures += u64::from(failed);
            return failed;
        };
        // TLS 1.3 (RFC 8446 section 2).
        let round_trips = self.scoring.tls.then_some(NonZeroU32::MIN);
        let times = ProbeTimes::from_operation(operation, round_trips).filter(|_| finished);
        let counts = match kind {
            ProbeKind::Foreign => &mut self.foreign,
            ProbeKind::Own => &mut self.own,
        };
        counts.due += 1;
        counts.answered += u64::from(times.is_some());
        counts.late += u64::from(start_delay(operation).is_some_and(|delay| delay >= LATE));
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
