//! Resolution of the streams of datagrams.

use crate::decode::{Context, Section, Spanned};
use crate::sections::WorkloadSection;
use crate::streams::StreamSection;
use netburn_units::{BitRate, Duration};
use netburn_workload::config::{CLOUD_GAMING_RATE, VIDEO_CALL_PACKET, VIDEO_CALL_RATE};
use netburn_workload::{Adaptation, Config, Direction, Kind, PacketStream, Streams};

/// Rate of a stream without `rate` and `interval`; `None` for kinds with a default interval.
fn default_rate(kind: Kind) -> Option<BitRate> {
    (kind == Kind::Datagrams).then_some(BitRate::from_mbps(1))
}

/// Sets the streams of a workload from its keys and the defaults of its kind. A workload of kind `datagrams` with one of the keys `up` and `down` has only
/// this direction.
pub(super) fn resolve(config: &mut Config, section: &WorkloadSection, defaults: &Streams, cx: &mut Context) {
    let kind = config.kind;
    if !kind.has_streams() {
        config.datagrams = Streams::default();
        return;
    }
    let is_named = kind == Kind::Datagrams && (section.up.is_some() || section.down.is_some());
    let mut stream = |direction, section: &Option<Spanned<StreamSection>>| match section {
        Some(section) if kind.is_adaptive() => {
            let mut stream = defaults.get(direction)?;
            stream.size = VIDEO_CALL_PACKET;
            Some(frames_with_keys(stream, section, adaptive_stream, cx))
        }
        Some(section) if kind.has_frames() && direction == Direction::Down => {
            Some(frames_with_keys(defaults.get(direction)?, section, fixed_stream, cx))
        }
        Some(section) => Some(with_keys(defaults.get(direction)?, section, default_rate(kind), cx)),
        None if is_named => None,
        None => defaults.get(direction),
    };
    config.datagrams = Streams {
        up: stream(Direction::Up, &section.up),
        down: stream(Direction::Down, &section.down),
    };
    if let Some(adaptation) = config.adaptation.filter(|_| config.kind.is_adaptive()) {
        check_adaptation(&adaptation, &config.datagrams, section, cx);
    }
}

/// Reports invalid rates of the senders of a video call at the key that causes them.
fn check_adaptation(adaptation: &Adaptation, streams: &Streams, section: &WorkloadSection, cx: &mut Context) {
    for (direction, stream) in streams.all() {
        let Err((key, problem)) = adaptation.validate(&stream) else {
            continue;
        };
        let message = format!("invalid `{key}`: {problem}");
        let of_stream = match direction {
            Direction::Up => section.up.as_ref(),
            Direction::Down => section.down.as_ref(),
        };
        match (&section.adaptation, of_stream) {
            (Some(adaptation), _) if matches!(key, "min_rate" | "start_rate") => {
                let value = &adaptation.value;
                let rate = if key == "min_rate" {
                    &value.min_rate
                } else {
                    &value.start_rate
                };
                match rate {
                    Some(rate) => cx.problem_at(rate, message, None),
                    None => cx.problem_at(adaptation, message, None),
                }
            }
            (_, Some(stream)) => cx.problem_at(stream, message, None),
            (_, None) => {}
        }
        return;
    }
}

/// Frames of a video call at their target rate, by default that of the built-in workload.
fn adaptive_stream(stream: &PacketStream, rate: Option<BitRate>) -> PacketStream {
    let rate = rate.unwrap_or(VIDEO_CALL_RATE);
    PacketStream::adaptive(stream.interval, rate, stream.size)
}

/// Frames of a fixed size, by default at the rate of the built-in workload.
fn fixed_stream(stream: &PacketStream, rate: Option<BitRate>) -> PacketStream {
    PacketStream::frames(stream.interval, rate.unwrap_or(CLOUD_GAMING_RATE), stream.size)
}

/// The frames with the keys of a section. `rate` sets the packets of a frame, by `with_rate`.
fn frames_with_keys(
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
            cx.problem_at(
                rate,
                "`rate` and `interval` exclude each other",
                "remove one of them".to_owned(),
            );
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
