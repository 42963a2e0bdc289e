//! Decoding of nl80211 messages. Pure; accepts any bytes.

use super::attribute::Attributes;
use super::format::{attr, command, sta, survey};
use super::message::{Message, Messages};
use crate::wifi::{Channel, Event, Interface, Mac, Rate, Station, Survey};

/// NL80211_IFTYPE_STATION: a client interface.
pub const JOINS: u32 = 2;

/// Returns the interfaces in a datagram.
#[must_use]
pub fn interfaces(datagram: &[u8]) -> Vec<Interface> {
    attributes_of(datagram, command::NEW_INTERFACE)
        .filter_map(Interface::decode)
        .collect()
}

/// Returns the stations in a datagram.
#[must_use]
pub fn stations(datagram: &[u8]) -> Vec<Station> {
    attributes_of(datagram, command::NEW_STATION)
        .map(Station::decode)
        .collect()
}

/// Returns the surveys in a datagram.
#[must_use]
pub fn surveys(datagram: &[u8]) -> Vec<Survey> {
    attributes_of(datagram, command::NEW_SURVEY_RESULTS)
        .map(Survey::decode)
        .collect()
}

/// Returns the events in a datagram. Other events are skipped.
#[must_use]
pub fn events(datagram: &[u8]) -> Vec<Event> {
    Messages(datagram).filter_map(Event::decode).collect()
}

fn attributes_of(datagram: &[u8], command: u8) -> impl Iterator<Item = Attributes<'_>> {
    let wanted = Messages(datagram).filter(move |message| message.command() == Some(command));
    wanted.map(Message::attributes)
}

impl Interface {
    /// Returns `None` without an index and a name: devices without a network interface have neither.
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
        let info = from.nested(attr::STA_INFO);
        // Both are reported; the 32-bit counter wraps after 4 GiB.
        let bytes = |long, short| info.u64(long).or_else(|| info.u32(short).map(u64::from));
        let level = |kind| info.u8(kind).map(u8::cast_signed);
        Station {
            mac: from.get(attr::MAC).and_then(Mac::from_bytes),
            inactive_ms: info.u32(sta::INACTIVE_TIME),
            signal_dbm: level(sta::SIGNAL),
            signal_average_dbm: level(sta::SIGNAL_AVG),
            rx: Rate::decode(info.nested(sta::RX_BITRATE)),
            tx: Rate::decode(info.nested(sta::TX_BITRATE)),
            rx_bytes: bytes(sta::RX_BYTES64, sta::RX_BYTES),
            tx_bytes: bytes(sta::TX_BYTES64, sta::TX_BYTES),
            rx_packets: info.u32(sta::RX_PACKETS),
            tx_packets: info.u32(sta::TX_PACKETS),
            tx_retries: info.u32(sta::TX_RETRIES),
            tx_failed: info.u32(sta::TX_FAILED),
            beacon_loss: info.u32(sta::BEACON_LOSS),
            connected_s: info.u32(sta::CONNECTED_TIME),
        }
    }
}

impl Survey {
    fn decode(from: Attributes<'_>) -> Survey {
        let info = from.nested(attr::SURVEY_INFO);
        Survey {
            frequency_mhz: info.u32(survey::FREQUENCY),
            noise_dbm: info.u8(survey::NOISE).map(u8::cast_signed),
            in_use: info.has(survey::IN_USE),
            active_ms: info.u64(survey::TIME),
            busy_ms: info.u64(survey::TIME_BUSY),
            receiving_ms: info.u64(survey::TIME_RX),
            sending_ms: info.u64(survey::TIME_TX),
        }
    }
}

impl Event {
    fn decode(message: Message<'_>) -> Option<Event> {
        let command = message.command()?;
        let from = message.attributes();
        let index = from.u32(attr::IFINDEX)?;
        let bssid = || {
            // Of several links, the first one. Its address is nested.
            let link = from.nested(attr::MLO_LINKS).next().map(|link| Attributes(link.value));
            let link = link.and_then(|link| link.get(attr::MAC)).and_then(Mac::from_bytes);
            link.or_else(|| from.get(attr::MAC).and_then(Mac::from_bytes))
        };
        match command {
            command::CONNECT => Some(Event::Connected {
                index,
                bssid: bssid(),
                // An attempt that timed out has no status.
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
            command::TRIGGER_SCAN => Some(Event::ScanStarted { index }),
            command::NEW_SCAN_RESULTS => Some(Event::ScanEnded { index, aborted: false }),
            command::SCAN_ABORTED => Some(Event::ScanEnded { index, aborted: true }),
            _ => None,
        }
    }
}

impl Mac {
    fn from_bytes(value: &[u8]) -> Option<Mac> {
        Some(Mac(value.get(..6)?.try_into().ok()?))
    }
}
