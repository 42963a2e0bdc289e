//! Results of streams of datagrams from their evidence.

use super::document::{FrameSummary, GapSummary, LatencyMs, StreamSummary, StreamsSummary};
use super::evidence::{FrameEvidence, StreamEvidence, StreamsEvidence};
use netburn_quality::Silences;
use netburn_stats::Distribution;
use netburn_stats::bootstrap::mean;

impl From<StreamsEvidence> for StreamsSummary {
    fn from(of: StreamsEvidence) -> Self {
        // Only a game has gaps.
        let is_game = [&of.up, &of.down]
            .into_iter()
            .flatten()
            .any(|stream| !stream.gaps.is_empty());
        let round_trip_ms = of
            .round_trips
            .map(|trips| LatencyMs::from(&Distribution::from_samples(trips.times, trips.lost)));
        StreamsSummary {
            up: of.up.map(StreamSummary::from),
            down: of.down.map(StreamSummary::from),
            qoo: round_trip_ms.as_ref().filter(|_| is_game).and_then(quality_of_outcome),
            round_trip_ms,
        }
    }
}

/// Round trips of a game in ms: percentile, its value without a loss of quality, and that with none left. The values are those
/// of goresponsiveness (qualityattenuation.go).
fn requirements(of: &LatencyMs) -> [(Option<f64>, f64, f64); 3] {
    [(of.p50, 30.0, 150.0), (of.p95, 65.0, 200.0), (of.p99, 100.0, 250.0)]
}

/// Quality of outcome: the least of the percentiles' qualities. A percentile among the lost packets has none.
fn quality_of_outcome(of: &LatencyMs) -> Option<f64> {
    const SAMPLES_OF_P99: u64 = 300;
    if of.count < SAMPLES_OF_P99 {
        return None;
    }
    let qualities = requirements(of).map(|(found, best, worst)| match found {
        Some(found) => (1.0 - (found - best) / (worst - best)).clamp(0.0, 1.0),
        None => 0.0,
    });
    Some(100.0 * qualities.into_iter().fold(1.0, f64::min))
}

impl From<&[Silences]> for GapSummary {
    fn from(runs: &[Silences]) -> Self {
        let sum = |value: fn(&Silences) -> netburn_units::Duration| {
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

impl From<StreamEvidence> for StreamSummary {
    fn from(of: StreamEvidence) -> Self {
        let sum = |value: fn(&netburn_quality::LossRuns) -> u64| of.losses.iter().map(value).sum::<u64>();
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let (packets, lost) = (sum(|runs| runs.packets), sum(|runs| runs.lost));
        StreamSummary {
            packets,
            gaps: (!of.gaps.is_empty()).then(|| GapSummary::from(&of.gaps[..])),
            frames: of.frames.map(FrameSummary::from),
            lost_share: share(lost, packets),
            longest_loss_packets: of.losses.iter().map(|runs| runs.longest).max().unwrap_or(0),
            mean_loss_packets: share(lost, sum(|runs| runs.runs)),
            jitter_ms: (!of.jitter_ms.is_empty()).then(|| mean(&of.jitter_ms)),
            delay_ms: (packets > 0).then(|| LatencyMs::from(&Distribution::from_samples(of.delays, lost))),
        }
    }
}
