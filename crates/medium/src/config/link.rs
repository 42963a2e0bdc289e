//! One station's link.

use super::phy::Band;
use netburn_units::{BitRate, Dbm, Distance};

/// How good a link is: exactly one of three ways to say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quality {
    /// The power of the access point's signal at the station, −110 to 0 dBm.
    Signal(Dbm),
    /// How far the station is from the access point; the signal follows from path loss.
    Distance(Distance),
    /// The MCS that is used whatever the signal, counted per stream; no frame is lost to noise.
    Mcs(u8),
}

/// How the rate of a transmission is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum RateControl {
    /// Always the same: the MCS given, or the best for the signal at the beginning.
    Fixed,
    /// The best for the signal at each moment, known without trying.
    Ideal,
    /// By trying, as Linux's `minstrel_ht` does. The default.
    #[default]
    Minstrel,
}

/// How a station picks among the radios of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum RadioSelection {
    /// The highest band it speaks. The default: what clients mostly do near an access point.
    #[default]
    HighestBand,
    /// The radio with the strongest signal.
    Strongest,
    /// That band, if the network has it.
    Band(Band),
}

/// What a station's adapter can move, whatever the air permits. Default: no limit either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AdapterRate {
    /// Station to access point.
    pub up: Option<BitRate>,
    /// Access point to station.
    pub down: Option<BitRate>,
    /// Packets that cross upwards together, at least 1: a USB driver puts what waits into one transfer, and the adapter has none of
    /// them before it has all. `None`: each by itself. `ath9k_htc`: 20 (`MAX_TX_AGGR_NUM`).
    pub transfer: Option<u32>,
}
