//! Keys of streams of datagrams: `voice`, `datagrams`, `game` and `cloud-gaming`.

use super::{KindKeys, KindSection, check_size, check_time, exclude, json};
use crate::decode::{Context, Section, Spanned};
use crate::keys::Keys;
use crate::plan::WorkloadSection;
use crate::streams::StreamSection;
use netburn_units::{BitRate, Duration};
use netburn_workload::config::{CLOUD_GAMING_RATE, PACKET_SIZES, VOICE_INTERVALS};
use netburn_workload::kinds::Packets;
use netburn_workload::kinds::packets::Rating;
use netburn_workload::{Direction, PacketStream, Streams};

impl KindKeys for Packets {
    fn keys(&self) -> &'static [&'static str] {
        match self.rating {
            Rating::Voice => &["object_size", "interval"],
            Rating::Loss | Rating::Game | Rating::CloudGaming => &["up", "down"],
        }
    }

    /// The keys of a call apply to both directions. Those of other streams depend on each other.
    fn apply(&mut self, section: &WorkloadSection) {
        if let (Rating::Voice, Some(stream)) = (self.rating, self.streams.up) {
            let interval = section.interval.as_ref().map_or(stream.interval, |every| every.0);
            let size = section.object_size.as_ref().map_or(stream.size, |size| size.0);
            *self = Packets::voice(interval, size);
        }
    }

    fn encode(&self) -> Keys {
        let (section, Streams { up, down }) = (WorkloadSection::default(), self.streams);
        match self.rating {
            Rating::Voice => {
                let (interval, size) = (up.map(|stream| stream.interval), up.map(|stream| stream.size));
                Keys::default()
                    .with("object_size", json(&size, section.object_size.as_ref()))
                    .with("interval", json(&interval, section.interval.as_ref()))
            }
            Rating::Loss | Rating::Game | Rating::CloudGaming => Keys::default()
                .with("up", json(&up, section.up.as_ref()))
                .with("down", json(&down, section.down.as_ref())),
        }
    }
}

impl KindSection for Packets {
    fn resolve(&mut self, section: &WorkloadSection, cx: &mut Context) {
        self.apply(section);
        if self.rating == Rating::Voice {
            check_size(section, &PACKET_SIZES, "a call", cx);
            check_time(section.interval.as_ref(), &VOICE_INTERVALS, "a call", cx);
        } else {
            self.streams = Streams {
                up: stream(self, Direction::Up, section, cx),
                down: stream(self, Direction::Down, section, cx),
            };
        }
    }
}

/// The stream of a direction from its keys and the default. A workload of kind `datagrams` with one of the keys `up` and
/// `down` has only this direction.
fn stream(
    packets: &Packets,
    direction: Direction,
    section: &WorkloadSection,
    cx: &mut Context,
) -> Option<PacketStream> {
    let key = match direction {
        Direction::Up => &section.up,
        Direction::Down => &section.down,
    };
    let default = packets.streams.get(direction);
    match (key, packets.rating) {
        (Some(key), Rating::CloudGaming) if direction == Direction::Down => {
            Some(frames_with_keys(default?, key, fixed_stream, cx))
        }
        (Some(key), rating) => {
            let rate = (rating == Rating::Loss).then_some(BitRate::from_mbps(1));
            Some(with_keys(default?, key, rate, cx))
        }
        (None, Rating::Loss) if section.up.is_some() || section.down.is_some() => None,
        (None, _) => default,
    }
}

/// Frames of a fixed size, by default at the rate of the built-in workload.
fn fixed_stream(stream: &PacketStream, rate: Option<BitRate>) -> PacketStream {
    PacketStream::frames(stream.interval, rate.unwrap_or(CLOUD_GAMING_RATE), stream.size)
}

/// The frames with the keys of a section. `rate` sets the packets of a frame, by `with_rate`.
pub(super) fn frames_with_keys(
    mut stream: PacketStream,
    section: &Spanned<StreamSection>,
    with_rate: fn(&PacketStream, Option<BitRate>) -> PacketStream,
    cx: &mut Context,
) -> PacketStream {
    section.value.apply(&mut stream);
    if let (Some(rate), Some(_)) = (&section.rate, &section.burst) {
        let message = "`rate` and `burst` exclude each other for frames";
        cx.problem_at(rate, message, "remove one of them".to_owned());
        return stream;
    }
    let paced = match section.burst {
        Some(_) => stream.paced(),
        None => with_rate(&stream, section.rate.as_ref().map(|rate| rate.0)),
    };
    let spacing = section.spacing.as_ref().map_or(paced.spacing, |spacing| spacing.0);
    let stream = PacketStream { spacing, ..paced };
    check(&stream, section, cx);
    stream
}

/// The stream with the keys of a section.
fn with_keys(
    mut stream: PacketStream,
    section: &Spanned<StreamSection>,
    default: Option<BitRate>,
    cx: &mut Context,
) -> PacketStream {
    section.value.apply(&mut stream);
    match (&section.rate, &section.interval) {
        (Some(rate), Some(_)) => {
            exclude(rate, cx);
            return stream;
        }
        (_, Some(_)) => {}
        (rate, None) => {
            if let Some(rate) = rate.as_ref().map(|rate| rate.0).or(default) {
                stream.interval = rate
                    .time_for(stream.burst_size())
                    .unwrap_or(Duration::from_nanos(u64::MAX));
            }
        }
    }
    check(&stream, section, cx);
    stream
}

/// Reports an invalid value at the key that causes it.
fn check(stream: &PacketStream, section: &Spanned<StreamSection>, cx: &mut Context) {
    if let Err((key, problem)) = stream.validate() {
        let message = format!("invalid `{key}`: {problem}");
        let by_rate = section.rate.as_ref().filter(|_| key == "interval");
        match (by_rate, key) {
            (Some(rate), _) => {
                let help = "use another `rate`, or another `burst` or `size`".to_owned();
                cx.problem_at(rate, format!("{message} (from `rate`)"), help);
            }
            (None, "interval") if section.interval.is_some() => at(section.interval.as_ref(), message, cx),
            (None, "spacing") if section.spacing.is_some() => at(section.spacing.as_ref(), message, cx),
            (None, "size") if section.size.is_some() => at(section.size.as_ref(), message, cx),
            (None, "burst") if section.burst.is_some() => at(section.burst.as_ref(), message, cx),
            (None, _) => cx.problem_at(section, message, None),
        }
    }
}

fn at<T>(key: Option<&Spanned<T>>, message: String, cx: &mut Context) {
    if let Some(key) = key {
        cx.problem_at(key, message, None);
    }
}
