//! Reports of observed access points: a sentence, the devices on them, and their queues.

use crate::sanitise::sanitise;
use crate::table::{Cell, Table, numbers, right, words};
use netburn_analysis::format::{mbps, percent, short, span};
use netburn_record::Logged;
use netburn_record::Summary;
use netburn_record::summary::{AccessPointSummary, ObservedEvent, ObservedQueue, ObservedStation};
use std::collections::BTreeMap;

/// Most queues of an access point in a table: those that dropped or marked most.
const MAX_QUEUES: usize = 8;
/// Most devices of an access point in a table: those that used most airtime, and all stations of the run.
const MAX_DEVICES: usize = 16;

/// Most curves in a chart: the stations of the run, and those with the highest values.
pub(crate) const MAX_CURVES: usize = 10;
/// Most events of a device in a table.
const MAX_EVENTS: usize = 12;
/// Largest difference of the times of two messages about one change, in s. Logs have whole seconds.
const SAME_S: f64 = 2.0;

/// The same for a change of a channel, whose settings are read again after 30 s at the latest.
const SAME_CHANNEL_S: f64 = 45.0;

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
    if let Some(before) = access_point.log_incomplete_before_s {
        facts.push(format!("events of its log before {before:.0} s may be missing"));
    }
    if access_point.more_events > 0 {
        facts.push(format!("{} further events in its log", access_point.more_events));
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

/// Messages in the logs of the access points: by device, and then those about channels. No rows without any.
pub(crate) fn events(access_points: &[AccessPointSummary]) -> Table {
    let mut rows = Vec::new();
    for access_point in access_points {
        let mut subjects: BTreeMap<(bool, &str), Vec<&ObservedEvent>> = BTreeMap::new();
        for event in &access_point.events {
            let device = event.station.as_ref().or(event.address.as_ref());
            let key = (event.station.is_none(), device.map_or("", String::as_str));
            subjects.entry(key).or_default().push(event);
        }
        for ((_, device), events) in subjects {
            let shown = without_repetition(&events);
            let more = shown.len().saturating_sub(MAX_EVENTS);
            let device = if device.is_empty() { "the radio" } else { device };
            for (event, count) in shown.into_iter().take(MAX_EVENTS) {
                let times = if count > 1 {
                    format!(" ({count} times)")
                } else {
                    String::new()
                };
                rows.push(event_row(
                    access_point,
                    device,
                    event,
                    &format!("{}{times}", event.what),
                ));
            }
            if more > 0 {
                let last = events[events.len() - 1];
                rows.push(event_row(
                    access_point,
                    device,
                    last,
                    &format!("{more} further events until here"),
                ));
            }
        }
    }
    Table {
        caption: "What the access points logged",
        columns: vec![words("device").once(), numbers("at"), words("where"), words("event")],
        keys: 1,
        rows,
    }
}

fn event_row(access_point: &AccessPointSummary, device: &str, event: &ObservedEvent, text: &str) -> Vec<Cell> {
    let interface = event.interface.as_deref().unwrap_or_default();
    vec![
        device.into(),
        format!("{:.0} s", event.at_s).into(),
        format!("{} {interface}", access_point.name).trim_end().into(),
        text.into(),
    ]
}

/// Events of one device without those that another one implies, and how often each of them was repeated.
fn without_repetition<'a>(events: &[&'a ObservedEvent]) -> Vec<(&'a ObservedEvent, usize)> {
    let mut shown: Vec<(&ObservedEvent, usize)> = Vec::new();
    for (place, event) in events.iter().enumerate() {
        let is_near = |other: &&&ObservedEvent| (other.at_s - event.at_s).abs() <= SAME_S;
        let before = || events[..place].iter().rev().take_while(is_near);
        let after = || events[place + 1..].iter().take_while(is_near);
        let is_implied = match &event.what {
            Logged::Associated => after().any(|other| other.what == Logged::Connected),
            Logged::Connected => after().any(|other| matches!(other.what, Logged::Roamed { .. })),
            Logged::Disconnected => before().chain(after()).any(|other| is_end(&other.what)),
            Logged::Deauthenticated { .. } => before().any(|other| is_end(&other.what)),
            // Several networks of one radio, and the log as well as the settings that were read again.
            Logged::ChannelChanged { .. } => events[..place]
                .iter()
                .rev()
                .take_while(|other| event.at_s - other.at_s <= SAME_CHANNEL_S)
                .any(|other| other.what == event.what),
            _ => false,
        };
        if is_implied {
            continue;
        }
        match shown.last_mut() {
            Some((last, count)) if last.what == event.what && last.interface == event.interface => *count += 1,
            _ => shown.push((event, 1)),
        }
    }
    shown
}

const fn is_end(what: &Logged) -> bool {
    matches!(what, Logged::Disassociated { .. } | Logged::Deauthenticated { .. })
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
    use netburn_record::LeaveCause;
    use netburn_record::summary::ObservedRadio;

    fn event(at_s: f64, what: Logged) -> ObservedEvent {
        ObservedEvent {
            at_s,
            station: Some("phone".to_owned()),
            address: None,
            interface: Some("wlan0".to_owned()),
            what,
        }
    }

    #[test]
    fn one_change_is_one_line() {
        let cause = LeaveCause::AccessPoint;
        let events = [
            event(1.0, Logged::Associated),
            event(2.0, Logged::Connected),
            event(10.0, Logged::KeyTimeout),
            event(11.0, Logged::KeyTimeout),
            event(12.0, Logged::Disconnected),
            event(12.0, Logged::Disassociated { cause }),
            event(13.0, Logged::Deauthenticated { cause }),
            event(20.0, Logged::Associated),
        ];
        let all: Vec<&ObservedEvent> = events.iter().collect();
        let shown = without_repetition(&all);
        let texts: Vec<(String, usize)> = shown
            .iter()
            .map(|(event, count)| (event.what.to_string(), *count))
            .collect();
        let expected = [
            ("connected", 1),
            ("did not answer the key handshake in time", 2),
            ("disassociated: the access point ended the connection", 1),
            ("associated", 1),
        ];
        assert_eq!(texts, expected.map(|(text, count)| (text.to_owned(), count)));
    }

    #[test]
    fn a_device_with_many_events_has_few_lines() {
        let flapping = |second: u32| {
            let what = if second.is_multiple_of(2) {
                Logged::Connected
            } else {
                Logged::KeyTimeout
            };
            event(f64::from(second) * 5.0, what)
        };
        let hall = AccessPointSummary {
            name: "hall".to_owned(),
            events: (0..40).map(flapping).collect(),
            ..AccessPointSummary::default()
        };
        let table = events(&[hall]);
        assert_eq!(table.rows.len(), MAX_EVENTS + 1);
    }

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
