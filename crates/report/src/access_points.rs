//! Reports of observed access points: a sentence, the devices on them, and their queues.

use crate::sanitise::sanitise;
use crate::table::{Cell, Table, numbers, right, words};
use netburn_analysis::format::{mbps, percent, short, span};
use netburn_record::Summary;
use netburn_record::summary::{AccessPointSummary, ObservedQueue, ObservedStation};

/// Most queues of an access point in a table: those that dropped or marked most.
const MAX_QUEUES: usize = 8;
/// Most devices of an access point in a table: those that used most airtime, and all stations of the run.
const MAX_DEVICES: usize = 16;

/// Text below the tables.
pub(crate) const NOTE: &str = "Values are those of the access point's driver. Down is from the access point to the device. A device without \
     a name is none that netburn recognised by its IP address.";

/// A line about each access point.
pub(crate) fn lines(summary: &Summary) -> Vec<String> {
    summary.access_points.iter().map(line).collect()
}

fn line(access_point: &AccessPointSummary) -> String {
    let name = sanitise(&access_point.name);
    let what = access_point
        .facts
        .get("model")
        .or_else(|| access_point.facts.get("system"));
    let mut facts = Vec::new();
    facts.extend(what.map(|what| sanitise(what)));
    for radio in &access_point.radios {
        let Some(busy) = radio.busy_share else { continue };
        let interface = sanitise(&radio.interface);
        facts.push(format!("the channel of {interface} {} busy", percent(busy)));
    }
    if let Some([mean, most]) = access_point.processor_busy {
        facts.push(format!(
            "its busiest processor in use for {} of the time ({} at most)",
            percent(mean),
            percent(most)
        ));
    }
    if access_point.softnet_dropped > 0 {
        facts.push(format!(
            "{} packets dropped by its processors",
            access_point.softnet_dropped
        ));
    }
    if let Some(cost) = access_point.observer_share {
        facts.push(format!("the observation itself used {} of a processor", percent(cost)));
    }
    if access_point.restarts > 0 {
        facts.push("it started again during the run".to_owned());
    }
    if access_point.lost > 0 {
        facts.push("a part of the run was not observed".to_owned());
    }
    if access_point.samples == 0 {
        return format!("Access point {name}: it was not observed during the load.");
    }
    match facts.len() {
        0 => format!("Access point {name}: no values."),
        _ => format!("Access point {name}: {}.", facts.join(", ")),
    }
}

/// The devices on the access points; no rows without any.
pub(crate) fn devices(summary: &Summary) -> Table {
    let mut rows = Vec::new();
    for access_point in &summary.access_points {
        let mut devices: Vec<&ObservedStation> = access_point.stations.iter().collect();
        let used = |device: &ObservedStation| device.airtime_share.unwrap_or(0.0);
        devices.sort_by(|a, b| {
            let key = |device: &ObservedStation| device.station.is_none();
            key(a).cmp(&key(b)).then(used(b).total_cmp(&used(a)))
        });
        rows.extend(
            devices
                .into_iter()
                .take(MAX_DEVICES)
                .map(|device| row(access_point, device)),
        );
    }
    Table {
        caption: "Devices on the access points",
        columns: vec![
            words("access point").once(),
            words("device"),
            right("signal dBm"),
            right("Mbit/s down"),
            right("Mbit/s up"),
            numbers("airtime"),
            numbers("retries"),
            numbers("given up"),
            numbers("queued packets"),
            numbers("drops"),
        ],
        keys: 2,
        rows,
    }
}

fn row(access_point: &AccessPointSummary, device: &ObservedStation) -> Vec<Cell> {
    let range = |ends: Option<[f64; 2]>| match ends {
        Some([low, high]) if low == high => short(low).into(),
        Some([low, high]) => format!("{} to {}", short(low), short(high)).into(),
        None => Cell::unknown(),
    };
    let known = |value: Option<String>| value.map_or_else(Cell::unknown, Cell::from);
    let name = device.station.as_ref().unwrap_or(&device.address);
    vec![
        format!("{} {}", access_point.name, device.interface).into(),
        name.as_str().into(),
        range(device.signal_dbm),
        range(device.down_mbps),
        range(device.up_mbps),
        known(device.airtime_share.map(percent)),
        device.retries.to_string().into(),
        device.failed.to_string().into(),
        known(device.max_queued_packets.map(|packets| packets.to_string())),
        device.drops.to_string().into(),
    ]
}

/// The queues of the access points' network interfaces that sent something; no rows without any.
pub(crate) fn queues(summary: &Summary) -> Table {
    let mut rows = Vec::new();
    for access_point in &summary.access_points {
        let mut queues: Vec<&ObservedQueue> = access_point.queues.iter().collect();
        queues.retain(|queue| queue.mbps.is_some_and(|mbps| mbps > 0.0));
        queues.sort_by_key(|queue| {
            std::cmp::Reverse((queue.shaper_mbps.is_some(), queue.drops.saturating_add(queue.marks)))
        });
        rows.extend(queues.into_iter().take(MAX_QUEUES).map(|queue| {
            let rate = |rate: Option<f64>| rate.map_or_else(Cell::unknown, |rate| mbps(rate).into());
            vec![
                access_point.name.as_str().into(),
                queue.name.as_str().into(),
                rate(queue.mbps),
                rate(queue.shaper_mbps),
                queue
                    .max_delay_ms
                    .map_or_else(Cell::unknown, |delay| span(delay).into()),
                queue.drops.to_string().into(),
                queue.marks.to_string().into(),
            ]
        }));
    }
    Table {
        caption: "Queues of the access points",
        columns: vec![
            words("access point").once(),
            words("queue"),
            right("Mbit/s"),
            right("shaper Mbit/s"),
            numbers("delay, max"),
            numbers("drops"),
            numbers("marks"),
        ],
        keys: 2,
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::summary::ObservedRadio;

    #[test]
    fn the_line_has_what_is_known() {
        let mut access_point = AccessPointSummary {
            name: "hall\u{1b}[2J".to_owned(),
            ..AccessPointSummary::default()
        };
        assert!(line(&access_point).ends_with(": it was not observed during the load."));
        access_point.samples = 20;
        assert!(line(&access_point).ends_with(": no values."));
        access_point.facts.insert("model".to_owned(), "Archer C7 v2".to_owned());
        access_point.radios.push(ObservedRadio {
            interface: "wlan0".to_owned(),
            busy_share: Some(0.62),
            ..ObservedRadio::default()
        });
        access_point.processor_busy = Some([0.25, 0.9]);
        access_point.observer_share = Some(0.012);
        access_point.lost = 1;
        let line = line(&access_point);
        assert!(!line.contains('\u{1b}'));
        assert!(
            line.ends_with(
                ": Archer C7 v2, the channel of wlan0 62 % busy, its busiest processor in use for 25 % of the time (90 % at \
                 most), the observation itself used 1.2 % of a processor, a part of the run was not observed."
            ),
            "{line}"
        );
    }
}
