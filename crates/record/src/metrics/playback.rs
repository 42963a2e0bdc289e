//! Metrics of a video player, and of the segments of adaptive streaming.

use super::{Metric, Unit, count};
use crate::summary::WorkloadSummary;
use netburn_stats::metric_change::{Better, Tolerance};

pub(super) static PLAYER: &[Metric<WorkloadSummary>] = &[
    Metric::new("stalls", Unit::Count, |of: &WorkloadSummary| count(of.player?.stalls)).at("player.stalls"),
    Metric::new("stalled_ms", Unit::Ms, |of: &WorkloadSummary| {
        Some(Some(of.player?.stalled_ms))
    })
    .gauge(
        "netburn_player_stalled_seconds",
        "Total duration of stalls of a player.",
    )
    .at("player.stalled_ms"),
    Metric::new("startup_ms", Unit::Ms, |of: &WorkloadSummary| {
        Some(of.player?.startup_ms)
    })
    .at("player.startup_ms")
    .gauge("netburn_player_startup_seconds", "Startup delay of a player."),
    Metric::new("stalled_share", Unit::Share, |of: &WorkloadSummary| {
        Some(Some(of.player?.stalled_share))
    })
    .at("player.stalled_share")
    .compared(
        "stalled %",
        "share of the time in which a player stalled",
        Better::Lower,
        Tolerance::LOSS,
    ),
];

pub(super) static SEGMENTS: &[Metric<WorkloadSummary>] = &[
    Metric::new("bit_rate_mbps", Unit::Mbps, |of: &WorkloadSummary| {
        Some(of.segments?.mean_mbps)
    })
    .gauge(
        "netburn_media_bit_rate_bits_per_second",
        "Mean bit rate of the complete segments of adaptive streaming.",
    )
    .at("segments.mean_mbps")
    .compared(
        "video Mbit/s",
        "mean bit rate of adaptive streaming",
        Better::Higher,
        Tolerance::RATE,
    ),
    Metric::new("at_highest_share", Unit::Share, |of: &WorkloadSummary| {
        Some(of.segments?.at_highest_share)
    })
    .gauge(
        "netburn_media_at_highest_bit_rate_ratio",
        "Share of the segments at the highest bit rate.",
    )
    .at("segments.at_highest_share"),
    Metric::new("switches", Unit::Count, |of: &WorkloadSummary| {
        count(of.segments?.switches)
    })
    .gauge("netburn_media_bit_rate_switches", "Number of changes of the bit rate.")
    .at("segments.switches"),
];
