//! Packets of one direction of a call or of a stream of datagrams.

use crate::latency_ms::LatencyMs;
use netburn_quality::LossRuns;
use netburn_stats::Distribution;
use netburn_stats::bootstrap::mean;
use serde::{Deserialize, Serialize};

/// Packets of one direction of a call or of a stream of datagrams: losses and times.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DeliverySummary {
    /// Packets sent.
    pub packets: u64,
    /// One-way delay of the packets from their due time. Lost packets rank above all others.
    pub delay_ms: Option<LatencyMs>,
    /// Share of the packets that never arrived.
    pub lost_share: Option<f64>,
    /// Longest run of consecutive packets that never arrived.
    pub longest_loss_packets: u64,
    /// Mean length of these runs; `null` without loss.
    pub mean_loss_packets: Option<f64>,
    /// Jitter of RFC 3550, mean over the packets.
    pub jitter_ms: Option<f64>,
}

impl DeliverySummary {
    /// Packets of all runs together: losses of each run, delays in ns of the packets that arrived, and the mean jitter in
    /// ms of each run that has one.
    pub(super) fn new(losses: &[LossRuns], delays: Vec<u64>, jitter_ms: &[f64]) -> Self {
        let sum = |value: fn(&LossRuns) -> u64| losses.iter().map(value).sum::<u64>();
        let (packets, lost) = (sum(|runs| runs.packets), sum(|runs| runs.lost));
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        DeliverySummary {
            packets,
            delay_ms: (packets > 0).then(|| LatencyMs::from(&Distribution::from_samples(delays, lost))),
            lost_share: share(lost, packets),
            longest_loss_packets: losses.iter().map(|runs| runs.longest).max().unwrap_or(0),
            mean_loss_packets: share(lost, sum(|runs| runs.runs)),
            jitter_ms: (!jitter_ms.is_empty()).then(|| mean(jitter_ms)),
        }
    }
}
