//! A workload of a station.

use crate::decode::List;
use crate::goals::Goals;
use crate::scalars::{Name, ObjectSize, Rate, SomeTime, Span, Whole};
use crate::section_macro::section;
use crate::streams::StreamSection;
use crate::value::section_values;
use netburn_tcp::config::CongestionControl;
use netburn_units::Dscp;
use netburn_workload::config::Dash;
use netburn_workload::{Adaptation, Config, Connections, PlayerConfig, Priority, ProbeTarget};

/// A workload of a station.
#[derive(Debug, Clone, PartialEq)]
pub struct StationWorkload {
    /// Name: one of the built-in workloads, or one of the file.
    pub name: String,
    /// Settings of the workload.
    pub config: Config,
    /// Congestion control in both directions; `None`: the station's and the server's.
    pub cc: Option<CongestionControl>,
    /// Station that is the server of the workload, such as a NAS; `None`: the plan's server.
    pub server: Option<String>,
}

section! {
    /// Your own workload. It starts from the built-in workload of its kind (`pages` from `browsing`, `stream` from `4kstream`, `calls` from `voip`), and its keys override that.
    WorkloadSection(StationWorkload = StationWorkload::new("", Config::browsing())) {
        /// Traffic pattern: `pages`, `stream`, `calls`, `download`, `upload`, `probe`, `voice`, `datagrams`, `game`, `cloud-gaming`, `video-call`, `responsiveness` or `dash`. `pages`: several objects in parallel, at regular intervals with jitter. `stream`: objects one after another; a late object delays the next. `calls`: objects at fixed intervals. `download`, `upload`: large objects one after another. `probe`: datagrams that the server returns. `voice`: a stream of datagrams in each direction. `datagrams`: the streams `up` and `down`. `game`: inputs up, updates down. `cloud-gaming`: inputs up, frames of a video down. `video-call`: frames of a video in both directions, whose rate adapts to the path. `responsiveness`: small requests beside and on connections with load, for the score RPM. `dash`: adaptive streaming: segments of a video, whose bit rate follows the buffer of the player.
        kind(required): &'static netburn_workload::Kind;
        /// Objects per operation, fetched in parallel (`pages`).
        objects: Whole<1, 1000>, default "that of the kind";
        /// Size of one object. For `probe` (64 to 1400 B) and `voice` (32 to 1400 B), the UDP payload of a datagram.
        object_size: ObjectSize, default "that of the kind";
        /// Requested rate, from which `interval` is computed. For `stream`, `calls` and `pages`.
        rate: Rate, default "that of the kind, for `stream` and `calls`";
        /// Time between operations. For `voice`, time between the packets of one direction, 5 ms to 200 ms. For `responsiveness`, time between two probes of one kind, 10 ms to 1 s. Not for `download`, `upload`, `dash`, and kinds with `up` and `down`.
        interval: SomeTime, default "from `rate`, else that of the kind";
        /// Stream from the station to the server. If a workload of kind `datagrams` has one of `up` and `down`, only this direction is sent.
        up: StreamSection, default "1 Mbit/s in packets of 1200 B for `datagrams`; 100 B every 15.625 ms for `game`; 64 B every 8 ms for `cloud-gaming`; 30 frames per second of up to 2.5 Mbit/s for `video-call`";
        /// Stream from the server to the station; keys as `up`.
        down: StreamSection, default "1 Mbit/s in packets of 1200 B for `datagrams`; 250 B every 15.625 ms for `game`; 60 frames of 43 packets of 1200 B per second for `cloud-gaming`; as `up` for `video-call`";
        /// Range of the rate of both senders (`video-call`). The rate of a stream is its target rate, which is the maximum.
        adaptation: AdaptationSection;
        /// Maximum deviation of a due time from its place in the schedule, in either direction; at most half of `interval`. For `pages`, `calls` and `probe`.
        jitter: Span, default "that of the kind";
        /// Connection reuse: `new` opens a connection for each object, `keep` keeps them open. Not for workloads of datagrams.
        connections: Connections, default "that of the kind";
        /// Maximum number of operations in flight. Further operations that are due count as misses. For `calls` and `probe`.
        outstanding: Whole<1, 10_000>, default "that of the kind";
        /// Number of TCP connections at once (`download`, `upload`). Each has its own sequence of objects.
        streams: Whole<1, 1000>, default "1";
        /// Number of connections that transfer load from the server (`responsiveness`), 0 to 16. Self probes use these connections. If `load_down` and `load_up` are 0, there are only foreign probes, beside the load of other workloads. Load needs HTTP/2 (`server.http = "2"`).
        load_down: Whole<0, 16>, default "4";
        /// The same for load to the server.
        load_up: Whole<0, 16>, default "4";
        /// Start of the workload, counted from the start of the load. The station's `start` and `stop` limit it as well.
        start: Span => config.activity.start;
        /// End of the workload. No new operation starts; the objects of `download` and `upload` are cancelled. Verdicts cover only the time from `start` to `stop`.
        stop: SomeTime => config.activity.stop, default "the end of the station's load";
        /// Period in which the time from `start` to `stop` is repeated, at least 1 s. Each repetition starts in the same way. Not for `stream` and `dash`, nor for workloads of datagrams other than `probe`.
        repeat: SomeTime => config.activity.repeat, default "none: the workload runs once";
        /// Priority of the packets in both directions: DSCP (8, 0, 40, 48), access category, and band of `pfifo-fast`. The page of the workloads shows where packets are marked.
        priority: Priority => config.priority;
        /// DSCP of the packets in both directions, instead of `priority`: 0 to 63, or a name (`CS0` to `CS7`, `AF11` to `AF43`, `EF`, `VA`, `LE`, `DF`). The access category follows from it: see `dscp_mapping`. The band of `pfifo-fast` follows from the access category.
        dscp: Dscp => config.dscp, default "that of `priority`";
        /// Host that returns the datagrams (`probe`). `near`: the access point that the station has joined; on real devices the default gateway. `line`: the first hop beyond the router, which is the provider's end of the access point's WAN link. `server`: the server. On real devices `near` and `line` use ICMP.
        target: ProbeTarget, default "`server`";
        /// Station of the scenario that is the server of the workload, such as a NAS. Traffic within the house does not pass the line. Only simulate has such servers.
        server: Name => server, default "the server";
        /// TCP congestion control of the workload in both directions: `reno`, `cubic`, `bbr`, or another one of the operating system. Not for workloads of datagrams.
        cc: CongestionControl => cc, default "`station.*.cc` and `server.cc`";
        /// Video player that consumes the data (`stream`).
        player: PlayerSection;
        /// Bit rates and buffer of adaptive streaming (`dash`).
        dash: DashSection;
        /// Goal or list of goals: a time (`"500 ms"`) for `pages`, `calls`, `probe`, `datagrams` (the one-way delay of the packets of each direction), `game` and `cloud-gaming` (the round trip of the packets up), and `video-call` (the frame delay); a rate (`"20 Mbit/s"`, in every 2 s) for `stream`, `download` and `upload`, and as bit rate of each segment for `dash`; `"no stall"` for `stream` and `dash`; a rating (`"R 80"`, in every 10 s of each direction) for `voice`; a loss (`"1 % lost"`, in every 10 s of each direction) for `datagrams`, `game`, `cloud-gaming` and `video-call` (of frames); `"no gap"` (of 100 ms or more) for `game`; `"no freeze"` for `video-call`; `"frames on time"` for `cloud-gaming`; round trips per minute (`"1000 rpm"`, in every 5 s) for `responsiveness`; `"none"`.
        goal: Goals => config.goals, default "that of the kind";
        /// Time without progress after which an operation is aborted. For packets that are not answered (`voice`, `datagrams`, `game`, `cloud-gaming`), and for frames of a `video-call`, the time after which they are lost, at most 2 s.
        timeout: SomeTime => config.timeout, default "that of the kind";
    }
}

section! {
    /// Range of the rate of a sender that adapts its rate by GCC.
    AdaptationSection(Adaptation = Adaptation::default()) {
        /// Minimum rate of the UDP payload. A frame at this rate has at least 64 B.
        min_rate: Rate => min_rate;
        /// Rate until the first feedback, at least `min_rate`. A rate above the target rate is the target rate.
        start_rate: Rate => start_rate;
    }
}

section! {
    /// Player of adaptive streaming. The rule that selects the bit rate of a segment is BBA-0 (Huang et al., SIGCOMM 2014): it depends only on the level of the buffer.
    DashSection(Dash = Dash::default()) {
        /// Bit rates of the video, ascending: 1 to 32 rates of 1 kbit/s to 1 Gbit/s.
        ladder: List<Rate> => ladder, default "the 12 bit rates of Apple's HLS Authoring Specification for HEVC, 145 kbit/s (360p) to 16.8 Mbit/s (4K)";
        /// Length of a segment in playback time, 500 ms to 30 s. All segments of a bit rate have the same size.
        segment: SomeTime => segment;
        /// Media in the buffer before playback starts, and before it continues after a stall.
        start: SomeTime => start;
        /// Maximum buffer, at least `start` and one segment, at most 10 min. A segment is requested when the buffer has room for it.
        max_buffer: SomeTime => max_buffer;
        /// Level of the buffer up to which the lowest bit rate is selected.
        reservoir: Span => reservoir;
        /// The highest bit rate is selected from `reservoir` plus `cushion` on.
        cushion: SomeTime => cushion;
    }
}

section! {
    /// Playback buffer of a video player.
    PlayerSection(PlayerConfig = PlayerConfig::default()) {
        /// Media in the buffer before playback starts, and before it continues after a stall.
        start: Span => start;
        /// Playback rate.
        rate: Rate => rate;
        /// Maximum buffer; data beyond it is discarded.
        max_buffer: SomeTime => max_buffer;
    }
}

section_values! {
    PlayerSection => PlayerConfig,
    AdaptationSection => Adaptation,
    DashSection => Dash,
}

impl StationWorkload {
    /// Creates a workload without its own congestion control, with the plan's server.
    #[must_use]
    pub fn new(name: impl Into<String>, config: Config) -> Self {
        StationWorkload {
            name: name.into(),
            config,
            cc: None,
            server: None,
        }
    }
}
