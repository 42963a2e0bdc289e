//! Metrics of responsiveness tests.

use super::{Metric, Unit, count};
use crate::summary::WorkloadSummary;
use netburn_stats::metric_change::{Better, Tolerance};

pub(super) static METRICS: &[Metric<WorkloadSummary>] = &[
    Metric::new("rpm", Unit::Rpm, |of: &WorkloadSummary| {
        Some(of.responsiveness.as_ref()?.rpm)
    })
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
    .at("responsiveness.foreign_rpm"),
    Metric::new("loaded_rpm", Unit::Rpm, |of: &WorkloadSummary| {
        Some(of.responsiveness.as_ref()?.loaded_rpm)
    })
    .at("responsiveness.loaded_rpm"),
    Metric::new("p90_rpm", Unit::Rpm, |of: &WorkloadSummary| {
        Some(of.responsiveness.as_ref()?.p90_rpm)
    })
    .at("responsiveness.p90_rpm"),
    Metric::new("lost_probes", Unit::Count, |of: &WorkloadSummary| {
        let of = of.responsiveness.as_ref()?;
        count(of.foreign_probes.lost.saturating_add(of.self_probes.lost))
    }),
];
