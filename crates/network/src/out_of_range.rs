//! Stations that can't join their radio.

use netburn_medium::config::Band;
use netburn_medium::signal::TooWeak;
use std::fmt;

/// A station whose signal is too weak for the slowest rate. It has no connection: none of its packets is delivered, and
/// it uses no airtime. It joins if a change during the run makes the signal strong enough.
#[derive(Debug, Clone, PartialEq)]
pub struct OutOfRange {
    /// Name of the station.
    pub station: String,
    /// Radio with the preferred band among those that it can join, as `home.5g`.
    pub radio: String,
    /// Band of this radio.
    pub band: Band,
    /// Signal, and the one that the slowest rate needs.
    pub reason: TooWeak,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooWeak { got, weakest, .. } = self.reason;
        let other_band = match self.band {
            Band::Ghz2_4 => "",
            Band::Ghz5 | Band::Ghz6 => ", or let it join a radio on 2.4 GHz",
        };
        write!(
            f,
            "station.{} has no connection to {}: its signal is {got}, and the slowest rate needs {weakest}. All of its \
             operations will fail. Place it nearer{other_band}.",
            self.station, self.radio
        )
    }
}
