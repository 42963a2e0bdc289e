//! Metrics of probes.

use super::{Metric, Unit};
use crate::summary::WorkloadSummary;
use netburn_stats::metric_change::{Better, Tolerance};

pub(super) static METRICS: &[Metric<WorkloadSummary>] =
    &[Metric::new("lost_share", Unit::Share, |of: &WorkloadSummary| {
        Some(of.probe?.lost_share)
    })
    .gauge("netburn_probe_lost_ratio", "Share of lost datagrams.")
    .at("probe.lost_share")
    .compared(
        "lost %",
        "share of the datagrams that were lost",
        Better::Lower,
        Tolerance::LOSS,
    )];
