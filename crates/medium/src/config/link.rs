//! One station's link.

use super::phy::Band;
use netburn_units::{BitRate, Dbm, Distance};

/// Quality of a link, in one of three forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkQuality {
    /// Power of the access point's signal at the station, −110 to 0 dBm.
    Signal(Dbm),
    /// Distance of the station from the access point; the path-loss model computes the signal.
    Distance(Distance),
    /// Fixed MCS per stream, independent of the signal; no frame is lost to noise.
    Mcs(u8),
}

/// Rate control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum RateControl {
    /// Fixed: the given MCS, or the best for the initial signal.
    Fixed,
    /// Ideal: the best rate for the current signal, without probing.
    Ideal,
    /// Probing, as Linux's `minstrel_ht`. The default.
    #[default]
    Minstrel,
}

/// Choice of a station among the radios of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum RadioSelection {
    /// Highest band that the station supports. The default: the usual behaviour of clients near an
    /// access point.
    #[default]
    HighestBand,
    /// The radio with the strongest signal.
    Strongest,
    /// That band, if the network has it.
    Band(Band),
}

/// Throughput limits of a station's adapter, independent of the air. Default: no limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AdapterRate {
    /// Station to access point.
    pub up: Option<BitRate>,
    /// Access point to station.
    pub down: Option<BitRate>,
    /// Maximum number of packets in one bus transfer towards the air, at least 1. A USB driver puts
    /// all waiting packets into one transfer, and the adapter receives none of them before the
    /// transfer ends. `None`: one packet each. `ath9k_htc`: 20 (`MAX_TX_AGGR_NUM`).
    pub transfer: Option<u32>,
}
