//! Settings of one workload, with all defaults filled in.
//!
//! - `activity`: times in which a workload runs.
//! - `adaptation`: range of the rate of a video call.
//! - `dash`: ladder of bit rates of adaptive streaming, and its rule.
//! - `marking`: DSCP and TID of the packets.
//! - `presets`: the built-in workloads.
//! - `stream`: streams of datagrams in one direction.
//! - `validate`: limits of a configuration.
//! - `names`: text form of kinds, priorities, connections and goals.
//! - `volume`: number of bytes that a workload moves.

mod activity;
mod adaptation;
mod dash;
mod marking;
mod names;
mod presets;
mod stream;
mod validate;
mod volume;

pub use activity::{Activity, MIN_REPEAT, MIN_WINDOW, Window, Windows};
pub use adaptation::{Adaptation, MAX_TARGET_RATE, MIN_FRAME_SIZE, MIN_MEDIA_PACKET, frame_size};
pub use dash::{Dash, MAX_BIT_RATES, MAX_MEDIA_BUFFER, MAX_MEDIA_RATE, SEGMENT_LENGTHS};
pub use marking::Marking;
pub use names::UnknownName;
pub use presets::{CLOUD_GAMING_RATE, PRESETS, VIDEO_CALL_PACKET, VIDEO_CALL_RATE};
pub use stream::{
    MAX_BURST, MAX_BURST_INTERVAL, MAX_PACKET_SIZE, MIN_PACKET_PERIOD, MIN_PACKET_SIZE, PacketStream, Streams,
};
pub use validate::ConfigError;

use crate::direction::Direction;
use netburn_units::{BitRate, ByteSize, Dscp, Duration, Instant, Probability};

/// Minimum time between operations of one workload: 100 µs.
pub const MIN_PERIOD: Duration = Duration::from_micros(100);

/// Minimum time between the packets of one direction of a call: 5 ms.
pub const MIN_VOICE_INTERVAL: Duration = Duration::from_millis(5);

/// Maximum time between the packets of one direction of a call: 200 ms.
pub const MAX_VOICE_INTERVAL: Duration = Duration::from_millis(200);

/// Highest rating R of a goal. Without delay and loss R is 93.2.
pub const MAX_RATING: u8 = 93;

/// Minimum length of a gap: 100 ms, about six updates of a game.
pub const GAP: Duration = Duration::from_millis(100);

/// Width of the bins in which bytes are counted, and so the granularity of a rate goal's window and
/// step: 100 ms.
pub const BIN: Duration = Duration::from_millis(100);

/// Configuration of one workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Traffic pattern: determines when the next operation is due.
    pub kind: Kind,
    /// Objects fetched at once in one operation; 1 to 1000. Browsing: 10.
    pub objects: u32,
    /// Size of one object. For `probe` (64 B to 1400 B) and `voice` (32 B to 1400 B) the UDP payload
    /// of one datagram.
    pub object_size: ByteSize,
    /// Time between operations, for `voice` between the packets of one direction. `None` for kinds whose next operation
    /// starts when the previous one ends (`download`, `upload`, `dash`), and for kinds that
    /// [have streams](Kind::has_streams).
    pub interval: Option<Duration>,
    /// Maximum deviation of a due time from its grid point, in either direction; at most half of
    /// `interval`.
    pub jitter: Duration,
    /// Use of connections: one per object, or persistent ones.
    pub connections: Connections,
    /// Maximum number of operations in flight; further ones that are due count as not started
    /// (`pages`: one more is queued). Not for `download` and `upload`, which have `streams`. Without effect for kinds whose
    /// packets are not answered.
    pub outstanding: u32,
    /// Number of independent sequences of objects, for `download` and `upload`; 1 to 1000. Each has
    /// one object in flight, on a connection of its own. Default 1.
    pub streams: u32,
    /// Packets of kinds that [have streams](Kind::has_streams), in each direction; empty for other kinds. Those of all
    /// kinds are [`packet_streams`](Self::packet_streams).
    pub datagrams: Streams,
    /// Range of the rate of both senders of a `video-call`; `None` for other kinds.
    pub adaptation: Option<Adaptation>,
    /// Times in which the workload runs. Default: the whole load of its station.
    pub activity: Activity,
    /// Traffic class: DSCP, access category and band of the packets.
    pub priority: Priority,
    /// DSCP of the packets, instead of that of `priority`. Access category and band follow from it.
    pub dscp: Option<Dscp>,
    /// Host that answers the datagrams, for `probe`.
    pub target: ProbeTarget,
    /// Connections that transfer load while probes are sent, for `responsiveness`.
    pub load: LoadConnections,
    /// Video player that consumes the bytes, for `stream`.
    pub player: Option<PlayerConfig>,
    /// Ladder and buffer of a `dash` workload; `None` for other kinds.
    pub dash: Option<Dash>,
    /// Goals. Empty: no verdict.
    pub goals: Vec<Goal>,
    /// Idle timeout: an operation without progress for this long fails as timed out. Default 30 s.
    pub timeout: Duration,
}

/// Traffic patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Several objects at once on a fixed grid with jitter; one page at a time, and one is queued.
    Pages,
    /// Objects in sequence. The next is due one interval after the previous was due, or when the
    /// previous ended if that was later. So the schedule shifts and does not catch up.
    Stream,
    /// Objects on a fixed grid, several outstanding; latency counts from the due time.
    Calls,
    /// Large objects in sequence, unthrottled, server to station.
    Download,
    /// As `Download`, station to server.
    Upload,
    /// A datagram on a fixed grid, echoed by the server.
    Probe,
    /// Two independent streams of datagrams, station to server and server to station, each on a
    /// fixed grid with a phase of its own. An operation is one packet; its latency is the one-way
    /// delay. Packets are numbered alternately: even numbers go up, odd numbers go down
    /// ([`Direction::of_packet`](crate::Direction::of_packet)).
    Voice,
    /// A stream of datagrams in one or both directions, each with an interval, a burst and a size of
    /// its own. Operations and numbers are those of `Voice`.
    Datagrams,
    /// An online game: inputs up and updates down, at the rate of the server's ticks. Operations and
    /// numbers are those of `Voice`.
    Game,
    /// Cloud gaming: inputs up, and the frames of a video down. Operations and numbers are those of
    /// `Voice`.
    CloudGaming,
    /// A video call: frames in both directions. Both senders adapt their rate by GCC ([`video`](crate::video)). An
    /// operation is one frame: it ends when the last packet of the frame arrives, and its latency is the frame delay.
    /// Numbers are those of `Voice`.
    VideoCall,
    /// Responsiveness under load (draft-ietf-ippm-responsiveness-09): probes on a fixed grid, and load without end on
    /// connections of its own. An operation is a probe or a load connection
    /// ([`Part`](crate::responsiveness::Part)). Foreign probes use a connection each, and self probes use a connection with load.
    Responsiveness,
    /// Adaptive streaming over HTTP: segments in sequence, whose bit rate follows the buffer of the player ([`Dash`]).
    /// The next is due when the previous one has ended and the buffer has room for it.
    Dash,
}

impl Kind {
    /// Returns true for bulk transfers: large objects without an interval.
    #[must_use]
    pub const fn is_bulk(self) -> bool {
        match self {
            Kind::Download | Kind::Upload => true,
            Kind::Pages | Kind::Stream | Kind::Dash | Kind::Calls | Kind::Responsiveness => false,
            Kind::Probe | Kind::Voice | Kind::Datagrams | Kind::Game | Kind::CloudGaming | Kind::VideoCall => false,
        }
    }

    /// Returns true if the workload can run in several windows. A player and streams of datagrams run once.
    #[must_use]
    pub const fn can_repeat(self) -> bool {
        match self {
            Kind::Pages | Kind::Calls | Kind::Download | Kind::Upload | Kind::Probe | Kind::Responsiveness => true,
            Kind::Stream | Kind::Dash => false,
            Kind::Voice | Kind::Datagrams | Kind::Game | Kind::CloudGaming | Kind::VideoCall => false,
        }
    }

    /// Returns true if an operation is a datagram: it can be lost, and it uses no connection.
    #[must_use]
    pub const fn is_datagram(self) -> bool {
        match self {
            Kind::Probe | Kind::Voice | Kind::Datagrams | Kind::Game | Kind::CloudGaming | Kind::VideoCall => true,
            Kind::Pages | Kind::Stream | Kind::Dash | Kind::Calls => false,
            Kind::Download | Kind::Upload | Kind::Responsiveness => false,
        }
    }
}

/// Host that answers the datagrams of a probe. The targets are in the order of a packet's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ProbeTarget {
    /// The access point of the station; on real devices the default gateway.
    Near,
    /// The first hop beyond the router: the provider end of the internet line.
    Line,
    /// The server.
    #[default]
    Server,
}

impl Kind {
    /// Returns true if each persistent connection of the workload is a connection of its own over HTTP/2 as well. The
    /// requests of other workloads share one.
    #[must_use]
    pub const fn has_own_connections(self) -> bool {
        self.is_bulk() || matches!(self, Kind::Responsiveness)
    }

    /// Returns true if an operation is a datagram that is not answered: its latency is a one-way
    /// delay.
    #[must_use]
    pub const fn is_one_way(self) -> bool {
        self.is_datagram() && !matches!(self, Kind::Probe)
    }

    /// Returns true if a burst down answers the packets up: their round trips are judged.
    #[must_use]
    pub const fn has_round_trips(self) -> bool {
        matches!(self, Kind::Game | Kind::CloudGaming)
    }

    /// Returns true if the bursts down are frames, which are judged.
    #[must_use]
    pub const fn has_frames(self) -> bool {
        matches!(self, Kind::CloudGaming)
    }

    /// Returns true if the operations are frames of a variable size, whose sender adapts its rate.
    #[must_use]
    pub const fn is_adaptive(self) -> bool {
        matches!(self, Kind::VideoCall)
    }

    /// Returns true if the packets follow [`Config::datagrams`].
    #[must_use]
    pub const fn has_streams(self) -> bool {
        self.is_one_way() && !matches!(self, Kind::Voice)
    }
}

/// Use of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Connections {
    /// A new connection for each object.
    New,
    /// Persistent connections that are reused.
    Keep,
}

/// Traffic class: DSCP, 802.11 access category, band of `pfifo-fast`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Priority {
    /// CS1 (8), AC_BK, band 2.
    Background,
    /// CS0 (0), AC_BE, band 1.
    #[default]
    BestEffort,
    /// CS5 (40), AC_VI, band 0.
    Video,
    /// CS6 (48), AC_VO, band 0.
    Voice,
}

impl Priority {
    /// DSCP (RFC 2474, six bits) of this class's packets. RFC 8325 §4 maps these to the same access
    /// categories as their three highest bits do.
    #[must_use]
    pub const fn dscp(self) -> u8 {
        match self {
            Priority::Background => 8,
            Priority::BestEffort => 0,
            Priority::Video => 40,
            Priority::Voice => 48,
        }
    }

    /// TID of this class's packets: the client priority of its DSCP (RFC 8325).
    #[must_use]
    pub const fn tid(self) -> u8 {
        match self {
            Priority::Background => 1,
            Priority::BestEffort => 0,
            Priority::Video => 5,
            Priority::Voice => 6,
        }
    }
}

/// Size of an object that a load connection of a `responsiveness` workload transfers: 8 GiB, as the large object of
/// draft-ietf-ippm-responsiveness-09. The next object follows without a pause.
pub const LOAD_OBJECT: ByteSize = ByteSize::from_gib(8);

/// Maximum number of load connections of one direction: MNP of draft-ietf-ippm-responsiveness-09.
pub const MAX_LOAD_CONNECTIONS: u32 = 16;

/// Minimum time between two probes of one kind of a `responsiveness` workload: 10 ms. It is the reciprocal of MPS of
/// draft-ietf-ippm-responsiveness-09, which is 100 probes per second.
pub const MIN_PROBE_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum time between two probes of one kind of a `responsiveness` workload: 1 s, so that each window of a goal has five.
pub const MAX_PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum of a goal in round trips per minute: a round trip of 60 µs.
pub const MAX_RPM: u32 = 1_000_000;

/// Number of load connections of each direction, 0 to [`MAX_LOAD_CONNECTIONS`]. Without any, a `responsiveness` workload has
/// only foreign probes, beside the load of other workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoadConnections {
    /// From the server to the station.
    pub down: u32,
    /// From the station to the server.
    pub up: u32,
}

impl LoadConnections {
    /// Number of both directions.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.down.saturating_add(self.up)
    }

    /// Number of one direction.
    #[must_use]
    pub const fn in_direction(self, direction: Direction) -> u32 {
        match direction {
            Direction::Down => self.down,
            Direction::Up => self.up,
        }
    }
}

/// Buffer of a video player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerConfig {
    /// Media buffered before playback starts, and before it resumes after a stall. Default 2 s.
    pub start: Duration,
    /// Playback rate. Default 20 Mbit/s.
    pub rate: BitRate,
    /// Maximum of the buffer; further media are discarded. Default 10 s.
    pub max_buffer: Duration,
}

/// Goal of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Every operation finishes within `limit` of its due time. For a kind with
    /// [round trips](Kind::has_round_trips), the round trip of every packet up is at most `limit`.
    Latency {
        /// Maximum latency.
        limit: Duration,
    },
    /// Every window of `window`, in steps of `step`, receives at least `at_least`. For `dash`: every segment is complete
    /// and has at least this bit rate.
    Rate {
        /// Minimum rate.
        at_least: BitRate,
        /// Length of the window: 2 s.
        window: Duration,
        /// Time from the start of one window to the next: 100 ms.
        step: Duration,
    },
    /// The player never stalls.
    NoStall,
    /// In each direction, the packets of every window of `window`, in steps of `step`, have at least
    /// this rating with the best fixed playout buffer and G.711 with concealment
    /// ([`netburn_quality`]).
    Quality {
        /// Minimum rating R of the E-model, in points; 1 to 93.
        at_least: u8,
        /// Length of the window: 10 s.
        window: Duration,
        /// Time from the start of one window to the next: 1 s.
        step: Duration,
    },
    /// In each direction, of the packets of every window of `window`, in steps of `step`, at most
    /// this share is lost.
    Loss {
        /// Maximum share of lost packets; more than 0, less than 1.
        at_most: Probability,
        /// Length of the window: 10 s.
        window: Duration,
        /// Time from the start of one window to the next: 1 s.
        step: Duration,
    },
    /// In each direction, there is no [gap](GAP): a time without an arrival.
    NoGap,
    /// Every frame is complete within one interval of its due time, plus the smallest delay of a
    /// packet.
    Frames,
    /// In each direction, there is no freeze ([`netburn_quality::freezes()`]).
    NoFreeze,
    /// The probes of every window of `window`, in steps of `step`, have at least this score of
    /// draft-ietf-ippm-responsiveness-09 ([`rpm_windows`](crate::rpm_windows)).
    Rpm {
        /// Minimum number of round trips per minute; 1 to [`MAX_RPM`].
        at_least: u32,
        /// Length of the window: 5 s, which is ID of the draft.
        window: Duration,
        /// Time from the start of one window to the next: 1 s.
        step: Duration,
    },
}

impl Config {
    /// Maximum number of operations in flight: `streams` of a bulk transfer, one segment of `dash`, otherwise
    /// `outstanding`. At least 1.
    #[must_use]
    pub fn max_in_flight(&self) -> u32 {
        let most = match self.kind {
            kind if kind.is_bulk() => self.streams,
            Kind::Dash => 1,
            _ => self.outstanding,
        };
        most.max(1)
    }

    /// Buffer of the player of `stream` and `dash`. The rate of `dash` is the lowest of its ladder: what playback without a
    /// stall requires.
    #[must_use]
    pub fn playback(&self) -> Option<PlayerConfig> {
        let of_dash = |dash: &Dash| PlayerConfig {
            start: dash.start,
            rate: dash.lowest(),
            max_buffer: dash.max_buffer,
        };
        self.player.or_else(|| self.dash.as_ref().map(of_dash))
    }

    /// Windows in which the workload runs, in a load of its station from `start` to `end`: see
    /// [`Activity::windows`].
    #[must_use]
    pub fn windows(&self, start: Instant, end: Instant) -> Windows {
        let repeat = self.activity.repeat.filter(|_| self.kind.can_repeat());
        Activity {
            repeat,
            ..self.activity
        }
        .windows(start, end)
    }

    /// Streams of operations of a kind whose datagrams are not answered; empty for other kinds. An operation is a
    /// packet; that of a `video-call` is a frame, with its size at the target rate.
    #[must_use]
    pub fn packet_streams(&self) -> Streams {
        match (self.kind, self.interval) {
            (Kind::Voice, Some(every)) => Streams::both(PacketStream::single(every, self.object_size)),
            (kind, _) if kind.is_adaptive() => self.datagrams.map(|stream| stream.as_frames()),
            (kind, _) if kind.has_streams() => self.datagrams,
            _ => Streams::default(),
        }
    }

    /// Returns true if the workload loads this direction without a pause.
    #[must_use]
    pub const fn loads(&self, direction: Direction) -> bool {
        match (self.kind, direction) {
            (Kind::Download, Direction::Down) | (Kind::Upload, Direction::Up) => true,
            (Kind::Responsiveness, _) => self.load.in_direction(direction) > 0,
            _ => false,
        }
    }

    /// UDP payload of a packet of a direction, or of a frame at the target rate; zero without such a stream.
    #[must_use]
    pub fn packet_size(&self, direction: Direction) -> ByteSize {
        let stream = self.packet_streams().get(direction);
        stream.map_or(ByteSize::ZERO, |stream| stream.size)
    }

    /// The strictest goal for the latency of an operation; `None` without one.
    #[must_use]
    pub fn latency_limit(&self) -> Option<Duration> {
        if self.kind.has_round_trips() {
            return None;
        }
        self.goals.iter().filter_map(|goal| goal.latency()).min()
    }
}

impl Default for PlayerConfig {
    fn default() -> Self {
        PlayerConfig {
            start: Duration::from_secs(2),
            rate: BitRate::from_mbps(20),
            max_buffer: Duration::from_secs(10),
        }
    }
}
