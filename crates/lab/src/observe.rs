//! Rows about the channel and the stations while the lab runs.

use crate::packet::Segment;
use netburn_medium::geometry::Position;
use netburn_network::{Network, StationStats};
use netburn_network_rows::{air_row, change_row, client_row, link_row, mesh_row};
use netburn_record::Row;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Setting, StationSetting};
use netburn_units::{BitRate, Dbm, Duration, Instant};

/// Interval of link rows.
const LINKS: Duration = Duration::from_secs(1);

/// Statistics of one station over the last 100 ms, for the live view.
#[derive(Debug, Clone, PartialEq)]
pub struct StationSnapshot {
    /// Share of the airtime that its frames occupied, in both directions, 0 to 1.
    pub airtime: f64,
    /// Mean number of MPDUs per A-MPDU.
    pub aggregate: f64,
    /// Packets queued for the station and at it.
    pub backlog: u64,
    /// Rate of the bytes delivered to the station.
    pub down: BitRate,
    /// Rate of the bytes delivered from the station.
    pub up: BitRate,
    /// PHY rate of the last transmission to the station; `None` if there was none since its signal or MCS was set.
    pub rate: Option<BitRate>,
    /// Power of the access point's signal at the station.
    pub signal: Option<Dbm>,
    /// Position of the station; `None` if its signals do not follow from a position.
    pub position: Option<Position>,
}

/// Previous values of all counters, from which rows are computed.
#[derive(Debug)]
pub(crate) struct Observer {
    stations: Vec<StationStats>,
    names: Vec<String>,
    /// True if the PHY rate is known, by station. The rate of a wired station is always known.
    rated: Vec<bool>,
    at: Instant,
    links: Instant,
}

impl Observer {
    pub(crate) fn new(plan: &Plan) -> Observer {
        Observer {
            stations: vec![StationStats::default(); plan.stations.len()],
            names: plan.stations.iter().map(|station| station.name.clone()).collect(),
            rated: plan.stations.iter().map(|station| station.link.is_some()).collect(),
            at: Instant::ZERO,
            links: Instant::ZERO,
        }
    }

    /// Records the counters at the start of a network.
    pub(crate) fn begin(&mut self, network: &Network<Segment>) {
        for (seen, station) in self.stations.iter_mut().zip(0_u16..) {
            *seen = network.station_stats(station);
        }
        self.links = Instant::from_nanos(i64::MIN / 2);
        self.at = self.links;
    }

    /// Adds rows for the time since the last call, about 100 ms. Returns the stations' statistics.
    pub(crate) fn look(
        &mut self,
        now: Instant,
        network: &mut Network<Segment>,
        rows: &mut Vec<Row>,
    ) -> Vec<StationSnapshot> {
        while let Some(changed) = network.poll_change() {
            for setting in &changed.settings {
                if let Setting::Station(name, StationSetting::Quality(_)) = setting
                    && let Some(station) = self.names.iter().position(|of| of == name)
                {
                    self.rated[station] = false;
                }
            }
            rows.push(change_row(&changed));
        }
        while let Some(event) = network.poll_client_event() {
            rows.push(client_row(&event));
        }
        while let Some(event) = network.poll_mesh_event() {
            rows.extend(mesh_row(&event));
        }
        let links = now >= self.links;
        let span = now.since(self.at).as_secs_f64().clamp(1e-3, 1.0);
        let began = now - Duration::from_nanos((span * 1e9) as u64);
        let mut moderator = Vec::new();
        for (before, station) in self.stations.iter_mut().zip(0_u16..) {
            let (seen, link) = (network.station_stats(station), network.link_stats(station));
            let gain = seen.since(before);
            let rated = &mut self.rated[usize::from(station)];
            *rated |= !gain.airtime_down.is_zero();
            let rate = |bytes: u64| BitRate::from_bps((bytes as f64 * 8.0 / span) as u64);
            moderator.push(StationSnapshot {
                airtime: (gain.airtime_down.as_secs_f64() + gain.airtime_up.as_secs_f64()) / span,
                aggregate: gain.mpdus as f64 / gain.transmissions.max(1) as f64,
                backlog: gain.backlog,
                down: rate(gain.bytes_down),
                up: rate(gain.bytes_up),
                rate: rated.then_some(link.rate_down),
                signal: link.signal,
                position: network.position(station),
            });
            rows.push(air_row(station, began, &gain));
            if links {
                rows.push(link_row(station, now, &link));
            }
            *before = seen;
        }
        if links {
            self.links = now + LINKS;
        }
        self.at = now;
        moderator
    }
}
