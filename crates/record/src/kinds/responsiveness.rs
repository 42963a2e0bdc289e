//! Round trips per minute, for `responsiveness`.

use super::{End, KindCounter, Shared};
use crate::aggregate::{Counted, EvaluatedTime, LoadDirection};
use crate::latency_ms::LatencyMs;
use crate::quantity::{Metric, Unit, count};
use netburn_stats::metric_change::{Better, Tolerance};
use netburn_stats::rpm::{Band, Estimator, KEPT};
use netburn_stats::{Distribution, P50, P90};
use netburn_units::{Duration, Instant};
use netburn_workload::responsiveness::score::due_within;
use netburn_workload::responsiveness::{LATE, ProbeKind, ProbeTimes, ScoredProbe, Scoring, WorkloadScore, start_delay};
use netburn_workload::{Config, Tally, rpm_windows};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Results of a workload of kind `responsiveness`, in round trips per minute. A score is `null` if there are no probes of a
/// kind, or too few for a percentile. In means, a probe without a response has the time-out as its time. In percentiles its time
/// is unlimited.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ResponsivenessSummary {
    /// Score of draft-ietf-ippm-responsiveness-09 over the evaluated time: the mean of `foreign_rpm` and `loaded_rpm`. Without
    /// a load of the workload's own it is `foreign_rpm`.
    pub rpm: Option<f64>,
    /// Class of this score in the draft: `poor`, `fair`, `good`, `excellent`.
    pub band: Option<String>,
    /// True if the workload has no load of its own, and so no self probes.
    pub foreign_only: bool,
    /// Rate of foreign probes, from trimmed means of the parts TCP, TLS and HTTP.
    pub foreign_rpm: Option<f64>,
    /// Rate of self probes, from their trimmed mean.
    pub loaded_rpm: Option<f64>,
    /// Score from medians.
    pub median_rpm: Option<f64>,
    /// Score from 90th percentiles.
    pub p90_rpm: Option<f64>,
    /// Score of goresponsiveness, from trimmed means with the share of the draft. `null` without TLS or self probes.
    pub goresponsiveness_rpm: Option<f64>,
    /// TCP handshake of foreign probes.
    pub tcp_ms: Option<LatencyMs>,
    /// TLS handshake of foreign probes; `null` without TLS.
    pub tls_ms: Option<LatencyMs>,
    /// Request and response of foreign probes.
    pub http_ms: Option<LatencyMs>,
    /// Request and response of self probes.
    pub self_ms: Option<LatencyMs>,
    /// Number of foreign probes.
    pub foreign_probes: ProbeCountsSummary,
    /// Number of self probes.
    pub self_probes: ProbeCountsSummary,
    /// Objects of the load that failed or timed out.
    pub load_failures: u64,
    /// Scores of consecutive periods of 5 s, from the start of the evaluated time. Empty with `--repeat`.
    #[serde(default)]
    pub periods: Vec<RpmPeriod>,
}

/// Numbers of probes of one kind in the evaluated time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProbeCountsSummary {
    /// Probes that were due.
    pub due: u64,
    /// Probes with a response.
    pub answered: u64,
    /// Probes that failed, timed out, or were not sent because no load connection was open.
    pub lost: u64,
    /// Probes that started 10 ms or more after they were due. They count like all others.
    pub late: u64,
}

/// Scores of one period.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RpmPeriod {
    /// Start, in seconds from the start of the run's load.
    pub start_s: f64,
    /// As [`ResponsivenessSummary::rpm`].
    pub rpm: Option<f64>,
    /// As [`ResponsivenessSummary::foreign_rpm`].
    pub foreign_rpm: Option<f64>,
    /// As [`ResponsivenessSummary::loaded_rpm`].
    pub loaded_rpm: Option<f64>,
}

pub(super) static METRICS: &[Metric<ResponsivenessSummary>] = &[
    Metric::new("rpm", Unit::Rpm, |of: &ResponsivenessSummary| Some(of.rpm))
        .gauge(
            "netburn_responsiveness_rpm",
            "Round trips per minute under load (draft-ietf-ippm-responsiveness-09).",
        )
        .at("responsiveness.rpm")
        .compared(
            "RPM",
            "round trips per minute under load",
            Better::Higher,
            Tolerance::RATE,
        ),
    Metric::new("foreign_rpm", Unit::Rpm, |of: &ResponsivenessSummary| {
        Some(of.foreign_rpm)
    })
    .gauge(
        "netburn_responsiveness_foreign_rpm",
        "Round trips per minute of probes on connections of their own.",
    )
    .at("responsiveness.foreign_rpm"),
    Metric::new("loaded_rpm", Unit::Rpm, |of: &ResponsivenessSummary| {
        Some(of.loaded_rpm)
    })
    .gauge(
        "netburn_responsiveness_loaded_rpm",
        "Round trips per minute of probes on connections with load.",
    )
    .at("responsiveness.loaded_rpm"),
    Metric::new("p90_rpm", Unit::Rpm, |of: &ResponsivenessSummary| Some(of.p90_rpm)).at("responsiveness.p90_rpm"),
    Metric::new("lost_probes", Unit::Count, |of: &ResponsivenessSummary| {
        count(of.foreign_probes.lost.saturating_add(of.self_probes.lost))
    }),
    Metric::new("lost_probes_share", Unit::Share, |of: &ResponsivenessSummary| {
        let due = of.foreign_probes.due.saturating_add(of.self_probes.due);
        let lost = of.foreign_probes.lost.saturating_add(of.self_probes.lost);
        Some((due > 0).then(|| lost as f64 / due as f64))
    })
    .gauge(
        "netburn_responsiveness_lost_ratio",
        "Share of the probes of responsiveness without a response.",
    ),
];

/// Length of a period, as the windows of a goal.
const PERIOD: Duration = Duration::from_secs(5);

/// Probes of the evaluated time. Those of several runs can be added.
#[derive(Debug, Clone)]
pub(crate) struct Probes {
    scoring: Scoring,
    /// In the order of the due times of each run.
    probes: Vec<ScoredProbe>,
    foreign: ProbeCounts,
    own: ProbeCounts,
    /// Objects of the load that failed or timed out.
    load_failures: u64,
    /// Start and score of each period of one run; empty for several runs.
    periods: Vec<(Instant, Option<WorkloadScore>)>,
}

/// Numbers of probes of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ProbeCounts {
    due: u64,
    answered: u64,
    late: u64,
}

impl ProbeCounts {
    fn add(&mut self, other: ProbeCounts) {
        self.due += other.due;
        self.answered += other.answered;
        self.late += other.late;
    }
}

impl KindCounter for Probes {
    type Summary = ResponsivenessSummary;

    fn new(config: &Config, tls: bool) -> Option<Self> {
        config.responsiveness().map(|settings| Probes {
            scoring: Scoring {
                tls,
                has_load: settings.load.count() > 0,
                timeout: config.timeout,
            },
            probes: Vec::new(),
            foreign: ProbeCounts::default(),
            own: ProbeCounts::default(),
            load_failures: 0,
            periods: Vec::new(),
        })
    }

    fn operation(&mut self, _config: &Config, counted: &Counted<'_>, _load: Option<LoadDirection>) {
        let operation = counted.operation;
        let Some(kind) = ProbeKind::from_sequence(operation.sequence) else {
            self.load_failures += u64::from(operation.has_failed());
            return;
        };
        // TLS 1.3 (RFC 8446 section 2).
        let round_trips = self.scoring.tls.then_some(NonZeroU32::MIN);
        let times = ProbeTimes::from_operation(operation, round_trips).filter(|_| counted.latency.is_some());
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
    }

    fn finish(&mut self, of: &End<'_>, goals: &mut [Tally]) {
        self.probes.sort_by_key(|probe| probe.due);
        for (goal, tally) in of.config.goals.iter().zip(goals) {
            *tally = Tally::default();
            for part in of.judged {
                tally.add(&rpm_windows(&self.probes, &self.scoring, *goal, part.from, part.to));
            }
        }
        let estimator = Estimator::TrimmedMean(KEPT);
        let periods = of.active.iter().flat_map(|part| periods(*part));
        let scored = periods.filter_map(|part| {
            let probes = due_within(&self.probes, part.from, part.to);
            (!probes.is_empty()).then(|| (part.from, self.scoring.draft(probes, estimator)))
        });
        self.periods = scored.collect();
    }

    fn add(&mut self, other: Self) {
        self.probes.extend(other.probes);
        self.foreign.add(other.foreign);
        self.own.add(other.own);
        self.load_failures += other.load_failures;
        self.periods.clear();
    }

    fn summarise(self, _of: &Shared<'_>) -> ResponsivenessSummary {
        let scoring = &self.scoring;
        let draft = scoring.draft(&self.probes, Estimator::TrimmedMean(KEPT));
        let percentile = |level| Some(scoring.draft(&self.probes, Estimator::Percentile(level))?.rpm);
        let times = || self.probes.iter().filter_map(|probe| probe.times);
        let foreign = || {
            times().filter_map(|times| match times {
                ProbeTimes::Foreign(probe) => Some(probe),
                ProbeTimes::Own(_) => None,
            })
        };
        let own = times().filter_map(|times| match times {
            ProbeTimes::Own(time) => Some(time.as_nanos()),
            ProbeTimes::Foreign(_) => None,
        });
        let distribution = |times: Vec<u64>, counts: ProbeCounts| {
            let lost = counts.due - counts.answered;
            (counts.due > 0).then(|| LatencyMs::from(&Distribution::from_samples(times, lost)))
        };
        let tls: Vec<u64> = foreign().filter_map(|probe| Some(probe.tls?.round_trip_ns())).collect();
        ResponsivenessSummary {
            rpm: draft.map(|score| score.rpm),
            band: draft.map(|score| Band::from_rpm(score.rpm).name().to_owned()),
            foreign_only: !scoring.has_load,
            foreign_rpm: draft.map(|score| score.foreign),
            loaded_rpm: draft.and_then(|score| score.loaded),
            median_rpm: percentile(P50),
            p90_rpm: percentile(P90),
            goresponsiveness_rpm: scoring.goresponsiveness(&self.probes),
            tcp_ms: distribution(foreign().map(|probe| probe.tcp_ns).collect(), self.foreign),
            tls_ms: if scoring.tls {
                distribution(tls, self.foreign)
            } else {
                None
            },
            http_ms: distribution(foreign().map(|probe| probe.http_ns).collect(), self.foreign),
            self_ms: distribution(own.collect(), self.own),
            foreign_probes: self.foreign.into(),
            self_probes: self.own.into(),
            load_failures: self.load_failures,
            periods: self
                .periods
                .iter()
                .map(|(from, score)| RpmPeriod {
                    start_s: from.as_nanos() as f64 / 1e9,
                    rpm: score.map(|score| score.rpm),
                    foreign_rpm: score.map(|score| score.foreign),
                    loaded_rpm: score.and_then(|score| score.loaded),
                })
                .collect(),
        }
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

impl From<ProbeCounts> for ProbeCountsSummary {
    fn from(of: ProbeCounts) -> Self {
        ProbeCountsSummary {
            due: of.due,
            answered: of.answered,
            lost: of.due - of.answered,
            late: of.late,
        }
    }
}
