//! A sample of a station's Wi-Fi link: one row per second.

use netburn_units::Instant;
use std::fmt;
use std::str::FromStr;

/// A sample of a station's Wi-Fi link. Unknown values are `None`: a modelled link has only a signal
/// and rates, a real one all that its driver reports. Counters begin at the association, as in the
/// driver.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkRow {
    /// The station's number in the plan.
    pub station: u16,
    /// Time of the sample.
    pub at: Instant,
    /// Signal in hundredths of a dBm.
    pub signal: Option<i32>,
    /// Rate to the station in bit/s.
    pub rx_rate_bps: Option<u64>,
    /// Rate from the station in bit/s.
    pub tx_rate_bps: Option<u64>,
    /// Network name; bytes that are not UTF-8 are replaced. At most [`LinkRow::MAX_SSID`] bytes.
    pub ssid: Option<String>,
    /// The access point's radio.
    pub bssid: Option<Bssid>,
    /// Centre of the primary channel in MHz.
    pub frequency_mhz: Option<u32>,
    /// Width of the channel in MHz.
    pub width_mhz: Option<u32>,
    /// Signal in hundredths of a dBm, averaged by the driver.
    pub signal_average: Option<i32>,
    /// Noise on the channel in hundredths of a dBm (survey).
    pub noise: Option<i32>,
    /// Modulation of the last frame to the station.
    pub rx: Modulation,
    /// Modulation of the last frame from the station.
    pub tx: Modulation,
    /// Bytes that it received.
    pub rx_bytes: Option<u64>,
    /// Bytes that it sent.
    pub tx_bytes: Option<u64>,
    /// Frames that it sent.
    pub tx_packets: Option<u64>,
    /// Retransmitted frames among them.
    pub tx_retries: Option<u64>,
    /// Frames that were given up.
    pub tx_failed: Option<u64>,
    /// Time since the last frame from the access point, in ms.
    pub inactive_ms: Option<u64>,
    /// Share of the time since the previous sample in which the channel was busy, in millionths
    /// (survey).
    pub busy_ppm: Option<u32>,
    /// The same in which this station was receiving.
    pub receiving_ppm: Option<u32>,
    /// The same in which it was sending.
    pub sending_ppm: Option<u32>,
}

/// Modulation of a frame. All fields are `None` if unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Modulation {
    /// The generation of the standard.
    pub phy: Option<Phy>,
    /// Modulation and coding scheme, as its generation counts them (HT: 0 to 31 over all streams).
    pub mcs: Option<u8>,
    /// Spatial streams.
    pub nss: Option<u8>,
    /// Width in MHz.
    pub width_mhz: Option<u32>,
    /// Guard interval in ns.
    pub guard_ns: Option<u32>,
}

/// A generation of 802.11, as a frame's rate has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phy {
    /// 802.11a, b or g.
    Legacy,
    /// 802.11n.
    Ht,
    /// 802.11ac.
    Vht,
    /// 802.11ax.
    He,
    /// 802.11be.
    Eht,
}

/// The address of an access point's radio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bssid(pub [u8; 6]);

impl LinkRow {
    /// The longest [`ssid`](Self::ssid) in bytes: 32 bytes (802.11-2020 9.4.2.2), each replaced by U+FFFD.
    pub const MAX_SSID: usize = 96;

    /// Returns true if more is known than of a modelled link.
    #[must_use]
    pub fn is_real(&self) -> bool {
        let modelled = LinkRow {
            station: self.station,
            at: self.at,
            signal: self.signal,
            rx_rate_bps: self.rx_rate_bps,
            tx_rate_bps: self.tx_rate_bps,
            bssid: self.bssid,
            frequency_mhz: self.frequency_mhz,
            ..LinkRow::default()
        };
        *self != modelled
    }
}

// Their places are their codes in the spool: append, never reorder.
netburn_units::variants! {
    pub Phy:
        Legacy = "legacy",
        Ht = "ht",
        Vht = "vht",
        He = "he",
        Eht = "eht",
}

impl fmt::Display for Bssid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// Invalid BSSID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid BSSID, expected six bytes as 02:00:00:00:01:00")]
pub struct ParseBssidError;

impl FromStr for Bssid {
    type Err = ParseBssidError;

    fn from_str(text: &str) -> Result<Self, ParseBssidError> {
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().ok_or(ParseBssidError)?;
            if part.len() != 2 || !part.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(ParseBssidError);
            }
            *byte = u8::from_str_radix(part, 16).map_err(|_| ParseBssidError)?;
        }
        if parts.next().is_some() {
            return Err(ParseBssidError);
        }
        Ok(Bssid(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bssid_has_colons() {
        let bssid = Bssid([2, 0, 0xab, 0xff, 1, 0x10]);
        assert_eq!(bssid.to_string(), "02:00:ab:ff:01:10");
        assert_eq!("02:00:AB:ff:01:10".parse(), Ok(bssid));
        for wrong in [
            "",
            "02:00:ab:ff:01",
            "02:00:ab:ff:01:10:11",
            "02:00:ab:ff:1:10",
            "02:00:ab:ff:+1:10",
            "é:00",
        ] {
            assert_eq!(wrong.parse::<Bssid>(), Err(ParseBssidError), "{wrong}");
        }
    }

    #[test]
    fn a_modelled_link_has_signal_rates_and_radio() {
        let modelled = LinkRow {
            signal: Some(-6000),
            tx_rate_bps: Some(1),
            frequency_mhz: Some(5180),
            bssid: Some(Bssid([2, 0, 0, 0, 0, 1])),
            ..LinkRow::default()
        };
        assert!(!modelled.is_real());
        assert!(
            LinkRow {
                tx_failed: Some(0),
                ..modelled
            }
            .is_real()
        );
    }
}
