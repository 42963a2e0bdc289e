//! Rows from samples of a network's counters.

use crate::{air_row, change_row, client_row, link_row, mesh_row};
use netburn_network::{AppliedChange, Network, Payload, StationDelta, StationStats};
use netburn_record::Row;
use netburn_units::{Duration, Instant};

/// Sampling period of links.
const LINKS: Duration = Duration::from_secs(1);

/// Previous samples of a network.
#[derive(Debug)]
pub struct Observer {
    stations: Vec<StationStats>,
    /// Time of the next sample of the links.
    links: Instant,
}

impl Observer {
    /// Reads the counters of a network. `links`: time of the first sample of the links.
    #[must_use]
    pub fn new<P: Payload>(network: &Network<P>, links: Instant) -> Self {
        let stations = 0..network.stations() as u16;
        Observer {
            stations: stations.map(|station| network.station_stats(station)).collect(),
            links,
        }
    }

    /// Adds the rows of the time from `began`, about 100 ms, to `now`, and reports each change of settings. Returns the
    /// differences of the stations' counters since the last sample.
    pub fn sample<P: Payload>(
        &mut self,
        (began, now): (Instant, Instant),
        network: &mut Network<P>,
        rows: &mut Vec<Row>,
        mut on_change: impl FnMut(&AppliedChange),
    ) -> Vec<StationDelta> {
        while let Some(changed) = network.poll_change() {
            on_change(&changed);
            rows.push(change_row(&changed));
        }
        while let Some(event) = network.poll_client_event() {
            rows.push(client_row(&event));
        }
        while let Some(event) = network.poll_mesh_event() {
            rows.extend(mesh_row(&event));
        }
        let mut gains = Vec::with_capacity(self.stations.len());
        for (before, station) in self.stations.iter_mut().zip(0_u16..) {
            let seen = network.station_stats(station);
            let gain = seen.since(before);
            *before = seen;
            rows.push(air_row(station, began, &gain));
            gains.push(gain);
        }
        if now >= self.links {
            self.links = now + LINKS;
            for station in 0..self.stations.len() as u16 {
                rows.push(link_row(station, now, &network.link_stats(station)));
            }
        }
        gains
    }
}
