//! Samples of Wi-Fi links on the wire.

use netburn_record::{Bssid, LinkRow, Modulation, Phy};
use netburn_units::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[station, at, signal in 1/100 dBm, rate to the station bit/s, rate from it bit/s, other values of the
/// driver]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct LinkWire(
    u16,
    i64,
    Option<i32>,
    Option<u64>,
    Option<u64>,
    #[serde(default)] Option<Box<WifiWire>>,
);

/// Values that a driver reports about a link. Values that it does not report are omitted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct WifiWire {
    /// SSID, at most 96 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    ssid: Option<String>,
    /// BSSID: six bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    bssid: Option<[u8; 6]>,
    /// `[primary channel's centre MHz, its width MHz, average signal, noise in 1/100 dBm]`.
    channel: (Option<u32>, Option<u32>, Option<i32>, Option<i32>),
    /// Modulation of the last frame to the station.
    rx: ModulationWire,
    /// Modulation of the last frame from the station.
    tx: ModulationWire,
    /// `[bytes received, bytes sent, frames sent, retries, failed frames, ms without a frame]`.
    counts: [Option<u64>; 6],
    /// Shares of the time in parts per million: `[busy, receiving, sending]`.
    shares: [Option<u32>; 3],
}

/// `[generation, MCS, spatial streams, width MHz, guard interval ns]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
struct ModulationWire(Option<PhyWire>, Option<u8>, Option<u8>, Option<u32>, Option<u32>);

/// The generations of 802.11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum PhyWire {
    Legacy,
    Ht,
    Vht,
    He,
    Eht,
}

impl From<&LinkRow> for LinkWire {
    fn from(row: &LinkRow) -> Self {
        let wifi = row.is_real().then(|| {
            Box::new(WifiWire {
                ssid: row.ssid.clone(),
                bssid: row.bssid.map(|bssid| bssid.0),
                channel: (row.frequency_mhz, row.width_mhz, row.signal_average, row.noise),
                rx: row.rx.into(),
                tx: row.tx.into(),
                counts: [
                    row.rx_bytes,
                    row.tx_bytes,
                    row.tx_packets,
                    row.tx_retries,
                    row.tx_failed,
                    row.inactive_ms,
                ],
                shares: [row.busy_ppm, row.receiving_ppm, row.sending_ppm],
            })
        });
        LinkWire(
            row.station,
            row.at.as_nanos(),
            row.signal,
            row.rx_rate_bps,
            row.tx_rate_bps,
            wifi,
        )
    }
}

impl From<LinkWire> for LinkRow {
    fn from(LinkWire(station, at, signal, rx_rate_bps, tx_rate_bps, wifi): LinkWire) -> Self {
        let wifi = wifi.map(|wifi| *wifi).unwrap_or_default();
        let (frequency_mhz, width_mhz, signal_average, noise) = wifi.channel;
        let [rx_bytes, tx_bytes, tx_packets, tx_retries, tx_failed, inactive_ms] = wifi.counts;
        let [busy_ppm, receiving_ppm, sending_ppm] = wifi.shares;
        LinkRow {
            station,
            at: Instant::from_nanos(at),
            signal,
            rx_rate_bps,
            tx_rate_bps,
            ssid: wifi.ssid,
            bssid: wifi.bssid.map(Bssid),
            frequency_mhz,
            width_mhz,
            signal_average,
            noise,
            rx: wifi.rx.into(),
            tx: wifi.tx.into(),
            rx_bytes,
            tx_bytes,
            tx_packets,
            tx_retries,
            tx_failed,
            inactive_ms,
            busy_ppm,
            receiving_ppm,
            sending_ppm,
        }
    }
}

impl From<Modulation> for ModulationWire {
    fn from(modulation: Modulation) -> Self {
        let phy = modulation.phy.map(|phy| match phy {
            Phy::Legacy => PhyWire::Legacy,
            Phy::Ht => PhyWire::Ht,
            Phy::Vht => PhyWire::Vht,
            Phy::He => PhyWire::He,
            Phy::Eht => PhyWire::Eht,
        });
        ModulationWire(
            phy,
            modulation.mcs,
            modulation.nss,
            modulation.width_mhz,
            modulation.guard_ns,
        )
    }
}

impl From<ModulationWire> for Modulation {
    fn from(ModulationWire(phy, mcs, nss, width_mhz, guard_ns): ModulationWire) -> Self {
        Modulation {
            phy: phy.map(|phy| match phy {
                PhyWire::Legacy => Phy::Legacy,
                PhyWire::Ht => Phy::Ht,
                PhyWire::Vht => Phy::Vht,
                PhyWire::He => Phy::He,
                PhyWire::Eht => Phy::Eht,
            }),
            mcs,
            nss,
            width_mhz,
            guard_ns,
        }
    }
}
