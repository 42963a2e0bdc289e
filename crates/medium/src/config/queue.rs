//! Transmit queues, and limits of the hardware queue below them.

use netburn_units::{ByteSize, Duration};

/// Limit of a transmit queue; further packets are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// Number of packets.
    Packets(u32),
    /// Number of bytes.
    Bytes(ByteSize),
}

/// Limit of the hardware queue below the transmit queue. The hardware queue is first in, first out,
/// per access category of a radio, and packets can't be removed from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HardwareQueue {
    /// Number of aggregates, with the one on the air. Default 2, as in ath9k (`ATH_AGGR_MIN_QDEPTH`).
    /// With [`Composition::Txop`] it is the number of aggregates that the packets fill.
    Aggregates(u32),
    /// Number of frames, including those of the aggregate on the air. 8 is ath9k's depth without
    /// aggregation (`ATH_NON_AGGR_MIN_QDEPTH`). About 1424 is the depth of ath10k's firmware for
    /// all stations together, before airtime queue limits.
    Frames(u32),
    /// Estimated airtime.
    Time(Duration),
    /// No limit: firmware with an unlimited queue.
    Unlimited,
}

/// When the MPDUs of an aggregate are chosen. The limit of the hardware queue is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Composition {
    /// At the transmit opportunity, by the radio. An aggregate that waits for the channel takes the
    /// packets that arrive meanwhile, and a failed one is composed again. Nearly all radios work
    /// like this. The firmware of iwlwifi gets limits for it (`agg_time_limit` and
    /// `agg_frame_cnt_limit` in `struct iwl_lq_cmd`). The firmware of ath10k fetches packets when a
    /// station's turn comes (`HTT_TX_MODE_SWITCH_PUSH_PULL`). In mt76 it is a block of the hardware
    /// (`MT_AGG_ARUCR` and its neighbours), already in the 802.11n radios of mt7603.
    #[default]
    Txop,
    /// By the driver, when the aggregate enters the hardware queue: ath9k, an 802.11n driver
    /// (`ath_tx_form_aggr`). Packets that arrive later wait for the next aggregate. A failed
    /// aggregate without any acknowledgement is sent again as it is.
    Driver,
}

/// Airtime queue limits (Linux 5.5, `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`, `_H`,
/// `IEEE80211_AQL_THRESHOLD`). A station's queue may pass packets to the hardware in two cases. Its
/// pending airtime is below `low`, or it is below `high` while the sum over all stations is below
/// `total`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aql {
    /// Default 5 ms.
    pub low: Duration,
    /// Default 12 ms.
    pub high: Duration,
    /// Default 24 ms.
    pub total: Duration,
}

impl Composition {
    /// Name in scenario files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Composition::Txop => "txop",
            Composition::Driver => "driver",
        }
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
