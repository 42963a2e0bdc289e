//! Metrics of streams of datagrams: games, and the frames of video calls.

use super::{Metric, Unit, count, percentile};
use crate::summary::WorkloadSummary;
use netburn_stats::P95;
use netburn_stats::metric_change::{Better, Tolerance};

/// Metrics of one direction.
macro_rules! direction {
    ($direction:ident $word:literal) => {
        &[
            Metric::new(
                concat!("lost_", $word, "_share"),
                Unit::Share,
                |of: &WorkloadSummary| Some(of.streams.as_ref()?.$direction?.delivery.lost_share),
            )
            .at(concat!("streams.", $word, ".lost_share"))
            .compared(
                concat!("lost ", $word, " %"),
                "share of the packets or frames of a stream that were lost, per direction",
                Better::Lower,
                Tolerance::LOSS,
            ),
            Metric::new(
                concat!("gaps_", $word, "_share"),
                Unit::Share,
                |of: &WorkloadSummary| Some(Some(of.streams.as_ref()?.$direction?.gaps?.share)),
            )
            .at(concat!("streams.", $word, ".gaps.share"))
            .compared(
                concat!("gaps ", $word, " %"),
                "share of the time of a game in gaps, per direction",
                Better::Lower,
                Tolerance::LOSS,
            ),
            Metric::new(concat!("delay_", $word, "_p50_ms"), Unit::Ms, |of: &WorkloadSummary| {
                let delay = of.streams.as_ref()?.$direction?.delivery.delay_ms;
                Some(delay.and_then(|delay| delay.p50))
            })
            .at(concat!("streams.", $word, ".delay_ms.p50")),
            Metric::new(concat!("delay_", $word, "_p95_ms"), Unit::Ms, |of: &WorkloadSummary| {
                let delay = of.streams.as_ref()?.$direction?.delivery.delay_ms;
                Some(delay.and_then(|delay| percentile(delay.p95, P95, &delay)))
            })
            .at(concat!("streams.", $word, ".delay_ms.p95"))
            .compared(
                concat!("frame p95 ", $word),
                "delay of the frames of a video call at p95, per direction",
                Better::Lower,
                Tolerance::LATENCY,
            )
            .compared_if(|of: &WorkloadSummary| {
                let stream = of.streams.as_ref().and_then(|streams| streams.$direction);
                stream.is_some_and(|stream| stream.video.is_some())
            }),
            Metric::new(concat!("freezes_", $word), Unit::Count, |of: &WorkloadSummary| {
                count(of.streams.as_ref()?.$direction?.video?.freezes)
            })
            .at(concat!("streams.", $word, ".video.freezes")),
            Metric::new(
                concat!("frozen_", $word, "_share"),
                Unit::Share,
                |of: &WorkloadSummary| Some(of.streams.as_ref()?.$direction?.video?.frozen_share),
            )
            .at(concat!("streams.", $word, ".video.frozen_share"))
            .compared(
                concat!("frozen ", $word, " %"),
                "share of the time of a video call in freezes, per direction",
                Better::Lower,
                Tolerance::LOSS,
            ),
            Metric::new(concat!("rate_", $word, "_mbps"), Unit::Mbps, |of: &WorkloadSummary| {
                Some(of.streams.as_ref()?.$direction?.video?.rate_mbps)
            })
            .at(concat!("streams.", $word, ".video.rate_mbps")),
            Metric::new(
                concat!("at_target_", $word, "_share"),
                Unit::Share,
                |of: &WorkloadSummary| Some(of.streams.as_ref()?.$direction?.video?.at_target_share),
            )
            .at(concat!("streams.", $word, ".video.at_target_share"))
            .compared(
                concat!("at target ", $word, " %"),
                "share of the frames of a video call at the target rate, per direction",
                Better::Higher,
                Tolerance::MET,
            ),
        ]
    };
}

pub(super) static UP: &[Metric<WorkloadSummary>] = direction!(up "up");
pub(super) static DOWN: &[Metric<WorkloadSummary>] = direction!(down "down");

pub(super) static BOTH: &[Metric<WorkloadSummary>] = &[
    Metric::new("missed_frames_share", Unit::Share, |of: &WorkloadSummary| {
        Some(of.streams.as_ref()?.down?.frames?.missed_share)
    })
    .at("streams.down.frames.missed_share")
    .compared(
        "missed frames %",
        "share of the frames of cloud gaming that were late or incomplete",
        Better::Lower,
        Tolerance::LOSS,
    ),
    Metric::new("round_trip_p50_ms", Unit::Ms, |of: &WorkloadSummary| {
        Some(of.streams.as_ref()?.round_trip_ms?.p50)
    })
    .at("streams.round_trip_ms.p50"),
    Metric::new("round_trip_p95_ms", Unit::Ms, |of: &WorkloadSummary| {
        Some(of.streams.as_ref()?.round_trip_ms?.p95)
    })
    .at("streams.round_trip_ms.p95")
    .compared(
        "round trip p95",
        "round trip of a game at p95",
        Better::Lower,
        Tolerance::LATENCY,
    ),
    Metric::new("qoo", Unit::Points, |of: &WorkloadSummary| {
        let streams = of.streams.as_ref()?;
        streams.round_trip_ms.map(|_| streams.qoo)
    })
    .at("streams.qoo"),
];
