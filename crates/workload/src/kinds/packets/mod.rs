//! Streams of datagrams that are not answered: two independent streams, station to server and server to station, each with
//! a phase of its own. An operation is one packet; its latency is the one-way delay.
//!
//! Packets are numbered alternately: even numbers go up, odd numbers go down
//! ([`Direction::of_packet`]). Four kinds differ in their [`Rating`].

mod schedule;

pub(super) use schedule::PacketSchedule;

use super::kind::Kind;
use super::{Pattern, text};
use crate::common::{
    ConfigError, Goal, MAX_PACKET_SIZE, MIN_PACKET_SIZE, PacketStream, Priority, Streams, Volume, wrong,
};
use crate::direction::Direction;
use crate::schedule::Schedule;
use netburn_units::{BitRate, ByteSize, Duration, Instant, Probability, Seed};
use std::ops::RangeInclusive;

/// Times between the packets of one direction of a call.
pub const VOICE_INTERVALS: RangeInclusive<Duration> = Duration::from_millis(5)..=Duration::from_millis(200);

/// Sizes of the UDP payload.
pub const PACKET_SIZES: RangeInclusive<ByteSize> =
    ByteSize::from_bytes(MIN_PACKET_SIZE)..=ByteSize::from_bytes(MAX_PACKET_SIZE);

/// Rate of the frames of `cloud-gaming`.
pub const CLOUD_GAMING_RATE: BitRate = BitRate::from_mbps(25);

const ONE_PERCENT: Probability = match Probability::from_ppb(10_000_000) {
    Some(share) => share,
    None => Probability::ZERO,
};

/// `voice`: in each direction a packet of 172 B every 20 ms (G.711: 160 B of speech and 12 B
/// of RTP header, RFC 3551), in the traffic class of voice. Goal: a rating R of 80 ("satisfied"
/// in G.107 annex B) in windows of 10 s. A packet that does not arrive within 2 s is lost.
pub const VOICE: Kind = Kind {
    label: "Voice",
    default_priority: Priority::Voice,
    default_goals: &[Goal::Quality {
        at_least: 80,
        window: Duration::from_secs(10),
        step: Duration::from_secs(1),
    }],
    has_stream_keys: false,
    supports: |goal| matches!(goal, Goal::Quality { .. }),
    ..Kind::streams("voice", || {
        Packets::voice(Duration::from_millis(20), ByteSize::from_bytes(172)).into()
    })
};

/// `datagrams`: in each direction 1 Mbit/s in packets of 1200 B, one every 9.6 ms. Goal: in windows
/// of 10 s at most 1 % is lost. A packet that does not arrive within 2 s is lost.
pub const DATAGRAMS: Kind = Kind {
    label: "Datagrams",
    default_goals: &[Goal::Loss {
        at_most: ONE_PERCENT,
        window: Duration::from_secs(10),
        step: Duration::from_secs(1),
    }],
    ..Kind::streams("datagrams", || Packets::default().into())
};

/// `game`: an online game with 64 ticks per second, as competitive shooters have: a packet of 100 B up and one
/// of 250 B down every 15.625 ms. Goals: a round trip of 100 ms, and no gap of 100 ms.
pub const GAME: Kind = Kind {
    label: "Game",
    default_goals: &[
        Goal::Latency {
            limit: Duration::from_millis(100),
        },
        Goal::NoGap,
    ],
    has_round_trips: true,
    latency_noun: "round trip",
    supports: |goal| matches!(goal, Goal::NoGap | Goal::Latency { .. } | Goal::Loss { .. }),
    ..Kind::streams("game", || {
        let tick = Duration::from_micros(15_625);
        let stream = |bytes| Some(PacketStream::single(tick, ByteSize::from_bytes(bytes)));
        let (up, down) = (stream(100), stream(250));
        Packets::new(Rating::Game, Streams { up, down }).into()
    })
};

/// `cloud-gaming`: 60 frames per second of 43 packets of 1200 B down, which are 24.8 Mbit/s, and an input
/// of 64 B up every 8 ms. Services ask for 25 Mbit/s for 1080p60. Goals: frames on time, and a round
/// trip of 80 ms.
pub const CLOUD_GAMING: Kind = Kind {
    label: "Cloud gaming",
    default_goals: &[
        Goal::Frames,
        Goal::Latency {
            limit: Duration::from_millis(80),
        },
    ],
    has_round_trips: true,
    latency_noun: "round trip",
    supports: |goal| matches!(goal, Goal::Frames | Goal::Latency { .. } | Goal::Loss { .. }),
    ..Kind::streams("cloud-gaming", || {
        let (frame, size) = (Duration::from_nanos(16_666_667), ByteSize::from_bytes(1200));
        let up = PacketStream::single(Duration::from_millis(8), ByteSize::from_bytes(64));
        let streams = Streams {
            up: Some(up),
            down: Some(PacketStream::frames(frame, CLOUD_GAMING_RATE, size)),
        };
        Packets::new(Rating::CloudGaming, streams).into()
    })
};

/// Settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packets {
    /// Packets of each direction. Those of [`Rating::Voice`] are the same in both, and single.
    pub streams: Streams,
    /// Use of the packets.
    pub rating: Rating,
}

/// Use of the packets: determines the goals, and what the summary has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rating {
    /// A call: the quality of the speech.
    Voice,
    /// Any packets: their delays and losses.
    Loss,
    /// An online game, with inputs up and updates down: round trips and gaps.
    Game,
    /// Cloud gaming, with inputs up and the frames of a video down: round trips and frames.
    CloudGaming,
}

impl Packets {
    /// Streams with a rating.
    #[must_use]
    pub const fn new(rating: Rating, streams: Streams) -> Self {
        Packets { streams, rating }
    }

    /// A call with a packet of `size` in each interval.
    #[must_use]
    pub const fn voice(interval: Duration, size: ByteSize) -> Self {
        Packets::new(Rating::Voice, Streams::both(PacketStream::single(interval, size)))
    }
}

/// Those of `datagrams`.
impl Default for Packets {
    fn default() -> Self {
        let stream = PacketStream::single(Duration::from_micros(9_600), ByteSize::from_bytes(1200));
        Packets::new(Rating::Loss, Streams::both(stream))
    }
}

impl Pattern for Packets {
    fn kind(&self) -> &'static Kind {
        match self.rating {
            Rating::Voice => &VOICE,
            Rating::Loss => &DATAGRAMS,
            Rating::Game => &GAME,
            Rating::CloudGaming => &CLOUD_GAMING,
        }
    }

    fn describe(&self) -> String {
        if let (Rating::Voice, Some(stream)) = (self.rating, self.streams.up) {
            let every = text::every(stream.interval, Duration::ZERO);
            return format!("a packet of {} in each direction {every}", stream.size);
        }
        text::streams(&self.streams, |stream| {
            let packets = match stream.burst {
                1 => "a packet".to_owned(),
                burst => format!("{burst} packets"),
            };
            let every = text::rounded(stream.interval);
            format!("{packets} of {} B every {every}", stream.size.as_bytes())
        })
    }

    fn validate_settings(&self) -> Result<(), ConfigError> {
        if let (Rating::Voice, Some(stream)) = (self.rating, self.streams.up) {
            let PacketStream { interval, size, .. } = stream;
            if self.streams != Packets::voice(interval, size).streams {
                return wrong(
                    "up",
                    "and `down` differ, or have bursts; expected the same single packets",
                );
            }
            if !PACKET_SIZES.contains(&size) {
                let (least, most) = (PACKET_SIZES.start(), PACKET_SIZES.end());
                return wrong("object_size", format!("is {size}; {least} to {most}"));
            }
            if !VOICE_INTERVALS.contains(&interval) {
                let (least, most) = (VOICE_INTERVALS.start(), VOICE_INTERVALS.end());
                return wrong("interval", format!("is {interval}; {least} to {most}"));
            }
        }
        match self.rating {
            Rating::Loss => self.streams.validate(self.kind().name, 1),
            Rating::Voice | Rating::Game | Rating::CloudGaming => self.streams.validate(self.kind().name, 2),
        }
    }

    fn schedule(&self, start: Instant, seed: Seed, index: u64) -> Box<dyn Schedule> {
        Box::new(PacketSchedule::new(self.streams, start, seed, index))
    }

    fn operation_size(&self) -> Option<ByteSize> {
        self.streams.all().map(|(_, stream)| stream.size).max()
    }

    fn volume(&self, direction: Direction, span: Duration) -> Volume {
        self.streams.volume(direction, span)
    }

    fn interval(&self) -> Option<Duration> {
        match self.rating {
            Rating::Voice => self.streams.up.map(|stream| stream.interval),
            Rating::Loss | Rating::Game | Rating::CloudGaming => None,
        }
    }

    fn max_in_flight(&self) -> u32 {
        1000
    }

    fn packet_streams(&self) -> Streams {
        self.streams
    }

    fn rating(&self) -> Option<Rating> {
        Some(self.rating)
    }
}
