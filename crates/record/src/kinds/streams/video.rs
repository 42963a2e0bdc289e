//! Frames of one direction of a video call.

use netburn_quality::{Freezes, Packet, freezes};
use netburn_units::{BitRate, Duration};
use netburn_workload::{Config, PacketStream};
use serde::{Deserialize, Serialize};

/// Video of one direction of a video call. `delay_ms` of the direction is the frame delay: the time from the due time
/// of a frame to the arrival of its last packet. `lost_share` is the share of the frames that were never complete.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct VideoSummary {
    /// Number of freezes, as `freezeCount` of WebRTC's statistics.
    pub freezes: u64,
    /// Total duration of the freezes, as `totalFreezesDuration`.
    pub total_freezes_ms: f64,
    /// Duration of the longest freeze; 0 without one.
    pub longest_freeze_ms: f64,
    /// Share of the observed time in freezes; `null` if no time was observed.
    pub frozen_share: Option<f64>,
    /// Mean rate of the complete frames (UDP payload); `null` without frames.
    pub rate_mbps: Option<f64>,
    /// Target rate.
    pub target_mbps: f64,
    /// Share of the frames that were encoded at the target rate and became complete; `null` without frames.
    pub at_target_share: Option<f64>,
}

/// Frames of one direction of a video call.
#[derive(Debug, Clone, Default)]
pub(crate) struct VideoEvidence {
    /// Freezes of each run.
    pub(crate) freezes: Vec<Freezes>,
    /// Complete frames that were encoded at the target rate.
    pub(crate) at_target: u64,
    /// Bytes of the complete frames.
    pub(crate) bytes: u128,
    /// Number of frames times their interval, in ns.
    pub(crate) time: u128,
    /// Target rate.
    pub(crate) target: Option<BitRate>,
}

impl VideoEvidence {
    pub(super) fn add(&mut self, other: VideoEvidence) {
        self.freezes.extend(other.freezes);
        self.at_target += other.at_target;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time = self.time.saturating_add(other.time);
    }
}

/// A frame: its number, its due time and delay, and its bytes if it is complete.
pub(super) type Frame = (u64, Packet, u64);

/// Evidence of a direction whose frames at the target rate are `stream`.
pub(super) fn evidence(frames: &[Frame], config: &Config, stream: PacketStream) -> VideoEvidence {
    let target = stream.burst_size().as_bytes();
    let complete = || frames.iter().filter(|(_, packet, _)| packet.delay.is_some());
    let packets: Vec<Packet> = frames.iter().map(|(_, packet, _)| *packet).collect();
    VideoEvidence {
        freezes: vec![freezes(&packets, stream.interval, config.timeout)],
        at_target: complete().filter(|(.., bytes)| *bytes >= target).count() as u64,
        bytes: complete().map(|(.., bytes)| u128::from(*bytes)).sum(),
        time: u128::from(stream.interval.as_nanos()) * frames.len() as u128,
        target: Some(stream.rate()),
    }
}

impl VideoSummary {
    /// Results of `frames` frames.
    pub(super) fn new(of: &VideoEvidence, frames: u64) -> Self {
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
