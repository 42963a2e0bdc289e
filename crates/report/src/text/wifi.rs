//! A line about the Wi-Fi link of each station.

use crate::sanitise::sanitise;
use netburn_analysis::format::{percent, short};
use netburn_record::Summary;
use netburn_record::summary::WifiSummary;

/// `laptop's Wi-Fi: …`, for stations whose driver reported something.
pub(crate) fn lines(summary: &Summary) -> Vec<String> {
    let stations = summary.stations.iter();
    let lines = stations.filter_map(|station| Some(line(&sanitise(&station.name), station.wifi.as_ref()?)));
    lines.collect()
}

fn line(name: &str, wifi: &WifiSummary) -> String {
    let mut facts = Vec::new();
    if let Some(ssid) = &wifi.ssid {
        facts.push(format!("`{}`", sanitise(ssid)));
    }
    match (wifi.frequency_mhz, wifi.width_mhz) {
        (Some(frequency), Some(width)) => facts.push(format!("{}, {width} MHz wide", channel(frequency))),
        (Some(frequency), None) => facts.push(channel(frequency)),
        (None, _) => {}
    }
    if let Some(range) = wifi.signal_dbm {
        facts.push(format!("signal {} dBm", span(range)));
    }
    if let Some(range) = wifi.rx_mbps {
        facts.push(format!("{} Mbit/s down", span(range)));
    }
    if let Some(range) = wifi.tx_mbps {
        facts.push(format!("{} up", span(range)));
    }
    if let Some(share) = wifi.busy_share {
        facts.push(format!("channel {} busy", percent(share)));
    }
    let roams = match wifi.roams {
        0 => "no roam".to_owned(),
        1 => format!("1 roam of {} ms", short(wifi.longest_gap_ms.round())),
        n => format!("{n} roams of up to {} ms", short(wifi.longest_gap_ms.round())),
    };
    facts.push(roams);
    format!("{name}'s Wi-Fi: {}.", facts.join(", "))
}

fn span([low, high]: [f64; 2]) -> String {
    if low == high {
        short(low)
    } else {
        format!("{} to {}", short(low), short(high))
    }
}

/// A channel's number and frequency (802.11-2020 annex E; 802.11ax-2021 27.3.23.2 for 6 GHz).
fn channel(mhz: u32) -> String {
    let number = match mhz {
        2484 => Some(14),
        2412..=2472 => Some((mhz - 2407) / 5),
        5000..=5895 => Some((mhz - 5000) / 5),
        5955..=7115 => Some((mhz - 5950) / 5),
        _ => None,
    };
    match number {
        Some(number) => format!("channel {number} ({mhz} MHz)"),
        None => format!("{mhz} MHz"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_are_one_line() {
        let wifi = WifiSummary {
            ssid: Some("Café\u{1b}[2J".to_owned()),
            frequency_mhz: Some(5180),
            width_mhz: Some(80),
            signal_dbm: Some([-68.0, -55.0]),
            rx_mbps: Some([433.3, 866.7]),
            tx_mbps: Some([866.7, 866.7]),
            busy_share: Some(0.43),
            roams: 1,
            longest_gap_ms: 350.4,
            ..WifiSummary::default()
        };
        let text = line("laptop", &wifi);
        assert!(text.starts_with("laptop's Wi-Fi: `Café"), "{text}");
        assert!(!text.contains('\u{1b}'));
        let rest = "channel 36 (5180 MHz), 80 MHz wide, signal -68 to -55 dBm, 433.3 to 866.7 Mbit/s down, 866.7 up, \
                    channel 43 % busy, 1 roam of 350 ms.";
        assert!(text.ends_with(rest), "{text}");
        assert_eq!(line("tv", &WifiSummary::default()), "tv's Wi-Fi: no roam.");
    }

    #[test]
    fn channels_have_their_numbers() {
        for (mhz, text) in [
            (2412, "channel 1 (2412 MHz)"),
            (2472, "channel 13 (2472 MHz)"),
            (2484, "channel 14 (2484 MHz)"),
            (5745, "channel 149 (5745 MHz)"),
            (5955, "channel 1 (5955 MHz)"),
            (6135, "channel 37 (6135 MHz)"),
            (902, "902 MHz"),
        ] {
            assert_eq!(channel(mhz), text);
        }
    }
}
