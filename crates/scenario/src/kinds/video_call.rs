//! Keys of `video-call`.

use super::packets::frames_with_keys;
use super::{KindKeys, KindSection, keys};
use crate::decode::Context;
use crate::plan::WorkloadSection;
use netburn_units::BitRate;
use netburn_workload::config::{VIDEO_CALL_PACKET, VIDEO_CALL_RATE};
use netburn_workload::kinds::VideoCall;
use netburn_workload::{Direction, PacketStream};

keys!(VideoCall {
    up => streams.up,
    down => streams.down,
    adaptation => adaptation,
});

impl KindSection for VideoCall {
    fn resolve(&mut self, section: &WorkloadSection, cx: &mut Context) {
        let defaults = self.streams;
        self.apply(section);
        for (key, stream, default) in [
            (&section.up, &mut self.streams.up, defaults.up),
            (&section.down, &mut self.streams.down, defaults.down),
        ] {
            if let (Some(key), Some(mut frames)) = (key, default) {
                frames.size = VIDEO_CALL_PACKET;
                *stream = Some(frames_with_keys(frames, key, adaptive_stream, cx));
            }
        }
        check_adaptation(self, section, cx);
    }
}

/// Reports invalid rates of the senders at the key that causes them.
fn check_adaptation(call: &VideoCall, section: &WorkloadSection, cx: &mut Context) {
    for (direction, stream) in call.streams.all() {
        let Err((key, problem)) = call.adaptation.validate(&stream) else {
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
