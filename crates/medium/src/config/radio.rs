//! One radio of an access point.

use super::phy::{Band, Guard, Standard, Width};
use netburn_units::{BitRate, ByteSize, Dbm, Duration, Probability};

/// Settings of one radio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RadioConfig {
    /// Band.
    pub band: Band,
    /// Standard. Default: 802.11n on 2.4 GHz, ac on 5 GHz, ax on 6 GHz.
    pub standard: Standard,
    /// Number of its primary 20 MHz channel (802.11-2020 annex E). Default 6, 36 or 37.
    pub channel: u16,
    /// Channel width. Default 20 MHz on 2.4 GHz, 80 on 5 GHz, 160 on 6 GHz, limited by the
    /// standard.
    pub width: Width,
    /// Spatial streams, 1 to 8. Default 2, the most common number; 1 for 802.11a, b and g.
    pub streams: u8,
    /// Guard interval. Default: the standard's shortest.
    pub guard: Guard,
    /// Transmit power. Default 20 dBm, the limit of EN 300 328 at 2.4 GHz and a usual setting
    /// elsewhere.
    pub power: Dbm,
    /// Aggregation.
    pub aggregation: Aggregation,
    /// Frames (A-MPDUs) of at least this size are preceded by RTS/CTS. Default `None`, never, as in
    /// Linux.
    pub rts: Option<ByteSize>,
    /// Share of the airtime that other networks use. Default 0.
    pub channel_busy: Probability,
    /// Rate of group-addressed data, a rate of DSSS or OFDM. Default `None`: the lowest basic rate.
    pub multicast_rate: Option<BitRate>,
}

/// Aggregation on transmit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aggregation {
    /// Maximum duration of an aggregate. Default 4 ms, the limit of Linux's ath9k and ath10k; the
    /// standard's maximum is 5.484 ms (802.11-2020 §19.3.9.2.4: L-SIG's 4095 bytes at 6 Mbit/s).
    pub time: Duration,
    /// Maximum number of MPDUs in an aggregate; 1 disables aggregation. Default `None`: the
    /// standard's BlockAck window.
    pub frames: Option<u16>,
    /// Maximum A-MSDU. Default `None`: each MPDU carries one packet, as in Linux's ath9k.
    pub amsdu: Option<ByteSize>,
}

impl RadioConfig {
    /// Defaults of a band.
    #[must_use]
    pub fn for_band(band: Band) -> Self {
        Self::for_standard(band, band.default_standard())
    }

    /// Defaults of a standard in a band.
    #[must_use]
    pub fn for_standard(band: Band, standard: Standard) -> Self {
        RadioConfig {
            band,
            standard,
            channel: band.default_channel(),
            width: band.default_width(standard),
            streams: standard.max_streams().min(2),
            guard: standard.default_guard(),
            power: Dbm::from_dbm(20),
            aggregation: Aggregation::default(),
            rts: None,
            channel_busy: Probability::ZERO,
            multicast_rate: None,
        }
    }

    /// Centre of the primary 20 MHz channel in MHz (802.11-2020 17.3.8.4.2 and 15.4.4.3; 802.11ax-2021 27.3.23.2 for 6 GHz).
    #[must_use]
    pub fn frequency_mhz(&self) -> u32 {
        let above = 5 * u32::from(self.channel);
        match self.band {
            Band::Ghz2_4 if self.channel == 14 => 2_484,
            Band::Ghz2_4 => 2_407 + above,
            Band::Ghz5 => 5_000 + above,
            Band::Ghz6 => 5_950 + above,
        }
    }
}

impl Default for RadioConfig {
    fn default() -> Self {
        Self::for_band(Band::Ghz5)
    }
}

impl Default for Aggregation {
    fn default() -> Self {
        Aggregation {
            time: Duration::from_millis(4),
            frames: None,
            amsdu: None,
        }
    }
}
