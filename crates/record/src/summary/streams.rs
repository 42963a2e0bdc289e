//! Results of streams of datagrams from their evidence.

use super::document::{
    DeliverySummary, FrameSummary, GapSummary, LatencyMs, StreamSummary, StreamsSummary, VideoSummary,
};
use super::evidence::{FrameEvidence, StreamEvidence, StreamsEvidence, VideoEvidence};
use super::grading::score;
use netburn_quality::grade::qoo::GAMES;
use netburn_quality::{Freezes, Silences};
use netburn_stats::Distribution;
use netburn_units::{BitRate, Duration};

impl From<StreamsEvidence> for StreamsSummary {
    fn from(of: StreamsEvidence) -> Self {
        // Only a game has gaps.
        let is_game = [&of.up, &of.down]
            .into_iter()
            .flatten()
            .any(|stream| !stream.gaps.is_empty());
        let round_trips = of
            .round_trips
            .map(|trips| Distribution::from_samples(trips.times, trips.lost));
        // Lost packets count in the percentiles.
        let qoo = round_trips
            .as_ref()
            .filter(|_| is_game)
            .and_then(|trips| score(&GAMES, trips, 0.0).ok());
        StreamsSummary {
            up: of.up.map(StreamSummary::from),
            down: of.down.map(StreamSummary::from),
            round_trip_ms: round_trips.as_ref().map(LatencyMs::from),
            qoo,
        }
    }
}

impl From<&[Silences]> for GapSummary {
    fn from(runs: &[Silences]) -> Self {
        let sum = |value: fn(&Silences) -> Duration| {
            let nanos = runs.iter().map(|run| u128::from(value(run).as_nanos()));
            nanos.sum::<u128>() as f64
        };
        let (total, observed) = (sum(|run| run.total), sum(|run| run.observed));
        let longest = runs.iter().map(|run| run.longest).max().unwrap_or_default();
        GapSummary {
            count: runs.iter().map(|run| run.count).sum(),
            longest_ms: longest.as_millis_f64(),
            share: if observed > 0.0 { total / observed } else { 0.0 },
        }
    }
}

impl From<FrameEvidence> for FrameSummary {
    fn from(of: FrameEvidence) -> Self {
        let counts = of.counts;
        let share = |part: u64| (counts.frames > 0).then(|| part as f64 / counts.frames as f64);
        FrameSummary {
            frames: counts.frames,
            delay_ms: LatencyMs::from(&Distribution::from_samples(of.delays, counts.incomplete)),
            late_share: share(counts.late),
            incomplete_share: share(counts.incomplete),
            missed_share: share(counts.late + counts.incomplete),
        }
    }
}

impl VideoSummary {
    /// Results of `frames` frames.
    fn new(of: &VideoEvidence, frames: u64) -> Self {
        let sum = |value: fn(&Freezes) -> Duration| {
            let nanos = of.freezes.iter().map(|run| u128::from(value(run).as_nanos()));
            nanos.sum::<u128>() as f64
        };
        let (total, observed) = (sum(|run| run.total), sum(|run| run.observed));
        let longest = of.freezes.iter().map(|run| run.longest).max().unwrap_or_default();
        VideoSummary {
            freezes: of.freezes.iter().map(|run| run.count).sum(),
            total_freezes_ms: total / 1e6,
            longest_freeze_ms: longest.as_millis_f64(),
            frozen_share: (observed > 0.0).then(|| total / observed),
            rate_mbps: (of.time > 0).then(|| of.bytes as f64 * 8e3 / of.time as f64),
            target_mbps: of.target.map_or(0.0, BitRate::as_mbps_f64),
            at_target_share: (frames > 0).then(|| of.at_target as f64 / frames as f64),
        }
    }
}

impl From<StreamEvidence> for StreamSummary {
    fn from(of: StreamEvidence) -> Self {
        let packets = of.losses.iter().map(|losses| losses.packets).sum();
        let video = of.video;
        StreamSummary {
            delivery: DeliverySummary::new(&of.losses, of.delays, &of.jitter_ms),
            gaps: (!of.gaps.is_empty()).then(|| GapSummary::from(&of.gaps[..])),
            frames: of.frames.map(FrameSummary::from),
            video: video.map(|video| VideoSummary::new(&video, packets)),
        }
    }
}
