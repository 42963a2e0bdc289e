//! A video call: frames in both directions. Both senders adapt their rate by GCC ([`video`]).
//!
//! An operation is one frame: it ends when the last packet of the frame arrives, and its latency is the frame delay.
//! Numbers are those of [`packets`](super::packets).

mod adaptation;
pub mod gcc;
pub mod video;

pub use adaptation::{Adaptation, MAX_TARGET_RATE, MIN_FRAME_SIZE, MIN_MEDIA_PACKET};

use super::kind::Kind;
use super::packets::PacketSchedule;
use super::{Pattern, text};
use crate::common::{ConfigError, Goal, PacketStream, Streams, Volume, wrong};
use crate::direction::Direction;
use crate::schedule::Schedule;
use netburn_units::{BitRate, ByteSize, Duration, Instant, Seed};

/// Default target rate of each direction: the customary limit of WebRTC for 720p30.
pub const VIDEO_CALL_RATE: BitRate = BitRate::from_bps(2_500_000);

/// Default maximum of the UDP payload of the packets.
pub const VIDEO_CALL_PACKET: ByteSize = ByteSize::from_bytes(1200);

/// `video-call`: 30 frames per second in each direction, up to 2.5 Mbit/s in packets of at most 1200 B. A frame at this rate
/// has 9 packets of 1158 B. Both senders start at 1.2 Mbit/s. Goals: no freeze, and a frame delay of 150 ms, as ITU-T G.114
/// recommends for speech. A frame that is not complete within 2 s is lost.
pub const VIDEO_CALL: Kind = Kind {
    label: "Video call",
    default_goals: &[
        Goal::NoFreeze,
        Goal::Latency {
            limit: Duration::from_millis(150),
        },
    ],
    latency_noun: "frame delay",
    supports: |goal| matches!(goal, Goal::NoFreeze | Goal::Latency { .. } | Goal::Loss { .. }),
    ..Kind::streams("video-call", || VideoCall::default().into())
};

/// Settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VideoCall {
    /// Frames of both directions at their target rate: a burst is a frame.
    pub streams: Streams,
    /// Range of the rate of both senders.
    pub adaptation: Adaptation,
}

impl Default for VideoCall {
    fn default() -> Self {
        let frame = Duration::from_nanos(33_333_333);
        let frames = PacketStream::adaptive(frame, VIDEO_CALL_RATE, VIDEO_CALL_PACKET);
        VideoCall {
            streams: Streams::both(frames),
            adaptation: Adaptation::default(),
        }
    }
}

impl Pattern for VideoCall {
    fn kind(&self) -> &'static Kind {
        &VIDEO_CALL
    }

    /// `up a frame every 33.3 ms at 100 kbit/s to 2.50 Mbit/s, down …, starting at 1.2 Mbit/s`
    fn describe(&self) -> String {
        let Adaptation { min_rate, start_rate } = self.adaptation;
        let streams = text::streams(&self.streams, |stream| {
            let (every, most) = (text::rounded(stream.interval), stream.rate().as_mbps_f64());
            format!("a frame every {every} at {min_rate} to {most:.2} Mbit/s")
        });
        format!("{streams}, starting at {start_rate}")
    }

    fn validate_settings(&self) -> Result<(), ConfigError> {
        self.streams.validate(VIDEO_CALL.name, 2)?;
        for (direction, stream) in self.streams.all() {
            let Err((key, problem)) = self.adaptation.validate(&stream) else {
                continue;
            };
            let of = match key {
                "rate" | "size" => direction.key(),
                _ => "adaptation",
            };
            return wrong(of, format!("has an invalid `{key}`: {problem}"));
        }
        Ok(())
    }

    fn schedule(&self, start: Instant, seed: Seed, index: u64) -> Box<dyn Schedule> {
        Box::new(PacketSchedule::new(self.packet_streams(), start, seed, index))
    }

    fn operation_size(&self) -> Option<ByteSize> {
        self.packet_streams().all().map(|(_, stream)| stream.size).max()
    }

    fn volume(&self, direction: Direction, span: Duration) -> Volume {
        self.streams.volume(direction, span)
    }

    fn max_in_flight(&self) -> u32 {
        1000
    }

    fn packet_streams(&self) -> Streams {
        self.streams.map(|stream| stream.as_frames())
    }

    fn video(&self) -> Option<&VideoCall> {
        Some(self)
    }
}
