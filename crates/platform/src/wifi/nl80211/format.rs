//! Constants of linux/nl80211.h.

/// `enum nl80211_commands`.
pub(super) mod command {
    #[cfg(target_os = "linux")]
    pub(crate) const GET_INTERFACE: u8 = 5;
    pub(crate) const NEW_INTERFACE: u8 = 7;
    #[cfg(target_os = "linux")]
    pub(crate) const GET_STATION: u8 = 17;
    pub(crate) const NEW_STATION: u8 = 19;
    pub(crate) const TRIGGER_SCAN: u8 = 33;
    pub(crate) const NEW_SCAN_RESULTS: u8 = 34;
    pub(crate) const SCAN_ABORTED: u8 = 35;
    pub(crate) const CONNECT: u8 = 46;
    pub(crate) const ROAM: u8 = 47;
    pub(crate) const DISCONNECT: u8 = 48;
    #[cfg(target_os = "linux")]
    pub(crate) const GET_SURVEY: u8 = 50;
    pub(crate) const NEW_SURVEY_RESULTS: u8 = 51;
    pub(crate) const CH_SWITCH_NOTIFY: u8 = 88;
}

/// `enum nl80211_attrs`.
pub(super) mod attr {
    pub(crate) const WIPHY: u16 = 1;
    pub(crate) const IFINDEX: u16 = 3;
    pub(crate) const IFNAME: u16 = 4;
    pub(crate) const IFTYPE: u16 = 5;
    pub(crate) const MAC: u16 = 6;
    pub(crate) const STA_INFO: u16 = 21;
    pub(crate) const WIPHY_FREQ: u16 = 38;
    pub(crate) const GENERATION: u16 = 46;
    pub(crate) const SSID: u16 = 52;
    pub(crate) const REASON_CODE: u16 = 54;
    pub(crate) const TIMED_OUT: u16 = 65;
    pub(crate) const DISCONNECTED_BY_AP: u16 = 71;
    pub(crate) const STATUS_CODE: u16 = 72;
    pub(crate) const SURVEY_INFO: u16 = 84;
    pub(crate) const CHANNEL_WIDTH: u16 = 159;
    pub(crate) const CENTER_FREQ1: u16 = 160;
    pub(crate) const CENTER_FREQ2: u16 = 161;
    pub(crate) const MLO_LINKS: u16 = 312;
    pub(crate) const MLO_LINK_ID: u16 = 313;
    pub(crate) const MLD_ADDR: u16 = 314;
}

/// `enum nl80211_sta_info`.
pub(super) mod sta {
    pub(crate) const INACTIVE_TIME: u16 = 1;
    pub(crate) const RX_BYTES: u16 = 2;
    pub(crate) const TX_BYTES: u16 = 3;
    pub(crate) const SIGNAL: u16 = 7;
    pub(crate) const TX_BITRATE: u16 = 8;
    pub(crate) const RX_PACKETS: u16 = 9;
    pub(crate) const TX_PACKETS: u16 = 10;
    pub(crate) const TX_RETRIES: u16 = 11;
    pub(crate) const TX_FAILED: u16 = 12;
    pub(crate) const SIGNAL_AVG: u16 = 13;
    pub(crate) const RX_BITRATE: u16 = 14;
    pub(crate) const CONNECTED_TIME: u16 = 16;
    pub(crate) const BEACON_LOSS: u16 = 18;
    pub(crate) const RX_BYTES64: u16 = 23;
    pub(crate) const TX_BYTES64: u16 = 24;
}

/// `enum nl80211_rate_info`.
pub(super) mod rate {
    pub(crate) const BITRATE: u16 = 1;
    pub(crate) const MCS: u16 = 2;
    pub(crate) const WIDTH_40: u16 = 3;
    pub(crate) const SHORT_GI: u16 = 4;
    pub(crate) const BITRATE32: u16 = 5;
    pub(crate) const VHT_MCS: u16 = 6;
    pub(crate) const VHT_NSS: u16 = 7;
    pub(crate) const WIDTH_80: u16 = 8;
    pub(crate) const WIDTH_80P80: u16 = 9;
    pub(crate) const WIDTH_160: u16 = 10;
    pub(crate) const WIDTH_10: u16 = 11;
    pub(crate) const WIDTH_5: u16 = 12;
    pub(crate) const HE_MCS: u16 = 13;
    pub(crate) const HE_NSS: u16 = 14;
    pub(crate) const HE_GI: u16 = 15;
    pub(crate) const HE_RU_ALLOC: u16 = 17;
    pub(crate) const WIDTH_320: u16 = 18;
    pub(crate) const EHT_MCS: u16 = 19;
    pub(crate) const EHT_NSS: u16 = 20;
    pub(crate) const EHT_GI: u16 = 21;
    pub(crate) const EHT_RU_ALLOC: u16 = 22;
}

/// `enum nl80211_survey_info`.
pub(super) mod survey {
    pub(crate) const FREQUENCY: u16 = 1;
    pub(crate) const NOISE: u16 = 2;
    pub(crate) const IN_USE: u16 = 3;
    pub(crate) const TIME: u16 = 4;
    pub(crate) const TIME_BUSY: u16 = 5;
    pub(crate) const TIME_RX: u16 = 7;
    pub(crate) const TIME_TX: u16 = 8;
}
