//! The state, the statistics and the events of Wi-Fi links, as drivers report them.
//!
//! [`WifiSource`] gives samples and events of one link as values that are the same on every system. [`nl80211`] is the
//! interface of Linux below it. Its messages can also be recorded, anonymised, and decoded on other machines.

pub mod nl80211;
mod values;

pub use values::{Channel, Event, Generation, Interface, LinkSample, Mac, Rate, Station, Survey};

use netburn_units::Duration;
use nl80211::recording::sample_of;
use nl80211::{Events, Nl80211, decode};
use std::io;

/// The Wi-Fi link of an interface: samples on request, and events as they happen.
#[derive(Debug)]
pub struct WifiSource {
    requests: Nl80211,
    events: Events,
}

/// Reason why an interface has no [`WifiSource`]. The texts follow the name of the interface.
#[derive(Debug, thiserror::Error)]
pub enum OpenWifiError {
    /// The kernel has no Wi-Fi.
    #[error("isn't Wi-Fi (this kernel has none)")]
    KernelWithoutWifi,
    /// The interface has no Wi-Fi.
    #[error("isn't Wi-Fi")]
    NotWifi,
    /// netburn does not read Wi-Fi drivers of this system.
    #[error("can't be sampled on this system")]
    Unsupported,
    /// The driver can't be queried.
    #[error("can't be queried: {0}")]
    Requests(#[source] io::Error),
    /// The driver's events can't be received.
    #[error("can't be monitored: {0}")]
    Events(#[source] io::Error),
}

impl WifiSource {
    /// Opens the link of the interface with this index.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn open(index: u32) -> Result<WifiSource, OpenWifiError> {
        let mut requests = Nl80211::open().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => OpenWifiError::KernelWithoutWifi,
            io::ErrorKind::Unsupported => OpenWifiError::Unsupported,
            _ => OpenWifiError::Requests(error),
        })?;
        requests.interface(index).map_err(|_| OpenWifiError::NotWifi)?;
        let events = requests.events().map_err(OpenWifiError::Events)?;
        Ok(WifiSource { requests, events })
    }

    /// Samples the link of the interface, which may have another index than before. A value that the driver does not
    /// report is missing.
    pub fn sample(&mut self, index: u32) -> LinkSample {
        sample_of(&self.requests.sample(index))
    }

    /// Waits for events and returns those of the interface. Returns none after the timeout. Lost events are not an error.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn next_events(&mut self, index: u32, within: Duration) -> io::Result<Vec<Event>> {
        let datagram = self.events.next(within)?.unwrap_or_default();
        let mut events = decode::events(&datagram);
        events.retain(|event| event.index() == index);
        Ok(events)
    }
}
