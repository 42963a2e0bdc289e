//! Files of mac80211 in debugfs (net/mac80211/debugfs_sta.c): `airtime`, `aql`, `aqm` of a station.

use crate::state::{Backlog, StationState};
use netburn_record::Bssid;

/// Adds the file of a station, `…/netdev:wlan0/stations/02:00:00:00:01:00/airtime`, to its state.
pub(crate) fn add(stations: &mut [StationState], path: &str, text: &str) {
    let mut parts = path.rsplit('/');
    let (Some(file), Some(address)) = (parts.next(), parts.next()) else {
        return;
    };
    let interface = parts.nth(1).and_then(|folder| folder.strip_prefix("netdev:"));
    let (Some(interface), Ok(address)) = (interface, address.parse::<Bssid>()) else {
        return;
    };
    let found = stations
        .iter_mut()
        .find(|station| station.address == address && station.interface == interface);
    let Some(station) = found else { return };
    match file {
        "airtime" => airtime(station, text),
        "aql" => pending(station, text),
        "aqm" => queues(station, text),
        _ => {}
    }
}

/// `RX: 1234 us`, `TX: 5678 us`, and on some kernels `Q depth`.
fn airtime(station: &mut StationState, text: &str) {
    for line in text.lines() {
        let Some((topic, value)) = line.split_once(':') else {
            continue;
        };
        let us = value.split_whitespace().next().and_then(|word| word.parse().ok());
        match topic {
            "RX" => station.airtime_up_us = us.or(station.airtime_up_us),
            "TX" => station.airtime_down_us = us.or(station.airtime_down_us),
            _ => {}
        }
    }
    pending(station, text);
}

/// `Q depth: VO: 0 us VI: 0 us BE: 120 us BK: 0 us`.
fn pending(station: &mut StationState, text: &str) {
    let Some(depth) = text.lines().find_map(|line| line.strip_prefix("Q depth:")) else {
        return;
    };
    let categories = depth
        .split(" us")
        .filter_map(|part| part.rsplit_once(": ")?.1.parse::<u64>().ok());
    station.pending_us = Some(categories.fold(0, u64::saturating_add));
}

/// A line for each TID: `tid ac backlog-bytes backlog-packets new-flows drops marks overlimit collisions tx-bytes …`.
fn queues(station: &mut StationState, text: &str) {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("tid "));
    let Some(title) = lines.next() else { return };
    let place = |name: &str| title.split_whitespace().position(|word| word == name);
    let (Some(bytes), Some(packets), Some(drops), Some(marks)) = (
        place("backlog-bytes"),
        place("backlog-packets"),
        place("drops"),
        place("marks"),
    ) else {
        return;
    };
    let mut sum = Backlog::default();
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |place: usize| words.get(place).and_then(|word| word.parse().ok());
        if let (Some(bytes), Some(packets), Some(drops), Some(marks)) =
            (number(bytes), number(packets), number(drops), number(marks))
        {
            sum.add(&Backlog {
                bytes,
                packets,
                drops,
                marks,
            });
        }
    }
    station.backlog = Some(sum);
}
