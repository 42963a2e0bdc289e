//! Roaming of a station between access points.

use netburn_units::{Db, Dbm, Duration, Probability};

/// Rules of a client: when it looks for another access point, and when it moves. The constants of
/// each policy are in `network::roaming::policy`, with their sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoamingPolicy {
    /// Only after the link is lost.
    Never,
    /// wpa_supplicant as NetworkManager configures it.
    Linux,
    /// iwd with its defaults.
    Iwd,
    /// iPhones and iPads, as Apple documents them.
    ApplePhone,
    /// Macs, as Apple documents them.
    AppleLaptop,
    /// Firmware of Qualcomm, which most Android phones use.
    Qualcomm,
    /// Firmware of Broadcom (brcmfmac), such as that of the Raspberry Pi.
    Broadcom,
    /// Only when the access point asks (802.11v), and after the link is lost.
    ApDirected,
}

/// Reaction of a station to BSS transition management requests (802.11-2020 clause 11.21.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum TransitionAnswer {
    /// It moves if it hears one of the named access points.
    #[default]
    Accept,
    /// It does so only if the request announces a disassociation (Disassociation Imminent, 802.11-2020 clause 9.6.13.9).
    /// Otherwise it answers that it stays. Some Intel and Android clients do so (openwrt/usteer#10, openwrt/packages#20419).
    Imminent,
    /// It answers that it stays.
    Reject,
    /// It does not answer.
    Ignore,
}

/// Key management of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Security {
    /// No keys.
    Open,
    /// WPA2-Personal: a pre-shared key and the 4-way handshake.
    #[default]
    Psk,
    /// WPA3-Personal: simultaneous authentication of equals.
    Sae,
    /// WPA2-Enterprise: 802.1X with a RADIUS server.
    Enterprise,
}

/// A station that can move between the radios of its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roaming {
    /// Policy, from which the constants come that are `None` below.
    pub policy: Option<RoamingPolicy>,
    /// Signal below which it looks for another access point, in every band.
    pub trigger: Option<Dbm>,
    /// Difference by which another signal must be stronger.
    pub margin: Option<Db>,
    /// Time between two scans while the signal is weak.
    pub scan_interval: Option<Duration>,
    /// Smoothing of the beacons' signal: each counts one part of this number. 4 in mac80211, 1 for
    /// no smoothing.
    pub beacon_smoothing: u8,
    /// Time from the reception of a frame until the answer is ready to be sent, on both sides.
    pub frame_processing: Duration,
    /// Time with stopped queues before each absence of a scan but the first. mac80211 waits 100 ms for a
    /// driver that can't flush its queues (`ieee80211_scan_state_resume`).
    pub flush_delay: Duration,
    /// It scans only the channels that neighbour reports (802.11k) name, if the network has them.
    pub neighbour_reports: Option<bool>,
    /// The station supports neighbour and beacon reports (802.11k).
    pub k: bool,
    /// The station supports BSS transition management (802.11v).
    pub v: bool,
    /// The station supports fast BSS transition (802.11r).
    pub r: bool,
    /// Reaction to BSS transition requests.
    pub transition: TransitionAnswer,
    /// Share of BSS transition requests that it accepts, with [`TransitionAnswer::Accept`].
    pub acceptance: Probability,
}

impl Default for Roaming {
    fn default() -> Self {
        Roaming {
            policy: None,
            trigger: None,
            margin: None,
            scan_interval: None,
            beacon_smoothing: 4,
            frame_processing: Duration::from_millis(8),
            flush_delay: Duration::ZERO,
            neighbour_reports: None,
            k: true,
            v: true,
            r: true,
            transition: TransitionAnswer::Accept,
            acceptance: Probability::ONE,
        }
    }
}
