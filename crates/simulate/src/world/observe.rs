//! Rows from samples: the air by station every 100 ms, connections, links, changes.

use super::World;
use super::payload::End;
use netburn_network::{Network, StationStats};
use netburn_network_rows::{air_row, change_row, client_row, link_row, mesh_row};
use netburn_record::{ConnectionRow, Row, Side};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};

/// Sampling period of links.
const LINKS: Duration = Duration::from_secs(1);

/// Previous samples.
#[derive(Debug)]
pub(crate) struct Observer {
    stations: Vec<StationStats>,
    /// Time of the next sample of the links.
    links: Instant,
}

impl Observer {
    pub(super) fn new<P: std::fmt::Debug + Send + 'static>(plan: &Plan, network: &Network<P>) -> Self {
        let stations = 0..plan.stations.len() as u16;
        Observer {
            stations: stations.map(|station| network.station_stats(station)).collect(),
            links: Instant::ZERO - plan.baseline,
        }
    }

    /// Produces the rows of the 100 ms that end at `now`.
    pub(super) fn sample<P: std::fmt::Debug + Send + 'static>(
        &mut self,
        now: Instant,
        network: &mut Network<P>,
        rows: &mut Vec<Row>,
    ) {
        while let Some(changed) = network.poll_change() {
            rows.push(change_row(&changed));
        }
        while let Some(event) = network.poll_client_event() {
            rows.push(client_row(&event));
        }
        while let Some(event) = network.poll_mesh_event() {
            rows.extend(mesh_row(&event));
        }
        for (before, station) in self.stations.iter_mut().zip(0_u16..) {
            let seen = network.station_stats(station);
            let gain = seen.since(before);
            *before = seen;
            rows.push(air_row(station, now - super::TICK, &gain));
        }
        if now >= self.links {
            self.links = now + LINKS;
            for station in 0..self.stations.len() as u16 {
                let link = network.link_stats(station);
                rows.push(link_row(station, now, &link));
            }
        }
    }
}

impl World {
    /// Produces TCP_INFO rows of every open connection, from both ends.
    pub(super) fn sample_connections(&mut self) {
        for connection in self.connections.iter().flatten() {
            for (end, side) in [(End::Client, Side::Station), (End::Server, Side::Server)] {
                let host = &connection.ends[end.index()];
                if !host.endpoint.is_established() {
                    continue;
                }
                let info = host.endpoint.info();
                let micros = |span: Duration| u32::try_from(span.as_nanos() / 1_000).unwrap_or(u32::MAX);
                self.rows.push(Row::Connection(ConnectionRow {
                    station: connection.station,
                    workload: self.clients[connection.client].watched.workload(),
                    side,
                    port: port(connection.serial),
                    at: self.now,
                    rtt_us: info.srtt.map_or(0, micros),
                    rtt_var_us: micros(info.rttvar),
                    cwnd: info.cwnd,
                    retransmits: info.retransmits as u32,
                    delivery_rate_bps: info.delivery_rate.map_or(0, |rate| rate.as_bps()),
                    bytes_acked: host.acknowledged,
                    bytes_received: host.received,
                }));
            }
        }
    }
}

/// Station's port of a connection: as in a host, port numbers wrap around.
pub(super) const fn port(serial: u32) -> u16 {
    (1_024 + serial % 64_000) as u16
}
