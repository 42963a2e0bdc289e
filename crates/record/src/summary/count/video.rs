//! Counts the frames of one direction of a video call.

use crate::summary::evidence::VideoEvidence;
use netburn_quality::{Packet, freezes};
use netburn_workload::{Config, PacketStream};

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
