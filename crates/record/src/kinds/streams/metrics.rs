//! Metrics of streams of datagrams: games, and the frames of video calls.

use super::{StreamSummary, StreamsSummary, VideoSummary};
use crate::quantity::{Metric, Unit, count, percentile};
use netburn_stats::P95;
use netburn_stats::metric_change::{Better, Tolerance};

fn video(stream: Option<StreamSummary>) -> Option<VideoSummary> {
    stream?.video
}

/// Metrics of one direction.
macro_rules! direction {
    ($stream:ident $word:literal) => {
        &[
            Metric::new(concat!("delay_", $word, "_p50_ms"), Unit::Ms, |of: &StreamsSummary| {
                Some(of.$stream?.delivery.delay_ms.and_then(|delay| delay.p50))
            })
                .at(concat!("streams.", $word, ".delay_ms.p50"))
                .gauge_of(
                    $word,
                    "netburn_stream_delay_median_seconds",
                    "Median one-way delay of a direction of a stream: of the packets, or of the frames of a video call.",
                ),
            Metric::new(concat!("lost_", $word, "_share"), Unit::Share, |of: &StreamsSummary| {
                Some(of.$stream?.delivery.lost_share)
            })
                .at(concat!("streams.", $word, ".lost_share"))
                .gauge_of(
                    $word,
                    "netburn_stream_lost_ratio",
                    "Share of lost packets of a direction of a stream, or of the frames of a video call that were never complete.",
                )
                .compared(
                    concat!("lost ", $word, " %"),
                    "share of the packets or frames of a stream that were lost, per direction",
                    Better::Lower,
                    Tolerance::LOSS,
                ),
            Metric::new(concat!("jitter_", $word, "_ms"), Unit::Ms, |of: &StreamsSummary| {
                Some(of.$stream?.delivery.jitter_ms)
            })
                .at(concat!("streams.", $word, ".jitter_ms"))
                .gauge_of(
                    $word,
                    "netburn_stream_jitter_seconds",
                    "Jitter (RFC 3550) of a direction of a stream of datagrams.",
                ),
            Metric::new(concat!("gaps_", $word, "_share"), Unit::Share, |of: &StreamsSummary| {
                Some(Some(of.$stream?.gaps?.share))
            })
                .at(concat!("streams.", $word, ".gaps.share"))
                .gauge_of(
                    $word,
                    "netburn_stream_gaps_ratio",
                    "Share of the time of a direction of a game without an arrival for 100 ms or more.",
                )
                .compared(
                    concat!("gaps ", $word, " %"),
                    "share of the time of a game in gaps, per direction",
                    Better::Lower,
                    Tolerance::LOSS,
                ),
            Metric::new(concat!("delay_", $word, "_p95_ms"), Unit::Ms, |of: &StreamsSummary| {
                let delay = of.$stream?.delivery.delay_ms;
                Some(delay.and_then(|delay| percentile(delay.p95, P95, &delay)))
            })
                .at(concat!("streams.", $word, ".delay_ms.p95"))
                .compared(
                    concat!("frame p95 ", $word),
                    "delay of the frames of a video call at p95, per direction",
                    Better::Lower,
                    Tolerance::LATENCY,
                )
                .compared_if(|of: &StreamsSummary| video(of.$stream).is_some()),
            Metric::new(concat!("freezes_", $word), Unit::Count, |of: &StreamsSummary| {
                count(video(of.$stream)?.freezes)
            })
                .at(concat!("streams.", $word, ".video.freezes"))
                .gauge_of($word, "netburn_video_freezes", "Freezes of a direction of a video call (webrtc-stats)."),
            Metric::new(concat!("frozen_", $word, "_ms"), Unit::Ms, |of: &StreamsSummary| {
                Some(Some(video(of.$stream)?.total_freezes_ms))
            })
                .at(concat!("streams.", $word, ".video.total_freezes_ms"))
                .gauge_of(
                    $word,
                    "netburn_video_freezes_seconds",
                    "Total duration of the freezes of a direction of a video call.",
                ),
            Metric::new(concat!("frozen_", $word, "_share"), Unit::Share, |of: &StreamsSummary| {
                Some(video(of.$stream)?.frozen_share)
            })
                .at(concat!("streams.", $word, ".video.frozen_share"))
                .gauge_of(
                    $word,
                    "netburn_video_frozen_ratio",
                    "Share of the time of a direction of a video call in freezes.",
                )
                .compared(
                    concat!("frozen ", $word, " %"),
                    "share of the time of a video call in freezes, per direction",
                    Better::Lower,
                    Tolerance::LOSS,
                ),
            Metric::new(concat!("rate_", $word, "_mbps"), Unit::Mbps, |of: &StreamsSummary| {
                Some(video(of.$stream)?.rate_mbps)
            })
                .at(concat!("streams.", $word, ".video.rate_mbps"))
                .gauge_of(
                    $word,
                    "netburn_video_rate_bits_per_second",
                    "Mean rate of the complete frames of a direction of a video call.",
                ),
            Metric::new(concat!("at_target_", $word, "_share"), Unit::Share, |of: &StreamsSummary| {
                Some(video(of.$stream)?.at_target_share)
            })
                .at(concat!("streams.", $word, ".video.at_target_share"))
                .gauge_of(
                    $word,
                    "netburn_video_at_target_ratio",
                    "Share of the frames of a direction of a video call that were encoded at the target rate and became complete.",
                )
                .compared(
                    concat!("at target ", $word, " %"),
                    "share of the frames of a video call at the target rate, per direction",
                    Better::Higher,
                    Tolerance::MET,
                ),
        ]
    };
}

pub(in crate::kinds) static UP: &[Metric<StreamsSummary>] = direction!(up "up");
pub(in crate::kinds) static DOWN: &[Metric<StreamsSummary>] = direction!(down "down");

pub(in crate::kinds) static BOTH: &[Metric<StreamsSummary>] = &[
    Metric::new("missed_frames_share", Unit::Share, |of: &StreamsSummary| {
        Some(of.down?.frames?.missed_share)
    })
    .gauge_of(
        "down",
        "netburn_stream_missed_frames_ratio",
        "Share of the frames of a direction that were late or incomplete.",
    )
    .at("streams.down.frames.missed_share")
    .compared(
        "missed frames %",
        "share of the frames of cloud gaming that were late or incomplete",
        Better::Lower,
        Tolerance::LOSS,
    ),
    Metric::new("round_trip_p50_ms", Unit::Ms, |of: &StreamsSummary| {
        Some(of.round_trip_ms?.p50)
    })
    .at("streams.round_trip_ms.p50"),
    Metric::new("round_trip_p95_ms", Unit::Ms, |of: &StreamsSummary| {
        Some(of.round_trip_ms?.p95)
    })
    .gauge(
        "netburn_round_trip_p95_seconds",
        "95th percentile of the round trips of a game.",
    )
    .at("streams.round_trip_ms.p95")
    .compared(
        "round trip p95",
        "round trip of a game at p95",
        Better::Lower,
        Tolerance::LATENCY,
    ),
    Metric::new("qoo", Unit::Points, |of: &StreamsSummary| {
        of.round_trip_ms.map(|_| of.qoo)
    })
    .at("streams.qoo"),
];
