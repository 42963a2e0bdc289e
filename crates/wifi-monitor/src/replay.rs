//! Recorded links.

use super::link::Link;
use super::sample::Sample;
use netburn_platform::nl80211::decode::events;
use netburn_platform::nl80211::recording::{Entry, Kind};
use netburn_record::Row;
use netburn_units::Instant;

/// Rows of a recorded link, for `station`. A recording has no interface counters; the access point's
/// counters replace them, one sample later.
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
