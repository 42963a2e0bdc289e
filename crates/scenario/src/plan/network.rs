//! A network of Wi-Fi.

use super::RadioRef;
use crate::decode::List;
use crate::enums::SteeringChoice;
use crate::scalars::{Flag, SomeTime, Span, Whole};
use crate::section_macro::section;
use netburn_medium::config::{Security, Steering};
use netburn_units::Duration;

/// A network: one SSID over one or more radios.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// SSID.
    pub name: String,
    /// Radios; at least one.
    pub radios: Vec<RadioRef>,
    /// Key management. Default: `psk`.
    pub security: Security,
    /// Round trip from the access points to the RADIUS server, with [`Security::Enterprise`]; `None`:
    /// [`DEFAULT_RADIUS_DELAY`].
    pub radius_delay: Option<Duration>,
    /// 802.11k: neighbour reports name the channels of the network's radios.
    pub k: bool,
    /// 802.11v: BSS transition management.
    pub v: bool,
    /// 802.11r: fast BSS transition over the air.
    pub r: bool,
    /// 802.11r over the distribution system.
    pub r_over_ds: bool,
    /// Caching of keys by each access point. Default: true.
    pub key_caching: bool,
    /// Opportunistic key caching: all access points know a station's keys.
    pub okc: bool,
    /// Steering of stations by the access points.
    pub steering: Steering,
    /// Mean time between two broadcast packets of [`BROADCAST_BYTES`] from the wire; `None`: there are
    /// none.
    pub broadcast_interval: Option<Duration>,
    /// Beacons from one DTIM beacon to the next, 1 to 255. Default: 2, as in hostapd.
    pub dtim_period: u8,
}

/// Round trip to a RADIUS server in the same building.
pub const DEFAULT_RADIUS_DELAY: Duration = Duration::from_millis(5);

/// Length of a broadcast packet in bytes, with its IP header: between ARP (28) and mDNS (60 to 500).
pub const BROADCAST_BYTES: u32 = 200;

section! {
    /// One SSID over one or more radios. Each station that joins it selects one radio.
    NetworkSection(Network = Network::new("")) {
        /// Radios of the network, each as access point and radio: `c7.5g`.
        radios(required): List<RadioRef> => radios;
        /// Steering of stations by the access points: the name of a policy (`none`, `usteer`, `dawn`, `load`, `prefer-5ghz`, `probe-suppression`), or a section. All but `none` and `probe-suppression` need `v = true`. For manual steering, use a network for each band.
        steering: SteeringChoice => steering;
        /// Mean time between two broadcast packets from the wire, such as ARP and mDNS, of 200 bytes each. The times between them are uniform over 0 to twice this value. Each access point sends them at the lowest basic rate, without acknowledgement. While one of its stations dozes, they wait for the DTIM beacon.
        broadcast_interval: SomeTime => broadcast_interval, default "none: no broadcast packets";
        /// Number of beacon intervals (102.4 ms) from one DTIM beacon to the next. It has an effect only with `broadcast_interval`.
        dtim_period: Whole<1, 255> => dtim_period;
        /// Key management, which decides how many frames a station needs to join: `open`, `psk` (8 frames), `sae` (10), `802.1x` (24, and eight round trips to the RADIUS server).
        security: Security => security;
        /// Round trip from the access points to the RADIUS server. It has an effect only with `802.1x`.
        radius_delay: Span => radius_delay, default "5 ms";
        /// 802.11k: neighbour reports. Roaming stations scan only the channels of this network instead of all channels.
        k: Flag => k;
        /// 802.11v: BSS transition management. The access points can ask stations to move, by the rules of `steering`.
        v: Flag => v;
        /// 802.11r: fast BSS transition over the air. Roaming stations join with four frames. Needs keys, so not with `security = "open"`.
        r: Flag => r;
        /// 802.11r over the distribution system: the first two of the four frames pass through the old access point. Needs `r = true`.
        r_over_ds: Flag => r_over_ds;
        /// Caching of keys (PMKSA) by the access points: a station that returns to one joins with 8 frames, also with `sae` and `802.1x`.
        key_caching: Flag => key_caching;
        /// Opportunistic key caching: the access points share the keys. A station that has joined one of them joins the others with 8 frames.
        okc: Flag => okc;
    }
}

impl Network {
    /// Creates a network without radios.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Network {
            name: name.to_owned(),
            radios: Vec::new(),
            security: Security::default(),
            radius_delay: None,
            k: false,
            v: false,
            r: false,
            r_over_ds: false,
            key_caching: true,
            okc: false,
            steering: Steering::default(),
            broadcast_interval: None,
            dtim_period: 2,
        }
    }
}
