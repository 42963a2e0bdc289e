//! Results of a call from the evidence of its streams.

use super::document::{LatencyMs, VoiceStreamSummary, VoiceSummary};
use super::evidence::{VoiceEvidence, VoiceStreamEvidence};
use netburn_quality::{Codec, StreamQuality, mos};
use netburn_stats::Distribution;
use netburn_stats::bootstrap::mean;

impl From<VoiceEvidence> for VoiceSummary {
    fn from(of: VoiceEvidence) -> Self {
        VoiceSummary {
            codec: Codec::G711_CONCEALED.name.to_owned(),
            up: of.up.into(),
            down: of.down.into(),
        }
    }
}

impl From<VoiceStreamEvidence> for VoiceStreamSummary {
    fn from(of: VoiceStreamEvidence) -> Self {
        let calls = &of.calls;
        let sum = |value: fn(&StreamQuality) -> u64| calls.iter().map(value).sum::<u64>();
        let mean_of = |value: fn(&StreamQuality) -> Option<f64>| {
            let known: Vec<f64> = calls.iter().filter_map(value).collect();
            (!known.is_empty()).then(|| mean(&known))
        };
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let (packets, lost) = (sum(|call| call.loss.packets), sum(|call| call.loss.lost));
        let (gaps, windows) = (sum(|call| call.gaps.gaps), sum(|call| call.gaps.windows));
        let rating = mean_of(|call| call.playout.map(|playout| playout.rating));
        VoiceStreamSummary {
            packets,
            delay_ms: (packets > 0).then(|| LatencyMs::from(&Distribution::from_samples(of.delays, lost))),
            lost_share: share(lost, packets),
            longest_loss_packets: calls.iter().map(|call| call.loss.longest).max().unwrap_or(0),
            mean_loss_packets: share(lost, sum(|call| call.loss.runs)),
            jitter_ms: mean_of(|call| call.jitter.map(|jitter| jitter.mean_ms)),
            rating,
            mos: rating.map(mos),
            buffer_ms: mean_of(|call| call.playout.map(|playout| playout.delay.as_millis_f64())),
            late_share: mean_of(|call| {
                let playout = call.playout?;
                Some(playout.late as f64 / playout.packets as f64)
            }),
            burst_ratio: mean_of(|call| call.playout.map(|playout| playout.burst_ratio)),
            mos_flent: mean_of(|call| call.flent_rating.map(mos)),
            gaps,
            gap_share: share(gaps, windows),
        }
    }
}
