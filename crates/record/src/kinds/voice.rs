//! Quality of calls, for `voice`.

use super::delivery::DeliverySummary;
use super::packets::{Packets, worse};
use super::{End, KindCounter, Shared};
use crate::aggregate::{Counted, LoadDirection};
use crate::quantity::{Metric, Unit};
use netburn_quality::{Codec, LossRuns, Packet, StreamQuality, mos};
use netburn_stats::bootstrap::mean;
use netburn_stats::metric_change::{Better, Tolerance};
use netburn_units::Duration;
use netburn_workload::kinds::packets::Rating;
use netburn_workload::verdict::quality_windows;
use netburn_workload::{Config, Tally};
use serde::{Deserialize, Serialize};

/// Results of a call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct VoiceSummary {
    /// Codec for which R and MOS are computed.
    pub codec: String,
    /// From the station to the server.
    pub up: VoiceStreamSummary,
    /// From the server to the station.
    pub down: VoiceStreamSummary,
}

/// One direction of a call. With `--repeat`, `rating`, `buffer_ms`, `late_share`, `mos_flent`,
/// `jitter_ms` and `burst_ratio` are means of the runs, and the other values are those of all runs
/// together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct VoiceStreamSummary {
    /// Packets of this direction.
    #[serde(flatten)]
    pub delivery: DeliverySummary,
    /// Rating R of the E-model (ITU-T G.107) with the best fixed playout buffer; `null` if no packet
    /// arrived.
    pub rating: Option<f64>,
    /// Mean opinion score of this rating.
    pub mos: Option<f64>,
    /// That buffer: time from the due time of a packet to its playout.
    pub buffer_ms: Option<f64>,
    /// Share of the packets that arrived after this time.
    pub late_share: Option<f64>,
    /// Burst ratio of the lost and late packets; 1 for random loss.
    pub burst_ratio: Option<f64>,
    /// Mean opinion score by flent's formula, without a playout buffer.
    pub mos_flent: Option<f64>,
    /// Windows of 200 ms in which at least 10 % of the packets were lost or late.
    pub gaps: u64,
    /// Their share of all windows.
    pub gap_share: Option<f64>,
}

/// Metrics of one direction, and the same of the other one.
macro_rules! both_directions {
    ($($stream:ident $word:literal),+) => {
        &[$(
            Metric::new(concat!("rating_", $word), Unit::Points, |of: &VoiceSummary| Some(of.$stream.rating))
                .at(concat!("voice.", $word, ".rating"))
                .gauge_of(
                    $word,
                    "netburn_voice_rating",
                    "Rating R (ITU-T G.107) of a direction of a call, with the best fixed playout buffer.",
                )
                .compared(concat!("R ", $word), "rating R of a call, per direction", Better::Higher, Tolerance::RATING),
            Metric::new(concat!("playout_", $word, "_ms"), Unit::Ms, |of: &VoiceSummary| {
                Some(of.$stream.buffer_ms)
            })
                .at(concat!("voice.", $word, ".buffer_ms"))
                .gauge_of(
                    $word,
                    "netburn_voice_playout_seconds",
                    "That buffer: time from the due time of a packet to its playout.",
                ),
            Metric::new(concat!("lost_", $word, "_share"), Unit::Share, |of: &VoiceSummary| {
                Some(of.$stream.delivery.lost_share)
            })
                .at(concat!("voice.", $word, ".lost_share"))
                .gauge_of($word, "netburn_voice_lost_ratio", "Share of lost packets of a direction of a call.")
                .compared(
                    concat!("lost ", $word, " %"),
                    "share of the packets of a call that were lost, per direction",
                    Better::Lower,
                    Tolerance::LOSS,
                ),
            Metric::new(concat!("jitter_", $word, "_ms"), Unit::Ms, |of: &VoiceSummary| {
                Some(of.$stream.delivery.jitter_ms)
            })
                .at(concat!("voice.", $word, ".jitter_ms"))
                .gauge_of($word, "netburn_voice_jitter_seconds", "Jitter (RFC 3550) of a direction of a call."),
            Metric::new(concat!("delay_", $word, "_p50_ms"), Unit::Ms, |of: &VoiceSummary| {
                Some(of.$stream.delivery.delay_ms.and_then(|delay| delay.p50))
            })
                .at(concat!("voice.", $word, ".delay_ms.p50")),
            Metric::new(concat!("delay_", $word, "_p95_ms"), Unit::Ms, |of: &VoiceSummary| {
                Some(of.$stream.delivery.delay_ms.and_then(|delay| delay.p95))
            })
                .at(concat!("voice.", $word, ".delay_ms.p95")),
        )+]
    };
}

pub(super) static METRICS: &[Metric<VoiceSummary>] = both_directions!(up "up", down "down");

/// Both directions of the calls of a workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct Voice {
    /// Packets of one run.
    packets: Packets,
    up: VoiceStreamEvidence,
    down: VoiceStreamEvidence,
}

/// One direction of the calls of a workload.
#[derive(Debug, Clone, Default)]
struct VoiceStreamEvidence {
    /// One-way delays in ns.
    delays: Vec<u64>,
    /// Quality of the call of each run.
    calls: Vec<StreamQuality>,
}

impl VoiceStreamEvidence {
    fn add(&mut self, other: VoiceStreamEvidence) {
        self.delays.extend(other.delays);
        self.calls.extend(other.calls);
    }
}

impl KindCounter for Voice {
    type Summary = VoiceSummary;

    fn new(config: &Config, _tls: bool) -> Option<Self> {
        (config.rating() == Some(Rating::Voice)).then(Voice::default)
    }

    fn operation(&mut self, _config: &Config, counted: &Counted<'_>, _load: Option<LoadDirection>) {
        self.packets.put(counted.operation, counted.latency);
    }

    fn finish(&mut self, of: &End<'_>, goals: &mut [Tally]) {
        let packetisation = of.config.interval().unwrap_or_default();
        let stream = |packets: Vec<(u64, Packet)>| {
            let packets: Vec<Packet> = packets.into_iter().map(|(_, packet)| packet).collect();
            let tallies = of.config.goals.iter().map(|goal| match of.judged.first() {
                Some(part) => quality_windows(&packets, packetisation, *goal, part.from, part.to),
                None => Tally::default(),
            });
            let tallies: Vec<Tally> = tallies.collect();
            let delays = packets.iter().filter_map(|packet| packet.delay);
            let evidence = VoiceStreamEvidence {
                delays: delays.map(Duration::as_nanos).collect(),
                calls: vec![StreamQuality::from_packets(
                    &packets,
                    packetisation,
                    &Codec::G711_CONCEALED,
                )],
            };
            (evidence, tallies)
        };
        let [(up, up_tallies), (down, down_tallies)] = std::mem::take(&mut self.packets).sorted().map(stream);
        let of_goals = goals.iter_mut().zip(&of.config.goals);
        for ((tally, goal), (up, down)) in of_goals.zip(up_tallies.into_iter().zip(down_tallies)) {
            *tally = worse(*goal, up, down);
        }
        (self.up, self.down) = (up, down);
    }

    fn add(&mut self, other: Self) {
        self.up.add(other.up);
        self.down.add(other.down);
    }

    fn summarise(self, _of: &Shared<'_>) -> VoiceSummary {
        VoiceSummary {
            codec: Codec::G711_CONCEALED.name.to_owned(),
            up: self.up.into(),
            down: self.down.into(),
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
