//! What the messages of nl80211 say. Pure: any bytes do.

use super::attribute::Attributes;
use super::format::{attr, command, sta, survey};
use super::message::{Message, Messages};
use super::rate::Rate;
use std::fmt;

/// The address of a radio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

/// A Wi-Fi interface (`NL80211_CMD_NEW_INTERFACE`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Interface {
    /// Its number.
    pub index: u32,
    /// What it is called.
    pub name: String,
    /// What it is: `enum nl80211_iftype`.
    pub kind: Option<u32>,
    /// The network that it belongs to: up to 32 bytes, which need not be text.
    pub ssid: Option<Vec<u8>>,
    /// Where it is; of several links the first that says.
    pub channel: Option<Channel>,
}

/// A channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// Centre of the primary channel in MHz.
    pub frequency_mhz: u32,
    /// Width in MHz; `None` where it isn't told, or is one of 802.11ah's.
    pub width_mhz: Option<u32>,
    /// Centre of the whole channel in MHz.
    pub centre_mhz: Option<u32>,
}

/// The other end of a link as an interface sees it (`NL80211_CMD_NEW_STATION`): for one that joined a network, its access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Station {
    /// Its address.
    pub mac: Option<Mac>,
    /// How long nothing came from it, in ms.
    pub inactive_ms: Option<u32>,
    /// Its signal in dBm.
    pub signal_dbm: Option<i8>,
    /// Its signal in dBm, averaged by the driver.
    pub signal_average_dbm: Option<i8>,
    /// How the last frame from it came.
    pub rx: Rate,
    /// How the last frame to it went.
    pub tx: Rate,
    /// Bytes from it.
    pub rx_bytes: Option<u64>,
    /// Bytes to it.
    pub tx_bytes: Option<u64>,
    /// Frames from it.
    pub rx_packets: Option<u32>,
    /// Frames to it.
    pub tx_packets: Option<u32>,
    /// Frames to it that were sent again.
    pub tx_retries: Option<u32>,
    /// Frames to it that were given up.
    pub tx_failed: Option<u32>,
    /// Beacons of it that were missed.
    pub beacon_loss: Option<u32>,
    /// Since when it is there, in s.
    pub connected_s: Option<u32>,
}

/// How a channel was used (`NL80211_CMD_NEW_SURVEY_RESULTS`). Times are in ms, since the radio came to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Survey {
    /// Its centre in MHz.
    pub frequency_mhz: Option<u32>,
    /// Noise in dBm.
    pub noise_dbm: Option<i8>,
    /// Whether the radio is on it.
    pub in_use: bool,
    /// How long the radio was on it.
    pub active_ms: Option<u64>,
    /// Of that, how long it was busy.
    pub busy_ms: Option<u64>,
    /// Of that, how long the radio received.
    pub receiving_ms: Option<u64>,
    /// Of that, how long the radio sent.
    pub sending_ms: Option<u64>,
}

/// Something that happened to an interface (multicast group `mlme`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It joined a network, or failed to (`NL80211_CMD_CONNECT`).
    Connected {
        /// The interface.
        index: u32,
        /// The access point, where it is told.
        bssid: Option<Mac>,
        /// The status (802.11-2020 table 9-50): 0 is success.
        status: u16,
    },
    /// It moved to another access point of its network (`NL80211_CMD_ROAM`).
    Roamed {
        /// The interface.
        index: u32,
        /// The access point.
        bssid: Option<Mac>,
    },
    /// It lost its network (`NL80211_CMD_DISCONNECT`).
    Disconnected {
        /// The interface.
        index: u32,
        /// The reason (802.11-2020 table 9-49).
        reason: Option<u16>,
        /// Whether the access point ended it.
        by_ap: bool,
    },
    /// Its network moved to another channel (`NL80211_CMD_CH_SWITCH_NOTIFY`).
    Switched {
        /// The interface.
        index: u32,
        /// The channel.
        channel: Channel,
    },
}

/// NL80211_IFTYPE_STATION: an interface that joins networks.
pub const JOINS: u32 = 2;

/// The interfaces in a datagram.
#[must_use]
pub fn interfaces(datagram: &[u8]) -> Vec<Interface> {
    of(datagram, command::NEW_INTERFACE)
        .filter_map(Interface::decode)
        .collect()
}

/// The stations in a datagram.
#[must_use]
pub fn stations(datagram: &[u8]) -> Vec<Station> {
    of(datagram, command::NEW_STATION).map(Station::decode).collect()
}

/// The surveys in a datagram.
#[must_use]
pub fn surveys(datagram: &[u8]) -> Vec<Survey> {
    of(datagram, command::NEW_SURVEY_RESULTS).map(Survey::decode).collect()
}

/// The events in a datagram; those of other kinds are left out.
#[must_use]
pub fn events(datagram: &[u8]) -> Vec<Event> {
    Messages(datagram).filter_map(Event::decode).collect()
}

fn of(datagram: &[u8], command: u8) -> impl Iterator<Item = Attributes<'_>> {
    let wanted = Messages(datagram).filter(move |message| message.command() == Some(command));
    wanted.map(Message::attributes)
}

impl Interface {
    /// `None` without a number and a name: devices that are no network interfaces have neither.
    fn decode(from: Attributes<'_>) -> Option<Interface> {
        let name = from.get(attr::IFNAME)?;
        let links = from.nested(attr::MLO_LINKS);
        let of_links = || {
            links
                .into_iter()
                .find_map(|link| Channel::decode(Attributes(link.value)))
        };
        Some(Interface {
            index: from.u32(attr::IFINDEX)?,
            name: String::from_utf8_lossy(name.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned(),
            kind: from.u32(attr::IFTYPE),
            ssid: from.get(attr::SSID).filter(|ssid| !ssid.is_empty()).map(<[u8]>::to_vec),
            channel: Channel::decode(from).or_else(of_links),
        })
    }
}

impl Channel {
    fn decode(from: Attributes<'_>) -> Option<Channel> {
        // `enum nl80211_chan_width`
        let width_mhz = match from.u32(attr::CHANNEL_WIDTH) {
            Some(0 | 1) => Some(20),
            Some(2) => Some(40),
            Some(3) => Some(80),
            Some(4 | 5) => Some(160),
            Some(6) => Some(5),
            Some(7) => Some(10),
            Some(13) => Some(320),
            _ => None,
        };
        Some(Channel {
            frequency_mhz: from.u32(attr::WIPHY_FREQ)?,
            width_mhz,
            centre_mhz: from.u32(attr::CENTER_FREQ1),
        })
    }
}

impl Station {
    fn decode(from: Attributes<'_>) -> Station {
        let told = from.nested(attr::STA_INFO);
        // Both are told; the shorter one wraps after 4 GiB.
        let bytes = |long, short| told.u64(long).or_else(|| told.u32(short).map(u64::from));
        let level = |kind| told.u8(kind).map(u8::cast_signed);
        Station {
            mac: from.get(attr::MAC).and_then(Mac::of),
            inactive_ms: told.u32(sta::INACTIVE_TIME),
            signal_dbm: level(sta::SIGNAL),
            signal_average_dbm: level(sta::SIGNAL_AVG),
            rx: Rate::decode(told.nested(sta::RX_BITRATE)),
            tx: Rate::decode(told.nested(sta::TX_BITRATE)),
            rx_bytes: bytes(sta::RX_BYTES64, sta::RX_BYTES),
            tx_bytes: bytes(sta::TX_BYTES64, sta::TX_BYTES),
            rx_packets: told.u32(sta::RX_PACKETS),
            tx_packets: told.u32(sta::TX_PACKETS),
            tx_retries: told.u32(sta::TX_RETRIES),
            tx_failed: told.u32(sta::TX_FAILED),
            beacon_loss: told.u32(sta::BEACON_LOSS),
            connected_s: told.u32(sta::CONNECTED_TIME),
        }
    }
}

impl Survey {
    fn decode(from: Attributes<'_>) -> Survey {
        let told = from.nested(attr::SURVEY_INFO);
        Survey {
            frequency_mhz: told.u32(survey::FREQUENCY),
            noise_dbm: told.u8(survey::NOISE).map(u8::cast_signed),
            in_use: told.has(survey::IN_USE),
            active_ms: told.u64(survey::TIME),
            busy_ms: told.u64(survey::TIME_BUSY),
            receiving_ms: told.u64(survey::TIME_RX),
            sending_ms: told.u64(survey::TIME_TX),
        }
    }
}

impl Event {
    /// The interface that it happened to.
    #[must_use]
    pub const fn index(&self) -> u32 {
        match self {
            Event::Connected { index, .. }
            | Event::Roamed { index, .. }
            | Event::Disconnected { index, .. }
            | Event::Switched { index, .. } => *index,
        }
    }

    fn decode(message: Message<'_>) -> Option<Event> {
        let command = message.command()?;
        let from = message.attributes();
        let index = from.u32(attr::IFINDEX)?;
        let bssid = || {
            // Of several links, the first: a link's own address, in its nest.
            let link = from.nested(attr::MLO_LINKS).next().map(|link| Attributes(link.value));
            let link = link.and_then(|link| link.get(attr::MAC)).and_then(Mac::of);
            link.or_else(|| from.get(attr::MAC).and_then(Mac::of))
        };
        match command {
            command::CONNECT => Some(Event::Connected {
                index,
                bssid: bssid(),
                // One that took too long has no status.
                status: if from.has(attr::TIMED_OUT) {
                    1
                } else {
                    from.u16(attr::STATUS_CODE).unwrap_or(0)
                },
            }),
            command::ROAM => Some(Event::Roamed { index, bssid: bssid() }),
            command::DISCONNECT => Some(Event::Disconnected {
                index,
                reason: from.u16(attr::REASON_CODE),
                by_ap: from.has(attr::DISCONNECTED_BY_AP),
            }),
            command::CH_SWITCH_NOTIFY => Some(Event::Switched {
                index,
                channel: Channel::decode(from)?,
            }),
            _ => None,
        }
    }
}

impl Mac {
    fn of(value: &[u8]) -> Option<Mac> {
        Some(Mac(value.get(..6)?.try_into().ok()?))
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}
