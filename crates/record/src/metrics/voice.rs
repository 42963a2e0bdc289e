//! Metrics of both directions of a call.

use super::{Metric, Unit};
use crate::summary::WorkloadSummary;
use netburn_stats::metric_change::{Better, Tolerance};

/// Metrics of one direction, and the same of the other one.
macro_rules! both_directions {
    ($($direction:ident $word:literal),+) => {
        &[$(
            Metric::new(concat!("rating_", $word), Unit::Points, |of: &WorkloadSummary| Some(of.voice.as_ref()?.$direction.rating))
                .at(concat!("voice.", $word, ".rating"))
                .compared(
                    concat!("R ", $word),
                    "rating R of a call, per direction",
                    Better::Higher,
                    Tolerance::RATING,
                ),
            Metric::new(concat!("lost_", $word, "_share"), Unit::Share, |of: &WorkloadSummary| {
                Some(of.voice.as_ref()?.$direction.delivery.lost_share)
            })
            .at(concat!("voice.", $word, ".lost_share"))
            .compared(
                concat!("lost ", $word, " %"),
                "share of the packets of a call that were lost, per direction",
                Better::Lower,
                Tolerance::LOSS,
            ),
            Metric::new(concat!("delay_", $word, "_p50_ms"), Unit::Ms, |of: &WorkloadSummary| {
                let delay = of.voice.as_ref()?.$direction.delivery.delay_ms;
                Some(delay.and_then(|delay| delay.p50))
            })
            .at(concat!("voice.", $word, ".delay_ms.p50")),
            Metric::new(concat!("delay_", $word, "_p95_ms"), Unit::Ms, |of: &WorkloadSummary| {
                let delay = of.voice.as_ref()?.$direction.delivery.delay_ms;
                Some(delay.and_then(|delay| delay.p95))
            })
            .at(concat!("voice.", $word, ".delay_ms.p95")),
        )+]
    };
}

pub(super) static METRICS: &[Metric<WorkloadSummary>] = both_directions!(up "up", down "down");
