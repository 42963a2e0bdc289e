//! Multicast that an access point sends to its stations.

use crate::decode::List;
use crate::enums::words;
use crate::scalars::{Flag, Name, QueueBytes, Rate};
use crate::section_macro::section;
use crate::value::section_values;
use netburn_medium::aggregation::Framing;
use netburn_medium::config::{Band, Guard, RadioConfig, Width};
use netburn_medium::phy::{Modulation, TxVector, dsss, ofdm, response};
use netburn_units::{BitRate, ByteSize, Dscp, Duration};

/// A stream of multicast packets that an access point receives from its wire and sends on each of its radios.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Multicast {
    /// Rate of the IP packets, up to [`MAX_MULTICAST_RATE`].
    pub rate: BitRate,
    /// Length of a packet with its IP header, [`MULTICAST_SIZES`].
    pub size: ByteSize,
    /// Names of the stations that are members of the group.
    pub to: Vec<String>,
    /// Conversion to unicast frames.
    pub to_unicast: ToUnicast,
    /// IGMP snooping: radios without a member do not send the packets.
    pub snooping: bool,
    /// DSCP of the packets, from which the user priority of unicast copies follows.
    pub dscp: Dscp,
}

/// Conversion of multicast to unicast frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToUnicast {
    /// None: one group-addressed frame on each radio.
    #[default]
    Off,
    /// One copy for each member (`mcast_to_unicast` of a port of the Linux bridge).
    Members,
    /// One copy for each associated station (`multicast_to_unicast` of hostapd).
    Stations,
}

/// Maximum rate of a multicast stream.
pub const MAX_MULTICAST_RATE: BitRate = BitRate::from_mbps(100);

/// Shortest and longest packet of a multicast stream in bytes. The longest is the MTU of Ethernet.
pub const MULTICAST_SIZES: (u64, u64) = (64, 1_500);

words!(ToUnicast, TO_UNICAST, [
    "off" => ToUnicast::Off, "members" => ToUnicast::Members, "stations" => ToUnicast::Stations,
]);

section! {
    /// Multicast that the access point receives from its wire and sends to its stations at a constant rate, such as IPTV, a video wall or mDNS. It needs no workload. It begins with the baseline, and ends with the run. It uses neither the line nor a wireless backhaul.
    MulticastSection(Multicast = Multicast::default()) {
        /// Rate of the IP packets, 1 kbit/s to 100 Mbit/s.
        rate(required): Rate => rate;
        /// Length of a packet with its IP header, 64 B to 1500 B. The default is seven packets of an MPEG transport stream in RTP over UDP.
        size: QueueBytes => size;
        /// Stations that are members of the group. They must be able to join a radio of the access point.
        to: List<Name> => to, default "none: no station wants the packets";
        /// Conversion to unicast frames, which are acknowledged and aggregated. `off`: one frame for all stations of a radio, without acknowledgement, at `multicast_rate`. `members`: one copy for each member, as the Linux bridge does. `stations`: one copy for each associated station, as hostapd does.
        to_unicast: ToUnicast => to_unicast;
        /// IGMP snooping: a radio without a member of the group does not send the packets. Without snooping they occupy all radios of the access point that have a station.
        snooping: Flag => snooping;
        /// DSCP of the packets: 0 to 63, or a name. The access category of unicast copies follows from it: see `dscp_mapping`. Group-addressed frames have the category best effort, as in mac80211.
        dscp: Dscp => dscp;
    }
}

section_values! {
    MulticastSection => Multicast,
}

impl Default for Multicast {
    fn default() -> Self {
        Multicast {
            rate: BitRate::from_bps(0),
            // 7 × 188 + 12 (RTP) + 8 (UDP) + 20 (IPv4).
            size: ByteSize::from_bytes(1_356),
            to: Vec::new(),
            to_unicast: ToUnicast::default(),
            snooping: false,
            dscp: Dscp::default(),
        }
    }
}

impl Multicast {
    /// Modulation of the group-addressed frames of a radio. Default: the lowest mandatory rate of its band
    /// (802.11-2020 clauses 15.2.3 and 17.2.2.3).
    #[must_use]
    pub fn modulation(radio: &RadioConfig) -> Modulation {
        let lowest = match radio.band {
            Band::Ghz2_4 => Modulation::Dsss(dsss::Rate::M1),
            Band::Ghz5 | Band::Ghz6 => Modulation::Ofdm(ofdm::Rate::M6),
        };
        radio.multicast_rate.and_then(Modulation::legacy).unwrap_or(lowest)
    }

    /// Packets per second.
    #[must_use]
    pub fn packets_per_second(&self) -> f64 {
        self.rate.as_bps() as f64 / (self.size.as_bytes() * 8).max(1) as f64
    }

    /// Duration of a group-addressed frame of a radio.
    #[must_use]
    pub fn frame_duration(&self, radio: &RadioConfig) -> Duration {
        let vector = TxVector {
            modulation: Multicast::modulation(radio),
            width: Width::Mhz20,
            guard: Guard::Ns800,
            streams: 1,
            signal_extension: radio.band == Band::Ghz2_4,
            short_preamble: false,
        };
        let packet = u32::try_from(self.size.as_bytes()).unwrap_or(u32::MAX);
        response::duration(&vector, Framing::GROUP.mpdu(packet).into())
    }

    /// Share of the airtime of a radio that its group-addressed frames need, without the time between them. More than 1:
    /// the radio cannot send all packets.
    #[must_use]
    pub fn airtime(&self, radio: &RadioConfig) -> f64 {
        self.frame_duration(radio).as_secs_f64() * self.packets_per_second()
    }
}
