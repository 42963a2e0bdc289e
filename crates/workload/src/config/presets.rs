//! The built-in workloads.

use super::{
    Activity, Adaptation, Config, Connections, Dash, Goal, Kind, LoadConnections, PacketStream, PlayerConfig, Priority,
    ProbeTarget, Streams,
};
use netburn_units::{BitRate, ByteSize, Duration, Probability};

/// Names of the built-in workloads.
pub const PRESETS: [&str; 13] = [
    "browsing",
    "4kstream",
    "dash",
    "voip",
    "download",
    "upload",
    "probe",
    "voice",
    "datagrams",
    "game",
    "cloud-gaming",
    "video-call",
    "responsiveness",
];

/// Rate of the frames of `cloud-gaming`.
pub const CLOUD_GAMING_RATE: BitRate = BitRate::from_mbps(25);

/// Target rate of each direction of `video-call`: the customary limit of WebRTC for 720p30.
pub const VIDEO_CALL_RATE: BitRate = BitRate::from_bps(2_500_000);

/// Maximum UDP payload of the packets of `video-call`.
pub const VIDEO_CALL_PACKET: ByteSize = ByteSize::from_bytes(1200);

const ONE_PERCENT: Probability = match Probability::from_ppb(10_000_000) {
    Some(share) => share,
    None => Probability::ZERO,
};

impl Config {
    /// Built-in workload of this name, one of [`PRESETS`].
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        match name {
            "browsing" => Some(Self::browsing()),
            "4kstream" => Some(Self::stream_4k()),
            "dash" => Some(Self::dash()),
            "voip" => Some(Self::voip()),
            "download" => Some(Self::download()),
            "upload" => Some(Self::upload()),
            "probe" => Some(Self::probe()),
            "voice" => Some(Self::voice()),
            "datagrams" => Some(Self::datagrams()),
            "game" => Some(Self::game()),
            "cloud-gaming" => Some(Self::cloud_gaming()),
            "video-call" => Some(Self::video_call()),
            "responsiveness" => Some(Self::responsiveness()),
            _ => None,
        }
    }

    /// Browsing: a page of 10 objects of 128 KiB on new connections every 3 s ± 0.5 s; goal 500 ms.
    #[must_use]
    pub fn browsing() -> Self {
        Config {
            kind: Kind::Pages,
            objects: 10,
            object_size: ByteSize::from_kib(128),
            interval: Some(Duration::from_secs(3)),
            jitter: Duration::from_millis(500),
            connections: Connections::New,
            outstanding: 1,
            streams: 1,
            datagrams: Streams::default(),
            adaptation: None,
            activity: Activity::default(),
            priority: Priority::BestEffort,
            dscp: None,
            target: ProbeTarget::Server,
            load: LoadConnections::default(),
            player: None,
            dash: None,
            goals: vec![Goal::Latency {
                limit: Duration::from_millis(500),
            }],
            timeout: Duration::from_secs(30),
        }
    }

    /// 4K video: objects of 1 MiB at 25 Mbit/s (one every 335.5 ms) into a player of 20 Mbit/s.
    /// Goals: at least 20 Mbit/s in every window of 2 s, and no stall.
    #[must_use]
    pub fn stream_4k() -> Self {
        Config {
            kind: Kind::Stream,
            objects: 1,
            object_size: ByteSize::from_mib(1),
            interval: BitRate::from_mbps(25).time_for(ByteSize::from_mib(1)),
            jitter: Duration::ZERO,
            connections: Connections::Keep,
            outstanding: 1,
            streams: 1,
            datagrams: Streams::default(),
            adaptation: None,
            activity: Activity::default(),
            priority: Priority::BestEffort,
            dscp: None,
            target: ProbeTarget::Server,
            load: LoadConnections::default(),
            player: Some(PlayerConfig::default()),
            dash: None,
            goals: vec![
                Goal::Rate {
                    at_least: BitRate::from_mbps(20),
                    window: Duration::from_secs(2),
                    step: Duration::from_millis(100),
                },
                Goal::NoStall,
            ],
            timeout: Duration::from_secs(30),
        }
    }

    /// Adaptive streaming: segments of 4 s, 145 kbit/s to 16.8 Mbit/s, and a buffer of 30 s. Goals: no stall, and segments of
    /// at least 4.5 Mbit/s, the lowest bit rate of 1080p in the ladder.
    #[must_use]
    pub fn dash() -> Self {
        Config {
            kind: Kind::Dash,
            object_size: ByteSize::from_bytes(1),
            interval: None,
            player: None,
            dash: Some(Dash::default()),
            goals: vec![
                Goal::NoStall,
                Goal::Rate {
                    at_least: BitRate::from_bps(4_500_000),
                    window: Duration::from_secs(2),
                    step: Duration::from_millis(100),
                },
            ],
            ..Config::stream_4k()
        }
    }

    /// Periodic requests: 16 KiB at 1 Mbit/s (one every 131.1 ms), up to 8 outstanding; goal 150
    /// ms.
    #[must_use]
    pub fn voip() -> Self {
        Config {
            kind: Kind::Calls,
            objects: 1,
            object_size: ByteSize::from_kib(16),
            interval: BitRate::from_mbps(1).time_for(ByteSize::from_kib(16)),
            jitter: Duration::ZERO,
            connections: Connections::Keep,
            outstanding: 8,
            streams: 1,
            datagrams: Streams::default(),
            adaptation: None,
            activity: Activity::default(),
            priority: Priority::BestEffort,
            dscp: None,
            target: ProbeTarget::Server,
            load: LoadConnections::default(),
            player: None,
            dash: None,
            goals: vec![Goal::Latency {
                limit: Duration::from_millis(150),
            }],
            timeout: Duration::from_secs(30),
        }
    }

    /// Download: objects of 1 GiB in sequence, unthrottled, no goal.
    #[must_use]
    pub fn download() -> Self {
        Config {
            kind: Kind::Download,
            objects: 1,
            object_size: ByteSize::from_gib(1),
            interval: None,
            jitter: Duration::ZERO,
            connections: Connections::Keep,
            outstanding: 1,
            streams: 1,
            datagrams: Streams::default(),
            adaptation: None,
            activity: Activity::default(),
            priority: Priority::BestEffort,
            dscp: None,
            target: ProbeTarget::Server,
            load: LoadConnections::default(),
            player: None,
            dash: None,
            goals: Vec::new(),
            timeout: Duration::from_secs(30),
        }
    }

    /// Upload: as the download, station to server.
    #[must_use]
    pub fn upload() -> Self {
        Config {
            kind: Kind::Upload,
            ..Config::download()
        }
    }

    /// Probe: a datagram of 64 B every 50 ms, echoed by the server; no goal. A datagram without a
    /// reply within 3 s is lost.
    #[must_use]
    pub fn probe() -> Self {
        Config {
            kind: Kind::Probe,
            objects: 1,
            object_size: ByteSize::from_bytes(64),
            interval: Some(Duration::from_millis(50)),
            jitter: Duration::ZERO,
            connections: Connections::Keep,
            outstanding: 1000,
            streams: 1,
            datagrams: Streams::default(),
            adaptation: None,
            activity: Activity::default(),
            priority: Priority::BestEffort,
            dscp: None,
            target: ProbeTarget::Server,
            load: LoadConnections::default(),
            player: None,
            dash: None,
            goals: Vec::new(),
            timeout: Duration::from_secs(3),
        }
    }

    /// Voice call: in each direction a packet of 172 B every 20 ms (G.711: 160 B of speech and 12 B
    /// of RTP header, RFC 3551), in the traffic class of voice. Goal: a rating R of 80 ("satisfied"
    /// in G.107 annex B) in windows of 10 s. A packet that does not arrive within 2 s is lost.
    #[must_use]
    pub fn voice() -> Self {
        Config {
            kind: Kind::Voice,
            objects: 1,
            object_size: ByteSize::from_bytes(172),
            interval: Some(Duration::from_millis(20)),
            jitter: Duration::ZERO,
            connections: Connections::Keep,
            outstanding: 1000,
            streams: 1,
            datagrams: Streams::default(),
            adaptation: None,
            activity: Activity::default(),
            priority: Priority::Voice,
            dscp: None,
            target: ProbeTarget::Server,
            load: LoadConnections::default(),
            player: None,
            dash: None,
            goals: vec![Goal::Quality {
                at_least: 80,
                window: Duration::from_secs(10),
                step: Duration::from_secs(1),
            }],
            timeout: Duration::from_secs(2),
        }
    }

    /// Datagrams: in each direction 1 Mbit/s in packets of 1200 B, one every 9.6 ms. Goal: in windows
    /// of 10 s at most 1 % is lost. A packet that does not arrive within 2 s is lost.
    #[must_use]
    pub fn datagrams() -> Self {
        let size = ByteSize::from_bytes(1200);
        Config {
            kind: Kind::Datagrams,
            object_size: size,
            interval: None,
            datagrams: Streams::both(PacketStream::single(Duration::from_micros(9_600), size)),
            priority: Priority::BestEffort,
            goals: vec![Goal::Loss {
                at_most: ONE_PERCENT,
                window: Duration::from_secs(10),
                step: Duration::from_secs(1),
            }],
            ..Config::voice()
        }
    }

    /// Online game with 64 ticks per second, as competitive shooters have: a packet of 100 B up and one
    /// of 250 B down every 15.625 ms. Goals: a round trip of 100 ms, and no gap of 100 ms.
    #[must_use]
    pub fn game() -> Self {
        let tick = Duration::from_micros(15_625);
        let stream = |bytes| Some(PacketStream::single(tick, ByteSize::from_bytes(bytes)));
        Config {
            kind: Kind::Game,
            datagrams: Streams {
                up: stream(100),
                down: stream(250),
            },
            goals: vec![
                Goal::Latency {
                    limit: Duration::from_millis(100),
                },
                Goal::NoGap,
            ],
            ..Config::datagrams()
        }
    }

    /// Cloud gaming: 60 frames per second of 43 packets of 1200 B down, which are 24.8 Mbit/s, and an input
    /// of 64 B up every 8 ms. Services ask for 25 Mbit/s for 1080p60. Goals: frames on time, and a round
    /// trip of 80 ms.
    #[must_use]
    pub fn cloud_gaming() -> Self {
        let frame = Duration::from_nanos(16_666_667);
        Config {
            kind: Kind::CloudGaming,
            datagrams: Streams {
                up: Some(PacketStream::single(Duration::from_millis(8), ByteSize::from_bytes(64))),
                down: Some(PacketStream::frames(
                    frame,
                    CLOUD_GAMING_RATE,
                    ByteSize::from_bytes(1200),
                )),
            },
            goals: vec![
                Goal::Frames,
                Goal::Latency {
                    limit: Duration::from_millis(80),
                },
            ],
            ..Config::datagrams()
        }
    }

    /// Video call: 30 frames per second in each direction, up to 2.5 Mbit/s in packets of at most 1200 B. 2.5 Mbit/s
    /// is the customary limit of WebRTC for 720p30. A frame at this rate has 9 packets of 1158 B. Both senders start
    /// at 1.2 Mbit/s and adapt their rate by GCC. Goals: no freeze, and a frame delay of 150 ms, as ITU-T G.114
    /// recommends for speech. A frame that is not complete within 2 s is lost.
    #[must_use]
    pub fn video_call() -> Self {
        let frame = Duration::from_nanos(33_333_333);
        let frames = PacketStream::adaptive(frame, VIDEO_CALL_RATE, VIDEO_CALL_PACKET);
        Config {
            kind: Kind::VideoCall,
            datagrams: Streams::both(frames),
            adaptation: Some(Adaptation::default()),
            goals: vec![
                Goal::NoFreeze,
                Goal::Latency {
                    limit: Duration::from_millis(150),
                },
            ],
            ..Config::datagrams()
        }
    }

    /// Responsiveness under load: four connections with load in each direction, and ten probes of each kind per
    /// second. A probe without a response fails after 5 s. Goal: 1000 round trips per minute, from which the draft
    /// calls the responsiveness good.
    #[must_use]
    pub fn responsiveness() -> Self {
        Config {
            kind: Kind::Responsiveness,
            object_size: ByteSize::from_bytes(1),
            interval: Some(Duration::from_millis(100)),
            connections: Connections::New,
            outstanding: 1000,
            load: LoadConnections { down: 4, up: 4 },
            goals: vec![Goal::Rpm {
                at_least: 1000,
                window: Duration::from_secs(5),
                step: Duration::from_secs(1),
            }],
            timeout: Duration::from_secs(5),
            ..Config::voip()
        }
    }
}
