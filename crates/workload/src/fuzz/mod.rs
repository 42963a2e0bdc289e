//! Bytes as a driver's behaviour: the laws hold for every driver.

mod laws;
mod probes;

pub use laws::{Checked, Input};

use crate::config::{
    Activity, Adaptation, Config, Connections, Dash, Goal, Grid, KindSettings, LoadConnections, MIN_REPEAT,
    PROBE_INTERVALS, PacketStream, PlayerConfig, Priority, Requests, Streams, VOICE_INTERVALS,
};
use crate::kinds::bulk::{DOWNLOAD, UPLOAD};
use crate::kinds::dash::DASH;
use crate::kinds::packets::{CLOUD_GAMING, DATAGRAMS, GAME, Rating, VOICE};
use crate::kinds::pages::PAGES;
use crate::kinds::periodic::CALLS;
use crate::kinds::probe::PROBE;
use crate::kinds::responsiveness::RESPONSIVENESS;
use crate::kinds::stream::STREAM;
use crate::kinds::video_call::VIDEO_CALL;
use crate::kinds::{Bulk, DashClient, Kind, Packets, Pages, Periodic, Probe, Responsiveness, Stream, VideoCall};
use crate::machine::{Action, RequestId};
use crate::operation::{Failure, RemoteTimestamps};
use netburn_units::{BitRate, ByteSize, Duration, Instant, Seed};

/// Decodes `data` into a configuration and a driver's behaviour and runs the checked workload.
///
/// The first 12 bytes are the configuration (missing ones are zero). Each further step is two
/// bytes: the input, and its parameter or time. Every sequence of bytes is a valid behaviour.
///
/// # Panics
/// If a law is violated.
pub fn check(data: &[u8]) {
    let mut bytes = data.iter().copied();
    let mut next = || bytes.next().unwrap_or(0);
    let config = config(&mut next);
    let start = Instant::from_millis(i64::from(next() as i8) * 10);
    let end = start + Duration::from_millis(u64::from(next()) * 20);
    let settle = end + Duration::from_millis(u64::from(next() % 64) * 40);
    let seed = Seed(u64::from(next()));
    let mut run = Run {
        watched: Checked::new(config, start, end, settle, seed),
        now: start,
        last: RequestId {
            operation: 0,
            object: 0,
        },
    };
    let steps = data.get(16..).unwrap_or_default();
    for step in steps.chunks(2).take(4096) {
        run.step(step[0], step.get(1).copied().unwrap_or(0));
    }
    run.watched.finish();
}

/// Kinds of a byte below 208. A new kind gets a range of its own above, so that the corpus keeps its meaning.
const FIRST_KINDS: [&Kind; 10] = [
    &PAGES,
    &STREAM,
    &CALLS,
    &DOWNLOAD,
    &UPLOAD,
    &PROBE,
    &VOICE,
    &DATAGRAMS,
    &GAME,
    &CLOUD_GAMING,
];

/// 12 bytes of configuration, all of it in range.
fn config(next: &mut impl FnMut() -> u8) -> Config {
    let kind = match next() {
        240.. => &RESPONSIVENESS,
        224.. => &VIDEO_CALL,
        208.. => &DASH,
        byte => FIRST_KINDS[usize::from(byte) % FIRST_KINDS.len()],
    };
    let every = Duration::from_millis(20 + u64::from(next()) * 4);
    let jitter = every / 2 * u64::from(next() % 5) / 4;
    let chosen = next();
    let objects = 1 + u32::from(chosen % 4);
    let activity = activity(chosen / 4, kind.can_repeat);
    let size = 64 + u64::from(next()) * 5;
    let outstanding = 1 + u32::from(next() % 9);
    let timeout = Duration::from_millis(10 + u64::from(next()) * 10);
    let goal = Duration::from_millis(1 + u64::from(next()) * 4);
    let connections = Connections::ALL[usize::from(next()) % 2];
    let player = PlayerConfig {
        rate: BitRate::from_bps(1 + u64::from(next()) * 997),
        start: Duration::from_millis(1 + u64::from(next())),
        max_buffer: Duration::from_millis(256 + u64::from(next()) * 10),
    };
    let requests = Requests {
        objects,
        object_size: ByteSize::from_bytes(size),
        connections,
    };
    let grid = Grid {
        interval: every,
        jitter,
    };
    let of_streams = every.min(Duration::from_secs(1));
    let stream = |interval: Duration, burst: u32, least: u64| PacketStream {
        interval,
        burst,
        spacing: interval / u64::from(burst) / 2,
        size: ByteSize::from_bytes(size.clamp(least, 1400)),
    };
    let settings = match (kind.default_settings)() {
        KindSettings::Pages(_) => Pages { requests, grid }.into(),
        KindSettings::Stream(_) => Stream {
            requests,
            grid,
            player: Some(player),
        }
        .into(),
        KindSettings::Periodic(_) => Periodic {
            requests,
            grid,
            outstanding,
        }
        .into(),
        KindSettings::Bulk(bulk) => Bulk {
            requests,
            streams: outstanding,
            ..bulk
        }
        .into(),
        KindSettings::Probe(probe) => Probe {
            size: ByteSize::from_bytes(size),
            grid,
            outstanding,
            ..probe
        }
        .into(),
        KindSettings::Packets(Packets { rating, .. }) => match (rating, objects) {
            (Rating::Voice, _) => {
                let every = every.min(*VOICE_INTERVALS.end());
                Packets::voice(every, ByteSize::from_bytes(size.min(1400))).into()
            }
            (Rating::Loss, 1 | 2) => {
                let one = |chosen| (objects == chosen).then(|| stream(of_streams, outstanding, 1));
                let (up, down) = (one(2), one(1));
                Packets::new(rating, Streams { up, down }).into()
            }
            _ => {
                let (up, down) = (
                    stream(of_streams, outstanding, 1),
                    stream(of_streams / u64::from(objects), 1, 1),
                );
                let streams = Streams {
                    up: Some(up),
                    down: Some(down),
                };
                Packets::new(rating, streams).into()
            }
        },
        KindSettings::VideoCall(_) => VideoCall {
            streams: Streams::both(stream(of_streams, outstanding, 100)),
            // Frames of 65 B or more.
            adaptation: Adaptation {
                min_rate: BitRate::mean(ByteSize::from_bytes(65), of_streams).expect("an interval"),
                start_rate: BitRate::from_mbps(1),
            },
        }
        .into(),
        KindSettings::Responsiveness(_) => Responsiveness {
            interval: every.min(*PROBE_INTERVALS.end()),
            load: LoadConnections {
                down: objects - 1,
                up: outstanding % 3,
            },
        }
        .into(),
        // Segments of 0.5 s to 1.25 s, and a buffer that is full after two or more.
        KindSettings::DashClient(_) => DashClient {
            connections,
            dash: Dash {
                ladder: vec![BitRate::from_bps(8_000), BitRate::from_bps(8_000 * (1 + size))],
                segment: Duration::from_millis(500 + size / 2),
                start: player.start,
                max_buffer: player.max_buffer + player.start + Duration::from_secs(1),
                reservoir: player.start,
                cushion: player.max_buffer,
            },
        }
        .into(),
    };
    let limit = Goal::Latency { limit: goal };
    let config = Config {
        settings,
        activity,
        priority: Priority::BestEffort,
        dscp: None,
        goals: if (kind.supports)(&limit) && !kind.has_stream_keys {
            vec![limit]
        } else {
            let goals = kind.default_goals.iter().copied();
            goals.filter(|goal| !matches!(goal, Goal::Rate { .. })).collect()
        },
        timeout: if kind.is_one_way() {
            timeout.min(Duration::from_secs(2))
        } else {
            timeout
        },
    };
    assert_eq!(config.validate(), Ok(()), "the decoder makes only valid configurations");
    config
}

/// Windows from 6 bits; 0: the default. A load has up to 5.1 s.
fn activity(bits: u8, can_repeat: bool) -> Activity {
    let start = Duration::from_millis(u64::from(bits % 4) * 330);
    let length = Duration::from_millis(100 + u64::from(bits / 4 % 4) * 300);
    let stop = (bits != 0).then_some(start + length);
    // Equal to the length, or with a gap.
    let repeat = match bits / 16 {
        0 => None,
        1 => Some(length.max(MIN_REPEAT)),
        more => Some(MIN_REPEAT + Duration::from_millis(u64::from(more) * 70)),
    };
    Activity {
        start,
        stop,
        repeat: repeat.filter(|_| can_repeat),
    }
}

struct Run {
    watched: Checked,
    now: Instant,
    /// A request of the past, for inputs about ended requests.
    last: RequestId,
}

impl Run {
    fn step(&mut self, what: u8, how: u8) {
        let chosen = self.choose(how);
        let span = Duration::from_millis(u64::from(how));
        let input = match what % 16 {
            // Advance exactly to the next timeout.
            0..=2 => match self.watched.workload().poll_timeout() {
                Some((at, _)) => {
                    self.now = self.now.max(at);
                    Input::Timeout
                }
                None => return,
            },
            // Before the next timeout, or up to 2 s late.
            3 => {
                self.now += span;
                Input::Timeout
            }
            4 => {
                self.now += span * 8;
                Input::Timeout
            }
            5 if how % 4 == 3 => Input::TcpConnected(chosen),
            5 => Input::Connected(chosen),
            6 | 7 => Input::Bytes(chosen, u64::from(how) * 7),
            8 => {
                self.now += span / 8;
                Input::Bytes(chosen, u64::from(how))
            }
            9 | 10 => Input::Finished(chosen),
            11 => {
                self.now += span / 4;
                Input::Finished(chosen)
            }
            12 => Input::Failed(
                chosen,
                [Failure::Dial, Failure::Connection, Failure::Answer, Failure::Stopped][usize::from(how) % 4],
            ),
            13 => Input::Reply(
                chosen,
                how.is_multiple_of(2).then_some(RemoteTimestamps {
                    received: i64::from(how),
                    sent: i64::from(how) + 1,
                }),
            ),
            // In the past of a known packet, or of an unknown one.
            14 if how % 2 == 1 => {
                let at = self.now.checked_sub(span / 2).unwrap_or(self.now);
                Input::Arrival(chosen, at)
            }
            // An ended or unknown request.
            14 => Input::Bytes(self.last, 1),
            // With a clock that goes backwards.
            _ => {
                let earlier = self.now.checked_sub(span).unwrap_or(self.now);
                self.take(earlier, Input::Finished(chosen));
                return;
            }
        };
        self.take(self.now, input);
    }

    fn take(&mut self, now: Instant, input: Input) {
        for action in self.watched.handle(now, input) {
            if let Action::Cancel(id) = action {
                self.last = id;
            }
        }
    }

    /// An active request, or an unknown one.
    fn choose(&self, how: u8) -> RequestId {
        let active = &self.watched.active;
        let chosen = active.keys().nth(usize::from(how) % active.len().max(1)).copied();
        chosen.unwrap_or(RequestId {
            operation: u64::from(how),
            object: u32::from(how % 3),
        })
    }
}
