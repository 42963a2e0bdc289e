//! Output of iw(8): `dev`, `station dump -v`, `survey dump`.

use crate::state::{Backlog, StationState, SurveyState};
use netburn_record::Bssid;

/// Most stations of an interface that are read.
const MAX_STATIONS: usize = 512;
/// Place of the queued bytes in a row of `TXQs`, behind the number of the TID.
const QUEUED_BYTES: usize = 1;
const QUEUED_PACKETS: usize = 2;
const DROPS: usize = 4;
const MARKS: usize = 5;

/// One interface of `iw dev`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Device {
    pub(crate) name: String,
    /// Lines of the interface as topic and text: `channel`, `36 (5180 MHz), width: 80 MHz, center1: 5210 MHz`.
    pub(crate) facts: Vec<(String, String)>,
}

/// Topics of `iw dev` that describe an access point.
const TOPICS: [&str; 5] = ["type", "ssid", "addr", "channel", "txpower"];

/// Interfaces of `iw dev`.
pub(crate) fn devices(text: &str) -> Vec<Device> {
    let mut devices: Vec<Device> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.trim().strip_prefix("Interface ") {
            devices.push(Device {
                name: name.to_owned(),
                facts: Vec::new(),
            });
            continue;
        }
        let Some(device) = devices.last_mut() else { continue };
        if let Some((topic, fact)) = line.trim().split_once(' ')
            && TOPICS.contains(&topic)
        {
            device.facts.push((topic.to_owned(), fact.trim().to_owned()));
        }
    }
    devices
}

/// The frequency and the width in MHz of a fact such as `36 (5180 MHz), width: 80 MHz, center1: 5210 MHz`.
pub(crate) fn channel(fact: &str) -> (Option<u32>, Option<u32>) {
    let frequency = fact.split_once('(').and_then(|(_, rest)| leading(rest));
    let width = fact.split_once("width: ").and_then(|(_, rest)| leading(rest));
    (frequency, width)
}

/// The power of a fact such as `20.00 dBm`, in hundredths of a dBm.
pub(crate) fn power(fact: &str) -> Option<i64> {
    hundredths(fact.split_whitespace().next()?)
}

/// Stations of `iw dev NAME station dump`, with or without -v.
pub(crate) fn stations(interface: &str, text: &str) -> Vec<StationState> {
    let mut stations: Vec<StationState> = Vec::new();
    let mut in_queues = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("Station ") {
            in_queues = false;
            let address = rest.split_whitespace().next().and_then(|word| word.parse().ok());
            let Some(address) = address.filter(|_| stations.len() < MAX_STATIONS) else {
                break;
            };
            stations.push(StationState::new(interface, address));
            continue;
        }
        let Some(station) = stations.last_mut() else { continue };
        let Some((topic, value)) = line.trim().split_once(':') else {
            if in_queues {
                queue(station, line);
            }
            continue;
        };
        in_queues = topic == "TXQs";
        fact(station, topic, value.trim());
    }
    stations.iter_mut().for_each(StationState::drop_unreported);
    stations
}

/// A line of a station with a topic.
fn fact(station: &mut StationState, topic: &str, value: &str) {
    match topic {
        "rx bytes" => station.bytes_up = leading(value),
        "tx bytes" => station.bytes_down = leading(value),
        "tx retries" => station.retries = leading(value),
        "tx failed" => station.failed = leading(value),
        "signal" => station.signal = value.split_whitespace().next().and_then(hundredths),
        "tx bitrate" => station.rate_down = rate(value),
        "rx bitrate" => station.rate_up = rate(value),
        "tx duration" => station.airtime_down_us = leading(value),
        "rx duration" => station.airtime_up_us = leading(value),
        "connected time" => station.connected_s = leading(value),
        _ => {}
    }
}

/// A row of the queues of a station, one for each TID: TID, bytes, packets, flows, drops, marks and further numbers.
fn queue(station: &mut StationState, line: &str) {
    let numbers: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    if numbers.len() > MARKS {
        station.backlog.get_or_insert_default().add(&Backlog {
            bytes: numbers[QUEUED_BYTES],
            packets: numbers[QUEUED_PACKETS],
            drops: numbers[DROPS],
            marks: numbers[MARKS],
        });
    }
}

/// Channels of `iw dev NAME survey dump` that are in use.
pub(crate) fn surveys(interface: &str, text: &str) -> Vec<SurveyState> {
    let mut surveys: Vec<SurveyState> = Vec::new();
    let mut in_use = false;
    for line in text.lines() {
        let Some((topic, value)) = line.trim().split_once(':') else {
            if line.starts_with("Survey data") {
                in_use = false;
            }
            continue;
        };
        let value = value.trim();
        if topic == "frequency" {
            in_use = value.ends_with("[in use]");
            if in_use && let Some(frequency_mhz) = leading(value) {
                surveys.push(SurveyState::new(interface, frequency_mhz));
            }
            continue;
        }
        let Some(survey) = surveys.last_mut().filter(|_| in_use) else {
            continue;
        };
        match topic {
            "noise" => survey.noise = value.split_whitespace().next().and_then(hundredths),
            "channel active time" => survey.on_channel_ms = leading(value),
            "channel busy time" => survey.busy_ms = leading(value),
            "channel receive time" => survey.receiving_ms = leading(value),
            "channel transmit time" => survey.sending_ms = leading(value),
            _ => {}
        }
    }
    surveys
}

/// The number at the beginning of a text: `1234 us`.
fn leading<T: std::str::FromStr>(text: &str) -> Option<T> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// A number with at most two decimal places in hundredths: `-30.5`.
fn hundredths(word: &str) -> Option<i64> {
    let value: f64 = word.parse().ok().filter(|value: &f64| value.abs() < 1e6)?;
    Some((value * 100.0).round() as i64)
}

/// The rate of `866.7 MBit/s VHT-MCS 9 80MHz VHT-NSS 2` in bit/s. 802.11 has rates with one decimal place.
fn rate(value: &str) -> Option<u64> {
    let mut words = value.split_whitespace();
    let mbps: f64 = words.next()?.parse().ok()?;
    let is_rate = words.next() == Some("MBit/s") && (0.0..1e6).contains(&mbps);
    is_rate.then(|| (mbps * 10.0).round() as u64 * 100_000)
}

impl StationState {
    /// A driver that does not report airtime leaves it at 0.
    fn drop_unreported(&mut self) {
        if self.airtime_down_us.unwrap_or(0) == 0 && self.airtime_up_us.unwrap_or(0) == 0 {
            (self.airtime_down_us, self.airtime_up_us) = (None, None);
        }
    }

    fn new(interface: &str, address: Bssid) -> StationState {
        StationState {
            interface: interface.to_owned(),
            address,
            ..StationState::default()
        }
    }
}

impl SurveyState {
    fn new(interface: &str, frequency_mhz: u32) -> SurveyState {
        SurveyState {
            interface: interface.to_owned(),
            frequency_mhz,
            ..SurveyState::default()
        }
    }
}
