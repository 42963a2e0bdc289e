//! Metrics of responsiveness tests.

use super::{Metric, Unit, count};
use crate::summary::WorkloadSummary;
use netburn_stats::metric_change::{Better, Tolerance};

pub(super) static METRICS: &[Metric<WorkloadSummary>] = &[
    Metric::new("rpm", Unit::Rpm, |of: &WorkloadSummary| {
        Some(of.responsiveness.as_ref()?.rpm)
    })
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
    Metric::new("foreign_rpm", Unit::Rpm, |of: &WorkloadSummary| {
        Some(of.responsiveness.as_ref()?.foreign_rpm)
    })
    .gauge(
        "netburn_responsiveness_foreign_rpm",
        "Round trips per minute of probes on connections of their own.",
    )
    .at("responsiveness.foreign_rpm"),
    Metric::new("loaded_rpm", Unit::Rpm, |of: &WorkloadSummary| {
        Some(of.responsiveness.as_ref()?.loaded_rpm)
    })
    .gauge(
        "netburn_responsiveness_loaded_rpm",
        "Round trips per minute of probes on connections with load.",
    )
    .at("responsiveness.loaded_rpm"),
    Metric::new("p90_rpm", Unit::Rpm, |of: &WorkloadSummary| {
        Some(of.responsiveness.as_ref()?.p90_rpm)
    })
    .at("responsiveness.p90_rpm"),
    Metric::new("lost_probes", Unit::Count, |of: &WorkloadSummary| {
        let of = of.responsiveness.as_ref()?;
        count(of.foreign_probes.lost.saturating_add(of.self_probes.lost))
    }),
    Metric::new("lost_probes_share", Unit::Share, |of: &WorkloadSummary| {
        let of = of.responsiveness.as_ref()?;
        let due = of.foreign_probes.due.saturating_add(of.self_probes.due);
        let lost = of.foreign_probes.lost.saturating_add(of.self_probes.lost);
        Some((due > 0).then(|| lost as f64 / due as f64))
    })
    .gauge(
        "netburn_responsiveness_lost_ratio",
        "Share of the probes of responsiveness without a response.",
    ),
];
