//! Metrics of both directions of a call.

use super::{Metric, Unit};
use crate::summary::{VoiceStreamSummary, WorkloadSummary};
use netburn_stats::metric_change::{Better, Tolerance};

fn up(of: &WorkloadSummary) -> Option<&VoiceStreamSummary> {
    of.voice.as_ref().map(|voice| &voice.up)
}

fn down(of: &WorkloadSummary) -> Option<&VoiceStreamSummary> {
    of.voice.as_ref().map(|voice| &voice.down)
}

/// Metrics of one direction, and the same of the other one.
macro_rules! both_directions {
    ($($stream:ident $word:literal),+) => {
        &[$(
            Metric::new(concat!("rating_", $word), Unit::Points, |of: &WorkloadSummary| Some($stream(of)?.rating))
                .at(concat!("voice.", $word, ".rating"))
                .gauge_of(
                    $word,
                    "netburn_voice_rating",
                    "Rating R (ITU-T G.107) of a direction of a call, with the best fixed playout buffer.",
                )
                .compared(concat!("R ", $word), "rating R of a call, per direction", Better::Higher, Tolerance::RATING),
            Metric::new(concat!("playout_", $word, "_ms"), Unit::Ms, |of: &WorkloadSummary| {
                Some($stream(of)?.buffer_ms)
            })
                .at(concat!("voice.", $word, ".buffer_ms"))
                .gauge_of(
                    $word,
                    "netburn_voice_playout_seconds",
                    "That buffer: time from the due time of a packet to its playout.",
                ),
            Metric::new(concat!("lost_", $word, "_share"), Unit::Share, |of: &WorkloadSummary| {
                Some($stream(of)?.delivery.lost_share)
            })
                .at(concat!("voice.", $word, ".lost_share"))
                .gauge_of($word, "netburn_voice_lost_ratio", "Share of lost packets of a direction of a call.")
                .compared(
                    concat!("lost ", $word, " %"),
                    "share of the packets of a call that were lost, per direction",
                    Better::Lower,
                    Tolerance::LOSS,
                ),
            Metric::new(concat!("jitter_", $word, "_ms"), Unit::Ms, |of: &WorkloadSummary| {
                Some($stream(of)?.delivery.jitter_ms)
            })
                .at(concat!("voice.", $word, ".jitter_ms"))
                .gauge_of($word, "netburn_voice_jitter_seconds", "Jitter (RFC 3550) of a direction of a call."),
            Metric::new(concat!("delay_", $word, "_p50_ms"), Unit::Ms, |of: &WorkloadSummary| {
                Some($stream(of)?.delivery.delay_ms.and_then(|delay| delay.p50))
            })
                .at(concat!("voice.", $word, ".delay_ms.p50")),
            Metric::new(concat!("delay_", $word, "_p95_ms"), Unit::Ms, |of: &WorkloadSummary| {
                Some($stream(of)?.delivery.delay_ms.and_then(|delay| delay.p95))
            })
                .at(concat!("voice.", $word, ".delay_ms.p95")),
        )+]
    };
}

pub(super) static METRICS: &[Metric<WorkloadSummary>] = both_directions!(up "up", down "down");
