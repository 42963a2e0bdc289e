//! Timers and limits of a mesh.

use netburn_units::Duration;

/// Timers and limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// Maximum number of hops of an element.
    pub element_ttl: u8,
    /// Lifetime of a path from its last update.
    pub path_timeout: Duration,
    /// Lifetime of a path to a root.
    pub root_timeout: Duration,
    /// Time between two announcements of a root: proactive PREQs, or RANNs.
    pub root_interval: Duration,
    /// Minimum time between two PREQs with which a node confirms its path to a root that sends RANNs.
    pub root_confirmation: Duration,
    /// Minimum time between two PREQs of a node.
    pub preq_interval: Duration,
    /// Minimum time between two PERRs of a node.
    pub perr_interval: Duration,
    /// Time that an element needs for the whole mesh. A target raises its sequence number at most
    /// once in this time.
    pub traversal: Duration,
    /// Time before its end in which a path that is in use is discovered again; `None`: never.
    pub refresh: Option<Duration>,
    /// Repetitions of a PREQ without an answer.
    pub preq_retries: u32,
    /// Times to wait for an answer.
    pub waits: Waits,
    /// Frames that wait for one path.
    pub queue: usize,
    /// A path with the same sequence number replaces another if its metric is lower than this
    /// number of tenths of the other.
    pub better_tenths: u64,
    /// Retries of a peering's frames.
    pub peering_retries: u32,
    /// Time until a peering's frame is repeated, and time for which a peering waits for a
    /// confirmation or is held.
    pub peering_time: Duration,
    /// Time between two beacons. A beacon of a neighbour starts a peering.
    pub beacon_interval: Duration,
}

/// Times to wait for the answer to a PREQ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// The first time, then double the time before.
    Doubling(Duration),
    /// 2, 6, 8, 10, … times the traversal time, as the captures of ns-3's regression tests show.
    Rising,
}

impl Constants {
    /// Linux: `net/wireless/mesh.c` and `net/mac80211/mesh_hwmp.c`, 2025.
    pub const LINUX: Constants = Constants {
        element_ttl: 31,
        path_timeout: Duration::from_millis(5_000),
        root_timeout: Duration::from_millis(6_000),
        root_interval: Duration::from_millis(5_000),
        root_confirmation: Duration::from_millis(2_000),
        preq_interval: Duration::from_millis(10),
        perr_interval: Duration::from_millis(100),
        traversal: Duration::from_millis(50),
        refresh: Some(Duration::from_millis(1_000)),
        preq_retries: 4,
        waits: Waits::Doubling(Duration::from_millis(100)),
        queue: 10,
        better_tenths: 9,
        peering_retries: 3,
        peering_time: Duration::from_millis(100),
        beacon_interval: Duration::from_micros(1_024_000),
    };

    /// ns-3: attributes of `HwmpProtocol` and `PeerManagementProtocol`.
    pub const NS3: Constants = Constants {
        element_ttl: 32,
        path_timeout: Duration::from_micros(5_120_000),
        root_timeout: Duration::from_micros(5_120_000),
        root_interval: Duration::from_micros(2_048_000),
        root_confirmation: Duration::from_micros(2_048_000),
        preq_interval: Duration::from_micros(102_400),
        perr_interval: Duration::from_micros(102_400),
        traversal: Duration::from_micros(102_400),
        refresh: None,
        preq_retries: 3,
        waits: Waits::Rising,
        queue: 255,
        better_tenths: 10,
        peering_retries: 4,
        peering_time: Duration::from_micros(40_960),
        beacon_interval: Duration::from_millis(500),
    };

    /// Time to wait for an answer after the PREQ number `number` of a discovery, from 0.
    #[must_use]
    pub fn wait(&self, number: u32) -> Duration {
        match self.waits {
            Waits::Doubling(first) => first * (1_u64 << number.min(20)),
            Waits::Rising if number == 0 => self.traversal * 2,
            Waits::Rising => self.traversal * (2 * u64::from(number) + 4),
        }
    }
}
