//! Samples of a link.

use netburn_platform::nl80211::decode::{interfaces, stations, surveys};
use netburn_platform::nl80211::recording::Kind;
use netburn_platform::nl80211::{Interface, Station, Survey};

/// Sample of a link at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sample {
    /// The interface.
    pub interface: Interface,
    /// The access point; `None` if not connected.
    pub station: Option<Station>,
    /// Survey of the channel, if the driver supports it.
    pub survey: Option<Survey>,
}

impl Sample {
    /// Adds a response of the driver.
    pub fn add(&mut self, kind: Kind, datagram: &[u8]) {
        match kind {
            Kind::Interface => self.interface = interfaces(datagram).into_iter().next().unwrap_or_default(),
            Kind::Station => self.station = self.station.or(stations(datagram).into_iter().next()),
            Kind::Survey => {
                self.survey = self
                    .survey
                    .or(surveys(datagram).into_iter().find(|survey| survey.in_use))
            }
            Kind::Event => {}
        }
    }
}
