//! Results of a workload of kind `responsiveness` from its evidence.

use super::document::{LatencyMs, ProbeCountsSummary, ResponsivenessSummary, RpmPeriod};
use super::evidence::{ProbeCounts, ResponsivenessEvidence};
use netburn_stats::rpm::{Band, Estimator, KEPT};
use netburn_stats::{Distribution, P50, P90};
use netburn_workload::responsiveness::ProbeTimes;

impl From<ResponsivenessEvidence> for ResponsivenessSummary {
    fn from(of: ResponsivenessEvidence) -> Self {
        let scoring = &of.scoring;
        let draft = scoring.draft(&of.probes, Estimator::TrimmedMean(KEPT));
        let percentile = |level| Some(scoring.draft(&of.probes, Estimator::Percentile(level))?.rpm);
        let times = || of.probes.iter().filter_map(|probe| probe.times);
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
            goresponsiveness_rpm: scoring.goresponsiveness(&of.probes),
            tcp_ms: distribution(foreign().map(|probe| probe.tcp_ns).collect(), of.foreign),
            tls_ms: if scoring.tls {
                distribution(tls, of.foreign)
            } else {
                None
            },
            http_ms: distribution(foreign().map(|probe| probe.http_ns).collect(), of.foreign),
            self_ms: distribution(own.collect(), of.own),
            foreign_probes: of.foreign.into(),
            self_probes: of.own.into(),
            load_failures: of.load_failures,
            periods: of
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
