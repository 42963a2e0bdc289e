//! The settings of one workload, every default filled in.
//!
//! - `uses`: the six uses that have names.
//! - `validate`: what a configuration can't be.
//! - `names`: how kinds, priorities and connections are written in a scenario file; how a goal reads.
//! - `volume`: how many bytes a workload will move.

mod names;
mod uses;
mod validate;
mod volume;

pub use names::UnknownName;
pub use uses::USES;
pub use validate::ConfigError;

use netburn_units::{BitRate, ByteSize, Duration};

/// The shortest time between operations of one workload: 100 µs.
pub const MIN_PERIOD: Duration = Duration::from_micros(100);

/// The width of the bins that bytes are counted in, and so the grain of a rate goal's window and step: 100 ms.
pub const BIN: Duration = Duration::from_millis(100);

/// What one workload asks of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// What sort of use it is: decides when the next operation falls due.
    pub kind: Kind,
    /// Objects fetched at once in one operation; 1 to 1000. Browsing: 10.
    pub objects: u32,
    /// Size of one object, or of one datagram (64 B to 1400 B) for `probe`.
    pub object_size: ByteSize,
    /// Time between operations. `None` for those that begin when the last ends (`download`, `upload`).
    pub interval: Option<Duration>,
    /// How far around its place in the grid an operation may fall due, either way; at most half of `interval`.
    pub jitter: Duration,
    /// Whether each object comes over a connection of its own.
    pub connections: Connections,
    /// How many operations may be under way at once; those due beyond are misses (`pages`: one more may wait).
    pub outstanding: u32,
    /// DSCP, access category and band of the packets.
    pub priority: Priority,
    /// The video player that the bytes feed, for `stream`.
    pub player: Option<PlayerConfig>,
    /// What makes it good. Empty: no verdict.
    pub goals: Vec<Goal>,
    /// An operation without any progress for this long is given up as timed out. Default 30 s.
    pub timeout: Duration,
}

/// The sorts of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Several objects at once on a fixed grid with jitter; one page at a time and one may wait.
    Pages,
    /// Objects one after another, one period after the last was due or when it ended if that was later: the schedule
    /// shifts and nothing is caught up.
    Stream,
    /// Objects on a fixed grid, several outstanding, each counted from when it was due.
    Calls,
    /// Large objects one after another, unthrottled.
    Download,
    /// The same, the other way.
    Upload,
    /// A datagram on a fixed grid, sent back by the server.
    Probe,
}

/// On which connections objects come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Connections {
    /// Each object dials anew.
    New,
    /// Connections stay open and are used again.
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
    /// The DSCP (RFC 2474, six bits) that packets of this class carry. RFC 8325 §4 maps these to the same access
    /// categories as the three highest bits do.
    #[must_use]
    pub const fn dscp(self) -> u8 {
        match self {
            Priority::Background => 8,
            Priority::BestEffort => 0,
            Priority::Video => 40,
            Priority::Voice => 48,
        }
    }
}

/// A video player's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerConfig {
    /// Media buffered before it starts, and before it goes on after a stall. Default 2 s.
    pub start: Duration,
    /// The rate at which it plays. Default 20 Mbit/s.
    pub rate: BitRate,
    /// The most it holds; what comes beyond is let go. Default 10 s.
    pub max_buffer: Duration,
}

/// What makes a workload good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Every operation ends within `limit` of the instant it was due.
    Latency {
        /// The longest time that is good.
        limit: Duration,
    },
    /// Every window of `window`, in steps of `step`, brings at least `at_least` by bytes arrived.
    Rate {
        /// The least rate that is good.
        at_least: BitRate,
        /// The window's length: 2 s.
        window: Duration,
        /// From one window's start to the next: 100 ms.
        step: Duration,
    },
    /// The player never stalls.
    NoStall,
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
