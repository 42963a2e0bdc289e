//! Rows of samples, and texts of events.

use netburn_platform::wifi::{Channel, Generation, LinkSample, Rate, Station};
use netburn_record::{Bssid, LinkRow, Modulation, Phy};
use netburn_units::Instant;

/// Row of a sample, without station and time.
pub(super) fn row(sample: &LinkSample, [busy_ppm, receiving_ppm, sending_ppm]: [Option<u32>; 3]) -> LinkRow {
    let station = sample.station.unwrap_or_default();
    let channel = sample.interface.channel;
    let hundredths = |dbm: i8| i32::from(dbm) * 100;
    LinkRow {
        station: 0,
        at: Instant::ZERO,
        signal: station.signal_dbm.map(hundredths),
        rx_rate_bps: station.rx.bps,
        tx_rate_bps: station.tx.bps,
        ssid: sample.interface.ssid.as_deref().map(readable),
        bssid: station.mac.map(|mac| Bssid(mac.0)),
        frequency_mhz: channel.map(|channel| channel.frequency_mhz),
        width_mhz: channel.and_then(|channel| channel.width_mhz),
        signal_average: station.signal_average_dbm.map(hundredths),
        noise: sample.survey.and_then(|survey| survey.noise_dbm).map(hundredths),
        rx: modulation(station.rx),
        tx: modulation(station.tx),
        rx_bytes: station.rx_bytes,
        tx_bytes: station.tx_bytes,
        tx_packets: station.tx_packets.map(u64::from),
        tx_retries: station.tx_retries.map(u64::from),
        tx_failed: station.tx_failed.map(u64::from),
        inactive_ms: station.inactive_ms.map(u64::from),
        busy_ppm,
        receiving_ppm,
        sending_ppm,
    }
}

fn modulation(rate: Rate) -> Modulation {
    Modulation {
        phy: rate.generation.map(|generation| match generation {
            Generation::Legacy => Phy::Legacy,
            Generation::Ht => Phy::Ht,
            Generation::Vht => Phy::Vht,
            Generation::He => Phy::He,
            Generation::Eht => Phy::Eht,
        }),
        mcs: rate.mcs,
        nss: rate.nss,
        width_mhz: rate.width_mhz,
        guard_ns: rate.guard_ns,
    }
}

/// SSID for display: up to 32 bytes, with invalid UTF-8 and control characters replaced.
fn readable(ssid: &[u8]) -> String {
    let text = String::from_utf8_lossy(&ssid[..ssid.len().min(32)]);
    let printable = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().map(printable).collect()
}

/// Differences between the first and the last sample.
pub(super) fn changes(first: &LinkSample, last: &LinkSample) -> Vec<String> {
    let mut changes = Vec::new();
    let mut change = |what: &str, before: Option<String>, after: Option<String>| {
        if let (Some(before), Some(after)) = (before, after)
            && before != after
        {
            changes.push(format!("{what} {before}, then {after}"));
        }
    };
    let ssid = |sample: &LinkSample| {
        sample
            .interface
            .ssid
            .as_deref()
            .map(|ssid| format!("`{}`", readable(ssid)))
    };
    let bssid = |sample: &LinkSample| {
        sample
            .station
            .and_then(|station| station.mac)
            .map(|mac| mac.to_string())
    };
    let channel = |sample: &LinkSample| sample.interface.channel.map(channel_text);
    change("network", ssid(first), ssid(last));
    change("access point", bssid(first), bssid(last));
    change("channel", channel(first), channel(last));
    // Beacons use the lowest legacy rate, and the last frame from the access point may be one.
    let data = |rate: Rate| rate.bps.filter(|_| rate.generation != Some(Generation::Legacy));
    let to: fn(Station) -> Rate = |station| station.tx;
    for (what, of) in [
        ("rate to the access point", to),
        ("rate from the access point", |station| station.rx),
    ] {
        let of = |station| data(of(station));
        let (before, after) = (first.station.and_then(of), last.station.and_then(of));
        if let (Some(before), Some(after)) = (before, after)
            && (after < before / 2 || before < after / 2)
        {
            changes.push(format!("{what} {} Mbit/s, then {}", mbps(before), mbps(after)));
        }
    }
    changes
}

pub(super) fn channel_text(channel: Channel) -> String {
    match channel.width_mhz {
        Some(width) => format!("{} MHz, {width} MHz wide", channel.frequency_mhz),
        None => format!("{} MHz", channel.frequency_mhz),
    }
}

pub(super) fn reason_suffix(reason: Option<u16>) -> String {
    reason.map_or_else(String::new, |reason| format!(" (reason {reason})"))
}

pub(super) fn mbps(bps: u64) -> String {
    let tenths = bps / 100_000;
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        tenth => format!("{}.{tenth}", tenths / 10),
    }
}
