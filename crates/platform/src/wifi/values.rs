//! Values that drivers report of a Wi-Fi link.

use std::fmt;

/// MAC address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

/// A Wi-Fi interface (`NL80211_CMD_NEW_INTERFACE`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Interface {
    /// Interface index.
    pub index: u32,
    /// Interface name.
    pub name: String,
    /// Interface type (`enum nl80211_iftype`).
    pub kind: Option<u32>,
    /// SSID of its network: up to 32 bytes of any content.
    pub ssid: Option<Vec<u8>>,
    /// Channel; with several links, that of the first link that reports one.
    pub channel: Option<Channel>,
}

/// A channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// Centre of the primary channel in MHz.
    pub frequency_mhz: u32,
    /// Width in MHz; `None` if it is not reported or specific to 802.11ah.
    pub width_mhz: Option<u32>,
    /// Centre of the whole channel in MHz.
    pub centre_mhz: Option<u32>,
}

/// The peer of a link (`NL80211_CMD_NEW_STATION`): for a client interface, its access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Station {
    /// MAC address.
    pub mac: Option<Mac>,
    /// Time since the last frame from the peer, in ms.
    pub inactive_ms: Option<u32>,
    /// Signal in dBm.
    pub signal_dbm: Option<i8>,
    /// Signal in dBm, averaged by the driver.
    pub signal_average_dbm: Option<i8>,
    /// Rate of the last received frame.
    pub rx: Rate,
    /// Rate of the last sent frame.
    pub tx: Rate,
    /// Bytes received from the peer.
    pub rx_bytes: Option<u64>,
    /// Bytes sent to the peer.
    pub tx_bytes: Option<u64>,
    /// Frames received from the peer.
    pub rx_packets: Option<u32>,
    /// Frames sent to the peer.
    pub tx_packets: Option<u32>,
    /// Retransmissions to the peer.
    pub tx_retries: Option<u32>,
    /// Frames to the peer that were dropped after retransmissions.
    pub tx_failed: Option<u32>,
    /// Missed beacons of the peer.
    pub beacon_loss: Option<u32>,
    /// Time since the association in s.
    pub connected_s: Option<u32>,
}

/// Use of a channel (`NL80211_CMD_NEW_SURVEY_RESULTS`). Times are in ms since the radio tuned to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Survey {
    /// Centre frequency in MHz.
    pub frequency_mhz: Option<u32>,
    /// Noise in dBm.
    pub noise_dbm: Option<i8>,
    /// True if the radio uses this channel.
    pub in_use: bool,
    /// Time for which the radio was on the channel.
    pub active_ms: Option<u64>,
    /// Part of it in which the channel was busy.
    pub busy_ms: Option<u64>,
    /// Part of it in which the radio received.
    pub receiving_ms: Option<u64>,
    /// Part of it in which the radio sent.
    pub sending_ms: Option<u64>,
}

/// Sample of a link at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkSample {
    /// The interface.
    pub interface: Interface,
    /// The access point; `None` if not connected.
    pub station: Option<Station>,
    /// Survey of the channel, if the driver supports it.
    pub survey: Option<Survey>,
}

/// Event of an interface (multicast groups `mlme` and `scan`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The interface associated with a network, or failed to (`NL80211_CMD_CONNECT`).
    Connected {
        /// Interface index.
        index: u32,
        /// BSSID of the access point, if reported.
        bssid: Option<Mac>,
        /// Status code (802.11-2020 table 9-50); 0 is success.
        status: u16,
    },
    /// The interface roamed to another access point (`NL80211_CMD_ROAM`).
    Roamed {
        /// Interface index.
        index: u32,
        /// BSSID of the access point.
        bssid: Option<Mac>,
    },
    /// The interface was disconnected (`NL80211_CMD_DISCONNECT`).
    Disconnected {
        /// Interface index.
        index: u32,
        /// Reason code (802.11-2020 table 9-49).
        reason: Option<u16>,
        /// True if the access point ended the association.
        by_ap: bool,
    },
    /// The network changed its channel (`NL80211_CMD_CH_SWITCH_NOTIFY`).
    Switched {
        /// Interface index.
        index: u32,
        /// The new channel.
        channel: Channel,
    },
    /// The interface started to scan (`NL80211_CMD_TRIGGER_SCAN`).
    ScanStarted {
        /// Interface index.
        index: u32,
    },
    /// The scan ended (`NL80211_CMD_NEW_SCAN_RESULTS`, `NL80211_CMD_SCAN_ABORTED`).
    ScanEnded {
        /// Interface index.
        index: u32,
        /// True if it was aborted.
        aborted: bool,
    },
}

/// Rate of the last frame in one direction. Values that the driver does not report are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rate {
    /// PHY rate in bit/s, with a resolution of 100 kbit/s.
    pub bps: Option<u64>,
    /// Generation of the standard.
    pub generation: Option<Generation>,
    /// MCS, numbered as in its generation (HT: 0 to 76 over all streams).
    pub mcs: Option<u8>,
    /// Spatial streams. For HT with equal modulation (MCS 0 to 31), computed from the MCS (802.11-2020 19.5).
    pub nss: Option<u8>,
    /// Width in MHz; `None` for a resource unit that is not a whole channel.
    pub width_mhz: Option<u32>,
    /// Guard interval in ns.
    pub guard_ns: Option<u32>,
}

/// Generation of 802.11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// 802.11a, b, g.
    Legacy,
    /// 802.11n.
    Ht,
    /// 802.11ac.
    Vht,
    /// 802.11ax.
    He,
    /// 802.11be.
    Eht,
}

impl Event {
    /// Returns the index of the event's interface.
    #[must_use]
    pub const fn index(&self) -> u32 {
        match self {
            Event::Connected { index, .. }
            | Event::Roamed { index, .. }
            | Event::Disconnected { index, .. }
            | Event::Switched { index, .. }
            | Event::ScanStarted { index }
            | Event::ScanEnded { index, .. } => *index,
        }
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}
