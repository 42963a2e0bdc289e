//! A station's Wi-Fi in a run; only for real links.

use crate::row::{EventKind, LinkRow};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A station's Wi-Fi in a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WifiSummary {
    /// The network's name, as it was last.
    pub ssid: Option<String>,
    /// The access point's radio, as it was last.
    pub bssid: Option<String>,
    /// Centre of its primary channel in MHz, as it was last.
    pub frequency_mhz: Option<u32>,
    /// Width of its channel in MHz, as it was last.
    pub width_mhz: Option<u32>,
    /// The weakest and the strongest signal in dBm.
    pub signal_dbm: Option<[f64; 2]>,
    /// The slowest and the fastest rate to the station.
    pub rx_mbps: Option<[f64; 2]>,
    /// The slowest and the fastest rate from it.
    pub tx_mbps: Option<[f64; 2]>,
    /// Mean share of the time in which its channel was busy, if its driver reports it.
    pub busy_share: Option<f64>,
    /// The access points' radios that it was joined to.
    pub access_points: u64,
    /// Number of roams between them.
    pub roams: u64,
    /// Longest interruption by a roam.
    pub longest_gap_ms: f64,
}

/// Counts for the summary of a link.
#[derive(Debug, Clone, Default)]
pub(crate) struct WifiEvidence {
    last: Option<LinkRow>,
    signal: Option<(i32, i32)>,
    rx: Option<(u64, u64)>,
    tx: Option<(u64, u64)>,
    busy: (u64, u64),
    bssids: BTreeSet<[u8; 6]>,
    roams: u64,
    longest: u64,
}

impl WifiEvidence {
    pub(crate) fn link(&mut self, row: &LinkRow) {
        if !row.is_real() {
            return;
        }
        let wider = |range: &mut Option<(u64, u64)>, value: Option<u64>| {
            if let Some(value) = value {
                let (low, high) = range.unwrap_or((value, value));
                *range = Some((low.min(value), high.max(value)));
            }
        };
        wider(&mut self.rx, row.rx_rate_bps);
        wider(&mut self.tx, row.tx_rate_bps);
        if let Some(signal) = row.signal {
            let (low, high) = self.signal.unwrap_or((signal, signal));
            self.signal = Some((low.min(signal), high.max(signal)));
        }
        if let Some(busy) = row.busy_ppm {
            self.busy = (self.busy.0.saturating_add(busy.into()), self.busy.1 + 1);
        }
        self.bssids.extend(row.bssid.map(|bssid| bssid.0));
        // A moment without a network does not make the network unknown.
        if row.ssid.is_some() || self.last.is_none() {
            self.last = Some(row.clone());
        }
    }

    pub(crate) fn event(&mut self, kind: EventKind, length: u64) {
        if kind == EventKind::Roam {
            self.roams += 1;
            self.longest = self.longest.max(length);
        }
    }

    /// Pools what another run counted.
    pub(crate) fn add(&mut self, other: WifiEvidence) {
        let wider = |one: Option<(u64, u64)>, other: Option<(u64, u64)>| match (one, other) {
            (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
            (one, other) => one.or(other),
        };
        self.rx = wider(self.rx, other.rx);
        self.tx = wider(self.tx, other.tx);
        self.signal = match (self.signal, other.signal) {
            (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
            (one, other) => one.or(other),
        };
        self.busy = (self.busy.0.saturating_add(other.busy.0), self.busy.1 + other.busy.1);
        self.bssids.extend(other.bssids);
        self.roams += other.roams;
        self.longest = self.longest.max(other.longest);
        self.last = other.last.or(self.last.take());
    }

    /// `None` if there was no real link.
    pub(crate) fn summary(self) -> Option<WifiSummary> {
        let last = self.last?;
        let mbps = |range: Option<(u64, u64)>| range.map(|(low, high)| [low as f64 / 1e6, high as f64 / 1e6]);
        Some(WifiSummary {
            ssid: last.ssid,
            bssid: last.bssid.map(|bssid| bssid.to_string()),
            frequency_mhz: last.frequency_mhz,
            width_mhz: last.width_mhz,
            signal_dbm: self
                .signal
                .map(|(low, high)| [f64::from(low) / 100.0, f64::from(high) / 100.0]),
            rx_mbps: mbps(self.rx),
            tx_mbps: mbps(self.tx),
            busy_share: (self.busy.1 > 0).then(|| self.busy.0 as f64 / self.busy.1 as f64 / 1e6),
            access_points: self.bssids.len() as u64,
            roams: self.roams,
            longest_gap_ms: self.longest as f64 / 1e6,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Bssid;

    #[test]
    fn ranges_and_means_cover_all_samples() {
        let mut counted = WifiEvidence::default();
        counted.link(&LinkRow {
            signal: Some(-6000),
            rx_rate_bps: Some(1),
            ..LinkRow::default()
        });
        assert!(counted.clone().summary().is_none(), "a modelled link is none");
        let row = LinkRow {
            signal: Some(-6150),
            tx_rate_bps: Some(433_300_000),
            ssid: Some("home".to_owned()),
            bssid: Some(Bssid([2; 6])),
            busy_ppm: Some(200_000),
            ..LinkRow::default()
        };
        counted.link(&row);
        counted.link(&LinkRow {
            signal: Some(-7000),
            tx_rate_bps: Some(6_000_000),
            bssid: Some(Bssid([4; 6])),
            busy_ppm: Some(600_000),
            ssid: None,
            ..row
        });
        counted.event(EventKind::Roam, 350_000_000);
        counted.event(EventKind::Warning, 990_000_000);
        let wifi = counted.summary().unwrap();
        assert_eq!(wifi.signal_dbm, Some([-70.0, -61.5]));
        assert_eq!(wifi.tx_mbps, Some([6.0, 433.3]));
        assert_eq!(
            (wifi.ssid.as_deref(), wifi.access_points, wifi.roams),
            (Some("home"), 2, 1)
        );
        assert!((wifi.busy_share.unwrap() - 0.4).abs() < 1e-12);
        assert!((wifi.longest_gap_ms - 350.0).abs() < 1e-9);
    }
}
