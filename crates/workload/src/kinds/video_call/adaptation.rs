//! Range of the rate of a sender with congestion control.

use crate::common::{PacketStream, frame_size};
use netburn_units::{BitRate, ByteSize};

/// Maximum target rate of a video call: 20 Mbit/s. A feedback every 100 ms then covers about 200 new
/// packets of 1200 B.
pub const MAX_TARGET_RATE: BitRate = BitRate::from_mbps(20);

/// Minimum size of a frame of a video call: 64 B.
pub const MIN_FRAME_SIZE: ByteSize = ByteSize::from_bytes(64);

/// Minimum `size` of the packets of a video call, in bytes. A frame is divided into equal packets, so that a packet
/// has at least half of it.
pub const MIN_MEDIA_PACKET: u64 = 100;

/// Rates of the senders of a video call. The target rate, which is the maximum, is that of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adaptation {
    /// Minimum rate. Default 100 kbit/s.
    pub min_rate: BitRate,
    /// Rate until the first feedback. Default 1.2 Mbit/s: 720p30 of Azure Communication Services. A rate above the
    /// target is the target.
    pub start_rate: BitRate,
}

impl Default for Adaptation {
    fn default() -> Self {
        Adaptation {
            min_rate: BitRate::from_bps(100_000),
            start_rate: BitRate::from_bps(1_200_000),
        }
    }
}

impl Adaptation {
    /// Checks the rates for a stream of frames.
    ///
    /// # Errors
    /// The name of the first invalid value in scenario files, and the problem with it. `rate` is that of the stream.
    pub fn validate(&self, stream: &PacketStream) -> Result<(), (&'static str, String)> {
        let Adaptation { min_rate, start_rate } = *self;
        let target = stream.rate();
        if stream.size.as_bytes() < MIN_MEDIA_PACKET {
            let found = stream.size.as_bytes();
            return Err((
                "size",
                format!("found {found} B, expected at least {MIN_MEDIA_PACKET} B for a video call"),
            ));
        }
        if target > MAX_TARGET_RATE {
            return Err((
                "rate",
                format!("found {target}, expected at most {MAX_TARGET_RATE} for a video call"),
            ));
        }
        if start_rate < min_rate {
            return Err((
                "start_rate",
                format!("found {start_rate}, expected at least `min_rate`, which is {min_rate}"),
            ));
        }
        if target < min_rate {
            return Err((
                "min_rate",
                format!("found {min_rate}, expected at most the rate of a stream, which is {target}"),
            ));
        }
        if frame_size(min_rate, stream.interval) < MIN_FRAME_SIZE {
            let least = BitRate::mean(MIN_FRAME_SIZE, stream.interval).unwrap_or(BitRate::from_bps(u64::MAX));
            let expected = BitRate::from_bps(least.as_bps().div_ceil(1000).saturating_mul(1000));
            return Err((
                "min_rate",
                format!("found {min_rate}, expected at least {expected} for frames of {MIN_FRAME_SIZE}"),
            ));
        }
        Ok(())
    }
}
