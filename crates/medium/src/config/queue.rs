//! Transmit queues, and what the hardware below them holds.

use netburn_units::{ByteSize, Duration};

/// A transmit queue of an access point or a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum QueueKind {
    /// One queue for the whole device, new packets dropped when full. The default of access points: what stands on a
    /// shelf does no better.
    #[default]
    Fifo,
    /// Three queues by priority, the lowest number first (Linux `pfifo_fast`).
    PfifoFast,
    /// A queue per station, served round robin, one aggregate a turn.
    StationRr,
    /// FQ-CoDel over the device (RFC 8290). The default of stations: what Linux has used since systemd 217.
    FqCodel,
    /// mac80211's FQ-CoDel per station and traffic identifier (Linux 4.9).
    FqMac,
    /// The same, scheduled by a deficit of airtime used, sent and received (Linux 4.11).
    Airtime,
}

/// The most a transmit queue holds; what comes beyond is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(ByteSize),
}

/// What the hardware takes ahead of time, below the transmit queue. It is first in, first out, per access category of
/// a radio, and nothing above it can take a packet back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HardwareQueue {
    /// So many aggregates. Default 2, as ath9k keeps (`ATH_AGGR_MIN_QDEPTH`).
    Aggregates(u32),
    /// So many frames, those of the aggregate on the air included: 8 is ath9k's depth without aggregation
    /// (`ATH_NON_AGGR_MIN_QDEPTH`), some 1424 what ath10k's firmware took for all stations together before airtime queue limits.
    Frames(u32),
    /// So much airtime.
    Time(Duration),
    /// All it is given: firmware whose depth nothing bounds.
    Unlimited,
}

/// Airtime queue limits (Linux 5.5, `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`, `_H`, `IEEE80211_AQL_THRESHOLD`): a station's
/// queue may hand airtime to the hardware while its own pending airtime is below `low`, or below `high` while all
/// stations' together is below `total`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aql {
    /// Default 5 ms.
    pub low: Duration,
    /// Default 12 ms.
    pub high: Duration,
    /// Default 24 ms.
    pub total: Duration,
}

impl QueueKind {
    /// All of them.
    pub const ALL: [QueueKind; 6] = [
        QueueKind::Fifo,
        QueueKind::PfifoFast,
        QueueKind::StationRr,
        QueueKind::FqCodel,
        QueueKind::FqMac,
        QueueKind::Airtime,
    ];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            QueueKind::Fifo => "fifo",
            QueueKind::PfifoFast => "pfifo-fast",
            QueueKind::StationRr => "station-rr",
            QueueKind::FqCodel => "fq-codel",
            QueueKind::FqMac => "fq-mac",
            QueueKind::Airtime => "airtime",
        }
    }

    /// How much it holds when nothing is said: 1000 packets (Linux `txqueuelen`) for the plain ones, 10 240 for
    /// `fq-codel` (its `limit`), 8192 for `fq-mac` and `airtime` (`include/net/fq_impl.h`).
    #[must_use]
    pub const fn default_limit(self) -> QueueLimit {
        QueueLimit::Packets(match self {
            QueueKind::Fifo | QueueKind::PfifoFast | QueueKind::StationRr => 1000,
            QueueKind::FqCodel => 10_240,
            QueueKind::FqMac | QueueKind::Airtime => 8192,
        })
    }
}

impl Default for HardwareQueue {
    fn default() -> Self {
        HardwareQueue::Aggregates(2)
    }
}

impl Default for Aql {
    fn default() -> Self {
        Aql {
            low: Duration::from_millis(5),
            high: Duration::from_millis(12),
            total: Duration::from_millis(24),
        }
    }
}
