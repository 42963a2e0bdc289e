//! Kernel, drivers, firmware and station statistics of a machine.

use super::debugfs;
use netburn_platform::wifi::Station;
use netburn_platform::wifi::nl80211::anonymizer::Anonymizer;
use netburn_record::Host;
use netburn_report::sanitise::sanitise;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Facts about the machine that wrote a bundle. Unknown values are empty or missing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct System {
    host: Host,
    interfaces: Vec<Interface>,
    stations: Vec<StationFacts>,
    /// Files of mac80211 below /sys/kernel/debug/ieee80211; empty without permission.
    debugfs: BTreeMap<String, String>,
    /// Facts that could not be read, with the reasons.
    problems: Vec<String>,
}

/// A network interface with a device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
struct Interface {
    name: String,
    wifi: bool,
    driver: String,
    driver_version: String,
    firmware: String,
    bus: String,
}

/// A peer of a Wi-Fi interface: the access point of a client, or a client of an access point.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
struct StationFacts {
    mac: Option<String>,
    inactive_ms: Option<u32>,
    connected_s: Option<u32>,
    signal_dbm: Option<i8>,
    signal_average_dbm: Option<i8>,
    rx_rate_bps: Option<u64>,
    tx_rate_bps: Option<u64>,
    rx_bytes: Option<u64>,
    tx_bytes: Option<u64>,
    rx_packets: Option<u32>,
    tx_packets: Option<u32>,
    tx_retries: Option<u32>,
    tx_failed: Option<u32>,
    beacon_loss: Option<u32>,
}

impl System {
    /// Facts about this machine.
    pub(super) fn here(
        stations: Vec<Station>,
        problem: Option<String>,
        mut anonymizer: Option<&mut Anonymizer>,
    ) -> Self {
        let mut problems: Vec<String> = problem.into_iter().collect();
        if let Err(error) = std::fs::read_dir(debugfs::FOLDER) {
            problems.push(format!("{}: {error}", debugfs::FOLDER));
        }
        let mut host = Host::here();
        if anonymizer.is_some() {
            "host".clone_into(&mut host.name);
        }
        System {
            host,
            interfaces: interfaces(anonymizer.as_deref_mut(), &mut problems),
            stations: stations.iter().map(StationFacts::from).collect(),
            debugfs: debugfs::statistics(debugfs::FOLDER.as_ref(), anonymizer),
            problems,
        }
    }

    /// Lines for people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let host = &self.host;
        let _ = writeln!(
            text,
            "\nSystem: {}, kernel {}, {}, {} processors",
            sanitise(&host.os),
            sanitise(&host.kernel),
            sanitise(&host.cpu),
            host.cores
        );
        for one in &self.interfaces {
            let _ = write!(
                text,
                "  {}: driver {} {}",
                sanitise(&one.name),
                sanitise(&one.driver),
                sanitise(&one.driver_version)
            );
            for (what, value) in [("firmware", &one.firmware), ("bus", &one.bus)] {
                if !value.is_empty() {
                    let _ = write!(text, ", {what} {}", sanitise(value));
                }
            }
            text.push('\n');
        }
        for one in &self.stations {
            let _ = writeln!(text, "  {}", one.text());
        }
        if !self.debugfs.is_empty() {
            let _ = writeln!(text, "  {} files of mac80211 in system.json", self.debugfs.len());
        }
        for problem in &self.problems {
            let _ = writeln!(text, "  not read: {}", sanitise(problem));
        }
        text
    }
}

impl StationFacts {
    fn text(&self) -> String {
        let mbps = |bps: u64| format!("{:.1} Mbit/s", bps as f64 / 1e6);
        let facts = [
            self.signal_dbm.map(|signal| format!("{signal} dBm")),
            self.rx_rate_bps.map(|rate| format!("receives at {}", mbps(rate))),
            self.tx_rate_bps.map(|rate| format!("sends at {}", mbps(rate))),
            self.tx_packets
                .zip(self.tx_retries)
                .map(|(sent, again)| format!("{again} retransmissions of {sent} frames")),
            self.tx_failed.map(|failed| format!("{failed} dropped")),
            self.beacon_loss.map(|missed| format!("{missed} missed beacons")),
        ];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        let mac = self.mac.as_deref().unwrap_or("unknown address");
        format!("peer {}: {}", sanitise(mac), facts.join(", "))
    }
}

impl From<&Station> for StationFacts {
    fn from(station: &Station) -> Self {
        StationFacts {
            mac: station.mac.map(|mac| mac.to_string()),
            inactive_ms: station.inactive_ms,
            connected_s: station.connected_s,
            signal_dbm: station.signal_dbm,
            signal_average_dbm: station.signal_average_dbm,
            rx_rate_bps: station.rx.bps,
            tx_rate_bps: station.tx.bps,
            rx_bytes: station.rx_bytes,
            tx_bytes: station.tx_bytes,
            rx_packets: station.rx_packets,
            tx_packets: station.tx_packets,
            tx_retries: station.tx_retries,
            tx_failed: station.tx_failed,
            beacon_loss: station.beacon_loss,
        }
    }
}

/// The interfaces of devices with their drivers. Virtual interfaces have no device.
#[cfg(target_os = "linux")]
fn interfaces(mut anonymizer: Option<&mut Anonymizer>, problems: &mut Vec<String>) -> Vec<Interface> {
    let folder = match std::fs::read_dir("/sys/class/net") {
        Ok(folder) => folder,
        Err(error) => {
            problems.push(format!("/sys/class/net: {error}"));
            return Vec::new();
        }
    };
    let mut names: Vec<String> = folder
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let described = names.iter().filter_map(|name| {
        let path = std::path::Path::new("/sys/class/net").join(name);
        if !path.join("device").exists() {
            return None;
        }
        let shown = match &mut anonymizer {
            Some(anonymizer) => anonymizer.interface(name),
            None => name.clone(),
        };
        let driver = netburn_platform::ethtool::driver(name).unwrap_or_else(|error| {
            problems.push(format!("driver of {shown}: {error}"));
            netburn_platform::ethtool::Driver::default()
        });
        Some(Interface {
            name: shown,
            wifi: path.join("phy80211").exists(),
            driver: driver.name,
            driver_version: driver.version,
            firmware: driver.firmware,
            bus: driver.bus,
        })
    });
    described.collect()
}

/// Only Linux describes drivers in this way.
#[cfg(not(target_os = "linux"))]
fn interfaces(_anonymizer: Option<&mut Anonymizer>, _problems: &mut Vec<String>) -> Vec<Interface> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_platform::wifi::Mac;

    #[test]
    fn the_facts_are_printed_without_control_characters() {
        let system = System {
            host: Host {
                os: "Debian\u{1b}[2J 12".into(),
                kernel: "6.1.0".into(),
                cpu: "a processor".into(),
                cores: 2,
                ..Host::default()
            },
            interfaces: vec![Interface {
                name: "wlan0".into(),
                wifi: true,
                driver: "ath9k".into(),
                driver_version: "6.1.0".into(),
                firmware: "1.4".into(),
                bus: String::new(),
            }],
            stations: vec![StationFacts::from(&Station {
                mac: Some(Mac([2, 0, 0, 0, 0, 1])),
                signal_dbm: Some(-61),
                tx_packets: Some(200),
                tx_retries: Some(30),
                ..Station::default()
            })],
            debugfs: BTreeMap::new(),
            problems: vec!["Wi-Fi: this kernel has no Wi-Fi".into()],
        };
        let read: System = serde_json::from_str(&serde_json::to_string(&system).unwrap()).unwrap();
        assert_eq!(read, system);
        let text = read.text();
        assert!(!text.contains('\u{1b}'));
        assert!(text.contains("  wlan0: driver ath9k 6.1.0, firmware 1.4\n"), "{text}");
        let peer = "  peer 02:00:00:00:00:01: -61 dBm, 30 retransmissions of 200 frames\n";
        assert!(text.contains(peer), "{text}");
        assert!(
            text.ends_with("  not read: Wi-Fi: this kernel has no Wi-Fi\n"),
            "{text}"
        );
    }
}
