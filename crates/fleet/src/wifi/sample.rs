//! What is seen of a link at one instant.

use super::link::Link;
use netburn_linux::nl80211::decode::{events, interfaces, stations, surveys};
use netburn_linux::nl80211::recording::{Entry, Kind};
use netburn_linux::nl80211::{Interface, Station, Survey};
use netburn_record::Row;
use netburn_units::Instant;

/// What was seen of the link at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sample {
    /// The interface.
    pub interface: Interface,
    /// Its access point; `None` while it has none.
    pub station: Option<Station>,
    /// Its channel, where the driver has a survey.
    pub survey: Option<Survey>,
}

impl Sample {
    /// Adds what a datagram says that answers a question about the link.
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

/// The rows that a recorded link gives as the link of `station`. It has no counters of the interface: those of its access point
/// stand for them, a look late.
#[must_use]
pub fn replay(entries: &[Entry], station: u16) -> Vec<Row> {
    let mut link = Link::new(vec![station]);
    let mut rows = Vec::new();
    let mut open: Option<(Instant, Sample)> = None;
    let mut now = Instant::ZERO;
    let put = |link: &mut Link, open: &mut Option<(Instant, Sample)>| {
        if let Some((at, sample)) = open.take() {
            if let Some(bytes) = sample.station.and_then(|station| station.rx_bytes) {
                link.handle_bytes(at, bytes);
            }
            link.handle_sample(at, sample);
        }
    };
    for entry in entries {
        now = now.max(Instant::from_nanos(i64::try_from(entry.at).unwrap_or(i64::MAX)));
        match entry.kind {
            Kind::Event => {
                put(&mut link, &mut open);
                for event in events(&entry.datagram) {
                    link.handle_event(now, event);
                }
            }
            Kind::Interface => {
                put(&mut link, &mut open);
                let mut sample = Sample::default();
                sample.add(entry.kind, &entry.datagram);
                open = Some((now, sample));
            }
            kind => {
                if let Some((_, sample)) = &mut open {
                    sample.add(kind, &entry.datagram);
                }
            }
        }
        rows.extend(std::iter::from_fn(|| link.poll_row()));
    }
    put(&mut link, &mut open);
    link.handle_end(now);
    rows.extend(std::iter::from_fn(|| link.poll_row()));
    rows
}
