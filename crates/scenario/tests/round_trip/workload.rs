//! Strategies for workloads.

use netburn_scenario::built_in_workload;
use netburn_units::{BitRate, ByteSize, Dscp, Duration, Probability};
use netburn_workload::config::Activity;
use netburn_workload::config::Dash;
use netburn_workload::{
    Adaptation, Config, Connections, Goal, Kind, LoadConnections, PacketStream, PlayerConfig, Priority, ProbeTarget,
    Streams,
};
use proptest::prelude::*;
use proptest::sample::select;

use crate::values::*;

pub(crate) fn config() -> impl Strategy<Value = Config> {
    let kinds = select(vec![
        "browsing",
        "4kstream",
        "voip",
        "download",
        "upload",
        "probe",
        "datagrams",
        "game",
        "cloud-gaming",
        "video-call",
        "responsiveness",
        "dash",
    ]);
    let numbers = (
        1..=1000_u32,
        64..=1400_u64,
        2..=MINUTE,
        0..=1_000_000_000_u64,
        1..=10_000_u32,
    );
    let rest = (any::<bool>(), 0..4_usize, span(1, MINUTE), rate(), any::<bool>());
    (kinds, numbers, rest).prop_map(|(kind, (objects, size, every, jitter, outstanding), rest)| {
        let (new, priority, timeout, rate, goal) = rest;
        let mut config = built_in_workload(kind).expect("a built-in workload");
        let kind = config.kind;
        if !matches!(kind, Kind::Responsiveness | Kind::Dash) {
            config.object_size = ByteSize::from_bytes(size);
        }
        config.timeout = timeout;
        config.priority = [
            Priority::Background,
            Priority::BestEffort,
            Priority::Video,
            Priority::Voice,
        ][priority];
        if config.priority == Priority::BestEffort && new {
            config.dscp = Dscp::new((size % 64) as u8);
        }
        if kind == Kind::Pages {
            config.objects = objects;
        }
        if config.interval.is_some() {
            config.interval = Some(Duration::from_nanos(every));
        }
        if kind == Kind::Voice {
            let (least, most) = (Duration::from_millis(5), Duration::from_millis(200));
            config.interval = Some(Duration::from_nanos(every).clamp(least, most));
            config.timeout = timeout.clamp(Duration::from_millis(10), Duration::from_secs(2));
        }
        if matches!(kind, Kind::Pages | Kind::Calls | Kind::Probe) {
            config.jitter = Duration::from_nanos(jitter.min(every / 2));
        }
        if matches!(kind, Kind::Calls | Kind::Probe) {
            config.outstanding = outstanding;
        }
        if kind.is_bulk() {
            config.streams = objects;
        }
        if new && goal {
            let start = Duration::from_millis(u64::from(objects));
            config.activity = Activity {
                start,
                stop: Some(start + Duration::from_millis(100 + size)),
                repeat: kind
                    .can_repeat()
                    .then(|| Duration::from_millis((100 + size).max(1000) + u64::from(objects))),
            };
        }
        if kind == Kind::Responsiveness {
            let (least, most) = (Duration::from_millis(10), Duration::from_secs(1));
            config.interval = Some(Duration::from_nanos(every).clamp(least, most));
            config.load = LoadConnections {
                down: outstanding % 17,
                up: objects % 17,
            };
        }
        if kind == Kind::Probe {
            config.target = [ProbeTarget::Near, ProbeTarget::Line, ProbeTarget::Server][priority % 3];
        }
        if !kind.is_datagram() && kind != Kind::Responsiveness {
            config.connections = if new { Connections::New } else { Connections::Keep };
        }
        if let Some(dash) = &mut config.dash {
            let lowest = 1_000 + jitter;
            *dash = Dash {
                ladder: (0..u64::from(objects % 5 + 1))
                    .map(|place| BitRate::from_bps(lowest * (place + 1)))
                    .collect(),
                segment: Duration::from_millis(500 + size),
                start: Duration::from_millis(1 + size),
                max_buffer: Duration::from_millis(501 + 2 * size + u64::from(outstanding)),
                reservoir: Duration::from_millis(size),
                cushion: Duration::from_millis(1 + u64::from(objects)),
            };
            // 1 Gbit/s is the maximum.
            dash.ladder.retain(|rate| *rate <= BitRate::from_mbps(1000));
        }
        if let Some(player) = &mut config.player {
            *player = PlayerConfig {
                start: timeout,
                rate,
                max_buffer: timeout,
            };
        }
        if kind.has_streams() {
            let burst = 1 + objects % 20;
            let interval = Duration::from_nanos(every).clamp(Duration::from_millis(5), Duration::from_secs(1));
            let both = kind.has_round_trips() || kind.is_adaptive();
            // A video call has 1 kbit/s to 20 Mbit/s.
            let interval = if kind.is_adaptive() {
                interval.clamp(Duration::from_millis(20), Duration::from_millis(500))
            } else {
                interval
            };
            let stream = PacketStream {
                interval,
                burst,
                spacing: interval / u64::from(burst) / (1 + jitter % 9),
                size: ByteSize::from_bytes(if kind.is_adaptive() { size.max(100) } else { size }),
            };
            if let Some(adaptation) = &mut config.adaptation {
                // The rate of the smallest valid frame, rounded up.
                let least = BitRate::mean(ByteSize::from_bytes(65), interval).expect("an interval");
                let least = least.max(BitRate::from_bps(1_000));
                *adaptation = Adaptation {
                    min_rate: least,
                    start_rate: BitRate::from_bps(least.as_bps() + jitter),
                };
            }
            config.datagrams = Streams {
                up: (both || outstanding % 3 != 0).then_some(stream),
                down: (both || outstanding % 3 != 1).then_some(stream),
            };
            config.object_size = Config::datagrams().object_size;
            config.timeout = timeout.clamp(Duration::from_millis(10), Duration::from_secs(2));
        }
        config.goals = match (kind, goal) {
            (_, false) => vec![],
            (Kind::Pages | Kind::Calls | Kind::Probe, _) => vec![Goal::Latency { limit: timeout }],
            (Kind::Stream, _) => Config::stream_4k().goals,
            (Kind::Dash, _) => vec![Goal::NoStall],
            (Kind::CloudGaming, _) => vec![Goal::Frames, Goal::Latency { limit: timeout }],
            (Kind::VideoCall, _) => vec![Goal::NoFreeze, Goal::Latency { limit: timeout }],
            (Kind::Game, _) => vec![Goal::NoGap, Goal::Latency { limit: timeout }],
            (Kind::Datagrams, _) => vec![
                Goal::Loss {
                    at_most: Probability::from_ppb(1 + objects * 1000).expect("a share"),
                    window: Duration::from_secs(10),
                    step: Duration::from_secs(1),
                },
                Goal::Latency { limit: timeout },
            ],
            (Kind::Voice, _) => vec![Goal::Quality {
                at_least: 1 + (size % 93) as u8,
                window: Duration::from_secs(10),
                step: Duration::from_secs(1),
            }],
            (Kind::Responsiveness, _) => vec![Goal::Rpm {
                at_least: objects * 1000,
                window: Duration::from_secs(5),
                step: Duration::from_secs(1),
            }],
            (Kind::Download | Kind::Upload, _) => vec![Goal::Rate {
                at_least: rate,
                window: Duration::from_secs(2),
                step: Duration::from_millis(100),
            }],
        };
        config
    })
}
