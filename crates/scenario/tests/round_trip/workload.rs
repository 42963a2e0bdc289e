//! Strategies for workloads.

use netburn_scenario::built_in_workload;
use netburn_units::{BitRate, ByteSize, Dscp, Duration, Probability};
use netburn_workload::config::{Activity, Dash, Grid, Requests};
use netburn_workload::kinds::packets::Rating;
use netburn_workload::kinds::{Packets, VideoCall};
use netburn_workload::{
    Adaptation, Config, Connections, Goal, KindSettings, LoadConnections, PacketStream, PlayerConfig, Priority,
    ProbeTarget, Streams,
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
        let (size, every) = (ByteSize::from_bytes(size), Duration::from_nanos(every));
        let load = Load {
            requests: Requests {
                objects: 1,
                object_size: size,
                connections: if new { Connections::New } else { Connections::Keep },
            },
            grid: Grid::regular(every),
            jitter: Duration::from_nanos(jitter.min(every.as_nanos() / 2)),
            objects,
            outstanding,
            player: PlayerConfig {
                start: timeout,
                rate,
                max_buffer: timeout,
            },
            target: [ProbeTarget::Near, ProbeTarget::Line, ProbeTarget::Server][priority % 3],
            extra: jitter,
        };
        set(&mut config.settings, &load);
        let of_kind = config.kind();
        config.timeout = timeout;
        if of_kind.is_one_way() {
            config.timeout = timeout.clamp(Duration::from_millis(10), Duration::from_secs(2));
        }
        config.priority = Priority::ALL[priority];
        if config.priority == Priority::BestEffort && new {
            config.dscp = Dscp::new((size.as_bytes() % 64) as u8);
        }
        if new && goal {
            let start = Duration::from_millis(u64::from(objects));
            let length = 100 + size.as_bytes();
            config.activity = Activity {
                start,
                stop: Some(start + Duration::from_millis(length)),
                repeat: of_kind
                    .can_repeat
                    .then(|| Duration::from_millis(length.max(1000) + u64::from(objects))),
            };
        }
        config.goals = goals(&config, goal, timeout, rate, objects);
        config
    })
}

/// Random values of settings.
struct Load {
    requests: Requests,
    grid: Grid,
    jitter: Duration,
    objects: u32,
    outstanding: u32,
    player: PlayerConfig,
    target: ProbeTarget,
    extra: u64,
}

fn set(settings: &mut KindSettings, load: &Load) {
    let grid = Grid {
        jitter: load.jitter,
        ..load.grid
    };
    let every = load.grid.interval;
    match settings {
        KindSettings::Pages(pages) => {
            (pages.requests, pages.grid) = (load.requests, grid);
            pages.requests.objects = load.objects;
        }
        KindSettings::Stream(stream) => {
            (stream.requests, stream.grid) = (load.requests, load.grid);
            stream.player = Some(load.player);
        }
        KindSettings::Periodic(calls) => {
            (calls.requests, calls.grid) = (load.requests, grid);
            calls.outstanding = load.outstanding;
        }
        KindSettings::Bulk(bulk) => (bulk.requests, bulk.streams) = (load.requests, load.objects),
        KindSettings::Probe(probe) => {
            (probe.size, probe.grid) = (load.requests.object_size, grid);
            (probe.outstanding, probe.target) = (load.outstanding, load.target);
        }
        KindSettings::Packets(packets) if packets.rating == Rating::Voice => {
            let (least, most) = (Duration::from_millis(5), Duration::from_millis(200));
            *packets = Packets::voice(every.clamp(least, most), load.requests.object_size);
        }
        KindSettings::Packets(packets) => {
            let stream = load.stream(Duration::from_millis(5), Duration::from_secs(1), 64);
            let both = packets.rating != Rating::Loss;
            packets.streams = Streams {
                up: (both || !load.outstanding.is_multiple_of(3)).then_some(stream),
                down: (both || load.outstanding % 3 != 1).then_some(stream),
            };
        }
        KindSettings::VideoCall(call) => {
            // A video call has 1 kbit/s to 20 Mbit/s.
            let stream = load.stream(Duration::from_millis(20), Duration::from_millis(500), 100);
            // The rate of the smallest valid frame, rounded up.
            let least = BitRate::mean(ByteSize::from_bytes(65), stream.interval).expect("an interval");
            let least = least.max(BitRate::from_bps(1_000));
            *call = VideoCall {
                streams: Streams::both(stream),
                adaptation: Adaptation {
                    min_rate: least,
                    start_rate: BitRate::from_bps(least.as_bps() + load.extra),
                },
            };
        }
        KindSettings::Responsiveness(probes) => {
            let (least, most) = (Duration::from_millis(10), Duration::from_secs(1));
            probes.interval = every.clamp(least, most);
            probes.load = LoadConnections {
                down: load.outstanding % 17,
                up: load.objects % 17,
            };
        }
        KindSettings::DashClient(client) => {
            client.connections = load.requests.connections;
            client.dash = load.dash();
        }
    }
}

impl Load {
    fn stream(&self, least: Duration, most: Duration, smallest: u64) -> PacketStream {
        let (burst, interval) = (1 + self.objects % 20, self.grid.interval.clamp(least, most));
        PacketStream {
            interval,
            burst,
            spacing: interval / u64::from(burst) / (1 + self.extra % 9),
            size: self.requests.object_size.max(ByteSize::from_bytes(smallest)),
        }
    }

    fn dash(&self) -> Dash {
        let (lowest, size) = (1_000 + self.extra, self.requests.object_size.as_bytes());
        let mut dash = Dash {
            ladder: (0..u64::from(self.objects % 5 + 1))
                .map(|place| BitRate::from_bps(lowest * (place + 1)))
                .collect(),
            segment: Duration::from_millis(500 + size),
            start: Duration::from_millis(1 + size),
            max_buffer: Duration::from_millis(501 + 2 * size + u64::from(self.outstanding)),
            reservoir: Duration::from_millis(size),
            cushion: Duration::from_millis(1 + u64::from(self.objects)),
        };
        // 1 Gbit/s is the maximum.
        dash.ladder.retain(|rate| *rate <= BitRate::from_mbps(1000));
        dash
    }
}

/// Goals of the kind, with random limits.
fn goals(config: &Config, any: bool, timeout: Duration, rate: BitRate, objects: u32) -> Vec<Goal> {
    if !any {
        return Vec::new();
    }
    let (kind, latency) = (config.kind(), Goal::Latency { limit: timeout });
    let loss = Goal::Loss {
        at_most: Probability::from_ppb(1 + objects * 1000).expect("a share"),
        window: Duration::from_secs(10),
        step: Duration::from_secs(1),
    };
    let rate = Goal::Rate {
        at_least: rate,
        window: Duration::from_secs(2),
        step: Duration::from_millis(100),
    };
    let quality = Goal::Quality {
        at_least: 1 + (objects % 93) as u8,
        window: Duration::from_secs(10),
        step: Duration::from_secs(1),
    };
    let rpm = Goal::Rpm {
        at_least: objects * 1000,
        window: Duration::from_secs(5),
        step: Duration::from_secs(1),
    };
    // The rate of a stream or of segments depends on other settings.
    let has_rate = config.requests().is_none() || config.playback().is_none();
    let rate = Some(rate).filter(|_| has_rate);
    let goals = [
        Goal::NoStall,
        Goal::NoFreeze,
        Goal::NoGap,
        Goal::Frames,
        loss,
        latency,
        quality,
        rpm,
    ];
    goals
        .into_iter()
        .chain(rate)
        .filter(|goal| (kind.supports)(goal))
        .collect()
}
