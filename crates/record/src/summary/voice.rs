//! Results of a call from the evidence of its streams.

use super::document::{DeliverySummary, VoiceStreamSummary, VoiceSummary};
use super::evidence::{VoiceEvidence, VoiceStreamEvidence};
use netburn_quality::{Codec, LossRuns, StreamQuality, mos};
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
        let losses: Vec<LossRuns> = calls.iter().map(|call| call.loss).collect();
        let jitter_ms = calls.iter().filter_map(|call| Some(call.jitter?.mean_ms));
        let jitter_ms: Vec<f64> = jitter_ms.collect();
        let (gaps, windows) = (sum(|call| call.gaps.gaps), sum(|call| call.gaps.windows));
        let rating = mean_of(|call| call.playout.map(|playout| playout.rating));
        VoiceStreamSummary {
            delivery: DeliverySummary::new(&losses, of.delays, &jitter_ms),
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
            gap_share: (windows > 0).then(|| gaps as f64 / windows as f64),
        }
    }
}
